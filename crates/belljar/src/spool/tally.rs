//! How much the spool holds at most, known by the size of one file: whoever puts in adds to it without counting.
//!
//! A point stands for an entry, or for its share of the bytes that may be held, whichever is more: as long as there are
//! fewer points than entries allowed, both bounds hold. Owns: the file `tally`. It may say too much, for what was taken
//! since the last count still stands in it; then the names are counted. Refuses: to be exact, and to lock.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

#[derive(Debug, Clone)]
pub(super) struct Tally {
    path: PathBuf,
    max_entries: usize,
    max_bytes: u64,
}

impl Tally {
    pub(super) fn of(dir: &Path, max_entries: usize, max_bytes: u64) -> Self {
        Self { path: dir.join("tally"), max_entries, max_bytes }
    }

    /// Whether nothing was put in since the last count found nothing.
    pub(super) fn is_empty(&self) -> bool {
        fs::metadata(&self.path).map_or(true, |file| file.len() == 0)
    }

    /// Adds an entry. No is that there may not be room for it.
    pub(super) fn add(&self, length: u64) -> io::Result<bool> {
        let mut file = self.open()?;
        let (points, most) = (self.points(length), u64::try_from(self.max_entries).unwrap_or(u64::MAX));
        let has_room = file.metadata()?.len().saturating_add(points) <= most;
        if has_room {
            file.write_all(&vec![b'.'; usize::try_from(points).unwrap_or(usize::MAX)])?;
        }
        Ok(has_room)
    }

    /// Says what entries of these lengths come to.
    pub(super) fn set(&self, lengths: impl Iterator<Item = u64>) -> io::Result<()> {
        let points = lengths.map(|length| self.points(length)).fold(0, u64::saturating_add);
        self.open()?.set_len(points)
    }

    fn open(&self) -> io::Result<File> {
        OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)
    }

    fn points(&self, length: u64) -> u64 {
        let share = self.max_bytes / u64::try_from(self.max_entries).unwrap_or(u64::MAX).max(1);
        1 + length / share.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_long_as_it_has_room_both_bounds_hold() {
        let dir = tempfile::tempdir().unwrap();
        let tally = Tally::of(dir.path(), 10, 1000);
        assert!(tally.is_empty());
        for length in [0, 99, 100, 399] {
            assert!(tally.add(length).unwrap(), "one, one, two and four points");
        }
        assert!(!tally.is_empty());
        assert!(!tally.add(250).unwrap(), "three more would be eleven");
        assert!(tally.add(199).unwrap());
        tally.set([50, 150].into_iter()).unwrap();
        assert!(tally.add(699).unwrap() && !tally.add(0).unwrap());
        tally.set(std::iter::empty()).unwrap();
        assert!(tally.is_empty());
    }
}
