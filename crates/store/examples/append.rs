//! Measures the ledger on this machine: durable events a second in full flow, and how long a lone append takes.
//!
//! `cargo run --release -p belljar-store --example append [DIRECTORY]`; the directory should be on the disk that counts.

use std::{
    path::PathBuf,
    time::{Duration, Instant, SystemTime},
};

use belljar_domain::{Actor, EventId, EventKind, EventStatus, ExecutionId, NewEvent, ProjectId, SandboxId};
use belljar_ports::store::{Batch, Pending, Store, StoreError};
use belljar_store::{SqliteStore, StoreConfig};
use uuid::Uuid;

const BATCH: usize = 100;
const IN_FLIGHT: usize = 64;
const EVENTS: usize = 500_000;
const LONE: u32 = 1_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let below = std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let home = tempfile::tempdir_in(below)?;
    let store = SqliteStore::open(home.path(), StoreConfig::default())?;
    lone(&store, 1)?;
    lone(&store, 3)?;
    flow(&store)?;
    let begun = Instant::now();
    let verification = store.verify(None)?;
    let took = begun.elapsed();
    println!("verify: {} events in {took:.2?}, finding {:?}", verification.events, verification.finding);
    store.close()?;
    Ok(())
}

/// Appends one batch at a time, with a pause between, as an idle server would see it.
fn lone(store: &SqliteStore, events: usize) -> Result<(), StoreError> {
    let mut took: Vec<Duration> = Vec::new();
    for _ in 0..LONE {
        let batch = batch(events);
        let begun = Instant::now();
        store.commit(batch)?;
        took.push(begun.elapsed());
        std::thread::sleep(Duration::from_millis(1));
    }
    took.sort();
    let at = |percent: usize| took.get(took.len() * percent / 100).copied().unwrap_or_default();
    println!("lone append of {events}: median {:.0?}, p95 {:.0?}, p99 {:.0?}", at(50), at(95), at(99));
    Ok(())
}

/// Keeps many batches in flight and waits for the oldest.
fn flow(store: &SqliteStore) -> Result<(), StoreError> {
    let mut batches: Vec<Batch> = (0..EVENTS / BATCH).map(|_| batch(BATCH)).collect();
    let begun = Instant::now();
    let mut flying: std::collections::VecDeque<Pending> = std::collections::VecDeque::new();
    let mut longest = Duration::ZERO;
    while let Some(batch) = batches.pop() {
        flying.push_back(store.append(batch));
        if flying.len() >= IN_FLIGHT {
            let waiting = Instant::now();
            flying.pop_front().map_or(Ok(()), |oldest| oldest.wait().map(drop))?;
            longest = longest.max(waiting.elapsed());
        }
    }
    flying.into_iter().try_for_each(|pending| pending.wait().map(drop))?;
    let rate = EVENTS as f64 / begun.elapsed().as_secs_f64();
    let commits = store.health().commits;
    println!("flow: {rate:.0} durable events/s in batches of {BATCH}, {IN_FLIGHT} in flight");
    println!("flow: longest wait {longest:.0?}, {commits} commits in all");
    Ok(())
}

fn batch(count: usize) -> Batch {
    let sandbox = SandboxId::from_uuid(Uuid::now_v7());
    Batch::of_events((0..count).map(|_| event(sandbox)).collect())
}

fn event(sandbox: SandboxId) -> NewEvent {
    let id = EventId::from_uuid(Uuid::now_v7());
    NewEvent {
        actor: Actor {
            id: Some("coder-1".to_owned()),
            name: Some("coder".to_owned()),
            role: Some("coder".to_owned()),
        },
        session: Some("session-42".to_owned()),
        sandbox: Some(sandbox),
        execution: Some(ExecutionId::from_uuid(Uuid::now_v7())),
        target: Some("cargo test --workspace".to_owned()),
        target_type: Some("command".to_owned()),
        status: Some(EventStatus::Success),
        duration_ms: Some(1234),
        payload: serde_json::json!({ "argv": ["cargo", "test", "--workspace"], "exit": 0 }),
        ..NewEvent::new(id, SystemTime::now().into(), ProjectId::default(), EventKind::ExecutionEnded)
    }
}
