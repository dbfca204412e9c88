//! Agents of the registry: who may act, as what, until when.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// What an agent is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentRole {
    /// Everything, with a person's leave for what cannot be undone.
    Admin,
    /// Writes code.
    Developer,
    /// Hands out work and reads.
    Coordinator,
    /// Looks for weaknesses; may see secrets.
    Security,
    /// Schemas and migrations; may see secrets.
    Database,
    /// The server's side.
    Backend,
    /// Reads and judges.
    Reviewer,
    /// The browser's side.
    Frontend,
    /// Tests, and the code they are about for reading.
    Tester,
    /// Reads and searches.
    Analyst,
}

/// Whether an agent may act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentStanding {
    /// Nobody has approved it yet.
    Known,
    /// A person let it act.
    Approved,
    /// Its approval ran out.
    Expired,
    /// A person took its approval back.
    Revoked,
    /// A person ended it at once, and all it did.
    Killed,
}

/// What an agent may do differently from its role.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentRights {
    /// What it may read, as globs from the workspace; its role's scopes when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 256)]
    pub read_scopes: Option<Vec<String>>,
    /// What it may write, as globs from the workspace; its role's scopes when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 256)]
    pub write_scopes: Option<Vec<String>>,
    /// Calls it may make beyond its role: `WebFetch`, `Bash(git push:*)`, `Write(docs/**)`, `mcp__github`.
    #[schema(max_items = 256)]
    pub grants: Vec<String>,
    /// Calls it may not make, whatever else says so.
    #[schema(max_items = 256)]
    pub denials: Vec<String>,
    /// Tools and high-risk operations a person is asked about, besides its role's.
    #[schema(max_items = 256)]
    pub asks: Vec<String>,
    /// Whether it may start other agents; its role's word when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_spawn_agents: Option<bool>,
    /// Whether it may change what agents may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_modify_agents: Option<bool>,
    /// Whether it may see secrets, when a person agrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_access_secrets: Option<bool>,
}

/// An agent of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegistryAgent {
    /// Its identity.
    #[schema(pattern = "^agt_[0-9a-f]{32}$")]
    pub agent_id: String,
    /// What it is called; unique in its project.
    pub name: String,
    /// Whose it is.
    pub project_id: String,
    /// What it is for.
    pub role: AgentRole,
    /// Whether it may act.
    pub standing: AgentStanding,
    /// Until when it is approved, or was; absent when that has no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub until: Option<String>,
    /// Why it is or is not approved, in the words of whoever decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it does.
    pub description: String,
    /// What it says it can do.
    pub capabilities: Vec<String>,
    /// What it may do differently from its role.
    pub rbac: AgentRights,
    /// The key its signatures are checked with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// What it was imported from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Who last changed it.
    pub changed_by: String,
    /// When that was.
    #[schema(format = DateTime)]
    pub changed_at: String,
    /// When it was entered.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Its sandboxes that are alive.
    pub sandboxes: Vec<String>,
}

/// What is said of an agent; what is left out stays as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PutAgent {
    /// What it is for; `developer` for a new one.
    pub role: Option<AgentRole>,
    /// What it does.
    #[schema(max_length = 1024)]
    pub description: Option<String>,
    /// What it can do.
    #[schema(max_items = 256)]
    pub capabilities: Option<Vec<String>>,
    /// What it may do differently from its role: all of it.
    pub rbac: Option<AgentRights>,
    /// The key its signatures are checked with: Ed25519, in hex.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub public_key: Option<String>,
}

/// Leave to act.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApproveAgent {
    /// In this role; as it is, when left out.
    pub role: Option<AgentRole>,
    /// For how many seconds; until it is revoked, when left out.
    #[schema(minimum = 1, maximum = 3_153_600_000u64)]
    pub for_seconds: Option<u64>,
    /// Why.
    #[schema(max_length = 1024)]
    pub reason: Option<String>,
}

/// Leave taken back.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RevokeAgent {
    /// Why.
    #[schema(max_length = 1024)]
    pub reason: Option<String>,
}

/// Agents as others wrote them down.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportAgents {
    /// A registry in JSON, or an agent's own file with its head.
    #[schema(max_length = 4_000_000)]
    pub content: String,
    /// Where that is from, for people.
    #[schema(max_length = 1024)]
    pub source: Option<String>,
}

/// What an import did.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ImportedAgents {
    /// Agents that were not there.
    pub added: Vec<String>,
    /// Agents of which something is different now.
    pub changed: Vec<String>,
    /// How many were the same already.
    pub unchanged: u64,
    /// Of all these, whose role was not said but concluded.
    pub guessed: Vec<String>,
}

/// The registry, as it can be imported again.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AgentExport {
    /// The agents.
    pub agents: Vec<ExportedAgent>,
}

/// An agent as it can be imported again. Whether it may act is for people to say there.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ExportedAgent {
    /// Its identity, as others write it.
    pub agent_id: String,
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub role: AgentRole,
    /// What it does.
    pub description: String,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// What it may do differently from its role.
    pub rbac: AgentRights,
    /// The key its signatures are checked with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
}

/// What a role is to be found for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SuggestRole {
    /// What the agent can do.
    #[schema(max_items = 256)]
    pub capabilities: Vec<String>,
    /// What it is filed under.
    #[schema(max_length = 256)]
    pub category: Option<String>,
    /// What it does.
    #[schema(max_length = 1024)]
    pub description: Option<String>,
}

/// A role that would fit.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SuggestedRole {
    /// The role.
    pub role: AgentRole,
    /// How much speaks for it, from 0 to 1; above 0.8 the capabilities do, else the category, else it is the default.
    pub confidence: f64,
}

/// Which agents.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AgentQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(max_length = 256)]
    pub cursor: Option<String>,
    /// In this role.
    pub role: Option<AgentRole>,
    /// Of this standing.
    pub standing: Option<AgentStanding>,
}
