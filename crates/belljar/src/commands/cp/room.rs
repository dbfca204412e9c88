//! Where what comes out of a sandbox is put together: a directory nobody else writes to, beside where it goes.
//!
//! Owns: putting the one thing asked for in its place, whole. Refuses: to replace a directory, and archives that leave.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

/// The directory, and where what is made in it goes.
#[derive(Debug)]
pub(super) struct Room {
    dir: TempDir,
    name: String,
    target: PathBuf,
}

impl Room {
    /// One for something with this name in the sandbox, to go to a path: below it, if that is a directory.
    pub(super) fn beside(to: &Path, name: &str) -> Result<Self> {
        let target = if to.is_dir() { to.join(name) } else { to.to_path_buf() };
        let beside =
            target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        let dir = tempfile::Builder::new()
            .prefix(".belljar-cp")
            .tempdir_in(beside)
            .context("make room for the copy")?;
        Ok(Self { dir, name: name.to_owned(), target })
    }

    /// Where the thing itself is made.
    pub(super) fn inside(&self) -> PathBuf {
        self.dir.path().join(&self.name)
    }

    /// Unpacks what the sandbox sent, below a directory of the room.
    pub(super) fn unpack(&self, packed: impl Read, below: &str) -> Result<()> {
        let mut archive = tar::Archive::new(packed);
        // The crate refuses to leave the directory, be it by `..`, by absolute names or through links.
        archive.set_preserve_permissions(false);
        archive.set_overwrite(false);
        let dir = self.dir.path().join(below);
        fs::create_dir_all(&dir).context("make room for the copy")?;
        archive.unpack(dir).context("unpack what the sandbox sent")
    }

    /// Puts it where it goes.
    pub(super) fn put_in_place(&self) -> Result<()> {
        if fs::symlink_metadata(&self.target).is_ok_and(|meta| meta.is_dir()) {
            bail!("`{}` exists already", self.target.display());
        }
        let placed = fs::rename(self.inside(), &self.target);
        placed.with_context(|| format!("put `{}` in place", self.target.display()))
    }
}
