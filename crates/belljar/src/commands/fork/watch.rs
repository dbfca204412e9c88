//! Watching a run to its end, and what a signal does to it.
//!
//! Owns: that a run which is a server's survives whoever watches it, and one that is this process's own ends with it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use anyhow::{Context as _, Result};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::{
    super::{
        embedded::field,
        runs::{is_over, text},
    },
    progress::Progress,
};
use crate::client::Client;

/// Whose the run is that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Whose {
    /// This process carries it out; they end together.
    Own,
    /// A server's, begun here: who interrupts it means it, a terminal that closes does not.
    Asked,
    /// A server's, begun elsewhere: nothing here ends it.
    Other,
}

/// The signals that came.
#[derive(Debug)]
pub(in crate::commands) struct Signals {
    interrupted: Arc<AtomicBool>,
    hung_up: Arc<AtomicBool>,
}

impl Signals {
    /// Listens from now on.
    pub(in crate::commands) fn listen() -> Result<Self> {
        let signals = Self { interrupted: Arc::default(), hung_up: Arc::default() };
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&signals.interrupted))
                .context("listen for signals")?;
        }
        signal_hook::flag::register(SIGHUP, Arc::clone(&signals.hung_up)).context("listen for signals")?;
        Ok(signals)
    }

    fn ask(&self, whose: Whose) -> Option<Parting> {
        let (interrupted, hung_up) =
            (self.interrupted.load(Ordering::Relaxed), self.hung_up.load(Ordering::Relaxed));
        match whose {
            Whose::Own if interrupted || hung_up => Some(Parting::Stop),
            Whose::Asked if interrupted => Some(Parting::Stop),
            Whose::Asked if hung_up => Some(Parting::Leave),
            Whose::Other if interrupted || hung_up => Some(Parting::Leave),
            Whose::Own | Whose::Asked | Whose::Other => None,
        }
    }
}

enum Parting {
    Stop,
    Leave,
}

/// Watches a run to its end; nothing if it was left to go on. Whoever stops a run is told how that ended.
pub(in crate::commands) fn follow(
    server: &Client,
    mut run: Value,
    whose: Whose,
    signals: &Signals,
    mut progress: Progress,
) -> Result<Option<Value>> {
    let id = text(&run, "id").to_owned();
    let mut stopping = false;
    loop {
        progress.show(&run);
        if is_over(&run) {
            progress.end();
            return Ok(Some(run));
        }
        match signals.ask(whose) {
            Some(Parting::Leave) => {
                progress.say(&format!("{id} goes on; `belljar runs attach` watches it, `runs stop` ends it"));
                return Ok(None);
            }
            Some(Parting::Stop) if !stopping => {
                stopping = true;
                progress.say("stopping …");
                server.order("DELETE", &["runs", &id], None)?;
            }
            Some(Parting::Stop) | None => {}
        }
        let version = field(&run, "version").to_string();
        let query = [("version", version.as_str()), ("timeout_seconds", "1")];
        run = server.records(&format!("runs/{id}/wait"), &query)?;
    }
}
