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
    // Several states are as many walks down their index, put together here: SQLite would read and sort all there are.
    let states: Vec<_> = filter.states.iter().map(Some).collect();
    let walks = if states.is_empty() { vec![None] } else { states };
    let mut found = Vec::new();
    for state in &walks {
        let conditions = sandbox_conditions(filter, *state, below);
        found.extend(select(connection, SANDBOXES, &conditions, NEWEST_FIRST, limit, read_sandbox)?);
    }
    if walks.len() > 1 {
        found.sort_by_key(|row| std::cmp::Reverse(row.id));
        found.dedup_by(|a, b| a.id == b.id);
        found.truncate(limit.min(PAGE_LIMIT));
    }
    Ok(found)
}

const NEWEST_FIRST: &str = "id DESC";

/// What a sandbox must be. Project, agent and state have an index that ends in the id, so a page is found where the last
/// one ended; templates, labels, metadata and times are looked at on the way.
fn sandbox_conditions(
    filter: &SandboxFilter,
    state: Option<&SandboxState>,
    below: Option<SandboxId>,
) -> Filter {
    let mut all = Filter::default();
    all.and_if("project = ?", filter.project.as_ref());
    all.and_if("agent = ?", filter.agent.as_ref());
    all.and_if("template = ?", filter.template.as_ref());
    all.and_if("state = ?", state);
    all.and_if("id < ?", below);
    for (key, value) in &filter.labels {
        let condition =
            "EXISTS (SELECT 1 FROM json_each(labels) AS label WHERE label.key = ? AND label.value = ?)";
        all.and(condition, [text(key), text(value)]);
    }
    for (key, value) in &filter.metadata {
        let condition = "EXISTS (SELECT 1 FROM json_each(record, '$.metadata') AS meta WHERE meta.key = ? AND ? =
            CASE WHEN meta.type IN ('true', 'false', 'null') THEN meta.type ELSE CAST(meta.value AS TEXT) END)";
        all.and(condition, [text(key), text(value)]);
    }
    if let Some(from) = filter.from {
        all.and("created >= ?", [time(from)]);
    }
    if let Some(until) = filter.until {
        all.and("created < ?", [time(until)]);
    }
    all
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(db: &Connection, filter: &SandboxFilter, below: Option<SandboxId>) -> Vec<String> {
        let conditions = sandbox_conditions(filter, filter.states.first(), below);
        let clause = conditions.clause();
        let sql = format!("EXPLAIN QUERY PLAN SELECT {SANDBOXES}{clause} ORDER BY {NEWEST_FIRST} LIMIT 100");
        let mut statement = db.prepare(&sql).unwrap();
        let lines = statement.query_map(params_from_iter(&conditions.values), |row| row.get(3)).unwrap();
        lines.collect::<rusqlite::Result<_>>().unwrap()
    }

    #[test]
    fn a_page_of_sandboxes_begins_where_the_last_one_ended() {
        let mut db = Connection::open_in_memory().unwrap();
        crate::sqlite::migrate::up(&mut db).unwrap();
        let last = "sbx_0190000000007000800000000000002a".parse().unwrap();
        for bits in 0_u32..1 << 6 {
            let is = |bit: u32| bits & (1 << bit) != 0;
            let filter = SandboxFilter {
                project: is(0).then(ProjectId::default),
                agent: is(1).then(|| "ann".to_owned()),
                template: is(2).then(|| "host".to_owned()),
                states: is(3).then_some(SandboxState::Running).into_iter().collect(),
                labels: is(4).then(|| ("team".to_owned(), "red".to_owned())).into_iter().collect(),
                ..SandboxFilter::default()
            };
            let plan = plan(&db, &filter, is(5).then_some(last));
            assert!(!plan.iter().any(|line| line.contains("TEMP B-TREE")), "{filter:?}: {plan:?}");
            let is_sought = is(0) || is(1) || is(3) || is(5);
            let first = if is_sought { "SEARCH sandboxes" } else { "SCAN sandboxes" };
            assert!(plan.iter().any(|line| line.starts_with(first)), "{filter:?}: {plan:?}");
        }
    }
}
