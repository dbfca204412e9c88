//! The files of a sandbox nobody has asked for yet: its directory with both doors in it, and markers.
//!
//! Owns: making them ahead, and giving them a sandbox's name. A new file can take a file system most of a millisecond
//! (ext4 passes over every inode that was freed lately), a new name takes none. Refuses: to know what sandbox it will be.

use std::{
    fs, mem,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use belljar_domain::SandboxId;
use belljar_jail::Doors;
use belljar_ports::SandboxError;

use super::{changes, making, marker::Marker, record, sandboxes};

/// Dropped, it vanishes; if its maker is killed, its marker speaks for it.
#[derive(Debug)]
pub(super) struct Nest {
    home: PathBuf,
    dir: PathBuf,
    /// For the sandbox, under whose name it will stand.
    spare: Option<Marker>,
    doors: Option<Doors>,
    /// For this directory and the control group of the same name.
    marker: Option<Marker>,
}

impl Nest {
    /// What the marker of what was made ahead begins with; the rest is the id it was made under.
    pub(super) const MARK: &str = "bed.";
    /// The same of the one in reserve.
    pub(super) const SPARE: &str = "spare.";

    pub(super) fn make(home: &Path, id: SandboxId) -> Result<Self, SandboxError> {
        let marker = Marker::set(home, &format!("{}{id}", Self::MARK))?;
        let dir = Self::dir(home, &id.to_string());
        let mut nest = Self { home: home.to_path_buf(), dir, spare: None, doors: None, marker: Some(marker) };
        nest.spare = Some(Marker::set(home, &format!("{}{id}", Self::SPARE))?);
        let made = fs::DirBuilder::new().mode(0o700).create(&nest.dir).and_then(|()| {
            nest.doors = Some(Doors::open(&nest.dir)?);
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(nest.dir.join(record::DRAFT))
        });
        made.map_err(|e| SandboxError::provider("make a sandbox's directory in advance", e))?;
        Ok(nest)
    }

    /// Where the directory waits.
    pub(super) fn dir(home: &Path, id: &str) -> PathBuf {
        making(home).join(format!("nest.{id}"))
    }

    /// Becomes a sandbox's: the answer is its directory, the marker that says it is being made, and its doors. Its own
    /// marker stays, until whatever else was made ahead under this name has another.
    pub(super) fn become_sandbox(&mut self, id: SandboxId) -> Option<(PathBuf, Marker, Doors)> {
        let (mut spare, doors) = self.spare.take().zip(self.doors.take())?;
        let dir = sandboxes(&self.home).join(id.to_string());
        spare.rename(making(&self.home).join(id.to_string())).ok()?;
        if fs::rename(&self.dir, &dir).is_err() {
            spare.remove();
            return None;
        }
        Some((dir, spare, doors))
    }
}

impl Drop for Nest {
    fn drop(&mut self) {
        if self.doors.is_some() || self.dir.exists() {
            let _gone = changes::remove_tree(&self.dir);
        }
        for marker in [mem::take(&mut self.spare), mem::take(&mut self.marker)].into_iter().flatten() {
            marker.remove();
        }
    }
}
