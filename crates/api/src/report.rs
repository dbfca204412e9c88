//! What records come to: how agents do, how tools are used, what it costs, who gets nowhere.

use serde::Serialize;
use utoipa::ToSchema;

use crate::record::{Counts, Spent};

/// How well an agent does, from 0 to 100; what cannot be known is absent.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Score {
    /// The mean of the parts that are known.
    pub overall: Option<f64>,
    /// Calls that succeeded, of those that came to an end.
    pub success: Option<f64>,
    /// How long a call takes, compared with the project's mean.
    pub speed: Option<f64>,
    /// What a successful call costs, compared with the project's mean.
    pub cost_efficiency: Option<f64>,
    /// Turns and requests that did not break off.
    pub reliability: Option<f64>,
}

/// What agents did.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AgentMetrics {
    /// The agent, or what several have in common.
    pub key: String,
    /// The session, if it is one agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What kind of subagent it is, if it is one agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// The program, if it is one agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// How many agents there are.
    pub agents: u64,
    /// What was counted.
    pub counts: Counts,
    /// Calls that succeeded, of those that came to an end.
    pub success_rate: Option<f64>,
    /// How long calls took, at the median.
    pub p50_ms: Option<u64>,
    /// How long the slowest twentieth took at least.
    pub p95_ms: Option<u64>,
    /// How long calls took on average.
    pub mean_ms: Option<f64>,
    /// What they spent themselves.
    pub spent: Spent,
    /// How well they do.
    pub score: Score,
    /// When the first was first heard of.
    #[schema(format = DateTime)]
    pub first: String,
    /// When the last was last heard of.
    #[schema(format = DateTime)]
    pub last: String,
}

/// What agents did, put together.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AgentReport {
    /// The agents, the busiest first.
    pub items: Vec<AgentMetrics>,
}

/// How a tool was used.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ToolUsage {
    /// The tool.
    pub tool: String,
    /// Everything together.
    #[serde(flatten)]
    pub total: ToolStretch,
    /// Stretch by stretch, in order.
    pub trend: Vec<ToolStretch>,
}

/// How a tool was used in a stretch of time.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ToolStretch {
    /// The first day; absent in the total.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = Date)]
    pub from: Option<String>,
    /// Calls.
    pub calls: u64,
    /// Calls that did what they should.
    pub succeeded: u64,
    /// Calls that failed, or took too long.
    pub failed: u64,
    /// Calls that were not allowed.
    pub denied: u64,
    /// Calls somebody interrupted.
    pub cancelled: u64,
    /// Calls that succeeded, of those that came to an end.
    pub success_rate: Option<f64>,
    /// How long they took, at the median; known to within 5 percent.
    pub p50_ms: Option<u64>,
    /// How long the slowest twentieth took at least.
    pub p95_ms: Option<u64>,
    /// How long they took on average.
    pub mean_ms: Option<f64>,
    /// Bytes they were given.
    pub input_bytes: u64,
    /// Bytes they gave back.
    pub output_bytes: u64,
    /// Their share of what requests to models cost.
    pub cost_usd: f64,
}

/// How tools were used.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ToolReport {
    /// The tools, the most used first; at most 1,000.
    pub items: Vec<ToolUsage>,
}

/// Agents of one kind that were started by agents of another.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Handoff {
    /// The kind that started them; `main` for sessions' own agents.
    pub from: String,
    /// The kind that was started.
    pub to: String,
    /// How often.
    pub count: u64,
    /// How many of them are done.
    pub done: u64,
    /// Calls they made that failed.
    pub calls_failed: u64,
    /// How long one took on average, as far as they are done.
    pub mean_ms: Option<f64>,
    /// What they spent themselves.
    pub spent: Spent,
}

/// Who handed work to whom.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HandoffGraph {
    /// Kinds of agents.
    pub nodes: Vec<String>,
    /// Who started whom, the most frequent first.
    pub edges: Vec<Handoff>,
}

/// What was spent for something.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CostLine {
    /// For what.
    pub key: String,
    /// How much. By tool, only the cost is known.
    #[serde(flatten)]
    pub spent: Spent,
}

/// What was spent.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CostReport {
    /// What it is put together by.
    pub by: String,
    /// The day of the price list that tokens without a reported cost are priced with.
    pub prices_as_of: String,
    /// The lines, the dearest first; days in order. At most 1,000.
    pub items: Vec<CostLine>,
    /// All lines together.
    pub total_usd: f64,
}

/// An agent that gets nowhere.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Detection {
    /// `loop`: the same call over and over. `stall`: work without a word.
    pub kind: String,
    /// The session.
    pub session_id: String,
    /// The subagent; absent for the session's own agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What it is doing now: `working`, `waiting`, `idle`, `done` or `failed`.
    pub state: String,
    /// The tool it calls over and over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The last call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// How often in a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// How many of them failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// When it was last heard of.
    #[schema(format = DateTime)]
    pub last: String,
    /// For how long it has been silent.
    pub silent_seconds: u64,
}

/// Agents that get nowhere.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Detections {
    /// They, loops first.
    pub items: Vec<Detection>,
}
