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
    time::{Duration, SystemTime},
};

use belljar_capture::{Envelope, Pass};
use belljar_domain::Timestamp;

use crate::{
    hook::{Moment, Server, Told, export, post},
    keys,
    spool::Spool,
};

/// What stands for the agent where telemetry is in an envelope.
pub(crate) const OTLP: &str = "otlp";
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

/// Tells one thing, on behalf of the sandbox it came from if that is known and its pass is still good.
fn tell(home: &Path, server: &Server, envelope: &Envelope, line: &[u8]) -> Told {
    let now = Timestamp::from(SystemTime::now());
    let good = |pass: &&String| keys::passes(home).is_ok_and(|key| Pass::read(pass, &key, now).is_ok());
    let on_behalf =
        envelope.pass.as_ref().filter(good).map(|pass| Server::for_sandbox(home, Some(pass.clone())));
    let server = on_behalf.as_ref().unwrap_or(server);
    match (envelope.agent.as_str(), &envelope.event, &envelope.payload) {
        (OTLP, Some(signal), Some(said)) => export(server, signal, said.to_string().as_bytes()),
        (agent, ..) => post(server, agent, line, Moment::Later),
    }
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
            |envelope| tell(home, server, &envelope, &entry.line),
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
            Told::Lost(why) | Told::Broken(why) => {
                done.stopped = Some(why);
                break;
            }
        }
    }
    Ok(Some(done))
}
