//! The port, method by method; each one line says where the work is done.

use belljar_domain::{
    ProjectId, Timestamp,
    eye::{AgentRecord, Call, ErrorGroup, ModelRequest, Series, Session},
};
use belljar_ports::{
    Lens, StoreError,
    lens::{
        AgentFilter, AgentMetrics, CallFilter, CostBy, CostLine, ErrorFilter, EventSearch, GroupBy, Handoff,
        LensShelf, Period, SessionFilter, ToolUsage,
    },
    store::PAGE_LIMIT,
};

use super::super::sql::{Doing, amount, signed, told_apart};
use super::{READING, SqliteLens, WRITING, lists, reports};

type Answer<T> = Result<T, StoreError>;

impl Lens for SqliteLens {
    fn place(&self) -> Answer<u64> {
        self.pool.read(|db| db.query_row("SELECT seq FROM done", [], |row| amount(row, 0)).doing(READING))
    }

    fn revise(&self, to: u64, work: &mut dyn FnMut(&mut LensShelf<'_>) -> Answer<()>) -> Answer<()> {
        self.write(|writer| writer.revise(to, work).map_err(told_apart))
    }

    fn prune(&self, before: Timestamp, place: u64) -> Answer<u64> {
        self.write(|writer| {
            let writing = writer.connection.transaction().doing(WRITING)?;
            let mut removed = 0;
            for (bodies, table) in [("call_records", "calls"), ("agent_records", "agents")] {
                let sql = format!("DELETE FROM {bodies} WHERE id IN (SELECT id FROM {table} WHERE last < ?)");
                writing.execute(&sql, [before.as_micros()]).doing(WRITING)?;
            }
            for (table, column) in [
                ("calls", "last"),
                ("sessions", "received"),
                ("agents", "last"),
                ("requests", "time"),
                ("errors", "last"),
                ("series", "latest"),
            ] {
                let sql = format!("DELETE FROM {table} WHERE {column} < ?");
                removed += writing.execute(&sql, [before.as_micros()]).doing(WRITING)?;
            }
            writing.execute("DELETE FROM words WHERE rowid < ?", [signed(place)]).doing(WRITING)?;
            writing.commit().doing(WRITING)?;
            // What is free is given back a little at a time.
            let _kept = writer.connection.execute_batch("PRAGMA incremental_vacuum(1000)");
            Ok(removed as u64)
        })
    }

    fn bytes(&self) -> Answer<u64> {
        let length = |ending: &str| {
            std::fs::metadata(format!("{}{ending}", self.path.display())).map_or(0, |about| about.len())
        };
        Ok(length("") + length("-wal"))
    }

    fn events(&self, search: &EventSearch, before: u64, limit: usize) -> Answer<Vec<u64>> {
        self.pool.read(|db| lists::events(db, search, (0, before), false, limit))
    }

    fn events_after(&self, search: &EventSearch, after: u64, limit: usize) -> Answer<Vec<u64>> {
        self.pool.read(|db| lists::events(db, search, (after, u64::MAX), true, limit))
    }

    fn calls(&self, filter: &CallFilter, below: u64, limit: usize) -> Answer<Vec<Call>> {
        self.pool.read(|db| lists::calls(db, filter, below, limit))
    }

    fn calls_of(&self, session: &Session, after: u64, limit: usize) -> Answer<Vec<Call>> {
        self.pool.read(|db| lists::calls_of(db, session, after, limit))
    }

    fn call(&self, id: u64) -> Answer<Option<Call>> {
        self.pool.read(|db| lists::call(db, id))
    }

    fn sessions(&self, filter: &SessionFilter, below: u64, limit: usize) -> Answer<Vec<Session>> {
        self.pool.read(|db| lists::sessions(db, filter, below, limit))
    }

    fn session(&self, project: Option<&ProjectId>, session: &str) -> Answer<Option<Session>> {
        self.pool.read(|db| lists::session(db, project, session))
    }

    fn agents_of(&self, session: &Session) -> Answer<Vec<AgentRecord>> {
        self.pool.read(|db| lists::agents_of(db, session))
    }

    fn repeating(
        &self,
        project: Option<&ProjectId>,
        times: u64,
        since: Timestamp,
    ) -> Answer<Vec<AgentRecord>> {
        self.pool.read(|db| lists::repeating(db, project, times, since))
    }

    fn requests_of(&self, session: &Session, after: u64, limit: usize) -> Answer<Vec<ModelRequest>> {
        self.pool.read(|db| lists::requests_of(db, session, after, limit))
    }

    fn series_of(&self, session: &Session) -> Answer<Vec<Series>> {
        self.pool.read(|db| lists::series_of(db, session))
    }

    fn errors(
        &self,
        filter: &ErrorFilter,
        below: Option<(Timestamp, u64)>,
        limit: usize,
    ) -> Answer<Vec<ErrorGroup>> {
        self.pool.read(|db| lists::errors(db, filter, below, limit))
    }

    fn error_group(&self, project: Option<&ProjectId>, fingerprint: &str) -> Answer<Option<ErrorGroup>> {
        self.pool.read(|db| lists::error_group(db, project, fingerprint))
    }

    fn agent_metrics(&self, filter: &AgentFilter, by: GroupBy, limit: usize) -> Answer<Vec<AgentMetrics>> {
        self.pool.read(|db| reports::agents(db, filter, by, limit.min(PAGE_LIMIT)))
    }

    fn tool_usage(&self, period: &Period) -> Answer<Vec<ToolUsage>> {
        self.pool.read(|db| reports::tools(db, period))
    }

    fn handoffs(&self, filter: &AgentFilter) -> Answer<Vec<Handoff>> {
        self.pool.read(|db| reports::handoffs(db, filter))
    }

    fn cost(&self, period: &Period, by: CostBy) -> Answer<Vec<CostLine>> {
        self.pool.read(|db| reports::cost(db, period, by))
    }
}
