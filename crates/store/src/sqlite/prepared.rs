//! A batch turned into what the writer only has to carry out: hashed events, and statements with their values.
//!
//! Owns: bounds, JSON and hashes, all done on the appender's thread. Refuses what does not fit before it is queued.

use belljar_domain::ApprovalId;
use belljar_ports::{
    StoreError,
    store::{
        ApprovalChange, Batch, DeliveryRow, Document, ExecutionRow, IdempotencyRow, LogChunk, Removal,
        RunRow, Sample, SandboxRow, SnapshotRow,
    },
};
use rusqlite::types::Value;

use super::sql::{maybe_int, maybe_text, maybe_time, signed, text, time};
use crate::{StoreConfig, ledger::columns::PreparedEvent};

/// Events and rows of one batch.
const MOST: usize = 10_000;
/// Bytes of one row.
const WIDEST: usize = 4 * 1024 * 1024;
/// Bytes of one batch.
const HEAVIEST: usize = 32 * 1024 * 1024;

/// One statement to carry out.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) sql: &'static str,
    pub(crate) values: Vec<Value>,
    /// What it takes, which must not be taken already.
    pub(crate) claims: Option<Claim>,
}

/// What only one can have: a statement that changes nothing came too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// An idempotency key, which must not be somebody else's.
    Key,
    /// A step of an approval, which must stand where it is believed to.
    Step(ApprovalId),
}

/// A batch ready to be written.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    pub(crate) events: Vec<PreparedEvent>,
    pub(crate) skip_known: bool,
    pub(crate) is_new: bool,
    pub(crate) writes: Vec<Write>,
    pub(crate) has_logs: bool,
    pub(crate) weight: usize,
}

impl Prepared {
    /// Checks and renders a batch.
    pub(crate) fn new(batch: Batch, config: &StoreConfig) -> Result<Self, StoreError> {
        let Batch { skip_known, is_new, .. } = batch;
        let mut prepared = Self { has_logs: !batch.logs.is_empty(), skip_known, is_new, ..Self::default() };
        prepared.events = batch.events.into_iter().map(PreparedEvent::new).collect::<Result<_, _>>()?;
        let writes = &mut prepared.writes;
        writes.extend(batch.sandboxes.iter().map(sandbox));
        writes.extend(batch.executions.iter().map(execution));
        writes.extend(batch.snapshots.iter().map(snapshot));
        writes.extend(batch.documents.iter().map(document));
        writes.extend(batch.idempotency.into_iter().map(idempotency));
        writes.extend(batch.approvals.iter().map(approval));
        writes.extend(batch.runs.iter().map(run));
        writes.extend(batch.deliveries.iter().map(delivery));
        writes.extend(batch.logs.into_iter().filter_map(|chunk| log(chunk, config.log_bytes)));
        writes.extend(batch.samples.iter().map(sample));
        batch.removals.iter().for_each(|removal| remove(removal, writes));
        prepared.weigh()?;
        Ok(prepared)
    }

    fn weigh(&mut self) -> Result<(), StoreError> {
        let widths: Vec<usize> =
            self.writes.iter().map(|write| write.values.iter().map(width).sum()).collect();
        self.weight =
            self.events.iter().map(PreparedEvent::weight).sum::<usize>() + widths.iter().sum::<usize>();
        within("rows of a batch", self.events.len() + self.writes.len(), MOST)?;
        within("bytes of a row", widths.into_iter().max().unwrap_or(0), WIDEST)?;
        within("bytes of a batch", self.weight, HEAVIEST)
    }
}

fn within(what: &'static str, found: usize, limit: usize) -> Result<(), StoreError> {
    let too_large = || StoreError::TooLarge { what, found: found as u64, limit: limit as u64 };
    if found <= limit { Ok(()) } else { Err(too_large()) }
}

fn width(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        Value::Null | Value::Integer(_) | Value::Real(_) => 8,
    }
}

const fn put(sql: &'static str, values: Vec<Value>) -> Write {
    Write { sql, values, claims: None }
}

fn sandbox(row: &SandboxRow) -> Write {
    let labels =
        serde_json::Value::from_iter(row.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    put(
        "INSERT OR REPLACE INTO sandboxes
         (id, project, name, state, agent, template, labels, created, ended, record)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        vec![
            text(row.id),
            text(&row.project),
            text(&row.name),
            text(row.state),
            maybe_text(row.agent.as_ref()),
            text(&row.template),
            text(labels),
            time(row.created),
            maybe_time(row.ended),
            text(&row.record),
        ],
    )
}

fn execution(row: &ExecutionRow) -> Write {
    put(
        "INSERT OR REPLACE INTO executions
         (id, sandbox, project, command, status, exit_code, started, ended, record)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        vec![
            text(row.id),
            text(row.sandbox),
            text(&row.project),
            text(&row.command),
            maybe_text(row.status),
            row.exit_code.map_or(Value::Null, |code| Value::Integer(code.into())),
            time(row.started),
            maybe_time(row.ended),
            text(&row.record),
        ],
    )
}

fn snapshot(row: &SnapshotRow) -> Write {
    put(
        "INSERT OR REPLACE INTO snapshots (id, sandbox, project, name, created, bytes, record)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
        vec![
            text(row.id),
            text(row.sandbox),
            text(&row.project),
            maybe_text(row.name.as_ref()),
            time(row.created),
            Value::Integer(signed(row.bytes)),
            text(&row.record),
        ],
    )
}

fn document(row: &Document) -> Write {
    put(
        "INSERT OR REPLACE INTO documents (collection, id, project, updated, record) VALUES (?, ?, ?, ?, ?)",
        vec![text(&row.collection), text(&row.id), text(&row.project), time(row.updated), text(&row.record)],
    )
}

/// Takes a key nobody has, or whose time is over; answers one that waits for its answer.
fn idempotency(row: IdempotencyRow) -> Write {
    let (status, media_type, body, location) = match row.response {
        Some(response) => (
            Value::Integer(response.status.into()),
            Value::Text(response.media_type),
            Value::Blob(response.body),
            response.location.map_or(Value::Null, Value::Text),
        ),
        None => (Value::Null, Value::Null, Value::Null, Value::Null),
    };
    Write {
        sql: "INSERT INTO idempotency
                  (project, key, fingerprint, status, media_type, body, created, expires, location)
              VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
              ON CONFLICT (project, key) DO UPDATE SET fingerprint = ?3, status = ?4, media_type = ?5, body = ?6,
                  location = ?9,
                  created = CASE WHEN expires <= ?7 THEN ?7 ELSE created END, expires = ?8
              WHERE expires <= ?7 OR (fingerprint = ?3 AND status IS NULL AND ?4 IS NOT NULL)",
        values: vec![
            text(&row.project),
            Value::Text(row.key),
            Value::Blob(row.fingerprint.0.to_vec()),
            status,
            media_type,
            body,
            time(row.created),
            time(row.expires),
            location,
        ],
        claims: Some(Claim::Key),
    }
}

fn run(row: &RunRow) -> Write {
    put(
        "INSERT OR REPLACE INTO runs (id, project, state, task, winner, created, ended, record)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        vec![
            text(row.id),
            text(&row.project),
            text(row.state),
            text(&row.task),
            row.winner.map_or(Value::Null, |winner| Value::Integer(winner.into())),
            time(row.created),
            maybe_time(row.ended),
            text(&row.record),
        ],
    )
}

/// Opens an approval unless its call waits already, or takes it a step further from where it stands.
fn approval(change: &ApprovalChange) -> Write {
    const OPEN: &str = "INSERT OR IGNORE INTO approvals
        (id, project, state, call, agent, session, sandbox, created, expires, answered, delivered, record)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    const STEP: &str =
        "UPDATE approvals SET state = ?3, expires = ?9, answered = ?10, delivered = ?11, record = ?12
        WHERE id = ?1 AND project = ?2 AND call = ?4 AND agent IS ?5 AND session IS ?6 AND sandbox IS ?7
          AND created = ?8 AND state = ?13 AND delivered IS NULL";
    let row = &change.row;
    let mut values = vec![
        text(row.id),
        text(&row.project),
        text(row.state),
        text(&row.call),
        maybe_text(row.agent.as_ref()),
        maybe_text(row.session.as_ref()),
        maybe_text(row.sandbox),
        time(row.created),
        time(row.expires),
        maybe_time(row.answered),
        maybe_time(row.delivered),
        text(&row.record),
    ];
    values.extend(change.from.map(text));
    let sql = if change.from.is_some() { STEP } else { OPEN };
    Write { sql, values, claims: Some(Claim::Step(row.id)) }
}

fn delivery(row: &DeliveryRow) -> Write {
    put(
        "INSERT OR REPLACE INTO deliveries
         (id, webhook, project, event, attempt, time, status, code, error, duration_ms, retry)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        vec![
            text(row.id),
            text(&row.webhook),
            text(&row.project),
            text(row.event),
            Value::Integer(row.attempt.into()),
            time(row.time),
            maybe_text(row.status),
            row.code.map_or(Value::Null, |code| Value::Integer(code.into())),
            maybe_text(row.error.as_ref()),
            maybe_int(row.duration_ms),
            maybe_time(row.retry),
        ],
    )
}

/// A stream is kept up to the cap. The piece that reaches it is cut and says so; what lies beyond is not kept.
fn log(mut chunk: LogChunk, cap: u64) -> Option<Write> {
    let room = usize::try_from(cap.checked_sub(chunk.offset)?).unwrap_or(usize::MAX);
    let is_cut = chunk.bytes.len() > room;
    chunk.bytes.truncate(room);
    Some(put(
        "INSERT OR IGNORE INTO logs (sandbox, execution, stream, offset, time, cut, bytes)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
        vec![
            text(chunk.sandbox),
            text(chunk.execution.map_or_else(String::new, |id| id.to_string())),
            Value::Integer(super::logs::number(chunk.stream)),
            Value::Integer(signed(chunk.offset)),
            time(chunk.time),
            Value::Integer(is_cut.into()),
            Value::Blob(chunk.bytes),
        ],
    ))
}

fn sample(row: &Sample) -> Write {
    let usage = &row.usage;
    put(
        "INSERT OR REPLACE INTO samples (sandbox, time, cpu, memory, disk, rx, tx, pids)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        vec![
            text(row.sandbox),
            time(row.time),
            maybe_int(usage.cpu_micros),
            maybe_int(usage.memory_bytes),
            maybe_int(usage.disk_bytes),
            maybe_int(usage.net_rx_bytes),
            maybe_int(usage.net_tx_bytes),
            maybe_int(usage.pids),
        ],
    )
}

fn remove(removal: &Removal, writes: &mut Vec<Write>) {
    match removal {
        Removal::Sandbox(id) => writes.extend(
            [
                "DELETE FROM sandboxes WHERE id = ?",
                "DELETE FROM executions WHERE sandbox = ?",
                "DELETE FROM logs WHERE sandbox = ?",
                "DELETE FROM samples WHERE sandbox = ?",
                "DELETE FROM rollups WHERE sandbox = ?",
            ]
            .map(|sql| put(sql, vec![text(id)])),
        ),
        Removal::Snapshot(id) => writes.push(put("DELETE FROM snapshots WHERE id = ?", vec![text(id)])),
        Removal::Document(collection, id) => {
            let sql = "DELETE FROM documents WHERE collection = ? AND id = ?";
            writes.push(put(sql, vec![text(collection), text(id)]));
        }
        Removal::Idempotency(project, key) => {
            let sql = "DELETE FROM idempotency WHERE project = ? AND key = ?";
            writes.push(put(sql, vec![text(project), text(key)]));
        }
        Removal::Artifact(link) => {
            let sql = "DELETE FROM artifact_links WHERE link = ?";
            writes.push(put(sql, vec![Value::Integer(signed(*link))]));
        }
    }
}
