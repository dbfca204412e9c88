//! Where everything is kept: the ledger, rows about what exists now, logs, measurements, artifacts.
//!
//! Owns: the trait every store implements, and the values that go in and out. Refuses: SQL, and a second way to write:
//! whatever belongs together travels in one [`Batch`] and is committed in one transaction.

mod error;
mod pending;
mod query;
mod report;
mod rows;

use std::{
    fmt::Debug,
    io::{Read, Write},
};

use belljar_domain::{
    ApprovalId, DeliveryId, Digest, Event, EventId, ExecutionId, ProjectId, RunId, SandboxId, SnapshotId,
    Timestamp,
};

pub use error::StoreError;
pub use pending::{Pending, Promise, pending};
pub use query::{
    ApprovalFilter, Artifact, ArtifactFilter, EventFilter, ExecutionFilter, ExportFormat, History, LogFilter,
    LogHits, LogRow, LogSearch, NewArtifact, PAGE_LIMIT, RunFilter, SandboxFilter, UsagePoint,
};
pub use report::{AgentSummary, Finding, Head, Pruned, Stats, StoreHealth, Tampering, Verification};
pub use rows::{
    Appended, ApprovalChange, ApprovalRow, Batch, DeliveryRow, Document, ExecutionRow, IdempotencyRow,
    LogChunk, LogStream, Removal, RunRow, Sample, SandboxRow, SnapshotRow, StoredResponse,
};

/// A place that remembers. Calls block on the disk, except [`Store::append`], which only blocks while the queue is full.
///
/// Lists hold at most [`PAGE_LIMIT`] rows; the last one's identity is where the next page begins.
pub trait Store: Debug + Send + Sync {
    /// Hands a batch to the writer. Batches are committed in the order of these calls.
    ///
    /// Returns at once, unless so much waits already that the caller has to wait as well; nothing is dropped.
    fn append(&self, batch: Batch) -> Pending;
    /// Appends a batch and waits until it is durable; quicker than doing both one after the other.
    ///
    /// # Errors
    /// When it was refused or could not be written; then nothing of it was.
    fn commit(&self, batch: Batch) -> Result<Appended, StoreError> {
        self.append(batch).wait()
    }
    /// Something will be appended in a moment: what takes long to wake may begin to. Does not wait for it.
    fn rouse(&self) {}
    /// Waits until everything appended before is durable.
    ///
    /// # Errors
    /// When the store is closed.
    fn flush(&self) -> Result<(), StoreError>;
    /// Writes what waits, then ends the writer. Later appends answer [`StoreError::Closed`].
    ///
    /// # Errors
    /// When the last of it cannot be written. Closing twice is fine.
    fn close(&self) -> Result<(), StoreError>;
    /// How the writer is doing; cheap.
    fn health(&self) -> StoreHealth;

    /// Events after a place in the ledger, oldest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn events(&self, filter: &EventFilter, after: u64, limit: usize) -> Result<Vec<Event>, StoreError>;
    /// Events before a place in the ledger, newest first; `u64::MAX` begins at the end.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn events_before(
        &self,
        filter: &EventFilter,
        before: u64,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError>;
    /// Events at these places, in the order of the places; those that are gone are left out.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn events_at(&self, places: &[u64]) -> Result<Vec<Event>, StoreError>;
    /// One event by its identity.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn event(&self, id: EventId) -> Result<Option<Event>, StoreError>;
    /// The place of the last durable event; 0 when there is none.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn last_seq(&self) -> Result<u64, StoreError>;

    /// One sandbox.
    ///
    /// # Errors
    /// When it cannot be read.
    fn sandbox(&self, id: SandboxId) -> Result<Option<SandboxRow>, StoreError>;
    /// Sandboxes, newest first, from just below one of them.
    ///
    /// # Errors
    /// When they cannot be read.
    fn sandboxes(
        &self,
        filter: &SandboxFilter,
        below: Option<SandboxId>,
        limit: usize,
    ) -> Result<Vec<SandboxRow>, StoreError>;
    /// One execution.
    ///
    /// # Errors
    /// When it cannot be read.
    fn execution(&self, id: ExecutionId) -> Result<Option<ExecutionRow>, StoreError>;
    /// Executions, newest first, from just below one of them.
    ///
    /// # Errors
    /// When they cannot be read.
    fn executions(
        &self,
        filter: &ExecutionFilter,
        below: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<ExecutionRow>, StoreError>;
    /// One snapshot.
    ///
    /// # Errors
    /// When it cannot be read.
    fn snapshot(&self, id: SnapshotId) -> Result<Option<SnapshotRow>, StoreError>;
    /// A project's snapshots, or everyone's, newest first, from just below one of them.
    ///
    /// # Errors
    /// When they cannot be read.
    fn snapshots(
        &self,
        project: Option<&ProjectId>,
        below: Option<SnapshotId>,
        limit: usize,
    ) -> Result<Vec<SnapshotRow>, StoreError>;
    /// One document.
    ///
    /// # Errors
    /// When it cannot be read.
    fn document(&self, collection: &str, id: &str) -> Result<Option<Document>, StoreError>;
    /// A project's documents of one collection, or everyone's, by name, after one of them.
    ///
    /// # Errors
    /// When they cannot be read.
    fn documents(
        &self,
        collection: &str,
        project: Option<&ProjectId>,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Document>, StoreError>;
    /// One approval.
    ///
    /// # Errors
    /// When it cannot be read.
    fn approval(&self, id: ApprovalId) -> Result<Option<ApprovalRow>, StoreError>;
    /// Approvals, newest first, from just below one of them.
    ///
    /// # Errors
    /// When they cannot be read.
    fn approvals(
        &self,
        filter: &ApprovalFilter,
        below: Option<ApprovalId>,
        limit: usize,
    ) -> Result<Vec<ApprovalRow>, StoreError>;
    /// One run.
    ///
    /// # Errors
    /// When it cannot be read.
    fn run(&self, id: RunId) -> Result<Option<RunRow>, StoreError>;
    /// Runs, newest first, from just below one of them.
    ///
    /// # Errors
    /// When they cannot be read.
    fn runs(&self, filter: &RunFilter, below: Option<RunId>, limit: usize)
    -> Result<Vec<RunRow>, StoreError>;
    /// What is known of an idempotency key, unless it has expired by `now`.
    ///
    /// # Errors
    /// When it cannot be read.
    fn idempotency(
        &self,
        project: &ProjectId,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<IdempotencyRow>, StoreError>;
    /// Attempts to reach a webhook, newest first, from just below one of them.
    ///
    /// # Errors
    /// When they cannot be read.
    fn deliveries(
        &self,
        webhook: &str,
        below: Option<DeliveryId>,
        limit: usize,
    ) -> Result<Vec<DeliveryRow>, StoreError>;
    /// Attempts to be made again by `now`, the most overdue first.
    ///
    /// # Errors
    /// When they cannot be read.
    fn due_deliveries(&self, now: Timestamp, limit: usize) -> Result<Vec<DeliveryRow>, StoreError>;

    /// Pieces of a log in the order they arrived, after one of them. At most 4 MiB at once.
    ///
    /// # Errors
    /// When the log cannot be read.
    fn logs(&self, filter: &LogFilter, after: u64, limit: usize) -> Result<Vec<LogRow>, StoreError>;
    /// Bytes of one stream from an offset, up to `max` of them, as far as they are there without a hole.
    ///
    /// # Errors
    /// When the log cannot be read.
    fn log_bytes(
        &self,
        execution: ExecutionId,
        stream: LogStream,
        offset: u64,
        max: usize,
    ) -> Result<Vec<u8>, StoreError>;
    /// Looks for words in logs.
    ///
    /// # Errors
    /// When there is no word to look for, or the logs cannot be read.
    fn search_logs(&self, search: &LogSearch, limit: usize) -> Result<LogHits, StoreError>;

    /// What a sandbox used, step by step; steps without a measurement are left out.
    ///
    /// # Errors
    /// When the measurements cannot be read.
    fn history(&self, history: &History) -> Result<Vec<UsagePoint>, StoreError>;

    /// Keeps a file; one with the same content is kept once. Durable when this returns.
    ///
    /// # Errors
    /// When it is larger than a file, or all of them together, may be; when it cannot be read or written.
    fn put_artifact(&self, about: &NewArtifact, content: &mut dyn Read) -> Result<Artifact, StoreError>;
    /// Artifacts, newest first, from just below one of them.
    ///
    /// # Errors
    /// When they cannot be read.
    fn artifacts(
        &self,
        filter: &ArtifactFilter,
        below: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Artifact>, StoreError>;
    /// Opens an artifact's content at an offset.
    ///
    /// # Errors
    /// When there is no such artifact, or it cannot be read.
    fn open_artifact(&self, digest: Digest, offset: u64) -> Result<Box<dyn Read + Send>, StoreError>;

    /// Computes the whole ledger again, and compares it with a head noted elsewhere if one is given.
    ///
    /// # Errors
    /// When it cannot be read. That it was tampered with is not an error but a finding.
    fn verify(&self, noted: Option<Head>) -> Result<Verification, StoreError>;
    /// Writes events to somewhere, oldest first; the answer is how many.
    ///
    /// # Errors
    /// When they cannot be read or written.
    fn export(
        &self,
        filter: &EventFilter,
        format: ExportFormat,
        to: &mut dyn Write,
    ) -> Result<u64, StoreError>;
    /// Counts what there is, in all or in one project.
    ///
    /// # Errors
    /// When it cannot be read.
    fn stats(&self, project: Option<&ProjectId>) -> Result<Stats, StoreError>;
    /// Sums up what agents did from a moment until before another, the busiest first.
    ///
    /// # Errors
    /// When it cannot be read.
    fn agent_summaries(
        &self,
        project: Option<&ProjectId>,
        agent: Option<&str>,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<AgentSummary>, StoreError>;
    /// Removes what is past its time at `now`, and more if there is too much, in the order measurements, logs, events;
    /// what belongs to the audit stays for its 90 days. The ledger stays verifiable.
    ///
    /// # Errors
    /// When it cannot be written.
    fn prune(&self, now: Timestamp) -> Result<Pruned, StoreError>;
}
