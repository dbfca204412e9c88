//! What folding events into records needs to remember.
//!
//! Owns: the questions; each names a record by its keys, so that any database can answer at once. Refuses: I/O; whoever
//! implements it brings that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{AgentRecord, Call, ErrorGroup, ModelRequest, Session};
use crate::ProjectId;

/// What an event can be found by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexEntry {
    /// Names with values that must be equal.
    pub tags: Vec<(&'static str, String)>,
    /// Words.
    pub words: String,
}

/// The total of one series of a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Whose it is.
    pub project: ProjectId,
    /// The metric.
    pub name: String,
    /// What tells it apart from others of the metric.
    pub labels: BTreeMap<String, String>,
    /// The unit.
    pub unit: String,
    /// The session it belongs to, if it names one.
    pub session: Option<String>,
    /// What earlier lives of a running total came to.
    pub before: f64,
    /// What this life came to.
    pub now: f64,
    /// When this life began, in nanoseconds.
    pub start: u64,
    /// The last point, in nanoseconds.
    pub latest: u64,
}

impl Series {
    /// Everything together.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.before + self.now
    }
}

type Found<T, E> = Result<Option<T>, E>;

/// Where records are found and put.
#[expect(clippy::missing_errors_doc, reason = "each fails when what is below it does")]
pub trait Shelf {
    /// What goes wrong below.
    type Error;

    /// A call by its identity.
    fn call(&mut self, id: u64) -> Found<Call, Self::Error>;
    /// A call by what its agent calls it.
    fn call_by_use(
        &mut self,
        project: &ProjectId,
        session: &str,
        tool_use_id: &str,
    ) -> Found<Call, Self::Error>;
    /// Puts a call.
    fn put_call(&mut self, call: Call) -> Result<(), Self::Error>;
    /// A session.
    fn session(&mut self, project: &ProjectId, session: &str) -> Found<Session, Self::Error>;
    /// Puts a session.
    fn put_session(&mut self, session: Session) -> Result<(), Self::Error>;
    /// An agent of a session.
    fn agent(&mut self, project: &ProjectId, session: &str, agent: &str) -> Found<AgentRecord, Self::Error>;
    /// Puts an agent.
    fn put_agent(&mut self, agent: AgentRecord) -> Result<(), Self::Error>;
    /// A request by its identity.
    fn request(&mut self, id: u64) -> Found<ModelRequest, Self::Error>;
    /// A request by the provider's name for it.
    fn request_by_name(&mut self, project: &ProjectId, request_id: &str) -> Found<ModelRequest, Self::Error>;
    /// A request by the provider's name for its answer.
    fn request_by_message(
        &mut self,
        project: &ProjectId,
        message_id: &str,
    ) -> Found<ModelRequest, Self::Error>;
    /// The requests of a session that count, by their identities; seldom asked.
    fn counted_requests(&mut self, project: &ProjectId, session: &str) -> Result<Vec<u64>, Self::Error>;
    /// Puts a request.
    fn put_request(&mut self, request: ModelRequest) -> Result<(), Self::Error>;
    /// Errors by what they have in common.
    fn error_group(&mut self, project: &ProjectId, fingerprint: &str) -> Found<ErrorGroup, Self::Error>;
    /// Puts errors.
    fn put_error_group(&mut self, group: ErrorGroup) -> Result<(), Self::Error>;
    /// A series of a metric.
    fn series(
        &mut self,
        project: &ProjectId,
        name: &str,
        labels: &BTreeMap<String, String>,
    ) -> Found<Series, Self::Error>;
    /// Puts a series.
    fn put_series(&mut self, series: Series) -> Result<(), Self::Error>;
    /// Makes an event findable.
    fn index(&mut self, seq: u64, entry: IndexEntry) -> Result<(), Self::Error>;
}
