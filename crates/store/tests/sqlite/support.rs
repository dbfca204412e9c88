//! What the tests share: a home, events, and this test program run again as another process.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::SystemTime,
};

use belljar_domain::{EventId, EventKind, NewEvent, ProjectId, SandboxId};
use belljar_ports::store::{Batch, LogChunk, LogStream, Store};
use belljar_store::{SqliteStore, StoreConfig};
use uuid::Uuid;

/// Where a process started by a test finds its store; unset in the tests themselves.
pub(crate) const HOME: &str = "BELLJAR_STORE_TEST_HOME";

pub(crate) fn open(home: &Path) -> SqliteStore {
    SqliteStore::open(home, StoreConfig::default()).unwrap()
}

pub(crate) fn read(home: &Path) -> SqliteStore {
    SqliteStore::open_read_only(home, StoreConfig::default()).unwrap()
}

pub(crate) fn event(kind: EventKind) -> NewEvent {
    let id = EventId::from_uuid(Uuid::now_v7());
    NewEvent::new(id, SystemTime::now().into(), ProjectId::default(), kind)
}

pub(crate) fn append(store: &dyn Store, kind: &EventKind, count: usize) -> u64 {
    let events = (0..count).map(|_| event(kind.clone())).collect();
    store.append(Batch::of_events(events)).wait().unwrap().last
}

/// Three events and a piece of a log, whose offset is the batch's number.
pub(crate) fn batch(number: u64, room: usize) -> Batch {
    let log = LogChunk {
        sandbox: SandboxId::from_uuid(Uuid::now_v7()),
        execution: None,
        stream: LogStream::System,
        offset: number,
        time: SystemTime::now().into(),
        bytes: vec![b'x'; room],
    };
    let events = (0..3).map(|_| event(EventKind::ExecutionEnded)).collect();
    Batch { events, logs: vec![log], ..Batch::default() }
}

/// This program again, to run one of its tests as a process of its own, under a shell's settings.
pub(crate) fn again(test: &str, home: &Path, settings: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{settings} exec \"$0\" --exact \"$1\" --nocapture"));
    command.arg(std::env::current_exe().unwrap()).arg(test);
    command.env(HOME, home).stdout(Stdio::piped());
    command
}
