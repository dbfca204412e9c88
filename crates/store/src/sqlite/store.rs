//! The port, method by method; each one line says where the work is done.

use std::{
    io::{Read, Write},
    sync::atomic::Ordering,
    time::Duration,
};

use belljar_domain::{
    ApprovalId, DeliveryId, Digest, Event, EventId, ExecutionId, ProjectId, RunId, SandboxId, SnapshotId,
    Timestamp,
};
use belljar_ports::store::{
    AgentSummary, Appended, ApprovalFilter, ApprovalRow, Artifact, ArtifactFilter, Batch, DeliveryRow,
    Document, EventFilter, ExecutionFilter, ExecutionRow, ExportFormat, Head, History, IdempotencyRow,
    LogFilter, LogHits, LogRow, LogSearch, LogStream, NewArtifact, PAGE_LIMIT, Pending, Pruned, RunFilter,
    RunRow, SandboxFilter, SandboxRow, SnapshotRow, Stats, Store, StoreError, StoreHealth, UsagePoint,
    Verification,
};

use super::{
    SqliteStore, events, files, logs, prepared::Prepared, rows, samples, stats, verify, writer::Work,
};
use crate::{daybook::stir::Stir, export};

type Answer<T> = Result<T, StoreError>;

impl Store for SqliteStore {
    fn append(&self, batch: Batch) -> Pending {
        match Prepared::new(batch, &self.config) {
            Ok(prepared) => {
                let weight = prepared.weight;
                self.submit(Work::Batch(prepared), weight)
            }
            Err(error) => Pending::ready(Err(error)),
        }
    }

    fn commit(&self, batch: Batch) -> Answer<Appended> {
        match self.lead(Prepared::new(batch, &self.config)?) {
            Ok(answer) => answer,
            Err(prepared) => {
                let weight = prepared.weight;
                self.submit(Work::Batch(prepared), weight).wait()
            }
        }
    }

    fn rouse(&self) {
        self.desk.iter().filter_map(|desk| desk.stir.as_ref()).for_each(Stir::wake);
    }

    fn flush(&self) -> Answer<()> {
        self.task(Box::new(|_| Ok(())))
    }

    fn close(&self) -> Answer<()> {
        self.end();
        Ok(())
    }

    fn health(&self) -> StoreHealth {
        let Some(desk) = &self.desk else { return StoreHealth::default() };
        let (queued, queued_bytes, lag) = desk.queue.depth();
        StoreHealth {
            queued: queued as u64,
            queued_bytes: queued_bytes as u64,
            lag,
            commits: desk.commits.load(Ordering::Relaxed),
            failures: desk.failures.load(Ordering::Relaxed),
            last_commit: Duration::from_micros(desk.last_commit_micros.load(Ordering::Relaxed)),
            last_seq: desk.last_seq.load(Ordering::Acquire),
            unindexed: desk.last_log.load(Ordering::Relaxed).saturating_sub(self.on_logs.done()),
        }
    }

    fn events(&self, filter: &EventFilter, after: u64, limit: usize) -> Answer<Vec<Event>> {
        self.pool.read(|db| events::list(db, filter, events::From::After(after), limit))
    }

    fn events_before(&self, filter: &EventFilter, before: u64, limit: usize) -> Answer<Vec<Event>> {
        self.pool.read(|db| events::list(db, filter, events::From::Before(before), limit))
    }

    fn events_at(&self, places: &[u64]) -> Answer<Vec<Event>> {
        self.pool.read(|db| events::at(db, places))
    }

    fn event(&self, id: EventId) -> Answer<Option<Event>> {
        self.pool.read(|db| events::find(db, id))
    }

    fn last_seq(&self) -> Answer<u64> {
        self.durable_seq().map_or_else(|| self.pool.read(events::last), Ok)
    }

    fn sandbox(&self, id: SandboxId) -> Answer<Option<SandboxRow>> {
        self.pool.read(|db| rows::sandbox(db, id))
    }

    fn sandboxes(
        &self,
        filter: &SandboxFilter,
        below: Option<SandboxId>,
        limit: usize,
    ) -> Answer<Vec<SandboxRow>> {
        self.pool.read(|db| rows::sandboxes(db, filter, below, limit))
    }

    fn execution(&self, id: ExecutionId) -> Answer<Option<ExecutionRow>> {
        self.pool.read(|db| rows::execution(db, id))
    }

    fn executions(
        &self,
        filter: &ExecutionFilter,
        below: Option<ExecutionId>,
        limit: usize,
    ) -> Answer<Vec<ExecutionRow>> {
        self.pool.read(|db| rows::executions(db, filter, below, limit))
    }

    fn snapshot(&self, id: SnapshotId) -> Answer<Option<SnapshotRow>> {
        self.pool.read(|db| rows::snapshot(db, id))
    }

    fn snapshots(
        &self,
        project: Option<&ProjectId>,
        below: Option<SnapshotId>,
        limit: usize,
    ) -> Answer<Vec<SnapshotRow>> {
        self.pool.read(|db| rows::snapshots(db, project, below, limit))
    }

    fn document(&self, collection: &str, id: &str) -> Answer<Option<Document>> {
        self.pool.read(|db| rows::document(db, collection, id))
    }

    fn documents(
        &self,
        collection: &str,
        project: Option<&ProjectId>,
        after: &str,
        limit: usize,
    ) -> Answer<Vec<Document>> {
        self.pool.read(|db| rows::documents(db, collection, project, after, limit))
    }

    fn approval(&self, id: ApprovalId) -> Answer<Option<ApprovalRow>> {
        self.pool.read(|db| rows::approval(db, id))
    }

    fn approvals(
        &self,
        filter: &ApprovalFilter,
        below: Option<ApprovalId>,
        limit: usize,
    ) -> Answer<Vec<ApprovalRow>> {
        self.pool.read(|db| rows::approvals(db, filter, below, limit))
    }

    fn run(&self, id: RunId) -> Answer<Option<RunRow>> {
        self.pool.read(|db| rows::run(db, id))
    }

    fn runs(&self, filter: &RunFilter, below: Option<RunId>, limit: usize) -> Answer<Vec<RunRow>> {
        self.pool.read(|db| rows::runs(db, filter, below, limit))
    }

    fn idempotency(&self, project: &ProjectId, key: &str, now: Timestamp) -> Answer<Option<IdempotencyRow>> {
        self.pool.read(|db| rows::idempotency(db, project, key, now))
    }

    fn deliveries(&self, webhook: &str, below: Option<DeliveryId>, limit: usize) -> Answer<Vec<DeliveryRow>> {
        self.pool.read(|db| rows::deliveries(db, webhook, below, limit))
    }

    fn due_deliveries(&self, now: Timestamp, limit: usize) -> Answer<Vec<DeliveryRow>> {
        self.pool.read(|db| rows::due_deliveries(db, now, limit))
    }

    fn logs(&self, filter: &LogFilter, after: u64, limit: usize) -> Answer<Vec<LogRow>> {
        self.pool.read(|db| logs::list(db, filter, after, limit))
    }

    fn log_bytes(
        &self,
        execution: ExecutionId,
        stream: LogStream,
        offset: u64,
        max: usize,
    ) -> Answer<Vec<u8>> {
        self.pool.read(|db| logs::bytes(db, execution, stream, offset, max))
    }

    fn search_logs(&self, search: &LogSearch, limit: usize) -> Answer<LogHits> {
        self.search(search, limit)
    }

    fn history(&self, history: &History) -> Answer<Vec<UsagePoint>> {
        self.pool.read(|db| samples::history(db, history))
    }

    fn put_artifact(&self, about: &NewArtifact, content: &mut dyn Read) -> Answer<Artifact> {
        self.keep_artifact(about, content)
    }

    fn artifacts(&self, filter: &ArtifactFilter, below: Option<u64>, limit: usize) -> Answer<Vec<Artifact>> {
        self.pool.read(|db| files::list(db, filter, below, limit))
    }

    fn open_artifact(&self, digest: Digest, offset: u64) -> Answer<Box<dyn Read + Send>> {
        Ok(Box::new(self.artifacts.open(digest, offset)?))
    }

    fn verify(&self, noted: Option<Head>) -> Answer<Verification> {
        self.pool.read(|db| verify::verify(db, &self.seal, noted))
    }

    fn export(&self, filter: &EventFilter, format: ExportFormat, to: &mut dyn Write) -> Answer<u64> {
        let failed = |e| StoreError::backend("write the export", e);
        export::begin(format, to).map_err(failed)?;
        let (mut after, mut count) = (0, 0);
        loop {
            let page = self.events(filter, after, PAGE_LIMIT)?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            count += page.len() as u64;
            page.iter().try_for_each(|event| export::event(event, format, to)).map_err(failed)?;
        }
        to.flush().map_err(failed)?;
        Ok(count)
    }

    fn stats(&self, project: Option<&ProjectId>) -> Answer<Stats> {
        self.pool.read(|db| stats::stats(db, project))
    }

    fn agent_summaries(
        &self,
        project: Option<&ProjectId>,
        agent: Option<&str>,
        from: Timestamp,
        until: Timestamp,
    ) -> Answer<Vec<AgentSummary>> {
        self.pool.read(|db| stats::agents(db, stats::Asked { project, agent, from, until }))
    }

    fn prune(&self, now: Timestamp) -> Answer<Pruned> {
        self.prune_all(now)
    }
}
