//! What a sandbox changed in its workspace, with a way to the new contents.
//!
//! Owns: the value a provider hands out. Refuses: to say how a provider keeps the contents.

use std::{
    fmt::Debug,
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
    time::SystemTime,
};

use belljar_domain::{Change, HostPath};

/// What a sandbox changed.
#[derive(Debug, Clone)]
pub struct Changes {
    /// The host directory the sandbox was given as its workspace.
    pub base: HostPath,
    /// When the sandbox was made: what is newer on the host, somebody else changed.
    pub since: SystemTime,
    /// One for each path, sorted by the bytes of the path.
    pub changes: Vec<Change>,
    /// Where to read what the sandbox wrote.
    pub files: Arc<dyn ChangedFiles>,
}

/// The files of a workspace as a sandbox left them.
pub trait ChangedFiles: Debug + Send + Sync {
    /// Opens the regular file at `path`, relative to the workspace.
    ///
    /// The path comes from a [`Change`]; what is there by now is the sandbox's doing. An implementation
    /// follows no symlink on the way and opens nothing but a regular file.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be opened.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>>;

    /// Copies the regular file at `path` into the empty file `to`; the answer is how long it is by now, and only
    /// `size` means that the copy is whole.
    ///
    /// A sandbox makes a file of any length out of a hole, so an implementation that knows holes keeps them: what
    /// is copied then takes no more room than the sandbox was granted.
    ///
    /// # Errors
    /// As for [`ChangedFiles::open`], and when `to` cannot be written.
    fn copy(&self, path: &Path, size: u64, mut to: &File) -> io::Result<u64> {
        io::copy(&mut self.open(path)?.take(size.saturating_add(1)), &mut to)
    }

    /// When the kernel last changed the regular file at `path`, by the host's clock; none where nobody knows. Not what
    /// the file says of itself, which is as its writer wants it.
    fn changed(&self, _path: &Path) -> Option<SystemTime> {
        None
    }
}
