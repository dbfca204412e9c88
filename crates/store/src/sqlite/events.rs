//! Reading the ledger: filters to SQL, rows to events.

use belljar_domain::{Actor, Event, EventId, NewEvent};
use belljar_ports::{
    StoreError,
    store::{EventFilter, PAGE_LIMIT},
};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter, types::Value};
use uuid::Uuid;

use super::sql::{
    Doing, Filter, amount, hash, json, maybe_amount, maybe_parsed, moment, parsed, signed, time,
};
use crate::ledger::columns;

/// Which way to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    After(u64),
    Before(u64),
}

const READING: &str = "read the ledger";

/// Everything of an event, in the order [`event`] reads it.
pub(crate) static SELECT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
    format!("SELECT seq, received, prev_hash, hash, {} FROM events", columns::NAMES.join(", "))
});

/// Events on one side of a place, the nearest first.
pub(crate) fn list(
    connection: &Connection,
    filter: &EventFilter,
    from: From,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    let mut conditions = conditions(filter);
    let order = match from {
        From::After(seq) => {
            conditions.and("seq > ?", [Value::Integer(signed(seq))]);
            "ASC"
        }
        From::Before(seq) => {
            conditions.and("seq < ?", [Value::Integer(signed(seq))]);
            "DESC"
        }
    };
    let sql =
        format!("{}{} ORDER BY seq {order} LIMIT {}", *SELECT, conditions.clause(), limit.min(PAGE_LIMIT));
    let mut statement = connection.prepare_cached(&sql).doing(READING)?;
    let rows = statement.query_map(params_from_iter(&conditions.values), event).doing(READING)?;
    rows.collect::<rusqlite::Result<_>>().doing(READING)
}

/// Events at these places, in their order.
pub(crate) fn at(connection: &Connection, places: &[u64]) -> Result<Vec<Event>, StoreError> {
    let mut found = Vec::with_capacity(places.len());
    let sql = format!("{} WHERE seq = ?", *SELECT);
    let mut statement = connection.prepare_cached(&sql).doing(READING)?;
    for place in places.iter().take(PAGE_LIMIT) {
        found.extend(statement.query_row([signed(*place)], event).optional().doing(READING)?);
    }
    Ok(found)
}

/// One event by its identity.
pub(crate) fn find(connection: &Connection, id: EventId) -> Result<Option<Event>, StoreError> {
    let sql = format!("{} WHERE id = ?", *SELECT);
    let mut statement = connection.prepare_cached(&sql).doing(READING)?;
    statement.query_row([id.as_uuid().as_bytes()], event).optional().doing(READING)
}

/// The place of the last event.
pub(crate) fn last(connection: &Connection) -> Result<u64, StoreError> {
    connection.query_row("SELECT head_seq FROM ledger", [], |row| amount(row, 0)).doing(READING)
}

pub(crate) fn conditions(filter: &EventFilter) -> Filter {
    let mut all = Filter::default();
    all.and_if("project = ?", filter.project.as_ref());
    all.and_if("sandbox = ?", filter.sandbox);
    all.and_if("execution = ?", filter.execution);
    all.and_if("run = ?", filter.run);
    all.and_if("agent_id = ?", filter.agent.as_ref());
    all.and_if("session = ?", filter.session.as_ref());
    all.and_if("operation = ?", filter.operation.as_ref());
    all.and_if("status = ?", filter.status);
    all.and_if("decision = ?", filter.decision);
    // The plus keeps SQLite from its index on time, by which it would sort a whole stretch of time for every page.
    if let Some(from) = filter.from {
        all.and("+time >= ?", [time(from)]);
    }
    if let Some(until) = filter.until {
        all.and("+time < ?", [time(until)]);
    }
    if !filter.kinds.is_empty() {
        // `/` is what comes after `.`, so this is everything that begins with the kind and a dot.
        let each = vec!["kind = ? OR (kind >= ? AND kind < ?)"; filter.kinds.len()].join(" OR ");
        let values = filter
            .kinds
            .iter()
            .flat_map(|kind| [kind.clone(), format!("{kind}."), format!("{kind}/")].map(Value::Text));
        all.and(format!("({each})"), values);
    }
    all
}

pub(crate) fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        seq: amount(row, 0)?,
        received: moment(row, 1)?,
        prev_hash: hash(row, 2)?,
        hash: hash(row, 3)?,
        what: NewEvent {
            id: EventId::from_uuid(Uuid::from_bytes(row.get(4)?)),
            time: moment(row, 5)?,
            project: parsed(row, 6)?,
            kind: row.get::<_, String>(7)?.into(),
            // 8 is the retention class, which follows from the kind.
            actor: Actor { id: row.get(9)?, name: row.get(10)?, role: row.get(11)? },
            session: row.get(12)?,
            sandbox: maybe_parsed(row, 13)?,
            execution: maybe_parsed(row, 14)?,
            run: maybe_parsed(row, 15)?,
            operation: row.get(16)?,
            tool: row.get(17)?,
            target: row.get(18)?,
            target_type: row.get(19)?,
            decision: maybe_parsed(row, 20)?,
            reason: row.get(21)?,
            risk: maybe_parsed(row, 22)?,
            status: maybe_parsed(row, 23)?,
            error: row.get(24)?,
            cost_micros: maybe_amount(row, 25)?,
            tokens: maybe_amount(row, 26)?,
            duration_ms: maybe_amount(row, 27)?,
            payload: json(row, 28)?,
        },
    })
}
