//! Reading an upper as a list of changes.
//!
//! Owns: what each thing in an upper means against the base. Refuses: to report what only looks
//! changed: a directory copied up for the sake of a child, a file opened for writing and left as it
//! was, an owner (ids in an upper are shifted), the workspace's own mode.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::fd::{AsFd as _, BorrowedFd},
    path::{Path, PathBuf},
    vec::IntoIter,
};

use belljar_domain::{Change, ChangeKind, Entry};
use rustix::{
    fs::{CWD, Mode, OFlags},
    io::Errno,
};

use super::{
    LayerError,
    budget::Budget,
    cursor::Cursor,
    deleted::{Findings, enter, lower, upper},
    entry::{self, Found},
    marks,
};

/// Lists what the overlay upper directory `upper` changes in `base`, sorted by the bytes of the path.
///
/// Directories are listed like files are. `base` is compared as it is now, not as it was when the
/// sandbox started: a file changed on the host since may show as changed by the sandbox.
///
/// # Errors
/// When something cannot be read, was moved while being read, or there is more than a million entries.
pub fn scan(upper: BorrowedFd<'_>, base: &Path) -> Result<Vec<Change>, LayerError> {
    scan_within(upper, base, Budget::new())
}

pub(super) fn scan_within(
    upper_dir: BorrowedFd<'_>,
    base: &Path,
    budget: Budget,
) -> Result<Vec<Change>, LayerError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let base_cursor = rustix::fs::openat(CWD, base, flags, Mode::empty())
        .map_err(io::Error::from)
        .and_then(|dir| Cursor::start(dir.as_fd()))
        .map_err(|source| LayerError::Base { path: base.to_owned(), source })?;
    let mut scan = Scan {
        upper: Cursor::start(upper_dir).map_err(upper(Path::new("")))?,
        base: base_cursor,
        path: PathBuf::new(),
        found: Findings { budget, changes: Vec::new() },
    };
    scan.run()?;
    let mut changes = scan.found.changes;
    changes.sort_unstable_by(|one, two| one.path.as_os_str().cmp(two.path.as_os_str()));
    Ok(changes)
}

struct Scan {
    upper: Cursor,
    base: Cursor,
    path: PathBuf,
    found: Findings,
}

/// A directory of the upper being read.
struct Level {
    names: IntoIter<OsString>,
    base: Base,
}

/// What the base has where the upper has a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    /// No directory; its cursor stays above.
    Absent,
    /// A directory the sandbox saw through this one.
    Merged,
    /// A directory that an opaque one hides; so is all below it.
    Hidden,
}

impl Scan {
    fn run(&mut self) -> Result<(), LayerError> {
        let mut levels = vec![self.list(Base::Merged)?];
        while let Some(level) = levels.last_mut() {
            if let Some(name) = level.names.next() {
                let base = level.base;
                self.path.push(&name);
                match self.visit(&name, base)? {
                    Some(base) => levels.push(self.list(base)?),
                    None => drop(self.path.pop()),
                }
                continue;
            }
            let base = level.base;
            levels.pop();
            if !levels.is_empty() {
                self.upper.ascend().map_err(upper(&self.path))?;
                if base != Base::Absent {
                    self.base.ascend().map_err(lower(&self.path))?;
                }
                self.path.pop();
            }
        }
        Ok(())
    }

    /// Lists the directory the cursors stand in, and reports what it hides of the base.
    fn list(&mut self, mut base: Base) -> Result<Level, LayerError> {
        if let Some(mark) = marks::redirected(self.upper.fd()) {
            return Err(LayerError::Foreign { path: self.path.clone(), mark });
        }
        if base == Base::Merged && marks::is_opaque(self.upper.fd()) {
            base = Base::Hidden;
        }
        let names = self.upper.names(&mut self.found.budget)?.map_err(upper(&self.path))?;
        if base == Base::Hidden {
            for name in self.base.names(&mut self.found.budget)?.map_err(lower(&self.path))? {
                if names.binary_search(&name).is_err() {
                    self.path.push(&name);
                    if let Some(before) =
                        entry::find_plain(self.base.fd(), &name).map_err(lower(&self.path))?
                    {
                        self.delete(&name, before)?;
                    }
                    self.path.pop();
                }
            }
        }
        Ok(Level { names: names.into_iter(), base })
    }

    /// Compares one name. Returns what the base has there, if the cursors went into it.
    fn visit(&mut self, name: &OsStr, base: Base) -> Result<Option<Base>, LayerError> {
        let before = match base {
            Base::Merged | Base::Hidden => {
                entry::find_plain(self.base.fd(), name).map_err(lower(&self.path))?
            }
            Base::Absent => None,
        };
        let after = match entry::find(self.upper.fd(), name).map_err(upper(&self.path))? {
            Found::Nothing => return Ok(None),
            Found::Whiteout => None,
            Found::Entry { entry, hollow } => {
                self.check_content(name, hollow)?;
                Some(entry)
            }
        };
        let (before, after) = match (before, after) {
            (None, None) => return Ok(None),
            (Some(before), None) => return self.delete(name, before).map(|()| None),
            (None, Some(after)) => {
                let into = after.is_directory();
                self.found.add(&self.path, ChangeKind::Added, None, Some(after))?;
                return if into { self.go_in(name, Base::Absent) } else { Ok(None) };
            }
            (Some(before), Some(after)) => (before, after),
        };
        let (was_directory, into) = (before.is_directory(), after.is_directory());
        if let Some(kind) = self.difference(name, &before, &after)? {
            self.found.add(&self.path, kind, Some(before), Some(after))?;
        }
        if into {
            return self.go_in(name, if was_directory { base } else { Base::Absent });
        }
        if was_directory {
            self.found.add_deleted_below(&mut self.base, &mut self.path, name)?;
        }
        Ok(None)
    }

    fn delete(&mut self, name: &OsStr, before: Entry) -> Result<(), LayerError> {
        let was_directory = before.is_directory();
        self.found.add(&self.path, ChangeKind::Deleted, Some(before), None)?;
        if was_directory {
            self.found.add_deleted_below(&mut self.base, &mut self.path, name)?;
        }
        Ok(())
    }

    fn go_in(&mut self, name: &OsStr, base: Base) -> Result<Option<Base>, LayerError> {
        match self.upper.descend(name) {
            Ok(()) if base == Base::Absent || !enter(&mut self.base, &self.path, name)? => {
                Ok(Some(Base::Absent))
            }
            Ok(()) => Ok(Some(base)),
            // The sandbox removed or replaced it between the two looks.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(upper(&self.path)(error.into())),
        }
    }

    fn difference(
        &self,
        name: &OsStr,
        before: &Entry,
        after: &Entry,
    ) -> Result<Option<ChangeKind>, LayerError> {
        let same = match (before, after) {
            (Entry::File { size: old, .. }, Entry::File { size: new, .. }) => {
                old == new && self.same_content(name)
            }
            (Entry::Symlink { target: old }, Entry::Symlink { target: new }) => old == new,
            (Entry::Directory { .. }, Entry::Directory { .. }) => true,
            (Entry::Other { node: old, .. }, Entry::Other { node: new, .. }) if old == new => true,
            _ => return Ok(Some(ChangeKind::TypeChanged)),
        };
        Ok(match (same, before.mode() == after.mode()) {
            (true, true) => None,
            (true, false) => Some(ChangeKind::ModeChanged),
            (false, _) => Some(ChangeKind::Modified),
        })
    }

    /// What cannot be read cannot be said to be the same; it counts as changed.
    fn same_content(&self, name: &OsStr) -> bool {
        entry::open_file(self.upper.fd(), name)
            .and_then(|new| entry::same_content(entry::open_file(self.base.fd(), name)?, new))
            .unwrap_or(false)
    }

    fn check_content(&self, name: &OsStr, hollow: bool) -> Result<(), LayerError> {
        let mark = hollow.then(|| entry::open_file(self.upper.fd(), name).ok()).flatten();
        match mark.and_then(|file| marks::without_content(file.as_fd())) {
            Some(mark) => Err(LayerError::Foreign { path: self.path.clone(), mark }),
            None => Ok(()),
        }
    }
}
