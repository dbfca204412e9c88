//! Pages of records, as they were written.

use belljar_domain::{
    ProjectId, Timestamp,
    eye::{AgentRecord, Call, ErrorGroup, ModelRequest, Series, Session},
};
use belljar_ports::{
    StoreError,
    lens::{CallFilter, ErrorFilter, EventSearch, SessionFilter},
    store::PAGE_LIMIT,
};
use rusqlite::{Connection, params_from_iter, types::Value};
use serde::de::DeserializeOwned;

use super::super::sql::{Doing, Filter, amount, signed, time, unreadable};
use super::{READING, words};

type Answer<T> = Result<T, StoreError>;

/// As many as are sorted in a moment.
const FEW: u64 = 2_000;

/// Records a statement finds.
fn records<T: DeserializeOwned>(db: &Connection, sql: &str, values: &[Value]) -> Answer<Vec<T>> {
    let mut read = db.prepare_cached(sql).doing(READING)?;
    let parse = |row: &rusqlite::Row<'_>| {
        let json = row.get_ref(0)?.as_str().map_err(|e| unreadable(0, e))?;
        serde_json::from_str(json).map_err(|e| unreadable(0, e))
    };
    let rows = read.query_map(params_from_iter(values), parse).doing(READING)?;
    rows.collect::<rusqlite::Result<_>>().doing(READING)
}

fn page<T: DeserializeOwned>(
    db: &Connection,
    table: &str,
    filter: &Filter,
    order: &str,
    limit: usize,
) -> Answer<Vec<T>> {
    let limit = limit.min(PAGE_LIMIT);
    let clause = filter.clause();
    let bodies = match table {
        "calls" => "call_records",
        "agents" => "agent_records",
        whole => {
            let sql = format!("SELECT record FROM {whole}{clause} ORDER BY {order} LIMIT {limit}");
            return records(db, &sql, &filter.values);
        }
    };
    // First who, then what is known of them.
    let sql = format!(
        "WITH page AS MATERIALIZED (SELECT * FROM {table}{clause} ORDER BY {order} LIMIT {limit})
         SELECT record FROM page JOIN {bodies} USING (id) ORDER BY {order}"
    );
    records(db, &sql, &filter.values)
}

/// Where events are, from a place on, in either direction.
pub(super) fn events(
    db: &Connection,
    search: &EventSearch,
    (after, before): (u64, u64),
    is_up: bool,
    limit: usize,
) -> Answer<Vec<u64>> {
    let mut filter = Filter::default();
    if let Some(query) = words::query(search)? {
        filter.and("words MATCH ?", [Value::Text(query)]);
    }
    filter.and("rowid > ?", [Value::Integer(signed(after))]);
    filter.and("rowid < ?", [Value::Integer(signed(before))]);
    let order = if is_up { "ASC" } else { "DESC" };
    let limit = limit.min(PAGE_LIMIT);
    let sql = format!("SELECT rowid FROM words{} ORDER BY rowid {order} LIMIT {limit}", filter.clause());
    let mut read = db.prepare_cached(&sql).doing(READING)?;
    let rows = read.query_map(params_from_iter(&filter.values), |row| amount(row, 0)).doing(READING)?;
    rows.collect::<rusqlite::Result<_>>().doing(READING)
}

pub(super) fn calls(db: &Connection, wanted: &CallFilter, below: u64, limit: usize) -> Answer<Vec<Call>> {
    let mut filter = Filter::default();
    filter.and_if("session = ?", wanted.session.as_ref());
    filter.and_if("agent = ?", wanted.agent.as_ref());
    filter.and_if("tool = ?", wanted.tool.as_ref());
    filter.and_if("tool_use = ?", wanted.tool_use_id.as_ref());
    filter.and_if("prompt = ?", wanted.prompt.as_ref());
    filter.and_if("sandbox = ?", wanted.sandbox);
    filter.and_if("execution = ?", wanted.execution);
    filter.and_if("run = ?", wanted.run);
    filter.and_if("decision = ?", wanted.decision);
    filter.and_if("outcome = ?", wanted.outcome);
    filter.and_if("fingerprint = ?", wanted.fingerprint.as_ref());
    // Most calls are of one project: its index is only asked when no other is. The plus keeps SQLite from it.
    let is_alone = filter.values.is_empty() && wanted.open != Some(true);
    filter.and_if(if is_alone { "project = ?" } else { "+project = ?" }, wanted.project.as_ref());
    match wanted.open {
        Some(true) => filter.and("outcome IS NULL", []),
        Some(false) => filter.and("+outcome IS NOT NULL", []),
        None => {}
    }
    if let Some(ms) = wanted.slower_than {
        let ms = Value::Integer(signed(ms));
        // Few are found by the index and sorted; many are met on the way.
        let sql = format!("SELECT count(*) FROM (SELECT 1 FROM calls WHERE duration >= ? LIMIT {FEW})");
        let mut read = db.prepare_cached(&sql).doing(READING)?;
        let count = read.query_row([&ms], |row| amount(row, 0)).doing(READING)?;
        filter.and(if is_alone && count < FEW { "duration >= ?" } else { "+duration >= ?" }, [ms]);
    }
    if !within(db, &mut filter, wanted.from, wanted.until)? {
        return Ok(Vec::new());
    }
    filter.and("id < ?", [Value::Integer(signed(below))]);
    page(db, "calls", &filter, "id DESC", limit)
}

/// Adds a stretch of time, with the identities that are in it; false when there are none.
fn within(
    db: &Connection,
    filter: &mut Filter,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Answer<bool> {
    if from.is_none() && until.is_none() {
        return Ok(true);
    }
    let mut span = Filter::default();
    if let Some(from) = from {
        span.and("time >= ?", [time(from)]);
        filter.and("+time >= ?", [time(from)]);
    }
    if let Some(until) = until {
        span.and("time < ?", [time(until)]);
        filter.and("+time < ?", [time(until)]);
    }
    let sql = format!("SELECT min(id), max(id) FROM calls INDEXED BY calls_time{}", span.clause());
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?));
    let mut statement = db.prepare_cached(&sql).doing(READING)?;
    let found = statement.query_row(params_from_iter(&span.values), read).doing(READING)?;
    let (Some(first), Some(last)) = found else { return Ok(false) };
    filter.and("id >= ?", [Value::Integer(first)]);
    filter.and("id <= ?", [Value::Integer(last)]);
    Ok(true)
}

/// What belongs to a session, after one of it, oldest first.
fn of_session<T: DeserializeOwned>(
    db: &Connection,
    table: &str,
    session: &Session,
    after: u64,
    limit: usize,
) -> Answer<Vec<T>> {
    let mut filter = Filter::default();
    filter.and_if("session = ?", Some(&session.session));
    filter.and_if("+project = ?", Some(&session.project));
    filter.and("id > ?", [Value::Integer(signed(after))]);
    page(db, table, &filter, "id", limit)
}

pub(super) fn calls_of(db: &Connection, session: &Session, after: u64, limit: usize) -> Answer<Vec<Call>> {
    of_session(db, "calls", session, after, limit)
}

pub(super) fn requests_of(
    db: &Connection,
    session: &Session,
    after: u64,
    limit: usize,
) -> Answer<Vec<ModelRequest>> {
    of_session(db, "requests", session, after, limit)
}

pub(super) fn agents_of(db: &Connection, session: &Session) -> Answer<Vec<AgentRecord>> {
    of_session(db, "agents", session, 0, PAGE_LIMIT)
}

pub(super) fn series_of(db: &Connection, session: &Session) -> Answer<Vec<Series>> {
    let mut filter = Filter::default();
    filter.and_if("session = ?", Some(&session.session));
    filter.and_if("+project = ?", Some(&session.project));
    page(db, "series", &filter, "name, labels", PAGE_LIMIT)
}

pub(super) fn call(db: &Connection, id: u64) -> Answer<Option<Call>> {
    let found = records(db, "SELECT record FROM call_records WHERE id = ?", &[Value::Integer(signed(id))])?;
    Ok(found.into_iter().next())
}

pub(super) fn sessions(
    db: &Connection,
    wanted: &SessionFilter,
    below: u64,
    limit: usize,
) -> Answer<Vec<Session>> {
    let mut filter = Filter::default();
    filter.and_if("project = ?", wanted.project.as_ref());
    filter.and_if("vendor = ?", wanted.vendor.as_ref());
    filter.and_if("model = ?", wanted.model.as_ref());
    filter.and_if("cwd = ?", wanted.cwd.as_ref());
    filter.and_if("parent = ?", wanted.parent.as_ref());
    filter.and_if("sandbox = ?", wanted.sandbox);
    filter.and_if("run = ?", wanted.run);
    if !wanted.states.is_empty() {
        let marks = vec!["?"; wanted.states.len()].join(", ");
        let states = wanted.states.iter().map(|state| Value::Text(state.to_string()));
        filter.and(format!("state IN ({marks})"), states);
    }
    if let Some(from) = wanted.from {
        filter.and("began >= ?", [time(from)]);
    }
    if let Some(until) = wanted.until {
        filter.and("began < ?", [time(until)]);
    }
    if let Some(quiet) = wanted.quiet_since {
        filter.and("received < ?", [time(quiet)]);
    }
    filter.and("id < ?", [Value::Integer(signed(below))]);
    page(db, "sessions", &filter, "id DESC", limit)
}

pub(super) fn session(
    db: &Connection,
    project: Option<&ProjectId>,
    session: &str,
) -> Answer<Option<Session>> {
    let mut filter = Filter::default();
    filter.and_if("session = ?", Some(session));
    filter.and_if("project = ?", project);
    Ok(page(db, "sessions", &filter, "id DESC", 1)?.into_iter().next())
}

pub(super) fn repeating(
    db: &Connection,
    project: Option<&ProjectId>,
    times: u64,
    since: Timestamp,
) -> Answer<Vec<AgentRecord>> {
    let mut filter = Filter::default();
    filter.and("repeats > 1 AND repeats >= ?", [Value::Integer(signed(times))]);
    filter.and("+last >= ?", [time(since)]);
    filter.and_if("+project = ?", project);
    page(db, "agents", &filter, "repeats DESC", PAGE_LIMIT)
}

pub(super) fn errors(
    db: &Connection,
    wanted: &ErrorFilter,
    below: Option<(Timestamp, u64)>,
    limit: usize,
) -> Answer<Vec<ErrorGroup>> {
    let mut filter = Filter::default();
    filter.and_if("project = ?", wanted.project.as_ref());
    filter.and_if("state = ?", wanted.state);
    filter.and_if("tool = ?", wanted.tool.as_ref());
    filter.and_if("what = ?", wanted.what.as_ref());
    if let Some(from) = wanted.from {
        filter.and("last >= ?", [time(from)]);
    }
    if let Some(until) = wanted.until {
        filter.and("first < ?", [time(until)]);
    }
    if let Some((last, id)) = below {
        filter.and("(last, id) < (?, ?)", [time(last), Value::Integer(signed(id))]);
    }
    page(db, "errors", &filter, "last DESC, id DESC", limit)
}

pub(super) fn error_group(
    db: &Connection,
    project: Option<&ProjectId>,
    fingerprint: &str,
) -> Answer<Option<ErrorGroup>> {
    let mut filter = Filter::default();
    filter.and_if("fingerprint = ?", Some(fingerprint));
    filter.and_if("project = ?", project);
    Ok(page(db, "errors", &filter, "last DESC", 1)?.into_iter().next())
}
