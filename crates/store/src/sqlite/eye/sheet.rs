//! The records one transaction works on: read when first asked for, written once at the end, however often they change.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
};

use belljar_domain::{
    ProjectId,
    eye::{AgentRecord, Call, ErrorGroup, IndexEntry, ModelRequest, Series, Session, Shelf},
};
use belljar_ports::StoreError;
use rusqlite::{OptionalExtension as _, Params, Transaction};
use serde::de::DeserializeOwned;

use super::super::sql::{Doing, signed, unreadable, unsigned};
use super::{READING, WRITING, words};

/// A record as it was and as it is.
#[derive(Debug)]
pub(super) struct Slot<T> {
    pub(super) before: Option<T>,
    pub(super) now: T,
    pub(super) changed: bool,
}

/// Named within a project.
type Name = (ProjectId, String);
type Names = HashMap<Name, u64>;

/// What a transaction works on.
#[derive(Debug)]
pub(super) struct Sheet<'t> {
    pub(super) db: &'t Transaction<'t>,
    pub(super) calls: HashMap<u64, Slot<Call>>,
    uses: HashMap<(ProjectId, String, String), u64>,
    pub(super) sessions: HashMap<Name, Slot<Session>>,
    pub(super) agents: HashMap<(ProjectId, String, String), Slot<AgentRecord>>,
    pub(super) requests: HashMap<u64, Slot<ModelRequest>>,
    names: Names,
    messages: Names,
    pub(super) errors: HashMap<Name, Slot<ErrorGroup>>,
    pub(super) series: HashMap<(ProjectId, String, String), Slot<Series>>,
}

type Answer<T> = Result<T, StoreError>;

impl<'t> Sheet<'t> {
    pub(super) fn new(db: &'t Transaction<'t>) -> Self {
        Self {
            db,
            calls: HashMap::new(),
            uses: HashMap::new(),
            sessions: HashMap::new(),
            agents: HashMap::new(),
            requests: HashMap::new(),
            names: HashMap::new(),
            messages: HashMap::new(),
            errors: HashMap::new(),
            series: HashMap::new(),
        }
    }

    fn load<T: DeserializeOwned>(&self, sql: &str, values: impl Params) -> Answer<Option<T>> {
        let mut read = self.db.prepare_cached(sql).doing(READING)?;
        let parse = |row: &rusqlite::Row<'_>| {
            serde_json::from_str(row.get_ref(0)?.as_str().map_err(|e| unreadable(0, e))?)
                .map_err(|e| unreadable(0, e))
        };
        read.query_row(values, parse).optional().doing(READING)
    }

    fn keep_call(&mut self, call: Call) {
        if let Some(name) = &call.known.tool_use_id {
            self.uses.insert((call.project.clone(), call.session.clone(), name.clone()), call.id);
        }
        keep(&mut self.calls, call.id, call);
    }

    fn keep_request(&mut self, request: ModelRequest) {
        let name = |name: &String| (request.project.clone(), name.clone());
        if let Some(key) = request.request_id.as_ref().map(name) {
            self.names.entry(key).or_insert(request.id);
        }
        if let Some(key) = request.message_id.as_ref().map(name) {
            self.messages.entry(key).or_insert(request.id);
        }
        keep(&mut self.requests, request.id, request);
    }

    fn find_request(
        &mut self,
        column: &str,
        project: &ProjectId,
        name: &str,
    ) -> Answer<Option<ModelRequest>> {
        let sql =
            format!("SELECT record FROM requests WHERE {column} = ? AND project = ? ORDER BY id LIMIT 1");
        let found: Option<ModelRequest> = self.load(&sql, (name, project.as_str()))?;
        let Some(found) = found else { return Ok(None) };
        // It may have changed since it was written.
        if !self.requests.contains_key(&found.id) {
            self.keep_request(found.clone());
        }
        Ok(self.requests.get(&found.id).map(|slot| slot.now.clone()))
    }
}

/// Remembers what was read.
fn keep<K: Eq + Hash, T: Clone>(slots: &mut HashMap<K, Slot<T>>, key: K, record: T) {
    slots.entry(key).or_insert_with(|| Slot { before: Some(record.clone()), now: record, changed: false });
}

/// Changes what is remembered.
fn put<K: Eq + Hash, T>(slots: &mut HashMap<K, Slot<T>>, key: K, record: T) {
    match slots.entry(key) {
        std::collections::hash_map::Entry::Occupied(mut slot) => {
            let slot = slot.get_mut();
            (slot.now, slot.changed) = (record, true);
        }
        std::collections::hash_map::Entry::Vacant(slot) => {
            slot.insert(Slot { before: None, now: record, changed: true });
        }
    }
}

impl Shelf for Sheet<'_> {
    type Error = StoreError;

    fn call(&mut self, id: u64) -> Answer<Option<Call>> {
        if !self.calls.contains_key(&id) {
            let found: Option<Call> =
                self.load("SELECT record FROM call_records WHERE id = ?", [signed(id)])?;
            found.into_iter().for_each(|call| self.keep_call(call));
        }
        Ok(self.calls.get(&id).map(|slot| slot.now.clone()))
    }

    fn call_by_use(&mut self, project: &ProjectId, session: &str, name: &str) -> Answer<Option<Call>> {
        let key = (project.clone(), session.to_owned(), name.to_owned());
        if let Some(id) = self.uses.get(&key).copied() {
            return self.call(id);
        }
        let sql =
            "SELECT id FROM calls WHERE tool_use = ? AND session = ? AND project = ? ORDER BY id LIMIT 1";
        let mut read = self.db.prepare_cached(sql).doing(READING)?;
        let id: Option<i64> =
            read.query_row((name, session, project.as_str()), |row| row.get(0)).optional().doing(READING)?;
        drop(read);
        id.map_or(Ok(None), |id| self.call(unsigned(id)))
    }

    fn put_call(&mut self, call: Call) -> Answer<()> {
        if let Some(name) = &call.known.tool_use_id {
            let key = (call.project.clone(), call.session.clone(), name.clone());
            self.uses.entry(key).or_insert(call.id);
        }
        put(&mut self.calls, call.id, call);
        Ok(())
    }

    fn session(&mut self, project: &ProjectId, session: &str) -> Answer<Option<Session>> {
        let key = (project.clone(), session.to_owned());
        if !self.sessions.contains_key(&key) {
            let sql = "SELECT record FROM sessions WHERE session = ? AND project = ?";
            let found: Option<Session> = self.load(sql, (session, project.as_str()))?;
            found.into_iter().for_each(|found| keep(&mut self.sessions, key.clone(), found));
        }
        Ok(self.sessions.get(&key).map(|slot| slot.now.clone()))
    }

    fn put_session(&mut self, session: Session) -> Answer<()> {
        put(&mut self.sessions, (session.project.clone(), session.session.clone()), session);
        Ok(())
    }

    fn agent(&mut self, project: &ProjectId, session: &str, agent: &str) -> Answer<Option<AgentRecord>> {
        let key = (project.clone(), session.to_owned(), agent.to_owned());
        if !self.agents.contains_key(&key) {
            let sql = "SELECT record FROM agents JOIN agent_records USING (id)
                       WHERE session = ? AND agent = ? AND project = ?";
            let found: Option<AgentRecord> = self.load(sql, (session, agent, project.as_str()))?;
            found.into_iter().for_each(|found| keep(&mut self.agents, key.clone(), found));
        }
        Ok(self.agents.get(&key).map(|slot| slot.now.clone()))
    }

    fn put_agent(&mut self, agent: AgentRecord) -> Answer<()> {
        let key = (agent.project.clone(), agent.session.clone(), agent.agent.clone());
        put(&mut self.agents, key, agent);
        Ok(())
    }

    fn request(&mut self, id: u64) -> Answer<Option<ModelRequest>> {
        if !self.requests.contains_key(&id) {
            let found: Option<ModelRequest> =
                self.load("SELECT record FROM requests WHERE id = ?", [signed(id)])?;
            found.into_iter().for_each(|found| self.keep_request(found));
        }
        Ok(self.requests.get(&id).map(|slot| slot.now.clone()))
    }

    fn request_by_name(&mut self, project: &ProjectId, name: &str) -> Answer<Option<ModelRequest>> {
        match self.names.get(&(project.clone(), name.to_owned())).copied() {
            Some(id) => self.request(id),
            None => self.find_request("name", project, name),
        }
    }

    fn request_by_message(&mut self, project: &ProjectId, name: &str) -> Answer<Option<ModelRequest>> {
        match self.messages.get(&(project.clone(), name.to_owned())).copied() {
            Some(id) => self.request(id),
            None => self.find_request("message", project, name),
        }
    }

    fn counted_requests(&mut self, project: &ProjectId, session: &str) -> Answer<Vec<u64>> {
        let sql = "SELECT id FROM requests WHERE session = ? AND project = ? AND counted = 1";
        let mut read = self.db.prepare_cached(sql).doing(READING)?;
        let rows =
            read.query_map((session, project.as_str()), |row| row.get(0).map(unsigned)).doing(READING)?;
        let mut all = rows.collect::<rusqlite::Result<Vec<u64>>>().doing(READING)?;
        let is = |slot: &&Slot<ModelRequest>| slot.now.session == session && slot.now.project == *project;
        all.retain(|id| !self.requests.contains_key(id));
        all.extend(self.requests.values().filter(is).filter(|slot| slot.now.counted).map(|slot| slot.now.id));
        all.sort_unstable();
        Ok(all)
    }

    fn put_request(&mut self, request: ModelRequest) -> Answer<()> {
        let name = |name: &String| (request.project.clone(), name.clone());
        if let Some(key) = request.request_id.as_ref().map(name) {
            self.names.entry(key).or_insert(request.id);
        }
        if let Some(key) = request.message_id.as_ref().map(name) {
            self.messages.entry(key).or_insert(request.id);
        }
        put(&mut self.requests, request.id, request);
        Ok(())
    }

    fn error_group(&mut self, project: &ProjectId, fingerprint: &str) -> Answer<Option<ErrorGroup>> {
        let key = (project.clone(), fingerprint.to_owned());
        if !self.errors.contains_key(&key) {
            let sql = "SELECT record FROM errors WHERE fingerprint = ? AND project = ?";
            let found: Option<ErrorGroup> = self.load(sql, (fingerprint, project.as_str()))?;
            found.into_iter().for_each(|found| keep(&mut self.errors, key.clone(), found));
        }
        Ok(self.errors.get(&key).map(|slot| slot.now.clone()))
    }

    fn put_error_group(&mut self, group: ErrorGroup) -> Answer<()> {
        put(&mut self.errors, (group.project.clone(), group.fingerprint.clone()), group);
        Ok(())
    }

    fn series(
        &mut self,
        project: &ProjectId,
        name: &str,
        labels: &BTreeMap<String, String>,
    ) -> Answer<Option<Series>> {
        let key = (project.clone(), name.to_owned(), spelled(labels));
        if !self.series.contains_key(&key) {
            let sql = "SELECT record FROM series WHERE name = ? AND labels = ? AND project = ?";
            let found: Option<Series> = self.load(sql, (name, &key.2, project.as_str()))?;
            found.into_iter().for_each(|found| keep(&mut self.series, key.clone(), found));
        }
        Ok(self.series.get(&key).map(|slot| slot.now.clone()))
    }

    fn put_series(&mut self, series: Series) -> Answer<()> {
        let key = (series.project.clone(), series.name.clone(), spelled(&series.labels));
        put(&mut self.series, key, series);
        Ok(())
    }

    fn index(&mut self, seq: u64, entry: IndexEntry) -> Answer<()> {
        let mut insert =
            self.db.prepare_cached("INSERT INTO words (rowid, body) VALUES (?, ?)").doing(WRITING)?;
        insert.execute((signed(seq), words::body(&entry))).doing(WRITING)?;
        Ok(())
    }
}

/// Labels as text, the same for the same.
pub(super) fn spelled(labels: &BTreeMap<String, String>) -> String {
    serde_json::to_string(labels).unwrap_or_default()
}
