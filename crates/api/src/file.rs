//! What there is at a path in a sandbox.

use serde::Serialize;
use utoipa::ToSchema;

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// A plain file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A pipe, a socket, a device.
    Other,
}

/// What there is at a path.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct File {
    /// The whole path.
    pub path: String,
    /// Its last part.
    pub name: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: FileKind,
    /// Bytes.
    pub size: u64,
    /// Permission bits, in octal.
    #[schema(pattern = "^[0-7]{4,6}$")]
    pub mode: String,
    /// Owner inside the sandbox.
    pub uid: u32,
    /// Group inside the sandbox.
    pub gid: u32,
    /// When it last changed.
    #[schema(format = DateTime)]
    pub modified_at: String,
    /// Where a link points.
    pub target: Option<String>,
}

/// What became of a path that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileChangeKind {
    /// It is new.
    Created,
    /// It is not as it was.
    Modified,
    /// It is gone.
    Deleted,
}

/// A change seen while watching.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FileChange {
    /// What became of it.
    pub change: FileChangeKind,
    /// Where.
    pub path: String,
    /// What is there now; absent when it is gone.
    pub file: Option<File>,
}
