//! The ledger as audit tools read it, and whether it can be trusted.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// One entry of the audit log.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AuditEntry {
    /// The event's identity.
    pub audit_id: String,
    /// Who did it.
    pub agent: Agent,
    /// What was done.
    pub operation: Operation,
    /// To what.
    pub target: Target,
    /// How it was judged.
    pub rbac: Rbac,
    /// What it cost.
    pub cost: Cost,
    /// Everything else.
    #[schema(value_type = Object, nullable)]
    pub context: Value,
    /// When.
    #[schema(format = DateTime)]
    pub timestamp: String,
}

/// Who did something, as far as known.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Agent {
    /// Its identity.
    pub id: Option<String>,
    /// Its name for people.
    pub name: Option<String>,
    /// Its role.
    pub role: Option<String>,
}

/// What was done.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Operation {
    /// The type of operation, or the event's kind where no older word exists.
    #[serde(rename = "type")]
    pub kind: String,
    /// The tool that was used, or the kind of event.
    pub detail: String,
}

/// What something was done to.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Target {
    /// A path, a command, a host, a sandbox.
    pub resource: Option<String>,
    /// Which of those.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

/// How something was judged.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Rbac {
    /// `allow`, `ask` or `deny`; absent where nothing was judged.
    pub decision: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// What something cost.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Cost {
    /// In dollars.
    pub usd: Option<f64>,
    /// In tokens.
    pub tokens: Option<u64>,
}

/// How many entries there are of what.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AuditStats {
    /// In all.
    pub total: u64,
    /// By how they were judged.
    pub by_decision: BTreeMap<String, u64>,
    /// By type of operation.
    pub by_type: BTreeMap<String, u64>,
    /// By role of the agent.
    pub by_role: BTreeMap<String, u64>,
    /// By how they ended.
    pub by_status: BTreeMap<String, u64>,
    /// By agent, the busiest alone when there are very many.
    pub by_agent: BTreeMap<String, u64>,
    /// Bytes of the database.
    pub bytes: u64,
    /// When the oldest was taken.
    #[schema(format = DateTime)]
    pub oldest: Option<String>,
    /// When the newest was taken.
    #[schema(format = DateTime)]
    pub newest: Option<String>,
}

/// What computing the ledger again found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Verification {
    /// Whether nothing is wrong.
    pub intact: bool,
    /// Events whose hash was computed again.
    pub events: u64,
    /// Events retention removed, vouched for by checkpoints.
    pub pruned: u64,
    /// The place of the last event. Noted elsewhere with `head_hash`, it proves later that nothing was taken back.
    pub head_seq: u64,
    /// Its hash.
    pub head_hash: String,
    /// Whether the ledger's key was at hand.
    pub keyed: bool,
    /// The first thing that is wrong.
    pub finding: Option<Finding>,
}

/// A place where the ledger was tampered with or damaged.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Finding {
    /// The place.
    pub seq: u64,
    /// What is wrong there, as one word.
    pub tampering: String,
    /// The last place concerned, where more than one is.
    pub last: Option<u64>,
}
