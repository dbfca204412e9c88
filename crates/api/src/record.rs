//! What agents did: calls, sessions, requests to models, errors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Event;

/// One call of a tool, put together from what hooks, telemetry and transcripts told. What nobody told is absent.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Call {
    /// Its identity.
    pub id: String,
    /// Whose it is.
    pub project_id: String,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The subagent that made it; absent for the session's own agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What kind of subagent that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// The agent that one works for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_agent_id: Option<String>,
    /// The agent this call started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_agent_id: Option<String>,
    /// What its agent calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The prompt that led to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The sandbox it was made in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_id: Option<String>,
    /// The command it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// The run it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it was done to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What the target is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_type: Option<String>,
    /// The beginning of what the tool was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Bytes it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_bytes: Option<u64>,
    /// Bytes it gave back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// How it was judged; says nothing about how it came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Who judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Why it was judged so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How it came out; absent while it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The errors it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// When it began, by its agent's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub began: Option<String>,
    /// When it ended, by its agent's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub ended: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// When the first word of it came in.
    #[schema(format = DateTime)]
    pub received: String,
    /// How much later that was than its agent's clock says; negative when that clock is ahead.
    pub skew_ms: i64,
    /// Its share of what the request cost that asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Its share of what that request used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// That request, as in the session's trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Who told each field: `hook`, `telemetry`, `transcript`, `belljar`, or `estimate` if it was reckoned.
    pub told: BTreeMap<String, String>,
}

/// Tokens by what is paid for them.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Tokens {
    /// Sent and read anew.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Written to the cache for an hour.
    pub cache_write_1h: u64,
}

/// What was spent on models.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Spent {
    /// Requests, each counted once.
    pub requests: u64,
    /// Their tokens.
    pub tokens: Tokens,
    /// What they cost.
    pub cost_usd: f64,
    /// What that rests on: `reported` by the agent, tokens at `list_price`, or in part `estimated`.
    pub basis: String,
    /// Requests of models without a price, which cost nothing here.
    pub unpriced: u64,
}

/// What was counted.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Counts {
    pub events: u64,
    pub prompts: u64,
    pub turns: u64,
    pub turns_failed: u64,
    pub calls: u64,
    pub succeeded: u64,
    pub failed: u64,
    pub denied: u64,
    pub cancelled: u64,
    pub requests: u64,
    pub requests_failed: u64,
    pub compactions: u64,
    pub subagents: u64,
}

/// One conversation of an agent.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Session {
    /// What its agent calls it.
    pub session_id: String,
    /// Whose it is.
    pub project_id: String,
    /// Which program the agent is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// The model it used last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The beginning of the first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `working`, `waiting` for a person, `idle`, `done` or `failed`.
    pub state: String,
    /// Since when.
    #[schema(format = DateTime)]
    pub since: String,
    /// When it was first heard of.
    #[schema(format = DateTime)]
    pub began: String,
    /// When it was last heard of.
    #[schema(format = DateTime)]
    pub last: String,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub ended: Option<String>,
    /// The session it came out of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
    /// The sandbox it runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_id: Option<String>,
    /// The run it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Where its transcript is, as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_path: Option<String>,
    /// How much later its last event came in than its clock says.
    pub skew_ms: i64,
    /// What was counted, subagents included.
    pub counts: Counts,
    /// What it spent, subagents included.
    pub spent: Spent,
}

/// A session with its agents.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SessionDetail {
    /// The session.
    #[serde(flatten)]
    pub session: Session,
    /// Its agents, its own first.
    pub agents: Vec<AgentNode>,
    /// What its telemetry counted, added up.
    pub metrics: Vec<Series>,
}

/// An agent of a session.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AgentNode {
    /// The subagent; absent for the session's own agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What kind it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// The subagent it works for; absent if that is the session's own agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_agent_id: Option<String>,
    /// The call that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_by: Option<String>,
    /// What it is doing.
    pub state: String,
    /// When it was first heard of.
    #[schema(format = DateTime)]
    pub began: String,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub ended: Option<String>,
    /// What was counted of it alone.
    pub counts: Counts,
    /// What it alone spent.
    pub own: Spent,
    /// What it spent with all who worked for it.
    pub total: Spent,
}

/// The total of one series of a metric.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Series {
    /// The metric.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What tells it apart from others of the metric.
    pub labels: BTreeMap<String, String>,
    /// The total.
    pub total: f64,
}

/// A request to a model.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ModelRequest {
    /// Its identity.
    pub id: String,
    /// The subagent that asked; absent for the session's own agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The prompt that led to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The provider's name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The provider's name for its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The model.
    pub model: String,
    /// What it used.
    pub tokens: Tokens,
    /// What it cost.
    pub cost_usd: f64,
    /// What that rests on.
    pub basis: String,
    /// Whether it counts beside what else was told of the session.
    pub counted: bool,
    /// Who told of it.
    pub told: String,
    /// When it was answered.
    #[schema(format = DateTime)]
    pub time: String,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The calls it asked for.
    pub calls: Vec<String>,
}

/// One thing in a session's trace.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum TraceItem {
    /// A call, from the wish to the outcome.
    Call(Call),
    /// A request to a model.
    Request(ModelRequest),
    /// Anything else worth a line.
    Event(Event),
}

/// Errors that look alike.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ErrorGroup {
    /// What they have in common, hashed; their name in this API.
    pub fingerprint: String,
    /// Whose they are.
    pub project_id: String,
    /// What failed: `tool`, `model` or `turn`.
    pub what: String,
    /// The tool, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What they have in common.
    pub title: String,
    /// What the last one said.
    pub sample: String,
    /// When the first one was seen.
    #[schema(format = DateTime)]
    pub first_seen: String,
    /// When the last one was seen.
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// How many there were.
    pub count: u64,
    /// Whose they were, up to 64.
    pub agents: Vec<String>,
    /// In which sessions, up to 64.
    pub sessions: Vec<String>,
    /// `open` or `resolved`.
    pub state: String,
    /// Who said so last; absent if nobody did, or it opened again by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub since: Option<String>,
    /// How often it was resolved and seen again.
    pub returned: u64,
}

/// What somebody says of errors.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeErrors {
    /// Why.
    #[schema(min_length = 1, max_length = 1000)]
    pub reason: String,
    /// Who says so; the caller, if nobody is named.
    #[schema(max_length = 128)]
    #[serde(default)]
    pub by: Option<String>,
}
