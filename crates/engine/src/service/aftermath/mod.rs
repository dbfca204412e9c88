//! What follows when an agent stops: its conversation archived, people told, the user's own commands run.
//!
//! Owns: all of it, on threads of its own, after the agent was answered: nothing here can hold up an agent, and an agent
//! that was sent on once by a hook is not sent on, or told of, again. Refuses: to believe a path; see [`archive`].

mod archive;
mod bundle;
mod commands;
mod notice;

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use belljar_domain::{EventKind, NewEvent};
use serde_json::Value;

use super::{Service, now};

/// Stops that wait; further ones are passed over.
const WAITING: usize = 256;
/// How often to look whether the service ends.
const ROUND: Duration = Duration::from_millis(200);
/// People are not told of what is older than this: it was said while no server was there.
const NEWS: Duration = Duration::from_secs(600);

/// What the operator wants to happen when an agent stops.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StopSettings {
    /// When conversations are archived.
    pub archive: Archive,
    /// Whether `notify-send` shows a notice, where there is one.
    pub desktop: bool,
    /// A program and its arguments to tell somebody with; `{text}` and others stand for what is told.
    pub command: Vec<String>,
    /// The same, to say it aloud.
    pub say: Vec<String>,
    /// Lines for the shell, run one after the other.
    pub run: Vec<String>,
}

/// When conversations are archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Archive {
    /// At the end of a session; in a sandbox, which may be gone by then, at the end of every turn.
    #[default]
    Session,
    /// At the end of every turn.
    Turn,
    /// Not at all.
    Never,
}

/// The two queues: what is quick, and the user's commands.
#[derive(Debug)]
pub(super) struct Aftermath {
    quick: SyncSender<NewEvent>,
    slow: SyncSender<NewEvent>,
    ends: Mutex<Option<(Receiver<NewEvent>, Receiver<NewEvent>)>>,
}

impl Default for Aftermath {
    fn default() -> Self {
        let ((quick, quick_end), (slow, slow_end)) = (sync_channel(WAITING), sync_channel(WAITING));
        Self { quick, slow, ends: Mutex::new(Some((quick_end, slow_end))) }
    }
}

/// Starts the threads.
pub(super) fn begin(service: &Service) -> Vec<JoinHandle<()>> {
    let ends = service.0.aftermath.ends.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some((quick, slow)) = ends else { return Vec::new() };
    let spawn = |name: &str, queue: Receiver<NewEvent>, work: fn(&Service, &NewEvent)| {
        let own = service.clone();
        let work = move || own.attend(&queue, work);
        thread::Builder::new().name(name.to_owned()).spawn(work).ok()
    };
    [spawn("aftermath", quick, Service::see_to), spawn("stop-run", slow, Service::run_commands)]
        .into_iter()
        .flatten()
        .collect()
}

impl Service {
    /// Has what follows from events done; nobody waits for it.
    pub(super) fn afterwards(&self, events: Vec<NewEvent>) {
        for event in events {
            if !self.0.settings.stop.run.is_empty() && is_turn(&event) && is_first(&event) {
                // A queue that is full has enough to do.
                let _full = self.0.aftermath.slow.try_send(event.clone());
            }
            let _full = self.0.aftermath.quick.try_send(event);
        }
    }

    fn attend(&self, queue: &Receiver<NewEvent>, work: fn(&Self, &NewEvent)) {
        while !self.0.closing.load(Ordering::Relaxed) {
            match queue.recv_timeout(ROUND) {
                Ok(event) => work(self, &event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn see_to(&self, event: &NewEvent) {
        let settings = &self.0.settings.stop;
        let ended = event.kind == EventKind::SessionEnded;
        let archived = match settings.archive {
            Archive::Never => false,
            Archive::Turn => true,
            Archive::Session => ended || event.sandbox.is_some(),
        };
        // People first: reading may take a while.
        if is_turn(event) && is_first(event) && event.time.plus(NEWS) >= now() {
            self.tell_people(event);
        }
        if archived {
            self.archive(event, if ended { bundle::State::Over } else { bundle::State::GoesOn });
        }
    }
}

/// Whether an event is one after which something follows, and told by a hook.
pub(super) fn is_stop(event: &NewEvent) -> bool {
    let told = event.payload.get("source").and_then(Value::as_str) == Some("hook");
    told && (is_turn(event) || event.kind == EventKind::SessionEnded)
}

fn is_turn(event: &NewEvent) -> bool {
    matches!(event.kind, EventKind::TurnEnded | EventKind::TurnFailed)
}

/// Whether this is the first stop of its turn: an agent that a hook sent on stops again.
fn is_first(event: &NewEvent) -> bool {
    event.payload.pointer("/rest/stop_hook_active").and_then(Value::as_bool) != Some(true)
}
