//! One open directory that moves through a tree, a name at a time.
//!
//! Owns: the descriptor. It holds one at any depth, so a tree 10,000 deep costs neither 10,000
//! descriptors nor a path longer than the kernel takes.
//! Refuses: to follow a symlink, to cross a mount, and to go up anywhere but where it came from:
//! `..` of a directory that was moved meanwhile leads elsewhere, so the parent is recognised by inode.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
};

use rustix::{
    fs::{Dir, Mode, OFlags, ResolveFlags},
    io::Errno,
};

use super::{LayerError, budget::Budget};

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// Within one mount, beneath the directory given, through real directories only.
pub(super) const CONFINED: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// Which inode a directory is.
type Identity = (u64, u64);

#[derive(Debug)]
pub(super) struct Cursor {
    here: OwnedFd,
    above: Vec<Identity>,
}

impl Cursor {
    /// Starts at `dir`, which may be open by path only.
    pub(super) fn start(dir: BorrowedFd<'_>) -> io::Result<Self> {
        let here = rustix::fs::openat(dir, ".", DIRECTORY, Mode::empty())?;
        Ok(Self { here, above: Vec::new() })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.here.as_fd()
    }

    pub(super) fn into_fd(self) -> OwnedFd {
        self.here
    }

    /// Goes into the directory `name`.
    pub(super) fn descend(&mut self, name: &OsStr) -> Result<(), Errno> {
        let here = identity(self.here.as_fd())?;
        self.here = rustix::fs::openat2(&self.here, name, DIRECTORY, Mode::empty(), CONFINED)?;
        self.above.push(here);
        Ok(())
    }

    /// Goes back up and returns the directory left, so that it can be finished from above.
    pub(super) fn ascend(&mut self) -> io::Result<OwnedFd> {
        let parent = rustix::fs::openat(&self.here, "..", DIRECTORY, Mode::empty())?;
        let expected = self.above.pop();
        if expected != Some(identity(parent.as_fd())?) {
            return Err(io::Error::other("the directory was moved while it was read"));
        }
        Ok(std::mem::replace(&mut self.here, parent))
    }

    /// Lists the names here, sorted by bytes. The inner error is the directory's, the outer the budget's.
    pub(super) fn names(&self, budget: &mut Budget) -> Result<io::Result<Vec<OsString>>, LayerError> {
        let mut names = Vec::new();
        let dir = match Dir::read_from(&self.here) {
            Ok(dir) => dir,
            Err(error) => return Ok(Err(error.into())),
        };
        for entry in dir {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return Ok(Err(error.into())),
            };
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                budget.see()?;
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        names.sort_unstable();
        Ok(Ok(names))
    }
}

fn identity(dir: BorrowedFd<'_>) -> Result<Identity, Errno> {
    let stat = rustix::fs::fstat(dir)?;
    Ok((stat.st_dev, stat.st_ino))
}
