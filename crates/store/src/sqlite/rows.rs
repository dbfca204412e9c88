//! Reading what exists now: sandboxes, executions, snapshots, documents, approvals, runs, idempotency keys,
//! deliveries.

use std::collections::BTreeMap;

use belljar_domain::{
    ApprovalId, Digest, ExecutionId, ProjectId, RunId, SandboxId, SandboxState, SnapshotId, Timestamp,
};
use belljar_ports::{
    StoreError,
    store::{
        ApprovalFilter, ApprovalRow, DeliveryRow, Document, ExecutionFilter, ExecutionRow, IdempotencyRow,
        PAGE_LIMIT, RunFilter, RunRow, SandboxFilter, SandboxRow, SnapshotRow, StoredResponse,
    },
};
use rusqlite::{Connection, Row, params_from_iter, types::Value};

use super::sql::{
    Doing, Filter, amount, json, maybe_amount, maybe_moment, maybe_parsed, moment, parsed, text, time,
    unreadable,
};

/// Reads rows that meet conditions.
fn select<T>(
    connection: &Connection,
    columns_from: &str,
    filter: &Filter,
    order: &str,
    limit: usize,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let doing = "read rows of the store";
    let limit = limit.min(PAGE_LIMIT);
    let sql = format!("SELECT {columns_from}{} ORDER BY {order} LIMIT {limit}", filter.clause());
    let mut statement = connection.prepare_cached(&sql).doing(doing)?;
    let rows = statement.query_map(params_from_iter(&filter.values), read).doing(doing)?;
    rows.collect::<rusqlite::Result<_>>().doing(doing)
}

fn only(column: &str, value: impl std::fmt::Display) -> Filter {
    let mut filter = Filter::default();
    filter.and(format!("{column} = ?"), [text(value)]);
    filter
}

const SANDBOXES: &str =
    "id, project, name, state, agent, template, labels, created, ended, record FROM sandboxes";

pub(crate) fn sandbox(connection: &Connection, id: SandboxId) -> Result<Option<SandboxRow>, StoreError> {
    Ok(select(connection, SANDBOXES, &only("id", id), "id", 1, read_sandbox)?.pop())
}

pub(crate) fn sandboxes(
    connection: &Connection,
    filter: &SandboxFilter,
    below: Option<SandboxId>,
    limit: usize,
) -> Result<Vec<SandboxRow>, StoreError> {
    let mut all = Filter::default();
    all.and_if("project = ?", filter.project.as_ref());
    all.and_if("agent = ?", filter.agent.as_ref());
    all.and_if("template = ?", filter.template.as_ref());
    all.and_if("id < ?", below);
    if !filter.states.is_empty() {
        let marks = vec!["?"; filter.states.len()].join(", ");
        all.and(format!("state IN ({marks})"), filter.states.iter().map(text));
    }
    for (key, value) in &filter.labels {
        let condition =
            "EXISTS (SELECT 1 FROM json_each(labels) AS label WHERE label.key = ? AND label.value = ?)";
        all.and(condition, [text(key), text(value)]);
    }
    if let Some(from) = filter.from {
        all.and("created >= ?", [time(from)]);
    }
    if let Some(until) = filter.until {
        all.and("created < ?", [time(until)]);
    }
    select(connection, SANDBOXES, &all, "id DESC", limit, read_sandbox)
}

fn read_sandbox(row: &Row<'_>) -> rusqlite::Result<SandboxRow> {
    let labels: BTreeMap<String, String> =
        serde_json::from_value(json(row, 6)?).map_err(|e| unreadable(6, e))?;
    Ok(SandboxRow {
        id: parsed(row, 0)?,
        project: parsed(row, 1)?,
        name: row.get(2)?,
        state: state(row, 3)?,
        agent: row.get(4)?,
        template: row.get(5)?,
        labels,
        created: moment(row, 7)?,
        ended: maybe_moment(row, 8)?,
        record: json(row, 9)?,
    })
}

fn state(row: &Row<'_>, at: usize) -> rusqlite::Result<SandboxState> {
    let word = serde_json::Value::String(row.get(at)?);
    serde_json::from_value(word).map_err(|e| unreadable(at, e))
}

const EXECUTIONS: &str =
    "id, sandbox, project, command, status, exit_code, started, ended, record FROM executions";

pub(crate) fn execution(
    connection: &Connection,
    id: ExecutionId,
) -> Result<Option<ExecutionRow>, StoreError> {
    Ok(select(connection, EXECUTIONS, &only("id", id), "id", 1, read_execution)?.pop())
}

pub(crate) fn executions(
    connection: &Connection,
    filter: &ExecutionFilter,
    below: Option<ExecutionId>,
    limit: usize,
) -> Result<Vec<ExecutionRow>, StoreError> {
    let mut all = Filter::default();
    all.and_if("project = ?", filter.project.as_ref());
    all.and_if("sandbox = ?", filter.sandbox);
    all.and_if("status = ?", filter.status);
    all.and_if("id < ?", below);
    select(connection, EXECUTIONS, &all, "id DESC", limit, read_execution)
}

fn read_execution(row: &Row<'_>) -> rusqlite::Result<ExecutionRow> {
    Ok(ExecutionRow {
        id: parsed(row, 0)?,
        sandbox: parsed(row, 1)?,
        project: parsed(row, 2)?,
        command: row.get(3)?,
        status: maybe_parsed(row, 4)?,
        exit_code: row.get(5)?,
        started: moment(row, 6)?,
        ended: maybe_moment(row, 7)?,
        record: json(row, 8)?,
    })
}

const SNAPSHOTS: &str = "id, sandbox, project, name, created, bytes, record FROM snapshots";

pub(crate) fn snapshot(connection: &Connection, id: SnapshotId) -> Result<Option<SnapshotRow>, StoreError> {
    Ok(select(connection, SNAPSHOTS, &only("id", id), "id", 1, read_snapshot)?.pop())
}

pub(crate) fn snapshots(
    connection: &Connection,
    project: Option<&ProjectId>,
    below: Option<SnapshotId>,
    limit: usize,
) -> Result<Vec<SnapshotRow>, StoreError> {
    let mut all = Filter::default();
    all.and_if("project = ?", project);
    all.and_if("id < ?", below);
    select(connection, SNAPSHOTS, &all, "id DESC", limit, read_snapshot)
}

fn read_snapshot(row: &Row<'_>) -> rusqlite::Result<SnapshotRow> {
    Ok(SnapshotRow {
        id: parsed(row, 0)?,
        sandbox: parsed(row, 1)?,
        project: parsed(row, 2)?,
        name: row.get(3)?,
        created: moment(row, 4)?,
        bytes: amount(row, 5)?,
        record: json(row, 6)?,
    })
}

const DOCUMENTS: &str = "collection, id, project, updated, record FROM documents";

pub(crate) fn document(
    connection: &Connection,
    collection: &str,
    id: &str,
) -> Result<Option<Document>, StoreError> {
    let mut one = only("collection", collection);
    one.and("id = ?", [text(id)]);
    Ok(select(connection, DOCUMENTS, &one, "id", 1, read_document)?.pop())
}

pub(crate) fn documents(
    connection: &Connection,
    collection: &str,
    project: Option<&ProjectId>,
    after: &str,
    limit: usize,
) -> Result<Vec<Document>, StoreError> {
    let mut all = only("collection", collection);
    all.and_if("project = ?", project);
    all.and("id > ?", [text(after)]);
    select(connection, DOCUMENTS, &all, "id", limit, read_document)
}

fn read_document(row: &Row<'_>) -> rusqlite::Result<Document> {
    Ok(Document {
        collection: row.get(0)?,
        id: row.get(1)?,
        project: parsed(row, 2)?,
        updated: moment(row, 3)?,
        record: json(row, 4)?,
    })
}

const APPROVALS: &str = "id, project, state, call, agent, session, sandbox, created, expires, answered, delivered, \
                         record FROM approvals";

pub(crate) fn approval(connection: &Connection, id: ApprovalId) -> Result<Option<ApprovalRow>, StoreError> {
    Ok(select(connection, APPROVALS, &only("id", id), "id", 1, read_approval)?.pop())
}

pub(crate) fn approvals(
    connection: &Connection,
    filter: &ApprovalFilter,
    below: Option<ApprovalId>,
    limit: usize,
) -> Result<Vec<ApprovalRow>, StoreError> {
    let mut all = Filter::default();
    all.and_if("project = ?", filter.project.as_ref());
    all.and_if("agent = ?", filter.agent.as_ref());
    all.and_if("session = ?", filter.session.as_ref());
    all.and_if("sandbox = ?", filter.sandbox);
    all.and_if("call = ?", filter.call.as_ref());
    all.and_if("id < ?", below);
    if !filter.states.is_empty() {
        let marks = vec!["?"; filter.states.len()].join(", ");
        all.and(format!("state IN ({marks})"), filter.states.iter().map(text));
    }
    select(connection, APPROVALS, &all, "id DESC", limit, read_approval)
}

fn read_approval(row: &Row<'_>) -> rusqlite::Result<ApprovalRow> {
    Ok(ApprovalRow {
        id: parsed(row, 0)?,
        project: parsed(row, 1)?,
        state: parsed(row, 2)?,
        call: row.get(3)?,
        agent: row.get(4)?,
        session: row.get(5)?,
        sandbox: maybe_parsed(row, 6)?,
        created: moment(row, 7)?,
        expires: moment(row, 8)?,
        answered: maybe_moment(row, 9)?,
        delivered: maybe_moment(row, 10)?,
        record: json(row, 11)?,
    })
}

const RUNS: &str = "id, project, state, task, winner, created, ended, record FROM runs";

pub(crate) fn run(connection: &Connection, id: RunId) -> Result<Option<RunRow>, StoreError> {
    Ok(select(connection, RUNS, &only("id", id), "id", 1, read_run)?.pop())
}

pub(crate) fn runs(
    connection: &Connection,
    filter: &RunFilter,
    below: Option<RunId>,
    limit: usize,
) -> Result<Vec<RunRow>, StoreError> {
    let mut all = Filter::default();
    all.and_if("project = ?", filter.project.as_ref());
    all.and_if("task = ?", filter.task.as_ref());
    all.and_if("id < ?", below);
    if !filter.states.is_empty() {
        let marks = vec!["?"; filter.states.len()].join(", ");
        all.and(format!("state IN ({marks})"), filter.states.iter().map(text));
    }
    if let Some(from) = filter.from {
        all.and("created >= ?", [time(from)]);
    }
    if let Some(until) = filter.until {
        all.and("created < ?", [time(until)]);
    }
    select(connection, RUNS, &all, "id DESC", limit, read_run)
}

fn read_run(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        id: parsed(row, 0)?,
        project: parsed(row, 1)?,
        state: parsed(row, 2)?,
        task: row.get(3)?,
        winner: row.get(4)?,
        created: moment(row, 5)?,
        ended: maybe_moment(row, 6)?,
        record: json(row, 7)?,
    })
}

pub(crate) fn idempotency(
    connection: &Connection,
    project: &ProjectId,
    key: &str,
    now: Timestamp,
) -> Result<Option<IdempotencyRow>, StoreError> {
    let mut one = only("project", project);
    one.and("key = ? AND expires > ?", [text(key), time(now)]);
    let columns =
        "project, key, fingerprint, status, media_type, body, created, expires, location FROM idempotency";
    Ok(select(connection, columns, &one, "key", 1, read_idempotency)?.pop())
}

fn read_idempotency(row: &Row<'_>) -> rusqlite::Result<IdempotencyRow> {
    let status: Option<u16> = row.get(3)?;
    let response = status.map(|status| {
        let (media_type, body, location) = (row.get(4)?, row.get(5)?, row.get(8)?);
        Ok::<_, rusqlite::Error>(StoredResponse { status, media_type, location, body })
    });
    Ok(IdempotencyRow {
        project: parsed(row, 0)?,
        key: row.get(1)?,
        fingerprint: Digest(row.get(2)?),
        response: response.transpose()?,
        created: moment(row, 6)?,
        expires: moment(row, 7)?,
    })
}

const DELIVERIES: &str =
    "id, webhook, project, event, attempt, time, status, code, error, duration_ms, retry FROM deliveries";

pub(crate) fn deliveries(
    connection: &Connection,
    webhook: &str,
    below: Option<belljar_domain::DeliveryId>,
    limit: usize,
) -> Result<Vec<DeliveryRow>, StoreError> {
    let mut all = only("webhook", webhook);
    all.and_if("id < ?", below);
    select(connection, DELIVERIES, &all, "id DESC", limit, read_delivery)
}

pub(crate) fn due_deliveries(
    connection: &Connection,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<DeliveryRow>, StoreError> {
    let mut due = Filter::default();
    due.and("retry <= ?", [Value::Integer(now.as_micros())]);
    select(connection, DELIVERIES, &due, "retry, id", limit, read_delivery)
}

fn read_delivery(row: &Row<'_>) -> rusqlite::Result<DeliveryRow> {
    Ok(DeliveryRow {
        id: parsed(row, 0)?,
        webhook: row.get(1)?,
        project: parsed(row, 2)?,
        event: parsed(row, 3)?,
        attempt: row.get(4)?,
        time: moment(row, 5)?,
        status: maybe_parsed(row, 6)?,
        code: row.get(7)?,
        error: row.get(8)?,
        duration_ms: maybe_amount(row, 9)?,
        retry: maybe_moment(row, 10)?,
    })
}
