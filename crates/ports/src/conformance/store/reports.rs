//! What is counted and summed up.

use std::collections::BTreeMap;

use belljar_domain::{Actor, EventKind, EventStatus, NewEvent, Usage, Verdict as Decision};

use super::{Bench, DAY, append, event, noon, ok, project, sandbox};
use crate::{
    conformance::{Verdict, expect},
    store::{Batch, Sample},
};

fn did(agent: &str, kind: EventKind, status: EventStatus, duration_ms: u64) -> Result<NewEvent, String> {
    Ok(NewEvent {
        actor: Actor { id: Some(agent.to_owned()), name: None, role: Some("coder".to_owned()) },
        status: Some(status),
        decision: (status == EventStatus::Denied).then_some(Decision::Deny),
        error: (status == EventStatus::Failure).then(|| "broke".to_owned()),
        duration_ms: Some(duration_ms),
        cost_micros: Some(10),
        tokens: Some(5),
        ..event(kind)?
    })
}

fn counts_of(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect()
}

pub(super) fn counts(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let now = noon();
    let row = sandbox("ann")?;
    let sample = |second: u64, cpu: u64, memory: u64| Sample {
        sandbox: row.id,
        time: now.plus(std::time::Duration::from_secs(second)),
        usage: Usage { cpu_micros: Some(cpu), memory_bytes: Some(memory), ..Usage::default() },
    };
    let batch = Batch {
        events: vec![
            did("ann", EventKind::ExecutionEnded, EventStatus::Success, 10)?,
            did("ann", EventKind::ExecutionEnded, EventStatus::Failure, 30)?,
            did("ann", EventKind::GuardianDenied, EventStatus::Denied, 2)?,
            did("bob", EventKind::FileWrite, EventStatus::Success, 1)?,
            NewEvent {
                time: now.minus(DAY * 8),
                ..did("ann", EventKind::FileRead, EventStatus::Success, 1)?
            },
        ],
        samples: vec![sample(0, 0, 100), sample(10, 5_000_000, 300)],
        sandboxes: vec![row.clone()],
        ..Batch::default()
    };
    append(&*store, batch)?;
    let stats = ok(store.stats(None))?;
    expect("events", &(stats.events, stats.bytes > 0), &(5, true))?;
    expect("by status", &stats.by_status, &counts_of(&[("success", 3), ("failure", 1), ("denied", 1)]))?;
    expect("by decision", &stats.by_decision, &counts_of(&[("deny", 1)]))?;
    expect("by agent", &stats.by_agent, &counts_of(&[("ann", 4), ("bob", 1)]))?;
    expect("by role", &stats.by_role, &counts_of(&[("coder", 5)]))?;
    expect("by kind", &stats.by_kind.get("execution.ended"), &Some(&2))?;
    expect("another project", &ok(store.stats(Some(&project("other")?)))?.events, &0)?;
    let summaries = ok(store.agent_summaries(None, None, now.minus(DAY * 7), now.plus(DAY)))?;
    expect("agents", &summaries.iter().map(|one| one.agent.as_str()).collect(), &vec!["ann", "bob"])?;
    let Some(ann) = summaries.first() else { return Err("nobody".to_owned()) };
    expect("events", &(ann.events, ann.errors, ann.timed), &(3, 1, 3))?;
    expect("operations", &ann.by_operation, &counts_of(&[("command_execute", 2), ("guardian_denial", 1)]))?;
    expect("durations", &(ann.duration_ms, ann.longest_ms), &(42, 30))?;
    expect("costs", &(ann.cost_micros, ann.tokens), &(30, 15))?;
    expect("processor", &(ann.sandboxes, ann.cpu_milli), &(1, Some(500)))?;
    expect("memory", &(ann.memory_bytes, ann.memory_max_bytes), &(Some(200), Some(300)))?;
    let bob = ok(store.agent_summaries(None, Some("bob"), now.minus(DAY * 7), now.plus(DAY)))?;
    expect("one agent", &bob.iter().map(|one| one.events).collect(), &vec![1])
}
