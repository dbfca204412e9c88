//! Joining what the sandbox wrote with what the host did to the same file meanwhile.
//!
//! Owns: asking git for the common ancestor and for the merge. Refuses: to guess where git knows neither.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::{self, Read as _},
    path::Path,
    process::Stdio,
    time::SystemTime,
};

use super::content::{LINEWISE, is_text};
use crate::git::git;

/// Why a merge could not be tried.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The program is missing or cannot be started.
    #[error("cannot run git")]
    Start(#[source] io::Error),
    /// It was started, but could not be heard.
    #[error("cannot read what git says")]
    Read(#[source] io::Error),
    /// The three versions cannot be put where git reads them.
    #[error("cannot write the versions to merge")]
    Versions(#[source] io::Error),
    /// It refused.
    #[error("git could not merge the versions")]
    Refused,
}

/// What became of two versions.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Merged {
    Clean(Vec<u8>),
    /// With markers where they disagree.
    Conflicting(Vec<u8>),
}

/// Merges `ours` (the host's) and `theirs` (the sandbox's) of `path`. The ancestor is what git had of it
/// when the sandbox was made.
///
/// Returns nothing when git knows no such text, so that the conflict stands.
pub(super) fn three_way(
    workspace: &Path,
    path: &Path,
    since: SystemTime,
    ours: &[u8],
    theirs: &[u8],
) -> Result<Option<Merged>, MergeError> {
    if !is_text(ours) || !is_text(theirs) {
        return Ok(None);
    }
    match ancestor(workspace, path, since, ours)? {
        Some(ancestor) => merge(&ancestor, ours, theirs).map(Some),
        None => Ok(None),
    }
}

/// Today's HEAD may hold what the host did meanwhile, and the index too; merged from there, the sandbox's
/// version would look like a wish to undo it. So HEAD is taken as its log says it was. Without a log
/// today's must do, unless it is the host's version itself, which would silently lose.
fn ancestor(
    workspace: &Path,
    path: &Path,
    since: SystemTime,
    ours: &[u8],
) -> Result<Option<Vec<u8>>, MergeError> {
    let seconds = since.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |age| age.as_secs());
    let then = format!("HEAD@{{{seconds}}}");
    let logged = git(workspace)
        .args(["rev-parse", "--verify", "--quiet", &then])
        .stdout(Stdio::null())
        .status()
        .map_err(MergeError::Start)?
        .success();
    let mut object = OsString::from(if logged { then.as_str() } else { "HEAD" });
    object.push(":./");
    object.push(path);
    Ok(blob(workspace, &object)?.filter(|text| logged || text != ours))
}

fn blob(workspace: &Path, object: &OsStr) -> Result<Option<Vec<u8>>, MergeError> {
    let mut child = git(workspace)
        .args(["cat-file", "blob"])
        .arg(object)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(MergeError::Start)?;
    let mut text = Vec::new();
    let read = match child.stdout.take() {
        Some(output) => output.take(LINEWISE + 1).read_to_end(&mut text),
        None => Ok(0),
    };
    // The pipe is closed by now: a longer blob ends git, and it counts as no text either way.
    let status = child.wait().map_err(MergeError::Read)?;
    read.map_err(MergeError::Read)?;
    Ok((status.success() && is_text(&text)).then_some(text))
}

fn merge(ancestor: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Merged, MergeError> {
    let dir = tempfile::tempdir().map_err(MergeError::Versions)?;
    for (name, text) in [("host", ours), ("ancestor", ancestor), ("sandbox", theirs)] {
        fs::write(dir.path().join(name), text).map_err(MergeError::Versions)?;
    }
    let output = git(dir.path())
        .args(["merge-file", "-p", "-L", "host", "-L", "before", "-L", "sandbox"])
        .args(["host", "ancestor", "sandbox"])
        .output()
        .map_err(MergeError::Start)?;
    // The code is the number of disagreements, up to 127; above is failure.
    match output.status.code() {
        Some(0) => Ok(Merged::Clean(output.stdout)),
        Some(1..=127) => Ok(Merged::Conflicting(output.stdout)),
        Some(_) | None => Err(MergeError::Refused),
    }
}
