//! What a store keeps besides events: rows with the columns they are found by, and their whole record as JSON.
//!
//! Owns: the shape of one write. Refuses: meaning; what a record holds is the business of the use case that wrote it.

use std::collections::BTreeMap;

use belljar_domain::{
    ApprovalId, ApprovalState, DeliveryId, Digest, EventId, EventStatus, ExecutionId, NewEvent, ProjectId,
    RunId, RunState, SandboxId, SandboxState, SnapshotId, Timestamp, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is written at once: all of it or nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Events to append, in this order.
    pub events: Vec<NewEvent>,
    /// Events whose id is in the ledger already are left out, instead of the batch being refused.
    pub skip_known: bool,
    /// Its events got their ids from whoever appends them, just now: nobody has to look whether one is there already.
    pub is_new: bool,
    /// Sandboxes to put, replacing what is known of them.
    pub sandboxes: Vec<SandboxRow>,
    /// Executions to put.
    pub executions: Vec<ExecutionRow>,
    /// Snapshots to put.
    pub snapshots: Vec<SnapshotRow>,
    /// Documents to put.
    pub documents: Vec<Document>,
    /// Idempotency keys to claim or to answer.
    pub idempotency: Vec<IdempotencyRow>,
    /// Approvals to open, answer or close.
    pub approvals: Vec<ApprovalChange>,
    /// Runs to put.
    pub runs: Vec<RunRow>,
    /// Attempts to reach a webhook.
    pub deliveries: Vec<DeliveryRow>,
    /// Output of commands.
    pub logs: Vec<LogChunk>,
    /// Measurements.
    pub samples: Vec<Sample>,
    /// Rows to remove. Events cannot be.
    pub removals: Vec<Removal>,
}

impl Batch {
    /// Events alone.
    #[must_use]
    pub fn of_events(events: Vec<NewEvent>) -> Self {
        Self { events, ..Self::default() }
    }
}

/// The places a batch's events got in the ledger, both included. Without events `first` is `last + 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Of its first event.
    pub first: u64,
    /// Of its last event, or the ledger's last when it had none.
    pub last: u64,
}

/// A sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SandboxRow {
    /// Its identity; sandboxes are listed by it, newest first.
    pub id: SandboxId,
    /// Whose it is.
    pub project: ProjectId,
    /// Its name for people.
    pub name: String,
    /// Where it is in its life.
    pub state: SandboxState,
    /// The agent it belongs to.
    pub agent: Option<String>,
    /// What it was made from.
    pub template: String,
    /// Free tags.
    pub labels: BTreeMap<String, String>,
    /// When it was made.
    pub created: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// Everything.
    pub record: Value,
}

/// One command in a sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionRow {
    /// Its identity; executions are listed by it, newest first.
    pub id: ExecutionId,
    /// Where it ran.
    pub sandbox: SandboxId,
    /// Whose it is.
    pub project: ProjectId,
    /// The command, for people.
    pub command: String,
    /// How it ended; `None` while it runs.
    pub status: Option<EventStatus>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// Everything.
    pub record: Value,
}

/// A snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotRow {
    /// Its identity.
    pub id: SnapshotId,
    /// What it was taken of.
    pub sandbox: SandboxId,
    /// Whose it is.
    pub project: ProjectId,
    /// Its name for people.
    pub name: Option<String>,
    /// When it was taken.
    pub created: Timestamp,
    /// Bytes on disk.
    pub bytes: u64,
    /// Everything.
    pub record: Value,
}

/// A small thing found by its name: a template, a webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// What it is one of, such as `webhook`.
    pub collection: String,
    /// Its name among them.
    pub id: String,
    /// Whose it is.
    pub project: ProjectId,
    /// When it was last put.
    pub updated: Timestamp,
    /// Everything.
    pub record: Value,
}

/// A request that is to be carried out once, however often it is made.
///
/// Putting one without a response claims the key: [`super::StoreError::KeyTaken`] when it is claimed already,
/// [`super::StoreError::KeyReused`] when it is for another request. Putting one with a response answers it. A claim
/// whose answer never came stays as it is: what was done for it may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRow {
    /// Whose it is.
    pub project: ProjectId,
    /// What the client called it.
    pub key: String,
    /// A hash of the request; the same key with another is refused.
    pub fingerprint: Digest,
    /// What was answered; `None` until then, and for good if whoever carried it out was killed.
    pub response: Option<StoredResponse>,
    /// When the key was claimed.
    pub created: Timestamp,
    /// When the key means nothing again.
    pub expires: Timestamp,
}

/// An answer to be repeated word for word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResponse {
    /// The HTTP status.
    pub status: u16,
    /// Its media type.
    pub media_type: String,
    /// Where what it made is, if it said so.
    pub location: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// A call that waits for a person, or waited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRow {
    /// Its identity; approvals are listed by it, newest first.
    pub id: ApprovalId,
    /// Whose it is.
    pub project: ProjectId,
    /// Where it stands.
    pub state: ApprovalState,
    /// What tells this call from others; at one time only one of a project waits with it.
    pub call: String,
    /// The agent that asks.
    pub agent: Option<String>,
    /// The conversation it belongs to.
    pub session: Option<String>,
    /// The sandbox it is about.
    pub sandbox: Option<SandboxId>,
    /// When it was asked.
    pub created: Timestamp,
    /// When no answer becomes a no.
    pub expires: Timestamp,
    /// When it was answered or closed.
    pub answered: Option<Timestamp>,
    /// When whoever asked had the answer. From then on nothing of it changes.
    pub delivered: Option<Timestamp>,
    /// Everything.
    pub record: Value,
}

/// A step in the life of an approval, taken only from where it is believed to stand: of two who answer at once, the
/// second is told [`super::StoreError::Stale`].
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalChange {
    /// Where it stands now; `None` if it is to be opened.
    pub from: Option<ApprovalState>,
    /// What it becomes.
    pub row: ApprovalRow,
}

/// One task given to several sandboxes at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// Its identity; runs are listed by it, newest first.
    pub id: RunId,
    /// Whose it is.
    pub project: ProjectId,
    /// Where it stands.
    pub state: RunState,
    /// What whoever asked for it calls the task.
    pub task: String,
    /// The attempt that won, counted from 0.
    pub winner: Option<u32>,
    /// When it began.
    pub created: Timestamp,
    /// When it was over.
    pub ended: Option<Timestamp>,
    /// Everything.
    pub record: Value,
}

/// One attempt to tell a webhook about an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryRow {
    /// Its identity.
    pub id: DeliveryId,
    /// The webhook's document.
    pub webhook: String,
    /// Whose it is.
    pub project: ProjectId,
    /// The event told.
    pub event: EventId,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// When.
    pub time: Timestamp,
    /// How it ended; `None` while it waits for its time.
    pub status: Option<EventStatus>,
    /// The HTTP status of the answer.
    pub code: Option<u16>,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// When to try again, if it is to be.
    pub retry: Option<Timestamp>,
}

/// Where output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogStream {
    /// The command.
    Stdout,
    /// The command, complaining.
    Stderr,
    /// belljar itself.
    System,
}

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogChunk {
    /// Where it was written.
    pub sandbox: SandboxId,
    /// By which command; `None` for what concerns the sandbox as a whole.
    pub execution: Option<ExecutionId>,
    /// On which stream.
    pub stream: LogStream,
    /// Where in the stream it begins. A piece that is there already is not written again.
    pub offset: u64,
    /// When it was seen.
    pub time: Timestamp,
    /// What was written.
    pub bytes: Vec<u8>,
}

/// What a sandbox used at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Which sandbox.
    pub sandbox: SandboxId,
    /// When.
    pub time: Timestamp,
    /// What.
    pub usage: Usage,
}

/// A row to remove. One that is not there is fine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// A sandbox, with its executions, logs and samples.
    Sandbox(SandboxId),
    /// A snapshot.
    Snapshot(SnapshotId),
    /// A document, by collection and name.
    Document(String, String),
    /// An idempotency key whose request failed, so that it can be made again.
    Idempotency(ProjectId, String),
    /// What points to an artifact; the artifact goes when nothing does.
    Artifact(u64),
}
