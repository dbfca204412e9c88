//! Calls that wait for a person, and what a person says.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// Where a call that waits for a person stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// Nobody has said anything yet.
    Pending,
    /// A person said yes.
    Allowed,
    /// A person said no.
    Denied,
    /// Nobody said anything in time.
    Expired,
    /// Whoever asked waits no more.
    Cancelled,
}

/// How far a yes reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalScope {
    /// This call.
    #[default]
    Once,
    /// Calls like this one, in this session or this sandbox.
    Session,
    /// Calls like this one, by a rule that is written into guardian.toml.
    Always,
}

/// A call that waits for a person, or waited.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Approval {
    /// Its identity.
    #[schema(pattern = "^apr_[0-9a-f]{32}$")]
    pub id: String,
    /// Whose it is.
    pub project_id: String,
    /// Where it stands.
    pub state: ApprovalState,
    /// On whose behalf it is asked.
    pub asked_by: String,
    /// The agent, where it is known.
    pub agent_id: Option<String>,
    /// The program the agent is, where a hook asks.
    pub vendor: Option<String>,
    /// The conversation.
    pub session_id: Option<String>,
    /// The sandbox it is about.
    pub sandbox_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// What the tool is given, without secrets.
    #[schema(value_type = Object)]
    pub input: Value,
    /// The call, by its agent's own name for it.
    pub tool_use_id: Option<String>,
    /// Where it would be done.
    pub cwd: Option<String>,
    /// What it would do, in sentences.
    pub effects: Vec<String>,
    /// What the rules say of each of these, in the same order; empty where it is not known.
    pub rulings: Vec<EffectRuling>,
    /// How bad it could turn out: `low`, `medium`, `high` or `critical`.
    pub risk: String,
    /// The rule that asks.
    pub rule: Option<String>,
    /// Why a person is asked.
    pub reason: String,
    /// When it was asked.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When no answer becomes a no.
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// When it was answered or closed.
    #[schema(format = DateTime)]
    pub answered_at: Option<String>,
    /// What was said.
    pub answer: Option<ApprovalAnswer>,
    /// When whoever asked had the answer; until then it has not counted.
    #[schema(format = DateTime)]
    pub delivered_at: Option<String>,
    /// Why it was closed without an answer.
    pub note: Option<String>,
    /// What did not go as wished, in the answer to an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// What the rules say of one effect of a call.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EffectRuling {
    /// How bad it could turn out: `low`, `medium`, `high` or `critical`; `low` where no rule speaks of it.
    pub risk: String,
    /// What follows of it alone: `allow`, `ask` or `deny`.
    pub verdict: String,
    /// The rule that speaks of it.
    pub rule: Option<String>,
    /// Why, in the rule's words.
    pub reason: Option<String>,
    /// What takes it back: the sandbox, or a rule that allows; absent if it counts.
    pub relieved_by: Option<String>,
}

/// What a person said.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ApprovalAnswer {
    /// Who.
    pub by: String,
    /// By which way: `api` (also the command line), `link`.
    pub how: String,
    /// How far a yes reaches.
    pub scope: ApprovalScope,
    /// Why, in their words.
    pub reason: Option<String>,
    /// What is done instead, without secrets.
    #[schema(value_type = Option<Object>)]
    pub input: Option<Value>,
    /// The rule that was put into guardian.toml.
    pub rule: Option<String>,
}

/// A yes.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowRequest {
    /// How far it reaches.
    #[serde(default)]
    pub scope: ApprovalScope,
    /// What the tool is to be given instead, whole; it is judged again.
    #[schema(value_type = Option<Object>)]
    pub input: Option<Value>,
    /// Why.
    #[schema(max_length = 4096)]
    pub reason: Option<String>,
}

/// A no.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DenyRequest {
    /// Why; the agent reads it.
    #[schema(max_length = 4096)]
    pub reason: Option<String>,
}

/// What whoever asked is told.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ApprovalOutcome {
    /// Where it stands.
    pub pending: bool,
    /// What is to become of the call, once that is known.
    pub verdict: Option<crate::HookVerdict>,
}

/// A link that answers one approval.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ApprovalLink {
    /// The page that shows the call and takes the answer.
    pub url: String,
    /// Until when, unless it is answered before.
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Which approvals.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ApprovalQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^apr_[0-9a-f]{32}$")]
    pub cursor: Option<String>,
    /// In this state.
    pub state: Option<ApprovalState>,
    /// Asked by this agent.
    pub agent_id: Option<String>,
    /// In this conversation.
    pub session_id: Option<String>,
    /// About this sandbox.
    #[param(pattern = "^sbx_[0-9a-f]{32}$")]
    pub sandbox_id: Option<String>,
}

/// How long to wait for an answer.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ApprovalWaitQuery {
    /// Seconds; then it is answered that nobody has said anything yet.
    #[param(minimum = 0, maximum = 50, default = 25)]
    pub seconds: Option<u8>,
}

/// That somebody is to be killed.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KillRequest {
    /// Why; whoever is refused from now on reads it.
    #[schema(max_length = 1024)]
    pub reason: Option<String>,
}

/// What was ended.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Killed {
    /// The agent; everything if none is named.
    pub agent_id: Option<String>,
    /// The sandboxes that were ended, with all that ran in them.
    pub sandboxes: Vec<String>,
    /// Those that could not be.
    pub failed: Vec<KillFailure>,
    /// How long it took until none was left.
    pub duration_ms: u64,
}

/// A sandbox that could not be ended.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct KillFailure {
    /// Which.
    pub sandbox_id: String,
    /// Why.
    pub error: String,
}

/// Who is killed.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Kills {
    /// Everything.
    pub everything: Option<Kill>,
    /// Agents.
    pub agents: Vec<Kill>,
}

/// That somebody was killed.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Kill {
    /// The agent; everything if none is named.
    pub agent_id: Option<String>,
    /// By whom.
    pub by: String,
    /// When.
    #[schema(format = DateTime)]
    pub at: String,
    /// Why.
    pub reason: Option<String>,
}
