//! One thing that happened, as the ledger has it.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// One thing that happened.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Event {
    /// Its place in the ledger, from 1, without gaps.
    pub seq: u64,
    /// Its identity.
    pub id: String,
    /// What kind of thing, as dotted words.
    #[schema(example = "execution.ended")]
    pub kind: String,
    /// When it happened, as its source says.
    #[schema(format = DateTime)]
    pub time: String,
    /// When the ledger took it.
    #[schema(format = DateTime)]
    pub recv_time: String,
    /// Whose it is.
    pub project_id: String,
    /// Who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Their name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// Their role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
    /// The conversation it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The sandbox it happened in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_id: Option<String>,
    /// The command it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// The run it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The type of operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The tool that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it was done to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What the target is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_type: Option<String>,
    /// How it was judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Why it was judged so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How bad it could turn out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it cost, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Tokens it used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Everything else.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Object)]
    pub payload: Value,
    /// The hash of the event in front of it.
    pub prev_hash: String,
    /// The hash over everything above.
    pub hash: String,
}
