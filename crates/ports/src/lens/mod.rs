//! What agents did, as records: the other side of the ledger, made from it and made again when it is lost.
//!
//! Owns: the trait every database of records implements, and the values that go in and out. Refuses: to know what an
//! event means (that is `capture`'s folding) and to be the truth: the ledger is.

mod query;
mod report;

use std::fmt::Debug;

use belljar_domain::{
    ProjectId, Timestamp,
    eye::{AgentRecord, Call, ErrorGroup, ModelRequest, Series, Session, Shelf},
};

pub use query::{AgentFilter, CallFilter, CostBy, ErrorFilter, EventSearch, GroupBy, Period, SessionFilter};
pub use report::{AgentMetrics, CostLine, Handoff, ToolDay, ToolUsage};

use crate::store::StoreError;

/// A shelf that fails as stores do.
pub type LensShelf<'s> = dyn Shelf<Error = StoreError> + 's;

/// Where records are. Calls block on the disk. Lists hold at most [`crate::store::PAGE_LIMIT`] records.
#[expect(clippy::missing_errors_doc, reason = "each fails when the records cannot be read or written")]
pub trait Lens: Debug + Send + Sync {
    /// The place of the last event that is in the records.
    fn place(&self) -> Result<u64, StoreError>;
    /// Changes records by the events up to a place: all of it or nothing, and never twice, since the place is kept in
    /// the same transaction. Work for a place that is reached already is not done.
    fn revise(
        &self,
        to: u64,
        work: &mut dyn FnMut(&mut LensShelf<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;
    /// Removes records that were last heard of before a moment, and words of events before a place. Sums by day stay.
    fn prune(&self, before: Timestamp, place: u64) -> Result<u64, StoreError>;
    /// Bytes on disk.
    fn bytes(&self) -> Result<u64, StoreError>;

    /// Places of events, before one of them, newest first.
    fn events(&self, search: &EventSearch, before: u64, limit: usize) -> Result<Vec<u64>, StoreError>;
    /// Places of events, after one of them, oldest first.
    fn events_after(&self, search: &EventSearch, after: u64, limit: usize) -> Result<Vec<u64>, StoreError>;

    /// Calls, newest first, from just below one of them.
    fn calls(&self, filter: &CallFilter, below: u64, limit: usize) -> Result<Vec<Call>, StoreError>;
    /// Calls of one session, oldest first, after one of them.
    fn calls_of(&self, session: &Session, after: u64, limit: usize) -> Result<Vec<Call>, StoreError>;
    /// One call.
    fn call(&self, id: u64) -> Result<Option<Call>, StoreError>;
    /// Sessions, newest first, from just below one of them.
    fn sessions(&self, filter: &SessionFilter, below: u64, limit: usize) -> Result<Vec<Session>, StoreError>;
    /// One session, in a project or in any.
    fn session(&self, project: Option<&ProjectId>, session: &str) -> Result<Option<Session>, StoreError>;
    /// The agents of one session, oldest first.
    fn agents_of(&self, session: &Session) -> Result<Vec<AgentRecord>, StoreError>;
    /// Agents that do the same call at least so often in a row, and were heard of since.
    fn repeating(
        &self,
        project: Option<&ProjectId>,
        times: u64,
        since: Timestamp,
    ) -> Result<Vec<AgentRecord>, StoreError>;
    /// Requests of one session, oldest first, after one of them.
    fn requests_of(
        &self,
        session: &Session,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ModelRequest>, StoreError>;
    /// Series of one session's metrics.
    fn series_of(&self, session: &Session) -> Result<Vec<Series>, StoreError>;
    /// Errors, the last seen first, from just below one of them.
    fn errors(
        &self,
        filter: &ErrorFilter,
        below: Option<(Timestamp, u64)>,
        limit: usize,
    ) -> Result<Vec<ErrorGroup>, StoreError>;
    /// Errors that look alike, in a project or in any.
    fn error_group(
        &self,
        project: Option<&ProjectId>,
        fingerprint: &str,
    ) -> Result<Option<ErrorGroup>, StoreError>;

    /// What agents did, summed up, the busiest first.
    fn agent_metrics(
        &self,
        filter: &AgentFilter,
        by: GroupBy,
        limit: usize,
    ) -> Result<Vec<AgentMetrics>, StoreError>;
    /// How tools were used, the most used first.
    fn tool_usage(&self, period: &Period) -> Result<Vec<ToolUsage>, StoreError>;
    /// Who started whom, by kind of agent.
    fn handoffs(&self, filter: &AgentFilter) -> Result<Vec<Handoff>, StoreError>;
    /// What was spent, by something, the most first; days in order.
    fn cost(&self, period: &Period, by: CostBy) -> Result<Vec<CostLine>, StoreError>;
}
