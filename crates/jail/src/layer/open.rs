//! Opening a file the sandbox wrote.
//!
//! Refuses: `..`, absolute paths, symlinks anywhere in the path, other mounts, and whatever is not a
//! regular file.

use std::{
    ffi::OsStr,
    io,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    path::{Component, Path},
};

use super::{cursor::Cursor, entry};

/// Opens the regular file at `path` beneath `upper` for reading.
///
/// Steps from directory to directory, since a sandbox can make a path longer than one call takes.
///
/// # Errors
/// `InvalidInput` when the path is not plainly relative or leads to something that is not a regular
/// file; else what the kernel says, `ELOOP` for a symlink on the way.
pub fn open_beneath(upper: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    let (parent, name) = parent_of(upper, path)?;
    entry::open_file(parent.as_fd(), name)
}

/// Opens the directory that holds `path`; returns it with the last name.
pub(super) fn parent_of<'path>(
    root: BorrowedFd<'_>,
    path: &'path Path,
) -> io::Result<(OwnedFd, &'path OsStr)> {
    let mut names = Vec::new();
    for component in path.components() {
        let Component::Normal(name) = component else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain relative path"));
        };
        names.push(name);
    }
    let Some(last) = names.pop() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "an empty path"));
    };
    let mut cursor = Cursor::start(root)?;
    for name in names {
        cursor.descend(name)?;
    }
    Ok((cursor.into_fd(), last))
}
