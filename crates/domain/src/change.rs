//! What a sandbox changed in its workspace: one entry for each path, as it was and as it is.
//!
//! Owns: the words. Refuses: to look at a file; whoever compares hands the finding in.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};

/// One path of the workspace that differs from what the sandbox was given.
///
/// The paths are exact; only their written form (JSON) replaces what is not UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where, relative to the workspace.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// What happened to it.
    #[serde(flatten)]
    pub kind: ChangeKind,
    /// What the sandbox was given here; for a rename, what was at the old path.
    pub before: Option<Entry>,
    /// What is there now.
    pub after: Option<Entry>,
}

/// What happened to a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was not there before.
    Added,
    /// Its content differs (for a symlink: its target); its mode may differ too.
    Modified,
    /// It is gone. A deleted directory is followed by one change for each path below it.
    Deleted,
    /// Only its permission bits differ.
    ModeChanged,
    /// It is another kind of thing, such as a symlink where a file was.
    TypeChanged,
    /// It has the content, or nearly, of a path that is gone.
    Renamed {
        /// The path that is gone.
        #[serde(serialize_with = "lossy")]
        from: PathBuf,
    },
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry {
    /// A regular file.
    File {
        /// Length in bytes.
        size: u64,
        /// Permission bits, setuid, setgid and sticky among them.
        mode: u32,
    },
    /// A symbolic link.
    Symlink {
        /// What it says, not where that leads.
        #[serde(serialize_with = "lossy")]
        target: PathBuf,
    },
    /// A directory.
    Directory {
        /// Permission bits, setuid, setgid and sticky among them.
        mode: u32,
    },
    /// Something without content to compare.
    Other {
        /// Which.
        node: Node,
        /// Permission bits.
        mode: u32,
    },
}

/// The things in a directory that hold no content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// A named pipe.
    Fifo,
    /// A Unix socket.
    Socket,
    /// A character device.
    CharacterDevice,
    /// A block device.
    BlockDevice,
}

impl Entry {
    /// Returns the permission bits; a symlink has none.
    #[must_use]
    pub const fn mode(&self) -> Option<u32> {
        match self {
            Self::File { mode, .. } | Self::Directory { mode } | Self::Other { mode, .. } => Some(*mode),
            Self::Symlink { .. } => None,
        }
    }

    /// Says whether it is a directory.
    #[must_use]
    pub const fn is_directory(&self) -> bool {
        matches!(self, Self::Directory { .. })
    }

    /// Says whether it is a regular file.
    #[must_use]
    pub const fn is_file(&self) -> bool {
        matches!(self, Self::File { .. })
    }
}

// serde refuses a path that is not UTF-8; a report with a `\u{fffd}` in it is better than no report.
fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    use super::*;

    #[test]
    fn a_change_reads_back_as_it_was_written() {
        let change = Change {
            path: "src/new.rs".into(),
            kind: ChangeKind::Renamed { from: "src/old.rs".into() },
            before: Some(Entry::File { size: 3, mode: 0o644 }),
            after: Some(Entry::Symlink { target: "old.rs".into() }),
        };
        let json = serde_json::to_value(&change).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "path": "src/new.rs",
                "kind": "renamed",
                "from": "src/old.rs",
                "before": { "type": "file", "size": 3, "mode": 0o644 },
                "after": { "type": "symlink", "target": "old.rs" },
            })
        );
        assert_eq!(serde_json::from_value::<Change>(json).unwrap(), change);
    }

    #[test]
    fn a_name_that_is_not_utf8_is_written_lossily() {
        let change = Change {
            path: OsStr::from_bytes(b"caf\xe9").into(),
            kind: ChangeKind::Deleted,
            before: Some(Entry::Other { node: Node::Fifo, mode: 0o600 }),
            after: None,
        };
        assert_eq!(serde_json::to_value(&change).unwrap()["path"], "caf\u{fffd}");
    }
}
