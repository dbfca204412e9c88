//! A shelf in memory, and events to fold.

use std::{collections::BTreeMap, convert::Infallible};

use belljar_capture::{cost::Prices, eye::Folder};
use belljar_domain::{
    Actor, Digest, Event, EventId, EventKind, NewEvent, ProjectId, Timestamp,
    eye::{AgentRecord, Call, ErrorGroup, IndexEntry, ModelRequest, Series, Session, Shelf},
};
use serde_json::{Value, json};

type Found<T> = Result<Option<T>, Infallible>;
type Done = Result<(), Infallible>;

#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) calls: BTreeMap<u64, Call>,
    pub(crate) sessions: BTreeMap<String, Session>,
    pub(crate) agents: BTreeMap<(String, String), AgentRecord>,
    pub(crate) requests: BTreeMap<u64, ModelRequest>,
    pub(crate) errors: BTreeMap<String, ErrorGroup>,
    pub(crate) series: BTreeMap<(String, String), Series>,
    pub(crate) index: BTreeMap<u64, IndexEntry>,
}

impl Shelf for Memory {
    type Error = Infallible;

    fn call(&mut self, id: u64) -> Found<Call> {
        Ok(self.calls.get(&id).cloned())
    }
    fn call_by_use(&mut self, _: &ProjectId, session: &str, name: &str) -> Found<Call> {
        let is = |call: &&Call| call.session == session && call.known.tool_use_id.as_deref() == Some(name);
        Ok(self.calls.values().find(is).cloned())
    }
    fn put_call(&mut self, call: Call) -> Done {
        self.calls.insert(call.id, call);
        Ok(())
    }
    fn session(&mut self, _: &ProjectId, session: &str) -> Found<Session> {
        Ok(self.sessions.get(session).cloned())
    }
    fn put_session(&mut self, session: Session) -> Done {
        self.sessions.insert(session.session.clone(), session);
        Ok(())
    }
    fn agent(&mut self, _: &ProjectId, session: &str, agent: &str) -> Found<AgentRecord> {
        Ok(self.agents.get(&(session.to_owned(), agent.to_owned())).cloned())
    }
    fn put_agent(&mut self, agent: AgentRecord) -> Done {
        self.agents.insert((agent.session.clone(), agent.agent.clone()), agent);
        Ok(())
    }
    fn request(&mut self, id: u64) -> Found<ModelRequest> {
        Ok(self.requests.get(&id).cloned())
    }
    fn request_by_name(&mut self, _: &ProjectId, name: &str) -> Found<ModelRequest> {
        Ok(self.requests.values().find(|request| request.request_id.as_deref() == Some(name)).cloned())
    }
    fn request_by_message(&mut self, _: &ProjectId, name: &str) -> Found<ModelRequest> {
        Ok(self.requests.values().find(|request| request.message_id.as_deref() == Some(name)).cloned())
    }
    fn counted_requests(&mut self, _: &ProjectId, session: &str) -> Result<Vec<u64>, Infallible> {
        let own = self.requests.values().filter(|request| request.counted && request.session == session);
        Ok(own.map(|request| request.id).collect())
    }
    fn put_request(&mut self, request: ModelRequest) -> Done {
        self.requests.insert(request.id, request);
        Ok(())
    }
    fn error_group(&mut self, _: &ProjectId, fingerprint: &str) -> Found<ErrorGroup> {
        Ok(self.errors.get(fingerprint).cloned())
    }
    fn put_error_group(&mut self, group: ErrorGroup) -> Done {
        self.errors.insert(group.fingerprint.clone(), group);
        Ok(())
    }
    fn series(&mut self, _: &ProjectId, name: &str, labels: &BTreeMap<String, String>) -> Found<Series> {
        Ok(self.series.get(&(name.to_owned(), format!("{labels:?}"))).cloned())
    }
    fn put_series(&mut self, series: Series) -> Done {
        self.series.insert((series.name.clone(), format!("{:?}", series.labels)), series);
        Ok(())
    }
    fn index(&mut self, seq: u64, entry: IndexEntry) -> Done {
        self.index.insert(seq, entry);
        Ok(())
    }
}

/// An event of session `s`, at a second.
pub(crate) fn event(kind: &str, second: i64, payload: Value) -> NewEvent {
    let id = EventId::from_uuid(uuid::Uuid::from_u128(0));
    let time = Timestamp::from_micros(second * 1_000_000);
    let mut event = NewEvent::new(id, time, ProjectId::default(), EventKind::from(kind));
    event.session = Some("s".to_owned());
    event.actor = Actor { id: Some("s".to_owned()), name: Some("claude-code".to_owned()), role: None };
    event.payload = payload;
    event
}

/// A hook about a tool.
pub(crate) fn hook(kind: &str, second: i64, payload: Value) -> NewEvent {
    let mut payload = payload;
    payload["source"] = json!("hook");
    payload["vendor"] = json!("claude-code");
    let mut event = event(kind, second, payload);
    event.tool = event.payload["tool"].as_str().map(str::to_owned);
    event
}

/// Folds events in order, each a tenth of a second after its own clock.
pub(crate) fn fold(events: &[NewEvent]) -> Memory {
    let folder = Folder::new(Prices::embedded().unwrap());
    let mut memory = Memory::default();
    for (seq, what) in (1..).zip(events) {
        let mut what = what.clone();
        what.id = EventId::from_uuid(uuid::Uuid::from_u128(u128::from(seq)));
        let received = Timestamp::from_micros(what.time.as_micros() + 100_000);
        let event = Event { seq, received, what, prev_hash: Digest([0; 32]), hash: Digest([0; 32]) };
        folder.fold(&event, &mut memory).unwrap();
    }
    memory
}
