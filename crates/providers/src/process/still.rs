//! A sandbox held still while its files are copied, one copier at a time.
//!
//! Owns: the mark that says so, and the lock on it that says that the copier lives. A mark without a lock is what a
//! killed copier left, and [`release_left`] lets the sandbox go on. Refuses: to touch one that a person paused.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use belljar_domain::SandboxState;
use belljar_ports::SandboxError;
use rustix::fs::{FlockOperation, flock};

use super::{handle::ProcessSandbox, record::Record};

const MARK: &str = "still";

/// One that is held, by whoever has this.
#[derive(Debug)]
pub(super) struct Still<'r> {
    record: &'r Record,
    mark: PathBuf,
    _lock: File,
    frozen: bool,
}

impl<'r> Still<'r> {
    /// Waits until nobody else holds it, and freezes it if it runs and this host can.
    pub(super) fn hold(record: &'r Record, dir: &Path) -> Result<Self, SandboxError> {
        let failed = |e: io::Error| SandboxError::provider("mark the sandbox as held still", e);
        let mark = dir.join(MARK);
        let mut lock = lock(&mark).map_err(failed)?;
        let running = ProcessSandbox::state(record, dir).0 == SandboxState::Running;
        // One that a killed copier left frozen is to go on as well, after this.
        let left = lock.metadata().is_ok_and(|meta| meta.len() > 0);
        let frozen = (running || left) && record.group.can_freeze();
        if frozen {
            // Written before it is so: whoever finds it thaws one that runs, which is nothing.
            lock.write_all(b"frozen").map_err(failed)?;
            record.group.set_frozen(true).map_err(|e| SandboxError::provider("hold the sandbox still", e))?;
        }
        Ok(Self { record, mark, _lock: lock, frozen })
    }

    /// Lets it go on.
    pub(super) fn release(self) -> Result<(), SandboxError> {
        if self.frozen {
            let thawed = self.record.group.set_frozen(false);
            thawed.map_err(|e| SandboxError::provider("let the sandbox go on", e))?;
        }
        // With its directory, so is the mark.
        let _gone = fs::remove_file(&self.mark);
        Ok(())
    }
}

/// The mark that is there once it is locked: whoever had it before took it along.
fn lock(mark: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(mark)?;
        flock(&file, FlockOperation::LockExclusive)?;
        if fs::metadata(mark).is_ok_and(|there| file.metadata().is_ok_and(|ours| ours.ino() == there.ino())) {
            return Ok(file);
        }
    }
}

/// Lets a sandbox go on that a killed copier held still; says whether there was one.
pub(super) fn release_left(record: &Record, dir: &Path) -> bool {
    let mark = dir.join(MARK);
    let Ok(file) = File::open(&mark) else { return false };
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return false;
    }
    let was_frozen = file.metadata().is_ok_and(|meta| meta.len() > 0);
    // What does not thaw now keeps its mark, and is tried again.
    if was_frozen && record.init.is_alive() && record.group.set_frozen(false).is_err() {
        return false;
    }
    let _gone = fs::remove_file(&mark);
    was_frozen
}

/// Forgets what a killed copier left, for somebody wants the sandbox to stand still now.
pub(super) fn forget(dir: &Path) {
    let _none = fs::remove_file(dir.join(MARK));
}
