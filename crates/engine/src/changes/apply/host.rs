//! What the host has at a path now, and whether that is still what the sandbox was given.

use std::{
    io,
    os::unix::ffi::OsStrExt as _,
    path::{Component, Path},
    time::{Duration, SystemTime},
};

use belljar_domain::{Entry, Node};
use belljar_ports::ChangedFiles;
use rustix::fs::{FileType, Stat};

use super::super::{content, root::Root};

/// What was found at a path, and enough to know it again.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) entry: Entry,
    pub(super) stamp: Stamp,
    changed: SystemTime,
}

/// Tells one state of an inode from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: (u64, u64),
    changed: (i64, u64),
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Stamp {
    pub(super) const fn of(stat: &Stat) -> Self {
        Self {
            inode: (stat.st_dev, stat.st_ino),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
            uid: stat.st_uid,
            gid: stat.st_gid,
        }
    }
}

/// Looks at `path` without following it.
pub(super) fn find(root: &Root, path: &Path) -> io::Result<Option<Found>> {
    let Some(stat) = root.stat(path)? else { return Ok(None) };
    let mode = stat.st_mode & 0o7777;
    let other = |node| Entry::Other { node, mode };
    let entry = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Entry::File { size: u64::try_from(stat.st_size).unwrap_or(0), mode },
        FileType::Directory => Entry::Directory { mode },
        FileType::Symlink => Entry::Symlink { target: root.link_target(path)? },
        FileType::Fifo => other(Node::Fifo),
        FileType::Socket => other(Node::Socket),
        FileType::CharacterDevice => other(Node::CharacterDevice),
        FileType::BlockDevice | FileType::Unknown => other(Node::BlockDevice),
    };
    let changed = time(stat.st_mtime, stat.st_mtime_nsec).max(time(stat.st_ctime, stat.st_ctime_nsec));
    Ok(Some(Found { entry, stamp: Stamp::of(&stat), changed }))
}

impl Found {
    /// Says whether it is what the sandbox was given: the same to look at, and not touched since. The
    /// times alone would not do, since a filesystem's clock may lag behind by some milliseconds.
    pub(super) fn is_untouched(&self, before: &Entry, since: SystemTime) -> bool {
        self.entry == *before && self.changed <= since
    }

    /// Says whether it holds what the sandbox left, whatever its mode.
    pub(super) fn has_content_of(
        &self,
        after: &Entry,
        root: &Root,
        path: &Path,
        files: &dyn ChangedFiles,
    ) -> io::Result<bool> {
        match (&self.entry, after) {
            (Entry::File { size: host, .. }, Entry::File { size: sandbox, .. }) => {
                Ok(host == sandbox && content::same(root.file(path)?, files.open(path)?)?)
            }
            (Entry::Symlink { target: host }, Entry::Symlink { target: sandbox }) => Ok(host == sandbox),
            (Entry::Directory { .. }, Entry::Directory { .. }) => Ok(true),
            _ => Ok(false),
        }
    }
}

fn time(seconds: i64, nanoseconds: u64) -> SystemTime {
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let base = SystemTime::UNIX_EPOCH;
    let whole = if seconds < 0 { base.checked_sub(distance) } else { base.checked_add(distance) };
    whole.and_then(|whole| whole.checked_add(Duration::from_nanos(nanoseconds))).unwrap_or(base)
}

/// Says whether a symlink at `path` leads out of the workspace, as far as its words tell.
pub(super) fn leads_outside(path: &Path, target: &Path, workspace: &Path) -> bool {
    if target.is_absolute() {
        let dotted = target.components().any(|component| component == Component::ParentDir);
        return dotted || !target.starts_with(workspace);
    }
    let mut depth = path.components().count().saturating_sub(1);
    for component in target.components() {
        match component {
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    target.as_os_str().as_bytes().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_judged_by_where_they_lie() {
        let cases = [
            ("a/link", "../b", false),
            ("link", "../b", true),
            ("a/link", "b/../../c", false),
            ("a/link", "../../c", true),
            ("link", "/etc/passwd", true),
            ("link", "/project/x", false),
            ("link", "/project/../etc", true),
            ("link", "/projectshop", true),
        ];
        for (path, target, outside) in cases {
            assert_eq!(
                leads_outside(Path::new(path), Path::new(target), Path::new("/project")),
                outside,
                "{path} -> {target}"
            );
        }
    }
}
