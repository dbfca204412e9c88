//! Events told from outside: by agents, their hooks, and programs around them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// One thing that happened, told by whoever saw it. Fields belljar does not know are kept.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct ToldEvent {
    /// Its identity. The same told twice is recorded once; without one, every telling is new.
    #[serde(default)]
    #[schema(pattern = "^evt_[0-9a-f]{32}$")]
    pub id: Option<String>,
    /// What kind of thing, as dotted words. Kinds belljar writes itself are refused.
    #[serde(alias = "type")]
    #[schema(example = "tool.finished")]
    pub kind: String,
    /// When it happened: RFC 3339, or milliseconds since 1970. Now, if left out.
    #[serde(default, alias = "timestamp")]
    #[schema(value_type = Option<Object>)]
    pub time: Option<Value>,
    /// Who did it.
    #[serde(default, alias = "agentId")]
    pub agent_id: Option<String>,
    /// Their name for people.
    #[serde(default, alias = "sourceApp", alias = "source_app")]
    pub agent_name: Option<String>,
    /// Their role.
    #[serde(default)]
    pub agent_role: Option<String>,
    /// The conversation it belongs to.
    #[serde(default, alias = "sessionId")]
    pub session_id: Option<String>,
    /// The sandbox it happened in.
    #[serde(default)]
    pub sandbox_id: Option<String>,
    /// The tool that was used.
    #[serde(default, alias = "toolName", alias = "tool_name")]
    pub tool: Option<String>,
    /// What it was done to.
    #[serde(default)]
    pub target: Option<String>,
    /// What the target is: `file`, `command`, `agent`, `search` …
    #[serde(default)]
    pub target_type: Option<String>,
    /// How it was judged: `allow`, `ask` or `deny`. Not how it ended.
    #[serde(default)]
    pub decision: Option<String>,
    /// Why it was judged so.
    #[serde(default)]
    pub reason: Option<String>,
    /// How it ended: `success`, `failure`, `timeout`, `denied` or `cancelled`.
    #[serde(default)]
    pub status: Option<String>,
    /// What went wrong.
    #[serde(default)]
    pub error: Option<String>,
    /// What it cost, in dollars.
    #[serde(default)]
    pub cost_usd: Option<f64>,
    /// Tokens it used.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: Option<u64>,
    /// Everything else.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub payload: Value,
    /// Fields belljar does not know.
    #[serde(flatten)]
    #[schema(ignore)]
    pub rest: BTreeMap<String, Value>,
}

/// What an agent did, in the form of older hook collections.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct VisibilityEvent {
    /// Its identity. The same told twice is recorded once.
    #[serde(default, alias = "audit_id")]
    pub id: Option<String>,
    /// Who did it.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// Their name for people.
    #[serde(default)]
    pub agent_name: Option<String>,
    /// Their role.
    #[serde(default)]
    pub agent_role: Option<String>,
    /// The type of operation, such as `tool_use`.
    pub operation_type: String,
    /// What was done, for people.
    #[serde(default)]
    pub operation_detail: Option<String>,
    /// What it was done to.
    #[serde(default)]
    pub target_resource: Option<String>,
    /// What the target is.
    #[serde(default)]
    pub target_type: Option<String>,
    /// `allowed` or `denied`.
    #[serde(default)]
    pub rbac_decision: Option<String>,
    /// Why.
    #[serde(default)]
    pub rbac_reason: Option<String>,
    /// What it cost, in dollars.
    #[serde(default)]
    pub cost_usd: Option<f64>,
    /// Tokens it used.
    #[serde(default)]
    pub tokens_used: Option<u64>,
    /// When it happened: RFC 3339, or milliseconds since 1970.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub timestamp: Option<Value>,
    /// The conversation, the tool, how long it took, what came of it.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub context: Value,
    /// Fields belljar does not know.
    #[serde(flatten)]
    #[schema(ignore)]
    pub rest: BTreeMap<String, Value>,
}

/// Several at once.
#[derive(Debug, Clone, ToSchema)]
pub struct ToldEvents {
    /// The events, in this order.
    pub events: Vec<ToldEvent>,
}

/// What became of events that were told.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Ingested {
    /// Events that are in the ledger now.
    pub accepted: u64,
    /// Events that were there already.
    pub duplicates: u64,
    /// The place of the last one that was new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<u64>,
}
