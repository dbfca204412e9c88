//! Bringing the changes of a sandbox to the host.
//!
//! Owns: the order of things. Everything is checked first; if one path is in conflict, nothing is
//! written. New contents are then staged beside their places, and only when all are there are they moved
//! in. Refuses: to overwrite what somebody else changed, to follow a symlink, to set setuid or setgid, to
//! make devices, pipes and sockets, and, unless told otherwise, to touch what makes git run programs.

mod commit;
mod host;
mod internals;
mod plan;
mod select;
mod settle;
mod stage;

use std::{fmt, io, path::PathBuf};

use belljar_ports::Changes;

use super::{MergeError, root::Root};

/// Whether files that make git run programs on the host are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GitInternals {
    /// They are left out, and named.
    #[default]
    HoldBack,
    /// They are applied like any other.
    Allow,
}

/// What to do where the host changed too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// Write nothing at all.
    #[default]
    Refuse,
    /// Merge texts that git knows an ancestor of; where they disagree, leave markers.
    Merge,
}

/// How to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ApplyOptions {
    /// Whether files that make git run programs on the host are applied.
    pub git_internals: GitInternals,
    /// What to do where the host changed too.
    pub on_conflict: OnConflict,
}

/// What was done. Paths are relative to the workspace, in the order of the changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Made or replaced, or given another mode.
    pub written: Vec<PathBuf>,
    /// Removed.
    pub removed: Vec<PathBuf>,
    /// As the sandbox left them already.
    pub already: Vec<PathBuf>,
    /// Merged with what the host had; also in `written`.
    pub merged: Vec<PathBuf>,
    /// Merged, but with markers for a person to resolve; also in `merged`.
    pub conflicted: Vec<PathBuf>,
    /// Left out because they make git run programs on the host.
    pub held_back: Vec<PathBuf>,
    /// Left out because they are a device, a pipe or a socket.
    pub skipped: Vec<PathBuf>,
    /// Directories the sandbox removed that still hold something it never saw.
    pub kept: Vec<PathBuf>,
    /// Symlinks made that lead out of the workspace.
    pub outside_links: Vec<PathBuf>,
}

/// A path that cannot be brought over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Where, relative to the workspace.
    pub path: PathBuf,
    /// Why not.
    pub reason: ConflictReason,
}

/// Why a path cannot be brought over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictReason {
    /// It changed on the host after the sandbox was made.
    Changed,
    /// It is gone from the host.
    Gone,
    /// The host has something else where the sandbox made something new.
    Exists,
    /// What it lies in is not a directory of the workspace: gone, a file, a symlink, another mount.
    Parent,
    /// The directory to be replaced holds something the sandbox never saw.
    NotEmpty,
}

impl fmt::Display for ConflictReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed => "changed on the host since the sandbox was made",
            Self::Gone => "no longer on the host",
            Self::Exists => "on the host already, with other content",
            Self::Parent => "not in a plain directory of the workspace",
            Self::NotEmpty => "a directory with files the sandbox never saw",
        })
    }
}

/// Why the changes were not applied.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The workspace cannot be opened.
    #[error("cannot open the workspace `{path}`")]
    Workspace {
        /// Where it is on the host.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A path is not plainly relative. Nothing was written.
    #[error("`{path}` is not a path within the workspace")]
    Path {
        /// As it was given.
        path: PathBuf,
    },
    /// The host changed too. Nothing was written.
    #[error("{} of the changed paths changed on the host too", .0.len())]
    Conflicts(Vec<Conflict>),
    /// A path cannot be compared. Nothing was written.
    #[error("cannot compare `{path}` with the host")]
    Compare {
        /// Where, relative to the workspace.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A merge could not be tried. Nothing was written.
    #[error("cannot merge `{path}`")]
    Merge {
        /// Where, relative to the workspace.
        path: PathBuf,
        /// Why.
        #[source]
        source: MergeError,
    },
    /// New content cannot be put in place. Nothing was changed.
    #[error("cannot stage `{path}`")]
    Stage {
        /// Where, relative to the workspace.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The sandbox changed a file while it was being copied. Nothing was changed.
    #[error("the sandbox changed `{path}` meanwhile")]
    Moving {
        /// Where, relative to the workspace.
        path: PathBuf,
    },
    /// Something changed under our hands; what came before it in the plan is done.
    #[error("cannot change `{path}`, after {done} other changes were made")]
    Act {
        /// Where, relative to the workspace.
        path: PathBuf,
        /// How many changes were made before.
        done: usize,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Brings the changes into the workspace on the host.
///
/// Applying the same changes again does nothing. As root, what is new belongs to the owner of the
/// directory it lands in, and what is replaced to whom it belonged.
///
/// # Errors
/// [`ApplyError::Conflicts`] when the host changed too. After any error but [`ApplyError::Act`] the
/// workspace is as it was.
pub fn apply(changes: &Changes, options: ApplyOptions) -> Result<Applied, ApplyError> {
    let path = changes.base.as_path();
    let root = Root::open(path).map_err(|source| ApplyError::Workspace { path: path.to_owned(), source })?;
    let plan = plan::make(changes, options, &root)?;
    let staged = stage::stage(&plan.writes, &root, changes.files.as_ref())?;
    commit::commit(plan, staged, &root)
}
