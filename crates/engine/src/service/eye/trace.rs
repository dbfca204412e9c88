//! One session as a whole: its agents, its measures, and everything that happened in it, in order.

use belljar_domain::{
    Event, Principal,
    eye::{Call, ModelRequest, Series, Session, place_of, record_id},
};
use belljar_ports::{
    lens::EventSearch,
    store::{EventFilter, PAGE_LIMIT},
};

use super::{
    super::{Result, Service},
    questions::missing,
    tree::{AgentNode, tree},
};

/// Kinds that are moments of a session by themselves. Everything about calls and requests is in those.
const MOMENTS: [&str; 9] = [
    "session",
    "prompt.submitted",
    "turn",
    "agent.started",
    "agent.stopped",
    "agent.notified",
    "context",
    "model.failed",
    "permission.asked",
];

/// A session with what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionView {
    /// The session.
    pub session: Session,
    /// Its agents, its own first.
    pub agents: Vec<AgentNode>,
    /// What its telemetry counted.
    pub series: Vec<Series>,
}

/// One thing in a trace.
#[derive(Debug, Clone, PartialEq)]
pub enum TraceItem {
    /// A call, from the wish to the outcome.
    Call(Call),
    /// A request to a model.
    Request(ModelRequest),
    /// Anything else worth a line.
    Moment(Event),
}

impl TraceItem {
    /// Its place in the trace.
    #[must_use]
    pub const fn id(&self) -> u64 {
        match self {
            Self::Call(call) => call.id,
            Self::Request(request) => request.id,
            Self::Moment(event) => record_id(event.seq, 4095),
        }
    }
}

impl Service {
    /// One session with its agents.
    ///
    /// # Errors
    /// When there is no such session.
    pub fn session(&self, who: &Principal, name: &str) -> Result<SessionView> {
        let session = self.one_session(who, name)?;
        let (lens, _) = self.lens();
        let mut agents = tree(lens.agents_of(&session)?);
        agents.sort_by_key(|node| (!node.agent.agent.is_empty(), node.agent.id));
        Ok(SessionView { agents, series: lens.series_of(&session)?, session })
    }

    /// What happened in a session, in the order it was heard of, after a place in its trace.
    ///
    /// # Errors
    /// When there is no such session.
    pub fn trace(&self, who: &Principal, name: &str, after: u64, limit: usize) -> Result<Vec<TraceItem>> {
        let session = self.one_session(who, name)?;
        let limit = limit.min(PAGE_LIMIT);
        let (lens, _) = self.lens();
        let mut items: Vec<TraceItem> =
            lens.calls_of(&session, after, limit)?.into_iter().map(TraceItem::Call).collect();
        let requests = lens.requests_of(&session, after, limit)?.into_iter();
        // One that only a call named says nothing yet.
        items.extend(requests.filter(|request| request.told.is_some()).map(TraceItem::Request));
        let filter = EventFilter {
            project: Some(session.project.clone()),
            session: Some(session.session),
            kinds: MOMENTS.map(str::to_owned).to_vec(),
            ..EventFilter::default()
        };
        let place = if record_id(place_of(after), 4095) > after {
            place_of(after).saturating_sub(1)
        } else {
            place_of(after)
        };
        // By the index of the records: the ledger would read every event of the session for the few that are wanted.
        let search = EventSearch { filter, ..EventSearch::default() };
        let places = lens.events_after(&search, place, limit)?;
        let moments = self.store().events_at(&places)?.into_iter().map(TraceItem::Moment);
        items.extend(moments.filter(|moment| moment.id() > after));
        items.sort_by_key(TraceItem::id);
        items.truncate(limit);
        Ok(items)
    }

    fn one_session(&self, who: &Principal, name: &str) -> Result<Session> {
        let found = self.lens().0.session(who.scope().as_ref(), name)?;
        found.ok_or_else(|| missing("session", name))
    }
}
