//! Writing what changed, each record once.

use belljar_domain::eye::{AgentRecord, Call, ErrorGroup, ModelRequest, Series, Session};
use belljar_ports::StoreError;
use rusqlite::{Transaction, params_from_iter, types::Value};
use serde::Serialize;

use super::super::sql::{Doing, maybe_int, maybe_text, signed, text, time};
use super::{
    WRITING, rollups,
    sheet::{Sheet, Slot, spelled},
};

type Answer = Result<(), StoreError>;

/// Columns of a call that seldom change after the first word on it.
const CALL_PLACE: &str = "project, session, agent, tool, tool_use, prompt, sandbox, execution, run, time";
/// Columns that do.
const CALL_STATE: &str = "decision, outcome, fingerprint, last, duration";

impl Sheet<'_> {
    /// Writes everything that changed.
    pub(super) fn flush(&mut self) -> Answer {
        let calls = self.calls.values().filter(|slot| slot.changed).collect::<Vec<_>>();
        let requests = self.requests.values().filter(|slot| slot.changed).collect::<Vec<_>>();
        rollups::tools(self.db, &calls)?;
        rollups::spend(self.db, &requests)?;
        calls.iter().try_for_each(|slot| call(self.db, slot))?;
        requests.iter().try_for_each(|slot| request(self.db, &slot.now))?;
        each(&self.sessions).try_for_each(|slot| session(self.db, &slot.now))?;
        each(&self.agents).try_for_each(|slot| agent(self.db, &slot.now))?;
        each(&self.errors).try_for_each(|slot| error(self.db, &slot.now))?;
        each(&self.series).try_for_each(|slot| series(self.db, &slot.now))
    }
}

fn each<K, T>(slots: &std::collections::HashMap<K, Slot<T>>) -> impl Iterator<Item = &Slot<T>> {
    slots.values().filter(|slot| slot.changed)
}

fn run(db: &Transaction<'_>, sql: &str, values: Vec<Value>) -> Answer {
    let mut statement = db.prepare_cached(sql).doing(WRITING)?;
    statement.execute(params_from_iter(values)).doing(WRITING)?;
    Ok(())
}

/// A statement that puts a row over what is there.
fn put(table: &str, columns: &str) -> String {
    let marks = vec!["?"; columns.split(',').count()].join(", ");
    format!("INSERT OR REPLACE INTO {table} ({columns}) VALUES ({marks})")
}

fn record(of: &impl Serialize) -> Result<Value, StoreError> {
    serde_json::to_string(of).map(Value::Text).map_err(|error| StoreError::backend(WRITING, error))
}

/// The whole record, beside what it is found by.
fn whole(db: &Transaction<'_>, table: &str, id: u64, of: &impl Serialize) -> Answer {
    run(db, &put(table, "id, record"), vec![Value::Integer(signed(id)), record(of)?])
}

fn words(values: [Option<&str>; 3]) -> [Value; 3] {
    values.map(maybe_text)
}

fn place(call: &Call) -> Vec<Value> {
    let known = &call.known;
    let mut values = vec![text(&call.project), text(&call.session), text(&call.agent)];
    values.extend(words([known.tool.as_deref(), known.tool_use_id.as_deref(), known.prompt.as_deref()]));
    values.extend([maybe_text(known.sandbox), maybe_text(known.execution), maybe_text(known.run)]);
    values.push(time(call.time()));
    values
}

fn call(db: &Transaction<'_>, slot: &Slot<Call>) -> Answer {
    let now = &slot.now;
    let known = &now.known;
    let state = vec![
        maybe_text(known.decision),
        maybe_text(known.outcome),
        maybe_text(now.fingerprint.as_ref()),
        time(now.known.ended.unwrap_or(now.received)),
        maybe_int(known.duration_ms),
    ];
    whole(db, "call_records", now.id, now)?;
    let id = Value::Integer(signed(now.id));
    let Some(before) = &slot.before else {
        let values = [vec![id], place(now), state].concat();
        return run(db, &put("calls", &format!("id, {CALL_PLACE}, {CALL_STATE}")), values);
    };
    let set = |columns: &str| {
        columns.split(", ").map(|column| format!("{column} = ?")).collect::<Vec<_>>().join(", ")
    };
    // An index is written for every column that is set, whether or not its value is another.
    if place(before) == place(now) {
        run(db, &format!("UPDATE calls SET {} WHERE id = ?", set(CALL_STATE)), [state, vec![id]].concat())
    } else {
        let sql = format!("UPDATE calls SET {}, {} WHERE id = ?", set(CALL_PLACE), set(CALL_STATE));
        run(db, &sql, [place(now), state, vec![id]].concat())
    }
}

fn session(db: &Transaction<'_>, now: &Session) -> Answer {
    let columns =
        "id, project, session, vendor, model, state, cwd, parent, sandbox, run, began, received, record";
    let values = vec![
        Value::Integer(signed(now.id)),
        text(&now.project),
        text(&now.session),
        maybe_text(now.vendor.as_ref()),
        maybe_text(now.model.as_ref()),
        text(now.state),
        maybe_text(now.cwd.as_ref()),
        maybe_text(now.parent.as_ref()),
        maybe_text(now.sandbox),
        maybe_text(now.run),
        time(now.began),
        time(now.received),
        record(now)?,
    ];
    run(db, &put("sessions", columns), values)
}

fn agent(db: &Transaction<'_>, now: &AgentRecord) -> Answer {
    let columns = "id, project, session, agent, vendor, agent_type, parent, state, began, last, ended, repeats, events, prompts, turns, turns_failed, calls, succeeded, failed, denied, cancelled, requests_failed, compactions, requests, input, output, cache_read, cache_write_5m, cache_write_1h, cost, estimated, at_list_price, unpriced, duration_ms, durations";
    let (counts, spent) = (&now.counts, &now.spent);
    let mut values = vec![
        Value::Integer(signed(now.id)),
        text(&now.project),
        text(&now.session),
        text(&now.agent),
        maybe_text(now.vendor.as_ref()),
        maybe_text(now.agent_type.as_ref()),
        maybe_text(now.parent.as_ref()),
        text(now.state),
        time(now.began),
        time(now.last),
        super::super::sql::maybe_time(now.ended),
    ];
    let numbers = [
        now.repetition.times,
        counts.events,
        counts.prompts,
        counts.turns,
        counts.turns_failed,
        counts.calls,
        counts.succeeded,
        counts.failed,
        counts.denied,
        counts.cancelled,
        counts.requests_failed,
        counts.compactions,
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
        now.duration_ms,
    ];
    values.extend(numbers.map(|number| Value::Integer(signed(number))));
    values.push(record(&now.durations)?);
    whole(db, "agent_records", now.id, now)?;
    run(db, &put("agents", columns), values)
}

fn request(db: &Transaction<'_>, now: &ModelRequest) -> Answer {
    let values = vec![
        Value::Integer(signed(now.id)),
        text(&now.project),
        text(&now.session),
        maybe_text(now.request_id.as_ref()),
        maybe_text(now.message_id.as_ref()),
        Value::Integer(i64::from(now.counted)),
        time(now.time),
        record(now)?,
    ];
    run(db, &put("requests", "id, project, session, name, message, counted, time, record"), values)
}

fn error(db: &Transaction<'_>, now: &ErrorGroup) -> Answer {
    let values = vec![
        Value::Integer(signed(now.id)),
        text(&now.project),
        text(&now.fingerprint),
        text(now.state),
        text(&now.what),
        maybe_text(now.tool.as_ref()),
        time(now.first),
        time(now.last),
        record(now)?,
    ];
    run(db, &put("errors", "id, project, fingerprint, state, what, tool, first, last, record"), values)
}

fn series(db: &Transaction<'_>, now: &Series) -> Answer {
    let values = vec![
        text(&now.project),
        text(&now.name),
        text(spelled(&now.labels)),
        maybe_text(now.session.as_ref()),
        Value::Integer(signed(now.latest / 1000)),
        record(now)?,
    ];
    run(db, &put("series", "project, name, labels, session, latest, record"), values)
}
