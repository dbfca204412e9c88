//! Sums by day: of calls by tool, of requests by everything money is asked for by. Records change; what they added
//! before is taken back.

use std::collections::BTreeMap;

use belljar_domain::{
    EventStatus, Timestamp,
    eye::{Call, ModelRequest, Spread},
};
use belljar_ports::StoreError;
use rusqlite::{OptionalExtension as _, Transaction, params_from_iter, types::Value};

use super::super::sql::{Doing, signed, text};
use super::{READING, WRITING, sheet::Slot};

/// Microseconds.
const DAY: i64 = 86_400_000_000;

pub(super) fn day(time: Timestamp) -> i64 {
    time.as_micros().div_euclid(DAY)
}

/// What is summed up of calls, in the order of the columns.
const TOOL_SUMS: &str =
    "calls, succeeded, failed, denied, cancelled, duration_ms, input_bytes, output_bytes, cost";
const SPEND_SUMS: &str = "requests, input, output, cache_read, cache_write_5m, cache_write_1h, cost, estimated, at_list_price, unpriced";

#[derive(Debug, Default)]
struct ToolChange {
    sums: [i64; 9],
    added: Vec<u64>,
    taken: Vec<u64>,
}

type ToolKey = (i64, String, String);

/// Adds what calls changed to the sums of their tools.
pub(super) fn tools(db: &Transaction<'_>, calls: &[&Slot<Call>]) -> Result<(), StoreError> {
    let mut changes: BTreeMap<ToolKey, ToolChange> = BTreeMap::new();
    for slot in calls {
        for (call, sign) in [(slot.before.as_ref(), -1), (Some(&slot.now), 1)] {
            let Some((call, tool)) = call.and_then(|call| Some((call, call.known.tool.as_ref()?))) else {
                continue;
            };
            let key = (day(call.time()), tool.clone(), call.project.as_str().to_owned());
            let change = changes.entry(key).or_default();
            let sums = call_sums(call).map(|sum| sum * sign);
            change.sums.iter_mut().zip(sums).for_each(|(all, one)| *all = all.saturating_add(one));
            let side = if sign > 0 { &mut change.added } else { &mut change.taken };
            side.extend(call.known.duration_ms.filter(|_| call.known.outcome.is_some()));
        }
    }
    for ((day, tool, project), change) in changes {
        if change.added == change.taken && change.sums == [0; 9] {
            continue;
        }
        let sql = "SELECT durations FROM tool_days WHERE day = ? AND tool = ? AND project = ?";
        let mut read = db.prepare_cached(sql).doing(READING)?;
        let before: Option<String> =
            read.query_row((day, &tool, &project), |row| row.get(0)).optional().doing(READING)?;
        let mut spread: Spread = before.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
        change.added.iter().for_each(|ms| spread.add(*ms));
        change.taken.iter().for_each(|ms| spread.take(*ms));
        let spread = serde_json::to_string(&spread).map_err(|error| StoreError::backend(WRITING, error))?;
        let sql = format!(
            "INSERT INTO tool_days (day, tool, project, durations, {TOOL_SUMS}) VALUES (?, ?, ?, ?, {})
             ON CONFLICT DO UPDATE SET durations = excluded.durations, {}",
            marks(TOOL_SUMS),
            added(TOOL_SUMS)
        );
        let keys = [Value::Integer(day), text(tool), text(project), text(spread)];
        put(db, &sql, keys.into_iter().chain(change.sums.map(Value::Integer)))?;
    }
    Ok(())
}

fn call_sums(call: &Call) -> [i64; 9] {
    let known = &call.known;
    let is =
        |wanted: &[EventStatus]| i64::from(known.outcome.is_some_and(|outcome| wanted.contains(&outcome)));
    let ended = known.duration_ms.filter(|_| known.outcome.is_some());
    [
        1,
        is(&[EventStatus::Success]),
        is(&[EventStatus::Failure, EventStatus::Timeout]),
        is(&[EventStatus::Denied]),
        is(&[EventStatus::Cancelled]),
        signed(ended.unwrap_or(0)),
        signed(known.input_bytes.unwrap_or(0)),
        signed(known.output_bytes.unwrap_or(0)),
        signed(call.cost.map_or(0, |cost| cost.0)),
    ]
}

/// Adds what requests changed to what was spent.
pub(super) fn spend(db: &Transaction<'_>, requests: &[&Slot<ModelRequest>]) -> Result<(), StoreError> {
    let mut changes: BTreeMap<(i64, [String; 6]), [i64; 10]> = BTreeMap::new();
    for slot in requests {
        for (request, sign) in [(slot.before.as_ref(), -1), (Some(&slot.now), 1)] {
            let Some(request) = request.filter(|request| request.counted) else { continue };
            let place = |id: Option<String>| id.unwrap_or_default();
            let key = [
                request.session.clone(),
                request.agent.clone(),
                request.model.clone(),
                place(request.run.map(|id| id.to_string())),
                place(request.sandbox.map(|id| id.to_string())),
                request.project.as_str().to_owned(),
            ];
            let spent = request.spent();
            let sums = [
                spent.requests,
                spent.tokens.input,
                spent.tokens.output,
                spent.tokens.cache_read,
                spent.tokens.cache_write_5m,
                spent.tokens.cache_write_1h,
                spent.cost.0,
                spent.estimated,
                spent.at_list_price,
                spent.unpriced,
            ];
            let change = changes.entry((day(request.time), key)).or_default();
            change.iter_mut().zip(sums).for_each(|(all, one)| *all = all.saturating_add(signed(one) * sign));
        }
    }
    let sql = format!(
        "INSERT INTO spend (day, session, agent, model, run, sandbox, project, {SPEND_SUMS}) VALUES (?, ?, ?, ?, ?, ?, ?, {})
         ON CONFLICT DO UPDATE SET {}",
        marks(SPEND_SUMS),
        added(SPEND_SUMS)
    );
    for ((day, key), sums) in changes {
        if sums != [0; 10] {
            let keys = [Value::Integer(day)].into_iter().chain(key.map(Value::Text));
            put(db, &sql, keys.chain(sums.map(Value::Integer)))?;
        }
    }
    Ok(())
}

fn put(db: &Transaction<'_>, sql: &str, values: impl Iterator<Item = Value>) -> Result<(), StoreError> {
    let mut statement = db.prepare_cached(sql).doing(WRITING)?;
    statement.execute(params_from_iter(values)).doing(WRITING)?;
    Ok(())
}

fn marks(columns: &str) -> String {
    vec!["?"; columns.split(',').count()].join(", ")
}

fn added(columns: &str) -> String {
    let each = columns.split(", ").map(|column| format!("{column} = {column} + excluded.{column}"));
    each.collect::<Vec<_>>().join(", ")
}
