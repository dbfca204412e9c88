//! Putting new contents beside their places, under names of our own.
//!
//! Owns: everything that can fail for want of space or permission, done before anything is replaced.
//! What is staged and not used is removed again, however it ends.

use std::{
    ffi::OsString,
    fs::File,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    io::{self, Write as _},
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    path::Path,
};

use belljar_ports::ChangedFiles;
use rustix::{
    fs::{AtFlags, Gid, Mode, OFlags, Uid},
    io::Errno,
};

use super::{
    super::root::Root,
    ApplyError,
    host::Stamp,
    plan::{Source, Write},
};

/// One thing staged; removed when dropped, unless it was moved into place.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) dir: OwnedFd,
    pub(super) name: OsString,
    pub(super) moved: bool,
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.moved {
            // Nobody is left to tell, and a stray temporary file harms nothing.
            rustix::fs::unlinkat(&self.dir, &self.name, AtFlags::empty()).ok();
        }
    }
}

/// Stages every write, in order.
pub(super) fn stage(
    writes: &[Write],
    root: &Root,
    files: &dyn ChangedFiles,
) -> Result<Vec<Staged>, ApplyError> {
    let staged = writes.iter().map(|write| {
        one(write, root, files).map_err(|source| {
            let path = write.path.clone();
            match source.kind() == io::ErrorKind::UnexpectedEof {
                true => ApplyError::Moving { path },
                false => ApplyError::Stage { path, source },
            }
        })
    });
    staged.collect()
}

fn one(write: &Write, root: &Root, files: &dyn ChangedFiles) -> io::Result<Staged> {
    let dir = nearest(root, &write.path)?;
    let name = OsString::from(format!(".belljar-{:016x}", RandomState::new().build_hasher().finish()));
    let owner = owner(dir.as_fd(), write.replaces)?;
    if let Source::Link(target) = &write.source {
        rustix::fs::symlinkat(target, &dir, &name)?;
        let staged = Staged { dir, name, moved: false };
        let own =
            |(uid, gid)| rustix::fs::chownat(&staged.dir, &staged.name, uid, gid, AtFlags::SYMLINK_NOFOLLOW);
        tolerated(owner.map_or(Ok(()), own))?;
        return Ok(staged);
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(&dir, &name, flags, Mode::RUSR | Mode::WUSR)?;
    let staged = Staged { dir, name, moved: false };
    let mut file = File::from(fd);
    let mode = match &write.source {
        Source::Sandbox { size, mode } => {
            if files.copy(&write.path, *size, &file)? != *size {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            *mode
        }
        Source::Merged { text, mode } => {
            file.write_all(text)?;
            *mode
        }
        Source::Link(_) => 0,
    };
    tolerated(owner.map_or(Ok(()), |(uid, gid)| rustix::fs::fchown(&file, uid, gid)))?;
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    Ok(staged)
}

/// The nearest directory that exists already: where the file lands, unless that is yet to be made.
fn nearest(root: &Root, path: &Path) -> io::Result<OwnedFd> {
    let found = path.ancestors().skip(1).find_map(|directory| root.dir(directory).ok());
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

type Owner = (Option<Uid>, Option<Gid>);

/// Whose the new file shall be: whose it replaces; else, for root, the directory's.
pub(super) fn owner(dir: BorrowedFd<'_>, replaces: Option<Stamp>) -> io::Result<Option<Owner>> {
    let own = |uid, gid| Some((Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))));
    if let Some(stamp) = replaces {
        return Ok(own(stamp.uid, stamp.gid));
    }
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let stat = rustix::fs::fstat(dir)?;
    Ok(own(stat.st_uid, stat.st_gid))
}

/// Only root can give a file away; for others it becomes theirs, as with any tool that replaces files.
fn tolerated(chown: Result<(), Errno>) -> io::Result<()> {
    match chown {
        Err(Errno::PERM) if !rustix::process::geteuid().is_root() => Ok(()),
        other => Ok(other?),
    }
}
