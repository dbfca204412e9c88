//! What a sandbox changed in its workspace, with a way to the new contents.
//!
//! Owns: the value a provider hands out. Refuses: to say how a provider keeps the contents.

use std::{
    fmt::Debug,
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
}
