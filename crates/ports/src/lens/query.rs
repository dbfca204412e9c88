//! What can be asked of records. Every condition that is given must hold.

use belljar_domain::{
    EventStatus, ExecutionId, ProjectId, RunId, SandboxId, Timestamp, Verdict,
    eye::{ErrorGroupState, SessionState},
};

use crate::store::EventFilter;

/// Which events, by more than the ledger has indexes for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventSearch {
    /// As in the ledger.
    pub filter: EventFilter,
    /// About this tool.
    pub tool: Option<String>,
    /// By agents of this program.
    pub app: Option<String>,
    /// That came of this prompt.
    pub prompt: Option<String>,
    /// About this call.
    pub tool_use_id: Option<String>,
    /// Besides those of the filter's time also those whose clock is more than a day off, which may be of any time.
    pub odd_clocks: bool,
    /// With all of these words; a trailing `*` stands for any ending.
    pub text: Option<String>,
}

/// Which calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// In this session.
    pub session: Option<String>,
    /// By this subagent; empty for the sessions' own agents.
    pub agent: Option<String>,
    /// Of this tool.
    pub tool: Option<String>,
    /// Under this name.
    pub tool_use_id: Option<String>,
    /// That came of this prompt.
    pub prompt: Option<String>,
    /// In this sandbox.
    pub sandbox: Option<SandboxId>,
    /// Of this command.
    pub execution: Option<ExecutionId>,
    /// Of this run.
    pub run: Option<RunId>,
    /// That were judged so.
    pub decision: Option<Verdict>,
    /// That ended so.
    pub outcome: Option<EventStatus>,
    /// That are still going on, or are not.
    pub open: Option<bool>,
    /// That failed like this.
    pub fingerprint: Option<String>,
    /// That took at least so long, in milliseconds.
    pub slower_than: Option<u64>,
    /// That began then or later.
    pub from: Option<Timestamp>,
    /// That began before.
    pub until: Option<Timestamp>,
}

/// Which sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// In one of these states; any when empty.
    pub states: Vec<SessionState>,
    /// Of agents of this program.
    pub vendor: Option<String>,
    /// With this model.
    pub model: Option<String>,
    /// In this directory.
    pub cwd: Option<String>,
    /// That came out of this session.
    pub parent: Option<String>,
    /// In this sandbox.
    pub sandbox: Option<SandboxId>,
    /// Of this run.
    pub run: Option<RunId>,
    /// That began then or later.
    pub from: Option<Timestamp>,
    /// That began before.
    pub until: Option<Timestamp>,
    /// That were last heard of before, by belljar's clock.
    pub quiet_since: Option<Timestamp>,
}

/// Which agents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// In this session.
    pub session: Option<String>,
    /// This agent: a subagent by its name, a session's own by the session's.
    pub agent: Option<String>,
    /// Of this kind.
    pub agent_type: Option<String>,
    /// Of this program.
    pub vendor: Option<String>,
    /// Last heard of then or later.
    pub from: Option<Timestamp>,
    /// First heard of before.
    pub until: Option<Timestamp>,
}

/// Which errors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// Dealt with, or not.
    pub state: Option<ErrorGroupState>,
    /// Of this tool.
    pub tool: Option<String>,
    /// Of this kind: `tool`, `model`, `turn`.
    pub what: Option<String>,
    /// Last seen then or later.
    pub from: Option<Timestamp>,
    /// First seen before.
    pub until: Option<Timestamp>,
}

/// A stretch of days, and what is looked at in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Period {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// From the day of this moment on.
    pub from: Option<Timestamp>,
    /// Until the day before this moment's, unless it is within one; then that one too.
    pub until: Option<Timestamp>,
    /// In this session.
    pub session: Option<String>,
    /// Of this tool.
    pub tool: Option<String>,
}

/// What agents are put together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// Each by itself.
    Agent,
    /// By what kind of subagent they are.
    Type,
    /// By program.
    Vendor,
}

/// What money is put together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostBy {
    /// By day, in UTC.
    Day,
    /// By project.
    Project,
    /// By session.
    Session,
    /// By agent: a subagent by its name, a session's own by the session's.
    Agent,
    /// By model.
    Model,
    /// By tool; what no call asked for is nobody's.
    Tool,
    /// By run.
    Run,
    /// By sandbox.
    Sandbox,
}
