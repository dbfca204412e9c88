//! What records come to.

use belljar_domain::{
    Timestamp, Usd,
    eye::{Counts, Spent, Spread},
};

/// What an agent did, or several that have something in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentMetrics {
    /// What they have in common: a name, a kind, a program.
    pub key: String,
    /// The session, if it is one agent.
    pub session: Option<String>,
    /// The kind of subagent, if it is one agent.
    pub agent_type: Option<String>,
    /// The program, if it is one agent.
    pub vendor: Option<String>,
    /// How many agents there are.
    pub agents: u64,
    /// What was counted.
    pub counts: Counts,
    /// What they spent themselves.
    pub spent: Spent,
    /// How long their calls took.
    pub durations: Spread,
    /// All of them together, in milliseconds.
    pub duration_ms: u64,
    /// When the first was first heard of.
    pub first: Timestamp,
    /// When the last was last heard of.
    pub last: Timestamp,
}

/// How a tool was used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolUsage {
    /// The tool.
    pub tool: String,
    /// Everything together.
    pub total: ToolDay,
    /// Day by day, in order.
    pub days: Vec<ToolDay>,
}

/// How a tool was used on one day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolDay {
    /// The day, in days since 1970.
    pub day: i64,
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
    /// How long they took.
    pub durations: Spread,
    /// All of them together, in milliseconds.
    pub duration_ms: u64,
    /// Bytes they were given.
    pub input_bytes: u64,
    /// Bytes they gave back.
    pub output_bytes: u64,
    /// Their share of what requests to models cost.
    pub cost: Usd,
}

impl ToolDay {
    /// Adds another day's.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.denied += other.denied;
        self.cancelled += other.cancelled;
        self.durations.merge(&other.durations);
        self.duration_ms += other.duration_ms;
        self.input_bytes += other.input_bytes;
        self.output_bytes += other.output_bytes;
        self.cost = self.cost.plus(other.cost);
    }
}

/// Agents of one kind that were started by agents of another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    /// How long they took together, in milliseconds, as far as they are done.
    pub duration_ms: u64,
    /// What they spent themselves.
    pub spent: Spent,
}

/// What was spent for something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CostLine {
    /// For what: a day as `2026-11-16`, or a name.
    pub key: String,
    /// How much. By tool, only the cost is known.
    pub spent: Spent,
}
