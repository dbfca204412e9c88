//! A file that says that something is being made, and a lock on it that says that its maker is alive. A marker without a
//! lock is what a killed maker left, and [`super::sweep`] removes what it speaks for.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use belljar_ports::SandboxError;
use rustix::fs::{FlockOperation, flock};

use super::{making, sweep};

/// A marker whose maker lives.
#[derive(Debug)]
pub(super) struct Marker {
    path: PathBuf,
    _lock: File,
}

impl Marker {
    pub(super) fn set(home: &Path, name: &str) -> Result<Self, SandboxError> {
        let failed = |e| SandboxError::provider("mark what is being made", e);
        let path = making(home).join(name);
        // A sweeper must not find it before it is locked.
        let gate = sweep::gate(home, FlockOperation::LockShared)?;
        let lock = File::create(&path).map_err(failed)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|e| failed(e.into()))?;
        drop(gate);
        Ok(Self { path, _lock: lock })
    }

    /// Lets it speak for something else. Whoever looks finds it locked, before and after.
    pub(super) fn rename(&mut self, path: PathBuf) -> io::Result<()> {
        fs::rename(&self.path, &path)?;
        self.path = path;
        Ok(())
    }

    /// Takes it away: it is made, or there is nothing left of it.
    pub(super) fn remove(self) {
        let _already = fs::remove_file(&self.path);
    }
}
