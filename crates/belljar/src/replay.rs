//! What hooks said while no server was there: told to this one, in order, each until it was taken.
//!
//! Owns: one thread beside the server, and what a hook does for its own conversation before it speaks: what was said
//! first is told first. An envelope keeps its id, so one that was taken and not crossed off, because
//! somebody died in between, or that was told by two at once, is recorded once. Refuses: to hold up the server, and to lose what cannot be taken now.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant, SystemTime},
};

use belljar_capture::{Envelope, Pass};
use belljar_domain::Timestamp;

use crate::{
    hook::{Moment, Server, Told, export, post},
    keys,
    spool::{Spool, Tag},
};

/// What stands for the agent where telemetry is in an envelope.
pub(crate) const OTLP: &str = "otlp";
/// How often to look.
const ROUND: Duration = Duration::from_secs(2);
/// How long a server may take for what nobody waits for.
const LATER: Duration = Duration::from_secs(30);
/// How much is told before one's own word. Where more waits, that one goes behind it.
const AHEAD: usize = 32;

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
fn tell(home: &Path, server: &Server, line: &[u8], patience: Duration) -> Told {
    let envelope = match Envelope::parse(line) {
        Ok(envelope) => envelope,
        Err(error) => return Told::Refused(error.to_string()),
    };
    let now = Timestamp::from(SystemTime::now());
    let good = |pass: &&String| keys::passes(home).is_ok_and(|key| Pass::read(pass, &key, now).is_ok());
    let on_behalf =
        envelope.pass.as_ref().filter(good).map(|pass| Server::for_sandbox(home, Some(pass.clone())));
    let server = on_behalf.as_ref().unwrap_or(server);
    match (envelope.agent.as_str(), &envelope.event, &envelope.payload) {
        (OTLP, Some(signal), Some(said)) => export(server, signal, said.to_string().as_bytes(), patience),
        (agent, ..) => post(server, agent, line, Moment::Later { patience }),
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
        match tell(home, server, &entry.line, LATER) {
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

/// Tells what waits of one conversation, before more of it is said. No is that something still waits.
pub(crate) fn catch_up(home: &Path, server: &Server, tag: Tag, until: Instant) -> io::Result<bool> {
    let spool = Spool::of(home);
    if !spool.may_hold() {
        return Ok(true);
    }
    // Nobody goes through a full spool for a server that is not there.
    if !server.listens(until.saturating_duration_since(Instant::now())) {
        return Ok(false);
    }
    for (count, entry) in spool.of_tag(tag)?.enumerate() {
        let entry = entry?;
        let left = until.saturating_duration_since(Instant::now());
        if count >= AHEAD || left.is_zero() {
            return Ok(false);
        }
        match tell(home, server, &entry.line, left) {
            Told::Taken(_) => entry.taken()?,
            Told::Refused(_) => entry.refused()?,
            Told::Lost(_) | Told::Broken(_) => return Ok(false),
        }
    }
    Ok(true)
}
