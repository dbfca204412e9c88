//! Collecting changes, and telling a deleted directory apart into what was in it.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use belljar_domain::{Change, ChangeKind, Entry};
use rustix::io::Errno;

use super::{LayerError, budget::Budget, cursor::Cursor, entry};

/// The changes found so far, and what may still be looked at.
#[derive(Debug)]
pub(super) struct Findings {
    pub(super) budget: Budget,
    pub(super) changes: Vec<Change>,
}

impl Findings {
    pub(super) fn add(
        &mut self,
        path: &Path,
        kind: ChangeKind,
        before: Option<Entry>,
        after: Option<Entry>,
    ) -> Result<(), LayerError> {
        self.budget.keep(path.as_os_str().len())?;
        self.changes.push(Change { path: path.to_owned(), kind, before, after });
        Ok(())
    }

    /// Adds everything below the base's directory `name`, which `path` already ends with, as deleted.
    pub(super) fn add_deleted_below(
        &mut self,
        base: &mut Cursor,
        path: &mut PathBuf,
        name: &OsStr,
    ) -> Result<(), LayerError> {
        if !enter(base, path, name)? {
            return Ok(());
        }
        let mut levels = vec![self.names(base, path)?.into_iter()];
        while let Some(level) = levels.last_mut() {
            let Some(name) = level.next() else {
                levels.pop();
                base.ascend().map_err(lower(path))?;
                if !levels.is_empty() {
                    path.pop();
                }
                continue;
            };
            path.push(&name);
            let before = entry::find_plain(base.fd(), &name).map_err(lower(path))?;
            let is_directory = before.as_ref().is_some_and(Entry::is_directory);
            if before.is_some() {
                self.add(path, ChangeKind::Deleted, before, None)?;
            }
            if is_directory && enter(base, path, &name)? {
                levels.push(self.names(base, path)?.into_iter());
            } else {
                path.pop();
            }
        }
        Ok(())
    }

    fn names(&mut self, base: &Cursor, path: &Path) -> Result<Vec<std::ffi::OsString>, LayerError> {
        base.names(&mut self.budget)?.map_err(lower(path))
    }
}

/// Goes into a directory of the base; says no where another filesystem is mounted on it. An overlay
/// does not look through mounts, so the sandbox never saw what is there.
pub(super) fn enter(base: &mut Cursor, path: &Path, name: &OsStr) -> Result<bool, LayerError> {
    match base.descend(name) {
        Ok(()) => Ok(true),
        Err(Errno::XDEV | Errno::NOENT) => Ok(false),
        Err(error) => Err(lower(path)(error.into())),
    }
}

pub(super) fn lower(path: &Path) -> impl FnOnce(io::Error) -> LayerError {
    move |source| LayerError::Lower { path: path.to_owned(), source }
}

pub(super) fn upper(path: &Path) -> impl FnOnce(io::Error) -> LayerError {
    move |source| LayerError::Upper { path: path.to_owned(), source }
}
