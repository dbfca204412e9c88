//! One change as two sides and what lies between them.

use std::{
    io,
    os::unix::ffi::OsStrExt as _,
    path::Path,
    time::{Duration, Instant},
};

use belljar_domain::{Change, ChangeKind, Entry};
use belljar_ports::ChangedFiles;
use rustix::io::Errno;
use similar::{Algorithm, DiffOp};

use super::{
    super::{
        content::{self, Content},
        root::Root,
    },
    RenderError,
};

const SYMLINK: u32 = 0o120_000;
const FILE: u32 = 0o100_000;
/// How long to look for the shortest diff of one file, and of all. After that a diff is still a diff, but
/// coarser: a sandbox can make files on which the search takes hours.
const PATIENCE: Duration = Duration::from_secs(2);
const PATIENCE_FOR_ALL: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(super) struct Delta<'a> {
    pub(super) old: &'a Path,
    pub(super) new: &'a Path,
    pub(super) old_mode: Option<u32>,
    pub(super) new_mode: Option<u32>,
    pub(super) body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    Same,
    Lines(Lines),
    /// Not shown line by line; the sizes.
    Blob(u64, u64),
}

#[derive(Debug)]
pub(super) struct Lines {
    pub(super) old: Vec<u8>,
    pub(super) new: Vec<u8>,
    pub(super) ops: Vec<DiffOp>,
}

impl Delta<'_> {
    pub(super) fn is_rename(&self) -> bool {
        self.old != self.new
    }

    /// Returns lines added and removed; nothing for what is not shown line by line.
    pub(super) fn counts(&self) -> Option<(usize, usize)> {
        match &self.body {
            Body::Same => Some((0, 0)),
            Body::Blob(..) => None,
            Body::Lines(lines) => Some(
                lines
                    .ops
                    .iter()
                    .filter(|op| !matches!(op, DiffOp::Equal { .. }))
                    .fold((0, 0), |(added, removed), op| {
                        (added + op.new_range().len(), removed + op.old_range().len())
                    }),
            ),
        }
    }
}

/// When to stop looking for the shortest diffs.
pub(super) fn deadline() -> Instant {
    let now = Instant::now();
    now.checked_add(PATIENCE_FOR_ALL).unwrap_or(now)
}

/// One side: what kind of thing, how long, and what it holds.
#[derive(Debug)]
pub(super) struct Side {
    mode: u32,
    size: u64,
    content: Content,
}

impl Side {
    /// A file whose bytes are at hand.
    pub(super) fn file(mode: u32, bytes: Vec<u8>) -> Self {
        let size = bytes.len() as u64;
        let content = if content::is_text(&bytes) { Content::Text(bytes) } else { Content::Blob };
        Self { mode: FILE | mode, size, content }
    }

    /// A link.
    pub(super) fn link(target: Vec<u8>) -> Self {
        Self { mode: SYMLINK, size: target.len() as u64, content: Content::Text(target) }
    }

    const fn is_link(&self) -> bool {
        self.mode == SYMLINK
    }
}

/// Two sides of one path; a change of type is a deletion and an addition, as in git.
pub(super) fn of_sides(
    path: &Path,
    before: Option<Side>,
    after: Option<Side>,
    until: Instant,
) -> Vec<Delta<'_>> {
    // Both sides differ, or there would be nothing to show.
    let differ = || Ok(false);
    let delta = |before, after| between((path, path), before, after, &differ, until);
    match (before, after) {
        (None, None) => Vec::new(),
        (Some(before), Some(after)) if before.is_link() != after.is_link() => {
            vec![delta(Some(before), None), delta(None, Some(after))]
        }
        (before, after) => vec![delta(before, after)],
    }
}

/// Takes a change apart as git does: a change of type is a deletion and an addition, and what git does
/// not know is nothing.
pub(super) fn of<'a>(
    change: &'a Change,
    root: &Root,
    files: &dyn ChangedFiles,
    until: Instant,
) -> Result<Vec<Delta<'a>>, RenderError> {
    let old_path = match &change.kind {
        ChangeKind::Renamed { from } => from,
        ChangeKind::Added
        | ChangeKind::Modified
        | ChangeKind::Deleted
        | ChangeKind::ModeChanged
        | ChangeKind::TypeChanged => &change.path,
    };
    let before = side(change.before.as_ref(), || root.file(old_path).and_then(Content::read));
    let before = match before {
        // Somebody removed or replaced it on the host since: against what is there now, it is new.
        Err(error) if is_no_file(&error) => None,
        other => other.map_err(|source| RenderError::Host { path: old_path.clone(), source })?,
    };
    let after = side(change.after.as_ref(), || files.open(&change.path).and_then(Content::read))
        .map_err(|source| RenderError::Sandbox { path: change.path.clone(), source })?;
    let same_blob = || content::same(root.file(old_path)?, files.open(&change.path)?);
    let delta = |before, after| between((old_path, &change.path), before, after, &same_blob, until);
    Ok(match (change.kind == ChangeKind::TypeChanged, before, after) {
        (_, None, None) => Vec::new(),
        (true, Some(before), Some(after)) => vec![delta(Some(before), None), delta(None, Some(after))],
        (_, before, after) => vec![delta(before, after)],
    })
}

/// Says whether an error means that no regular file is there: nothing, a symlink, a directory.
fn is_no_file(error: &io::Error) -> bool {
    let absent = [Errno::NOENT, Errno::LOOP, Errno::NOTDIR, Errno::INVAL];
    Errno::from_io_error(error).is_some_and(|errno| absent.contains(&errno))
}

fn side(entry: Option<&Entry>, read: impl FnOnce() -> io::Result<Content>) -> io::Result<Option<Side>> {
    Ok(match entry {
        Some(Entry::File { size, mode }) => Some(Side { mode: FILE | mode, size: *size, content: read()? }),
        Some(Entry::Symlink { target }) => {
            let target = target.as_os_str().as_bytes().to_vec();
            Some(Side { mode: SYMLINK, size: target.len() as u64, content: Content::Text(target) })
        }
        Some(Entry::Directory { .. } | Entry::Other { .. }) | None => None,
    })
}

fn between<'a>(
    (old, new): (&'a Path, &'a Path),
    before: Option<Side>,
    after: Option<Side>,
    same_blob: &dyn Fn() -> io::Result<bool>,
    until: Instant,
) -> Delta<'a> {
    let (old_mode, new_mode) = (before.as_ref().map(|side| side.mode), after.as_ref().map(|side| side.mode));
    let empty = || Side { mode: 0, size: 0, content: Content::Text(Vec::new()) };
    let (before, after) = (before.unwrap_or_else(empty), after.unwrap_or_else(empty));
    let body = match (before.content, after.content) {
        (Content::Text(old), Content::Text(new)) if old == new => Body::Same,
        (Content::Text(old), Content::Text(new)) => Body::Lines(lines(old, new, until)),
        // Moved, or of another mode only. What cannot be read again is shown as different.
        (Content::Blob, Content::Blob) if before.size == after.size && same_blob().unwrap_or(false) => {
            Body::Same
        }
        (Content::Text(_) | Content::Blob, _) => Body::Blob(before.size, after.size),
    };
    Delta { old, new, old_mode, new_mode, body }
}

fn lines(old: Vec<u8>, new: Vec<u8>, until: Instant) -> Lines {
    let patience = Instant::now().checked_add(PATIENCE).map_or(until, |deadline| deadline.min(until));
    let ops = similar::capture_diff_slices_deadline(
        Algorithm::Myers,
        &content::lines(&old),
        &content::lines(&new),
        Some(patience),
    );
    Lines { old, new, ops }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_patience_a_diff_is_still_right() {
        let old: Vec<u8> = (0..5000).flat_map(|n| format!("{}\n", n * 7919 % 5003).into_bytes()).collect();
        let new: Vec<u8> = (0..5000).flat_map(|n| format!("{}\n", n * 104_729 % 5003).into_bytes()).collect();
        let lines = lines(old.clone(), new.clone(), Instant::now());
        let (old, new) = (content::lines(&old), content::lines(&new));
        let rebuilt: Vec<&[u8]> = lines
            .ops
            .iter()
            .flat_map(|op| match op {
                DiffOp::Equal { .. } => &old[op.old_range()],
                DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                    &new[op.new_range()]
                }
            })
            .copied()
            .collect();
        assert!(rebuilt == new);
    }
}
