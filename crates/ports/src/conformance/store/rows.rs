//! Rows about what exists now.

use belljar_domain::{Digest, EventStatus, SandboxId, SandboxState, Timestamp};

use super::{Bench, DAY, append, fresh, noon, ok, project, sandbox};
use crate::{
    conformance::{Verdict, expect},
    store::{
        Batch, DeliveryRow, Document, ExecutionFilter, ExecutionRow, IdempotencyRow, LogChunk, LogFilter,
        LogStream, Removal, SandboxFilter, SandboxRow, SnapshotRow, StoreError, StoredResponse,
    },
};

pub(super) fn sandboxes(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let rows: Vec<SandboxRow> = ["ann", "bob", "ann"].into_iter().map(sandbox).collect::<Result<_, _>>()?;
    let [first, second, third] = rows.as_slice() else { return Err("three".to_owned()) };
    append(&*store, Batch { sandboxes: rows.clone(), ..Batch::default() })?;
    let ended = SandboxRow {
        state: SandboxState::Stopped,
        ended: Some(noon()),
        project: project("other")?,
        template: "debian".to_owned(),
        record: serde_json::json!({ "metadata": { "task": "a-1", "tries": 2, "is_new": true, "of": { "x": "y" } } }),
        ..second.clone()
    };
    append(&*store, Batch { sandboxes: vec![ended.clone()], ..Batch::default() })?;
    expect("replaced", &ok(store.sandbox(second.id))?, &Some(ended.clone()))?;
    expect("unknown", &ok(store.sandbox(fresh("sbx_")?))?, &None)?;
    let none = SandboxFilter::default;
    let ids = |filter: SandboxFilter, below| -> Result<Vec<SandboxId>, String> {
        Ok(ok(store.sandboxes(&filter, below, 2))?.iter().map(|row| row.id).collect())
    };
    expect("newest first", &ids(none(), None)?, &vec![third.id, second.id])?;
    expect("the next page", &ids(none(), Some(second.id))?, &vec![first.id])?;
    let label = [("team".to_owned(), "bob".to_owned())].into();
    for (what, filter) in [
        ("project", SandboxFilter { project: Some(ended.project.clone()), ..none() }),
        ("states", SandboxFilter { states: vec![SandboxState::Stopped, SandboxState::Failed], ..none() }),
        ("agent", SandboxFilter { agent: Some("bob".to_owned()), ..none() }),
        ("template", SandboxFilter { template: Some("debian".to_owned()), ..none() }),
        ("labels", SandboxFilter { labels: label, ..none() }),
        ("times", SandboxFilter { from: Some(second.created), until: Some(third.created), ..none() }),
    ] {
        expect(what, &ids(filter, None)?.contains(&second.id), &true)?;
    }
    let words = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let with = |pairs: &[(&str, &str)]| ids(SandboxFilter { metadata: words(pairs), ..none() }, None);
    expect("metadata", &with(&[("task", "a-1"), ("tries", "2"), ("is_new", "true")])?, &vec![second.id])?;
    for other in [[("task", "a-2")], [("x", "y")], [("tries", "1")], [("is_new", "1")], [("none", "")]] {
        expect("other metadata", &with(&other)?, &vec![])?;
    }
    let both = [("team".to_owned(), "bob".to_owned()), ("other".to_owned(), "x".to_owned())].into();
    expect("every label counts", &ids(SandboxFilter { labels: both, ..none() }, None)?, &vec![])
}

fn execution(of: SandboxId) -> Result<ExecutionRow, String> {
    Ok(ExecutionRow {
        id: fresh("exe_")?,
        sandbox: of,
        project: project("default")?,
        command: "ls -l".to_owned(),
        status: None,
        exit_code: None,
        started: noon(),
        ended: None,
        record: serde_json::Value::Null,
    })
}

pub(super) fn executions(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let (here, there) = (fresh("sbx_")?, fresh("sbx_")?);
    let (running, other) = (execution(here)?, execution(there)?);
    append(&*store, Batch { executions: vec![running.clone(), other.clone()], ..Batch::default() })?;
    let over = ExecutionRow {
        status: Some(EventStatus::Failure),
        exit_code: Some(-1),
        ended: Some(noon()),
        record: serde_json::json!([1]),
        ..running.clone()
    };
    append(&*store, Batch { executions: vec![over.clone()], ..Batch::default() })?;
    expect("replaced", &ok(store.execution(running.id))?, &Some(over.clone()))?;
    let none = ExecutionFilter::default;
    let by_sandbox = ExecutionFilter { sandbox: Some(here), ..none() };
    expect("of a sandbox", &ok(store.executions(&by_sandbox, None, 9))?, &vec![over.clone()])?;
    let failed = ExecutionFilter { status: Some(EventStatus::Failure), ..none() };
    expect("that failed", &ok(store.executions(&failed, None, 9))?, &vec![over.clone()])?;
    expect("the next page", &ok(store.executions(&none(), Some(other.id), 9))?, &vec![over])
}

pub(super) fn snapshots_and_documents(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let snapshot = SnapshotRow {
        id: fresh("snp_")?,
        sandbox: fresh("sbx_")?,
        project: project("default")?,
        name: Some("clean".to_owned()),
        created: noon(),
        bytes: 1 << 40,
        record: serde_json::json!({}),
    };
    let document = |id: &str, owner: &str| -> Result<Document, String> {
        let record = serde_json::json!({ "url": "https://example.org" });
        let (collection, id) = ("webhook".to_owned(), id.to_owned());
        Ok(Document { collection, id, project: project(owner)?, updated: noon(), record })
    };
    let documents = vec![document("a", "default")?, document("b", "other")?, document("c", "default")?];
    let batch = Batch { snapshots: vec![snapshot.clone()], documents: documents.clone(), ..Batch::default() };
    append(&*store, batch)?;
    expect("snapshot", &ok(store.snapshot(snapshot.id))?, &Some(snapshot.clone()))?;
    expect("snapshots", &ok(store.snapshots(None, None, 9))?, &vec![snapshot.clone()])?;
    expect("another's", &ok(store.snapshots(Some(&project("other")?), None, 9))?, &vec![])?;
    expect("document", &ok(store.document("webhook", "b"))?.as_ref(), &documents.get(1))?;
    expect("another collection", &ok(store.document("template", "b"))?, &None)?;
    let mine = ok(store.documents("webhook", Some(&project("default")?), "a", 9))?;
    expect("after one", &mine.iter().collect::<Vec<_>>(), &documents.get(2).into_iter().collect())?;
    let removals =
        vec![Removal::Snapshot(snapshot.id), Removal::Document("webhook".to_owned(), "b".to_owned())];
    append(&*store, Batch { removals, ..Batch::default() })?;
    expect("removed", &ok(store.document("webhook", "b"))?, &None)?;
    expect("removed", &ok(store.snapshot(snapshot.id))?, &None)
}

pub(super) fn idempotency(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let owner = project("default")?;
    let now = noon();
    let claim = IdempotencyRow {
        project: owner.clone(),
        key: "k".to_owned(),
        fingerprint: Digest([1; 32]),
        response: None,
        created: now,
        expires: now.plus(DAY),
    };
    let put = |row: IdempotencyRow| store.append(Batch { idempotency: vec![row], ..Batch::default() }).wait();
    ok(put(claim.clone()))?;
    match (put(claim.clone()), put(IdempotencyRow { fingerprint: Digest([2; 32]), ..claim.clone() })) {
        (Err(StoreError::KeyTaken(_)), Err(StoreError::KeyReused(_))) => {}
        other => return Err(format!("a key was claimed twice: {other:?}")),
    }
    let response = StoredResponse {
        status: 201,
        media_type: "application/json".to_owned(),
        location: Some("/made/here".to_owned()),
        body: b"{}".to_vec(),
    };
    let answered = IdempotencyRow { response: Some(response), ..claim.clone() };
    ok(put(answered.clone()))?;
    expect("answered", &ok(store.idempotency(&owner, "k", now))?, &Some(answered.clone()))?;
    expect("another project's", &ok(store.idempotency(&project("other")?, "k", now))?, &None)?;
    expect("expired", &ok(store.idempotency(&owner, "k", now.plus(DAY * 2)))?, &None)?;
    match put(answered) {
        Err(StoreError::KeyTaken(_)) => {}
        other => return Err(format!("a key was answered twice: {other:?}")),
    }
    let next = IdempotencyRow {
        fingerprint: Digest([3; 32]),
        created: now.plus(DAY * 2),
        expires: now.plus(DAY * 3),
        ..claim.clone()
    };
    ok(put(next))?;
    let abandoned = IdempotencyRow { key: "crashed".to_owned(), ..claim };
    ok(put(abandoned.clone()))?;
    ok(store.close())?;
    drop(store);
    let store = bench.store()?;
    expect("an abandoned claim", &ok(store.idempotency(&owner, "crashed", now))?, &Some(abandoned))
}

pub(super) fn deliveries(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let now = noon();
    let attempt = |number: u32, retry: Option<Timestamp>| -> Result<DeliveryRow, String> {
        Ok(DeliveryRow {
            id: fresh("dlv_")?,
            webhook: "hook".to_owned(),
            project: project("default")?,
            event: fresh("evt_")?,
            attempt: number,
            time: now,
            status: Some(EventStatus::Failure),
            code: Some(503),
            error: Some("busy".to_owned()),
            duration_ms: Some(12),
            retry,
        })
    };
    let rows = vec![attempt(1, Some(now.plus(DAY)))?, attempt(2, Some(now))?, attempt(3, None)?];
    append(&*store, Batch { deliveries: rows.clone(), ..Batch::default() })?;
    let newest: Vec<u32> = ok(store.deliveries("hook", None, 2))?.iter().map(|row| row.attempt).collect();
    expect("newest first", &newest, &vec![3, 2])?;
    let below = ok(store.deliveries("hook", rows.get(1).map(|row| row.id), 9))?;
    expect("the next page", &below.first(), &rows.first())?;
    let due: Vec<u32> = ok(store.due_deliveries(now, 9))?.iter().map(|row| row.attempt).collect();
    expect("due", &due, &vec![2])?;
    let later: Vec<u32> = ok(store.due_deliveries(now.plus(DAY), 9))?.iter().map(|row| row.attempt).collect();
    expect("due later", &later, &vec![2, 1])
}

pub(super) fn removals(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let row = sandbox("ann")?;
    let ran = execution(row.id)?;
    let chunk = LogChunk {
        sandbox: row.id,
        execution: Some(ran.id),
        stream: LogStream::Stdout,
        offset: 0,
        time: noon(),
        bytes: b"hello".to_vec(),
    };
    let batch = Batch {
        sandboxes: vec![row.clone()],
        executions: vec![ran.clone()],
        logs: vec![chunk],
        ..Batch::default()
    };
    append(&*store, batch)?;
    append(&*store, Batch { removals: vec![Removal::Sandbox(row.id)], ..Batch::default() })?;
    expect("sandbox", &ok(store.sandbox(row.id))?, &None)?;
    expect("execution", &ok(store.execution(ran.id))?, &None)?;
    let log = LogFilter::of(row.id);
    expect("log", &ok(store.logs(&log, 0, 9))?.len(), &0)
}
