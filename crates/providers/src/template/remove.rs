//! Removing what was unpacked. Owns deleting trees whose directories may forbid it.
//!
//! Refuses: following links, and entering another filesystem that somebody mounted below.

use std::{
    ffi::OsStr,
    io,
    os::{
        fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    path::Path,
};

use rustix::{
    fs::{AtFlags, CWD, Dir, Mode, OFlags, ResolveFlags, chmod, fchmod, fstat, openat, openat2, unlinkat},
    io::Errno,
};

/// Removes a file or a whole tree; that it is not there is fine.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    match openat(CWD, parent, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
        Ok(parent) => remove_entry(parent.as_fd(), name),
        Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Removes one entry of a directory, with all that is in it.
pub(super) fn remove_entry(parent: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    match unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR) => {}
        Err(errno) => return Err(errno.into()),
    }
    let directory = open_writable(parent, name)?;
    for child in children(&directory)? {
        remove_entry(directory.as_fd(), OsStr::from_bytes(&child))?;
    }
    drop(directory);
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

/// The names in a directory. All at once, since removing while listing may skip some.
pub(super) fn children(directory: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
    }
    Ok(names)
}

/// Opens a directory, lifting whatever mode keeps its owner from emptying it.
fn open_writable(parent: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let directory = match open_here(parent, name, OFlags::RDONLY) {
        Err(Errno::ACCESS) => {
            let handle = open_here(parent, name, OFlags::PATH)?;
            // An `O_PATH` descriptor takes no fchmod; its name under /proc does, and cannot be swapped for a link.
            chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::RWXU)?;
            open_here(parent, name, OFlags::RDONLY)?
        }
        other => other?,
    };
    if !Mode::from_raw_mode(fstat(&directory)?.st_mode).contains(Mode::RWXU) {
        fchmod(&directory, Mode::RWXU)?;
    }
    Ok(directory)
}

fn open_here(parent: BorrowedFd<'_>, name: &OsStr, how: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    openat2(
        parent,
        name,
        how | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
        resolve,
    )
}
