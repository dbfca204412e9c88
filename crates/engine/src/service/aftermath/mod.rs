//! What follows when an agent stops: its conversation archived, people told, the user's own commands run.
//!
//! Owns: all of it, on threads of its own that follow the ledger, after the agent was answered: nothing here can hold up an
//! agent, a server that is killed leaves to the next what was not done, and an agent that was sent on once by a hook is
//! not sent on, or told of, again. Refuses: to believe a path; see [`archive`].

mod archive;
mod bundle;
mod commands;
mod follow;
mod notice;

use std::{thread::JoinHandle, time::Duration};

use belljar_domain::{EventKind, NewEvent};
use serde_json::Value;

use self::follow::Follower;
use super::{Service, now};

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

/// Starts the threads: one for what is quick, one for the user's commands, each with a place of its own in the ledger.
pub(super) fn begin(service: &Service) -> Vec<JoinHandle<()>> {
    let settings = &service.0.settings.stop;
    let quick = Follower { name: "aftermath", wants: is_stop, work: Service::see_to };
    let slow = Follower { name: "stop-run", wants: is_news, work: Service::run_commands };
    if settings.run.is_empty() {
        // Commands that are wanted later are for stops after that.
        slow.forget(service);
    }
    let all = [Some(quick), (!settings.run.is_empty()).then_some(slow)].into_iter().flatten();
    all.filter_map(|follower| follower.begin(service)).collect()
}

impl Service {
    fn see_to(&self, event: &NewEvent) {
        let settings = &self.0.settings.stop;
        let ended = event.kind == EventKind::SessionEnded;
        let archived = match settings.archive {
            Archive::Never => false,
            Archive::Turn => true,
            Archive::Session => ended || event.sandbox.is_some(),
        };
        // People first: reading may take a while.
        if is_news(event) && event.time.plus(NEWS) >= now() {
            self.tell_people(event);
        }
        if archived {
            self.archive(event, if ended { bundle::State::Over } else { bundle::State::GoesOn });
        }
    }
}

/// Whether an event is one after which something follows, and told by a hook.
fn is_stop(event: &NewEvent) -> bool {
    let told = event.payload.get("source").and_then(Value::as_str) == Some("hook");
    told && (is_turn(event) || event.kind == EventKind::SessionEnded)
}

/// Whether it is the news that a turn is over.
fn is_news(event: &NewEvent) -> bool {
    is_stop(event) && is_turn(event) && is_first(event)
}

fn is_turn(event: &NewEvent) -> bool {
    matches!(event.kind, EventKind::TurnEnded | EventKind::TurnFailed)
}

/// Whether this is the first stop of its turn: an agent that a hook sent on stops again.
fn is_first(event: &NewEvent) -> bool {
    event.payload.pointer("/rest/stop_hook_active").and_then(Value::as_bool) != Some(true)
}
