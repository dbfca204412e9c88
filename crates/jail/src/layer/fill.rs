//! Putting the content of one file into a new one: shared if the filesystem can, else hole for hole.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, Write as _},
    os::fd::BorrowedFd,
};

use rustix::{fs::SeekFrom, io::Errno};

const CHUNK: usize = 1 << 20;

/// Fills the empty file `to` with the first `size` bytes of `from`, keeping holes.
///
/// The bound is what `from` was measured at, so that a file still growing is copied in finite time.
///
/// # Errors
/// When either cannot be read or written.
pub fn fill(to: BorrowedFd<'_>, from: BorrowedFd<'_>, size: u64) -> io::Result<()> {
    // A clone takes the file as it is at once; a measured size may be older than that.
    if size > 0 && rustix::fs::ioctl_ficlone(to, from).is_ok() {
        return Ok(());
    }
    let mut at = 0;
    while at < size {
        let start = match rustix::fs::seek(from, SeekFrom::Data(at)) {
            Ok(start) if start < size => start,
            // Nothing but a hole until the end.
            Ok(_) | Err(Errno::NXIO) => break,
            // The filesystem does not know holes.
            Err(Errno::INVAL) => at,
            Err(error) => return Err(error.into()),
        };
        let end = rustix::fs::seek(from, SeekFrom::Hole(start)).unwrap_or(size).clamp(start, size);
        copy_range(to, from, start, end)?;
        at = end.max(start + 1);
    }
    rustix::fs::ftruncate(to, size)?;
    Ok(())
}

fn copy_range(to: BorrowedFd<'_>, from: BorrowedFd<'_>, start: u64, end: u64) -> io::Result<()> {
    let (mut read, mut write) = (start, start);
    while read < end {
        let left = usize::try_from(end - read).unwrap_or(CHUNK).min(CHUNK);
        match rustix::fs::copy_file_range(from, Some(&mut read), to, Some(&mut write), left) {
            // It shrank; the rest is a hole.
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP | Errno::PERM) => {
                return copy_by_hand(to, from, read, end);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn copy_by_hand(to: BorrowedFd<'_>, from: BorrowedFd<'_>, start: u64, end: u64) -> io::Result<()> {
    let mut from = File::from(from.try_clone_to_owned()?);
    let mut to = File::from(to.try_clone_to_owned()?);
    from.seek(io::SeekFrom::Start(start))?;
    to.seek(io::SeekFrom::Start(start))?;
    io::copy(&mut from.take(end - start), &mut to)?;
    to.flush()
}
