//! The file under the daybook: written in whole blocks, past the page cache where that is possible.
//!
//! Owns: that a write is durable when it returns, and that it touches no block of an earlier one, so that a write torn by a
//! power cut tears nothing that was answered. Refuses: to know what is in the blocks.
//!
//! What is written is always a part of the file that was there before, so nothing about the file changes but the time of
//! its last change, and nobody reads that. ext4 without a journal would write it down at every flush all the same, which
//! takes as long again as the flush. There a directory is flushed instead: that has the disk empty its cache, too, which
//! is all that is left to do once a direct write has returned. It is the highest one on this file system: flushing an inode
//! writes the block of inodes it is in, and that one's neighbours are the least likely to have changed.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::{fs::OFlags, io::Errno};

/// What disks write in one piece.
pub(super) const BLOCK: usize = 4096;
/// What `statfs` says of ext4.
const EXT: u64 = 0xEF53;

/// The file.
#[derive(Debug)]
pub(super) struct Paper {
    path: PathBuf,
    way: Way,
    buffer: Vec<u8>,
}

/// How what is written gets to the disk.
#[derive(Debug)]
enum Way {
    /// Past the page cache; then the disk is told to empty its own, through a directory.
    Around(File, File),
    /// Past the page cache, durable when it returns.
    Straight(File),
    /// Through the page cache.
    Plain(File),
}

impl Way {
    fn find(path: &Path) -> io::Result<Self> {
        let found = match path.parent().filter(|home| is_ext(home)).and_then(highest) {
            Some(place) => direct(path, OFlags::DIRECT).map(|file| Self::Around(file, place)),
            None => direct(path, OFlags::DIRECT | OFlags::DSYNC).map(Self::Straight),
        };
        found.or_else(|_unable| plain(path).map(Self::Plain))
    }

    fn write(&self, blocks: &[u8], at: u64) -> io::Result<()> {
        match self {
            Self::Around(file, place) => file.write_all_at(blocks, at).and_then(|()| place.sync_data()),
            Self::Straight(file) => file.write_all_at(blocks, at),
            Self::Plain(file) => file.write_all_at(blocks, at).and_then(|()| file.sync_data()),
        }
    }
}

impl Paper {
    /// Opens it. All of it is written when it is made: a flush that has to find room takes twice as long.
    pub(super) fn open(path: &Path, size: usize) -> io::Result<Self> {
        let file = plain(path)?;
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
        if length < size {
            file.write_all_at(&vec![0; size - length], length as u64)?;
            file.sync_all()?;
        }
        Ok(Self { path: path.to_owned(), way: Way::find(path)?, buffer: Vec::new() })
    }

    /// Writes these one after the other from a block's beginning, and fills up the last block; durable when it returns.
    pub(super) fn write(&mut self, parts: &[&[u8]], at: u64) -> io::Result<()> {
        let length = parts.iter().map(|part| part.len()).sum::<usize>().next_multiple_of(BLOCK);
        // A disk takes only memory that begins where a block would.
        self.buffer.resize(self.buffer.len().max(length + BLOCK), 0);
        let begin = self.buffer.as_ptr().align_offset(BLOCK);
        let Some(blocks) = self.buffer.get_mut(begin..).and_then(|rest| rest.get_mut(..length)) else {
            return Err(io::Error::other("no block begins in memory"));
        };
        let mut rest = &mut *blocks;
        for part in parts {
            let (place, after) = rest.split_at_mut(part.len());
            place.copy_from_slice(part);
            rest = after;
        }
        rest.fill(0);
        match self.way.write(blocks, at) {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => {
                // Some file systems say only now that they cannot.
                self.way = Way::Plain(plain(&self.path)?);
                self.way.write(blocks, at)
            }
            written => written,
        }
    }
}

fn is_ext(home: &Path) -> bool {
    rustix::fs::statfs(home).is_ok_and(|about| u64::try_from(about.f_type).is_ok_and(|kind| kind == EXT))
}

/// The highest directory above a place that is on the same file system and can be opened.
fn highest(home: &Path) -> Option<File> {
    let home = home.canonicalize().ok()?;
    let device = home.metadata().ok()?.dev();
    let same = home.ancestors().take_while(|dir| dir.metadata().is_ok_and(|about| about.dev() == device));
    let open = same.filter_map(|dir| File::open(dir).ok());
    open.filter(|dir| dir.metadata().is_ok_and(|about| about.dev() == device)).last()
}

fn plain(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn direct(path: &Path, flags: OFlags) -> io::Result<File> {
    OpenOptions::new().write(true).custom_flags(i32::try_from(flags.bits()).unwrap_or(0)).open(path)
}
