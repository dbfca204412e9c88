//! What is at a name of a directory, and whether two names hold the same.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _},
    os::{
        fd::{BorrowedFd, OwnedFd},
        unix::ffi::OsStringExt as _,
    },
    path::PathBuf,
};

use belljar_domain::{Entry, Node};
use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, Stat},
    io::Errno,
};

use super::{cursor::CONFINED, marks};

const CHUNK: usize = 64 << 10;

/// What an upper says about a name.
#[derive(Debug)]
pub(super) enum Found {
    Nothing,
    Whiteout,
    Entry {
        entry: Entry,
        /// A file with a length but no blocks: sparse, or its content is elsewhere.
        hollow: bool,
    },
}

/// Looks at `name` without following it. A name that is gone is nothing: the sandbox may be running.
pub(super) fn find(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<Found> {
    let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Found::Nothing),
        Err(error) => return Err(error.into()),
    };
    if marks::is_whiteout(&stat) {
        return Ok(Found::Whiteout);
    }
    match entry(dir, name, &stat) {
        // It was replaced between the two looks; the next scan sees what it became.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
        other => other.map(|entry| Found::Entry {
            hollow: entry.is_file() && stat.st_size > 0 && stat.st_blocks == 0,
            entry,
        }),
    }
}

/// The same for a base, where a whiteout is just an odd device.
pub(super) fn find_plain(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<Entry>> {
    Ok(match find(dir, name)? {
        Found::Nothing => None,
        Found::Whiteout => Some(Entry::Other { node: Node::CharacterDevice, mode: 0 }),
        Found::Entry { entry, .. } => Some(entry),
    })
}

fn entry(dir: BorrowedFd<'_>, name: &OsStr, stat: &Stat) -> io::Result<Entry> {
    let mode = stat.st_mode & 0o7777;
    let other = |node| Ok(Entry::Other { node, mode });
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(Entry::File { size: u64::try_from(stat.st_size).unwrap_or(0), mode }),
        FileType::Directory => Ok(Entry::Directory { mode }),
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(dir, name, Vec::new())?.into_bytes();
            Ok(Entry::Symlink { target: PathBuf::from(OsString::from_vec(target)) })
        }
        FileType::Fifo => other(Node::Fifo),
        FileType::Socket => other(Node::Socket),
        FileType::CharacterDevice => other(Node::CharacterDevice),
        FileType::BlockDevice => other(Node::BlockDevice),
        FileType::Unknown => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}

/// Opens the regular file `name` for reading. A fifo put in its place meanwhile does not block us.
pub(super) fn open_file(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = rustix::fs::openat2(dir, name, flags, Mode::empty(), CONFINED)?;
    let stat = rustix::fs::fstat(&fd)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(fd)
}

/// Says whether two files hold the same bytes. Ends with the shorter one, however the other grows.
pub(super) fn same_content(one: OwnedFd, two: OwnedFd) -> io::Result<bool> {
    let (mut one, mut two) = (File::from(one), File::from(two));
    let (mut left, mut right) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
    loop {
        left.clear();
        right.clear();
        (&mut one).take(CHUNK as u64).read_to_end(&mut left)?;
        (&mut two).take(CHUNK as u64).read_to_end(&mut right)?;
        if left != right {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
    }
}
