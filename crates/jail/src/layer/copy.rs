//! Keeping an upper as a layer of its own.
//!
//! Owns: a copy that an overlay reads as it would have read the original: whiteouts, opaque marks,
//! modes, times, links, holes. Refuses: devices, and every extended attribute but the opaque mark, so
//! that no file capability leaves a sandbox.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs, io,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    vec::IntoIter,
};

use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, Timespec, Timestamps},
    io::Errno,
};

use super::{
    IdShift, LayerError, budget::Budget, cursor::Cursor, deleted::upper, entry, fill, marks, open::parent_of,
};

const PRIVATE: Mode = Mode::RWXU;

/// Copies the overlay upper directory `upper` into the new directory `dest`.
///
/// As root, owners are set as `ids` says; otherwise all belongs to the caller. Modes are kept, setuid
/// among them, so `dest` belongs under a directory that other users cannot enter. Extended attributes
/// other than the opaque mark are left behind. If it fails, what was copied is removed again.
///
/// # Errors
/// When `dest` exists, something cannot be read or written, the upper holds a device, or there is more
/// than a million entries.
pub fn copy(upper: BorrowedFd<'_>, dest: &Path, ids: IdShift) -> Result<(), LayerError> {
    rustix::fs::mkdirat(CWD, dest, PRIVATE).map_err(|error| write_error(Path::new(""))(error.into()))?;
    let copied = Copy::start(upper, dest, ids).and_then(|mut copy| copy.run());
    if copied.is_err() {
        // The first failure is the one to tell; a half copy left behind is only waste.
        drop(fs::remove_dir_all(dest));
    }
    copied
}

struct Copy {
    from: Cursor,
    to: Cursor,
    root: OwnedFd,
    path: PathBuf,
    ids: IdShift,
    /// Where the first name of each file with several was copied to.
    linked: HashMap<(u64, u64), PathBuf>,
    budget: Budget,
}

struct Level {
    names: IntoIter<OsString>,
    stat: Stat,
}

impl Copy {
    fn start(from: BorrowedFd<'_>, dest: &Path, ids: IdShift) -> Result<Self, LayerError> {
        let top = Path::new("");
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, dest, flags, Mode::empty())
            .map_err(|error| write_error(top)(error.into()))?;
        Ok(Self {
            from: Cursor::start(from).map_err(upper(top))?,
            to: Cursor::start(root.as_fd()).map_err(write_error(top))?,
            root,
            path: PathBuf::new(),
            ids,
            linked: HashMap::new(),
            budget: Budget::new(),
        })
    }

    fn run(&mut self) -> Result<(), LayerError> {
        let mut levels = vec![self.list()?];
        while let Some(level) = levels.last_mut() {
            if let Some(name) = level.names.next() {
                self.path.push(&name);
                if self.visit(&name)? {
                    levels.push(self.list()?);
                } else {
                    self.path.pop();
                }
                continue;
            }
            let stat = level.stat;
            levels.pop();
            if levels.is_empty() {
                return self
                    .finish_directory(self.to.fd(), self.from.fd(), &stat)
                    .map_err(write_error(&self.path));
            }
            // Up first: a directory without its search bit cannot be left once it has its mode.
            let source = self.from.ascend().map_err(upper(&self.path))?;
            self.to
                .ascend()
                .and_then(|made| self.finish_directory(made.as_fd(), source.as_fd(), &stat))
                .map_err(write_error(&self.path))?;
            self.path.pop();
        }
        Ok(())
    }

    fn list(&mut self) -> Result<Level, LayerError> {
        if let Some(mark) = marks::redirected(self.from.fd()) {
            return Err(LayerError::Foreign { path: self.path.clone(), mark });
        }
        let stat = rustix::fs::fstat(self.from.fd()).map_err(|error| upper(&self.path)(error.into()))?;
        let names = self.from.names(&mut self.budget)?.map_err(upper(&self.path))?;
        Ok(Level { names: names.into_iter(), stat })
    }

    /// Copies one name; says whether it is a directory, which the cursors have then gone into.
    fn visit(&mut self, name: &OsStr) -> Result<bool, LayerError> {
        let stat = match rustix::fs::statat(self.from.fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(false),
            Err(error) => return Err(upper(&self.path)(error.into())),
        };
        let file_type = FileType::from_raw_mode(stat.st_mode);
        let copied = match file_type {
            FileType::Directory => {
                match self.from.descend(name) {
                    Ok(()) => {}
                    // The sandbox removed it between the two looks.
                    Err(Errno::NOENT) => return Ok(false),
                    Err(error) => return Err(upper(&self.path)(error.into())),
                }
                rustix::fs::mkdirat(self.to.fd(), name, PRIVATE)
                    .and_then(|()| self.to.descend(name))
                    .map_err(|error| write_error(&self.path)(error.into()))?;
                return Ok(true);
            }
            FileType::RegularFile => return self.file(name).map(|()| false),
            FileType::Symlink => self.symlink(name, &stat),
            FileType::Fifo | FileType::Socket => self.node(name, file_type, &stat),
            FileType::CharacterDevice if marks::is_whiteout(&stat) => self.node(name, file_type, &stat),
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
                return Err(LayerError::Device { path: self.path.clone() });
            }
        };
        copied.map(|()| false).map_err(write_error(&self.path))
    }

    fn file(&mut self, name: &OsStr) -> Result<(), LayerError> {
        let from = match entry::open_file(self.from.fd(), name) {
            Ok(from) => from,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(upper(&self.path)(error)),
        };
        let stat = rustix::fs::fstat(&from).map_err(|error| upper(&self.path)(error.into()))?;
        if let Some(mark) = marks::without_content(from.as_fd()) {
            return Err(LayerError::Foreign { path: self.path.clone(), mark });
        }
        let inode = (stat.st_dev, stat.st_ino);
        if let Some(first) = self.linked.get(&inode) {
            return self.link(first, name).map_err(write_error(&self.path));
        }
        if stat.st_nlink > 1 {
            self.budget.keep(self.path.as_os_str().len())?;
            self.linked.insert(inode, self.path.clone());
        }
        self.new_file(name, &from, &stat).map_err(write_error(&self.path))
    }

    fn link(&self, first: &Path, name: &OsStr) -> io::Result<()> {
        let (parent, first) = parent_of(self.root.as_fd(), first)?;
        Ok(rustix::fs::linkat(parent, first, self.to.fd(), name, AtFlags::empty())?)
    }

    fn new_file(&self, name: &OsStr, from: &OwnedFd, stat: &Stat) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let to = rustix::fs::openat(self.to.fd(), name, flags, Mode::RUSR | Mode::WUSR)?;
        fill::fill(to.as_fd(), from.as_fd(), u64::try_from(stat.st_size).unwrap_or(0))?;
        self.finish(to.as_fd(), stat)
    }

    fn symlink(&self, name: &OsStr, stat: &Stat) -> io::Result<()> {
        let target = rustix::fs::readlinkat(self.from.fd(), name, Vec::new())?;
        rustix::fs::symlinkat(target, self.to.fd(), name)?;
        self.finish_name(name, stat)
    }

    fn node(&self, name: &OsStr, file_type: FileType, stat: &Stat) -> io::Result<()> {
        rustix::fs::mknodat(self.to.fd(), name, file_type, Mode::empty(), 0)?;
        self.finish_name(name, stat)?;
        if file_type != FileType::CharacterDevice {
            rustix::fs::chmodat(self.to.fd(), name, Mode::from_raw_mode(stat.st_mode), AtFlags::empty())?;
        }
        Ok(())
    }

    fn finish_directory(&self, to: BorrowedFd<'_>, from: BorrowedFd<'_>, stat: &Stat) -> io::Result<()> {
        if marks::is_opaque(from) {
            marks::make_opaque(to)?;
        }
        self.finish(to, stat)
    }

    /// Owner before mode, since a change of owner clears setuid; times last, since both change them.
    fn finish(&self, to: BorrowedFd<'_>, stat: &Stat) -> io::Result<()> {
        if let Some((uid, gid)) = self.ids.owner(stat.st_uid, stat.st_gid) {
            rustix::fs::fchown(to, Some(uid), Some(gid))?;
        }
        rustix::fs::fchmod(to, Mode::from_raw_mode(stat.st_mode))?;
        Ok(rustix::fs::futimens(to, &times(stat))?)
    }

    fn finish_name(&self, name: &OsStr, stat: &Stat) -> io::Result<()> {
        let to = self.to.fd();
        if let Some((uid, gid)) = self.ids.owner(stat.st_uid, stat.st_gid) {
            rustix::fs::chownat(to, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Ok(rustix::fs::utimensat(to, name, &times(stat), AtFlags::SYMLINK_NOFOLLOW)?)
    }
}

#[expect(clippy::cast_possible_wrap, reason = "nanoseconds are below 10^9 whatever the platform's type")]
const fn times(stat: &Stat) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: stat.st_atime, tv_nsec: stat.st_atime_nsec as _ },
        last_modification: Timespec { tv_sec: stat.st_mtime, tv_nsec: stat.st_mtime_nsec as _ },
    }
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> LayerError {
    move |source| LayerError::Copy { path: path.to_owned(), source }
}
