//! The changes as a person or a program reads them: a patch, a summary, a value.
//!
//! Owns: the three forms. Refuses: to show a file line by line that is binary or longer than a
//! mebibyte. Directories, pipes and sockets are in the value only, since a patch has no word for them.

mod delta;
pub(super) mod held;
mod json;
mod patch;
mod stat;

use std::{
    io::{self, Write},
    path::PathBuf,
};

use belljar_ports::Changes;

pub(super) use held::write_held;
pub use json::json;
pub use stat::stat;

use super::root::Root;

/// For whom it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// For `git apply`: the bytes as they are.
    Patch,
    /// For a terminal: control characters are spelled out, so that a change cannot hide itself.
    Terminal,
    /// For a terminal, in colour.
    Colour,
}

/// Why the changes cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The workspace cannot be opened.
    #[error("cannot open the workspace `{path}`")]
    Workspace {
        /// Where it is on the host.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The host's side cannot be read.
    #[error("cannot read `{path}` on the host")]
    Host {
        /// Where, relative to the workspace.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The sandbox's side cannot be read.
    #[error("cannot read `{path}` in the sandbox")]
    Sandbox {
        /// Where, relative to the workspace.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The reader went away.
    #[error("cannot write the diff")]
    Output(#[source] io::Error),
}

/// Writes the changes as git would show them.
///
/// # Errors
/// When either side cannot be read, or `out` cannot be written.
pub fn diff(changes: &Changes, out: &mut dyn Write, look: Look) -> Result<(), RenderError> {
    let (root, until) = (workspace(changes)?, delta::deadline());
    for change in &changes.changes {
        for delta in delta::of(change, &root, changes.files.as_ref(), until)? {
            patch::write(&delta, out, look).map_err(RenderError::Output)?;
        }
    }
    Ok(())
}

fn workspace(changes: &Changes) -> Result<Root, RenderError> {
    let path = changes.base.as_path();
    Root::open(path).map_err(|source| RenderError::Workspace { path: path.to_owned(), source })
}
