//! Whether requests can be carried out, found out by trying: a write that becomes durable, room on the disk, and what the
//! provider needs.
//!
//! Owns: how often that is tried; anybody may ask, so an answer holds for a while. Refuses: paths and the words of other
//! programs in an answer to strangers; those are in the log.

use std::{
    sync::{Mutex, PoisonError, mpsc},
    time::{Duration, Instant, SystemTime},
};

use belljar_api::FieldProblem;
use belljar_domain::{ByteSize, ProjectId};
use belljar_ports::{
    Store,
    store::{Batch, Document},
};

use crate::{app::App, problem::chain};

/// How long what was found holds: a write is cheap, trying the kernel takes some milliseconds.
const WRITTEN: Duration = Duration::from_secs(1);
const TRIED: Duration = Duration::from_secs(15);
/// How long a write may take, and how long others may wait, before the store counts as stuck.
const SLOWEST: Duration = Duration::from_secs(5);

/// What was found last.
#[derive(Debug)]
pub(crate) struct Readiness {
    store: Finding,
    provider: Finding,
}

impl Default for Readiness {
    fn default() -> Self {
        Self { store: Finding::holding(WRITTEN), provider: Finding::holding(TRIED) }
    }
}

/// Says what is wrong; nothing if all is well. Blocks.
pub(crate) fn wrongs(app: &App) -> Vec<FieldProblem> {
    let mut wrongs = Vec::new();
    let mut note = |field: &str, found: Result<(), String>| {
        if let Err(message) = found {
            wrongs.push(FieldProblem { field: field.to_owned(), message });
        }
    };
    if *app.closing.borrow() {
        note("server", Err("is shutting down".to_owned()));
    }
    let known = &app.readiness;
    note("store", known.store.ask(|| write(&**app.service.store())));
    note("disk", room(app));
    note("provider", known.provider.ask(|| app.provider.check().map_err(|error| error.to_string())));
    wrongs
}

/// Writes something and waits until it is durable.
fn write(store: &dyn Store) -> Result<(), String> {
    let stuck = || format!("writes take longer than {} seconds", SLOWEST.as_secs());
    // Behind a queue that is full, even asking would wait.
    if store.health().lag > SLOWEST {
        return Err(stuck());
    }
    let sign = Document {
        collection: "server".to_owned(),
        id: "ready".to_owned(),
        project: ProjectId::default(),
        updated: SystemTime::now().into(),
        record: serde_json::Value::Null,
    };
    let (tell, told) = mpsc::channel();
    let batch = Batch { documents: vec![sign], ..Batch::default() };
    // Whoever waits here may have given up.
    store.append(batch).then(move |outcome| drop(tell.send(outcome)));
    match told.recv_timeout(SLOWEST) {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => {
            tracing::warn!(error = %chain(&error), "the store does not take writes");
            Err("does not take writes".to_owned())
        }
        Err(_) => Err(stuck()),
    }
}

/// Whether the home has room for what is to come.
fn room(app: &App) -> Result<(), String> {
    let floor = app.settings.disk_floor;
    let there =
        rustix::fs::statvfs(&app.settings.home).map_err(|error| format!("cannot be asked: {error}"))?;
    let free = ByteSize::bytes(there.f_bavail.saturating_mul(there.f_frsize));
    if free >= floor { Ok(()) } else { Err(format!("has {free} free, less than {floor}")) }
}

/// Something that was tried, and how it went.
#[derive(Debug)]
struct Finding {
    last: Mutex<Option<(Instant, Result<(), String>)>>,
    holds: Duration,
}

impl Finding {
    const fn holding(holds: Duration) -> Self {
        Self { last: Mutex::new(None), holds }
    }

    /// Tries again if it was too long ago. Whoever asks meanwhile waits for the same answer.
    fn ask(&self, attempt: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, found)) = &*last
            && at.elapsed() < self.holds
        {
            return found.clone();
        }
        let found = attempt();
        *last = Some((Instant::now(), found.clone()));
        found
    }
}
