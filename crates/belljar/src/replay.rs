//! What hooks said while no server was there: told to this one, in order, each until it was taken.
//!
//! Owns: one thread beside the server. An envelope keeps its id, so one that was taken and not crossed off, because
//! somebody died in between, is recorded once. Refuses: to hold up the server, and to lose what cannot be taken now.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use belljar_capture::Envelope;

use crate::{
    hook::{Moment, Server, Told, post},
    spool::Spool,
};

/// How often to look.
const ROUND: Duration = Duration::from_secs(2);

/// The thread. Dropped, it ends.
#[derive(Debug)]
pub(crate) struct Replay {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Replay {
    pub(crate) fn begin(home: PathBuf) -> io::Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let thread = thread::Builder::new().name("replay".to_owned()).spawn(move || {
            while !told.load(Ordering::Relaxed) {
                match replay(&home, &Server::at_home(&home), || told.load(Ordering::Relaxed)) {
                    Ok(Some(Replayed { taken, refused, .. })) if taken + refused > 0 => {
                        tracing::info!(taken, refused, "told what hooks said while no server was there");
                    }
                    Ok(_) => {}
                    Err(error) => tracing::warn!(%error, "the spool cannot be read"),
                }
                thread::park_timeout(ROUND);
            }
        })?;
        Ok(Self { over, thread: Some(thread) })
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic in it was reported when it happened.
            let _ended = thread.join();
        }
    }
}

/// What became of the spool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Replayed {
    pub(crate) taken: usize,
    /// Put aside, for a person to look at.
    pub(crate) refused: usize,
    /// Why it went no further.
    pub(crate) stopped: Option<String>,
}

/// Tells a server everything that is there; `None` while somebody else does.
pub(crate) fn replay(
    home: &Path,
    server: &Server,
    is_over: impl Fn() -> bool,
) -> io::Result<Option<Replayed>> {
    let Some(entries) = Spool::of(home).take()? else { return Ok(None) };
    let mut done = Replayed::default();
    for entry in entries {
        let entry = entry?;
        if is_over() {
            break;
        }
        let told = Envelope::parse(&entry.line).map_or_else(
            |error| Told::Refused(error.to_string()),
            |envelope| post(server, envelope.agent.as_str(), &entry.line, Moment::Later),
        );
        match told {
            Told::Taken(_) => {
                entry.taken()?;
                done.taken += 1;
            }
            Told::Refused(_) => {
                entry.refused()?;
                done.refused += 1;
            }
            // What follows was said later; it must not overtake.
            Told::Lost(why) => {
                done.stopped = Some(why);
                break;
            }
        }
    }
    Ok(Some(done))
}
