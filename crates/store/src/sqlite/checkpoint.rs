//! Moving the write-ahead log into the database, off the path of those who wait.
//!
//! A thread of its own does it when nothing has been written for a moment, which blocks nobody. The writer does it
//! itself only when the log has grown so large that it must: while it writes without a pause, no one else can finish.

use std::{
    path::Path,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rusqlite::{Connection, MAIN_DB, wal::CheckpointMode};

/// Pages of 4 KiB from which a quiet moment is used.
const WORTHWHILE: u64 = 256;
/// Pages from which the writer waits for it.
const LARGE: u64 = 8_192;
/// How often to look.
const PAUSE: Duration = Duration::from_millis(250);

/// Stops the thread.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    asked: Mutex<bool>,
    heard: Condvar,
}

impl Stop {
    pub(crate) fn ask(&self) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.heard.notify_all();
    }

    /// Waits a while; true when it is time to stop.
    fn pause(&self) -> bool {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.heard.wait_timeout_while(asked, PAUSE, |asked| !*asked);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The thread: waits for quiet moments and uses them.
pub(crate) fn in_quiet_moments(path: &Path, pages: &AtomicU64, stop: &Arc<Stop>) {
    let Ok(connection) = Connection::open(path) else { return };
    let mut seen = 0;
    let mut moved = 0;
    while !stop.pause() {
        let now = pages.load(Ordering::Relaxed);
        if now == seen && now != moved && now >= WORTHWHILE {
            moved = now;
            all(&connection);
        }
        seen = now;
    }
}

/// Makes the writer wait when the log is large.
pub(crate) fn if_large(connection: &Connection, pages: &AtomicU64) {
    if pages.load(Ordering::Relaxed) >= LARGE {
        all(connection);
    }
}

/// Moves as much as readers allow. What stays is durable in the log, and the next one moves it.
pub(crate) fn all(connection: &Connection) {
    let _moved = connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE);
}
