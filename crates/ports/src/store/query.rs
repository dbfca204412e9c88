//! What can be asked of a store: filters, pages, and the places they go on from.
//!
//! Every list is bounded by [`PAGE_LIMIT`], whatever was asked for.

use std::collections::BTreeMap;

use belljar_domain::{
    ApprovalState, Digest, Event, EventStatus, ExecutionId, ProjectId, RunId, RunState, SandboxId,
    SandboxState, Timestamp, Verdict,
};

use super::{LogChunk, LogStream};

/// The most rows of any answer.
pub const PAGE_LIMIT: usize = 1_000;

/// Which events. Every condition that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// Of a kind that is, or begins with, one of these followed by a dot; any when empty.
    pub kinds: Vec<String>,
    /// In this sandbox.
    pub sandbox: Option<SandboxId>,
    /// Of this command.
    pub execution: Option<ExecutionId>,
    /// Of this run.
    pub run: Option<RunId>,
    /// By the agent with this identity.
    pub agent: Option<String>,
    /// In this session.
    pub session: Option<String>,
    /// With this type of operation.
    pub operation: Option<String>,
    /// That ended so.
    pub status: Option<EventStatus>,
    /// That were judged so.
    pub decision: Option<Verdict>,
    /// That happened then or later.
    pub from: Option<Timestamp>,
    /// That happened before.
    pub until: Option<Timestamp>,
}

impl EventFilter {
    /// Says whether an event is one of these, as a store would.
    #[must_use]
    pub fn admits(&self, event: &Event) -> bool {
        fn is<T: PartialEq>(wanted: Option<&T>, found: Option<&T>) -> bool {
            wanted.is_none() || wanted == found
        }
        let what = &event.what;
        is(self.project.as_ref(), Some(&what.project))
            && (self.kinds.is_empty() || self.kinds.iter().any(|family| what.kind.is_of(family)))
            && is(self.sandbox.as_ref(), what.sandbox.as_ref())
            && is(self.execution.as_ref(), what.execution.as_ref())
            && is(self.run.as_ref(), what.run.as_ref())
            && is(self.agent.as_ref(), what.actor.id.as_ref())
            && is(self.session.as_ref(), what.session.as_ref())
            && is(self.operation.as_ref(), what.operation.as_ref())
            && is(self.status.as_ref(), what.status.as_ref())
            && is(self.decision.as_ref(), what.decision.as_ref())
            && self.from.is_none_or(|from| what.time >= from)
            && self.until.is_none_or(|until| what.time < until)
    }
}

/// Which sandboxes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// In one of these states; any when empty.
    pub states: Vec<SandboxState>,
    /// Of this agent.
    pub agent: Option<String>,
    /// Made from this.
    pub template: Option<String>,
    /// With all of these tags.
    pub labels: BTreeMap<String, String>,
    /// Whose record has a `metadata` with all of these values, as they are written; values within values do not count.
    pub metadata: BTreeMap<String, String>,
    /// Made then or later.
    pub from: Option<Timestamp>,
    /// Made before.
    pub until: Option<Timestamp>,
}

/// Which executions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecutionFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// In this sandbox.
    pub sandbox: Option<SandboxId>,
    /// That ended so.
    pub status: Option<EventStatus>,
}

/// Which approvals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// In one of these states; any when empty.
    pub states: Vec<ApprovalState>,
    /// Asked by this agent.
    pub agent: Option<String>,
    /// In this conversation.
    pub session: Option<String>,
    /// About this sandbox.
    pub sandbox: Option<SandboxId>,
    /// Of this call.
    pub call: Option<String>,
}

/// Which log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogFilter {
    /// Of this sandbox.
    pub sandbox: SandboxId,
    /// Of this command alone.
    pub execution: Option<ExecutionId>,
    /// Of this stream alone.
    pub stream: Option<LogStream>,
    /// Written then or later.
    pub from: Option<Timestamp>,
    /// Written before.
    pub until: Option<Timestamp>,
}

impl LogFilter {
    /// All of a sandbox's log.
    #[must_use]
    pub const fn of(sandbox: SandboxId) -> Self {
        Self { sandbox, execution: None, stream: None, from: None, until: None }
    }
}

/// A piece of a log as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRow {
    /// Its place among all pieces; reading goes on after it.
    pub seq: u64,
    /// The piece.
    pub chunk: LogChunk,
    /// Whether the stream went on beyond the cap, where it was cut.
    pub cut: bool,
}

/// Which runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// In one of these states; any when empty.
    pub states: Vec<RunState>,
    /// Of this task.
    pub task: Option<String>,
    /// Begun then or later.
    pub from: Option<Timestamp>,
    /// Begun before.
    pub until: Option<Timestamp>,
}

/// What to look for in logs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogSearch {
    /// Words that must all occur in the same piece; a trailing `*` stands for any ending.
    pub words: String,
    /// In this sandbox alone.
    pub sandbox: Option<SandboxId>,
    /// In one of this project's sandboxes.
    pub project: Option<ProjectId>,
    /// By this command alone.
    pub execution: Option<ExecutionId>,
    /// In this stream alone.
    pub stream: Option<LogStream>,
    /// Written then or later.
    pub from: Option<Timestamp>,
    /// Written before.
    pub until: Option<Timestamp>,
    /// Among pieces older than this one; from the newest when absent.
    pub before: Option<u64>,
}

/// What was found in logs, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogHits {
    /// The pieces; fewer than asked for when there are no more, or the search took too long.
    pub rows: Vec<LogRow>,
    /// Where to go on before, unless there is nothing older.
    pub next: Option<u64>,
    /// Whether everything written before the search began was searched.
    pub complete: bool,
}

/// A stretch of time to summarise what a sandbox used in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    /// Which sandbox.
    pub sandbox: SandboxId,
    /// From then.
    pub from: Timestamp,
    /// Until before then.
    pub until: Timestamp,
    /// Seconds each point stands for, at least one.
    pub step_seconds: u32,
}

/// What a sandbox used in one step of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsagePoint {
    /// Where the step begins.
    pub time: Timestamp,
    /// How many measurements it is made of.
    pub samples: u64,
    /// Processor time since creation, at the last of them.
    pub cpu_micros: Option<u64>,
    /// Memory on average.
    pub memory_bytes: Option<u64>,
    /// The most memory measured.
    pub memory_max_bytes: Option<u64>,
    /// The most disk measured.
    pub disk_bytes: Option<u64>,
    /// Bytes received since creation.
    pub net_rx_bytes: Option<u64>,
    /// Bytes sent since creation.
    pub net_tx_bytes: Option<u64>,
    /// The most processes measured.
    pub pids: Option<u64>,
}

/// A file to keep: output, a diff, a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewArtifact {
    /// Whose it is.
    pub project: ProjectId,
    /// Where it came from.
    pub sandbox: Option<SandboxId>,
    /// Which command made it.
    pub execution: Option<ExecutionId>,
    /// Which run.
    pub run: Option<RunId>,
    /// Its name for people.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// When it was made.
    pub created: Timestamp,
}

/// A file that is kept, and what points to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The identity of what points to it; see [`super::Removal::Artifact`].
    pub link: u64,
    /// The hash of its content, by which it is read.
    pub digest: Digest,
    /// How long it is.
    pub bytes: u64,
    /// Where it came from.
    pub about: NewArtifact,
}

/// Which artifacts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArtifactFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// From this sandbox.
    pub sandbox: Option<SandboxId>,
    /// Of this command.
    pub execution: Option<ExecutionId>,
    /// Of this run.
    pub run: Option<RunId>,
    /// With this content.
    pub digest: Option<Digest>,
}

/// How an export is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// One JSON object a line.
    JsonLines,
    /// RFC 4180, with a header line.
    Csv,
}
