//! The daybook: what a small group of batches changes is written here first, in one piece, and answered; then it is
//! posted to the database. One flush of a file that never grows is all that anybody waits for.
//!
//! Owns: the file, its records, what of them still counts after a crash. A record is sealed with the ledger's key, so
//! nobody else's is ever posted. The database knows the number of the last one posted; the file is written from its
//! beginning again once everything in it is durable there.

pub(crate) mod entry;
mod paper;
pub(crate) mod stir;

use std::{fs::File, io, os::unix::fs::FileExt, path::Path};

use self::paper::{BLOCK, Paper};
use crate::ledger::chain::Seal;

/// Bytes of the file.
const SIZE: usize = 1024 * 1024;
/// The number, the length and the seal before each entry.
const HEAD: usize = 8 + 4 + 32;
/// Bytes of the largest entry worth writing twice.
pub(crate) const LIGHT: usize = 128 * 1024;

/// The file, and where the next entry goes.
#[derive(Debug)]
pub(crate) struct Daybook {
    paper: Paper,
    seal: Seal,
    at: usize,
    next: u64,
}

impl Daybook {
    /// Opens a daybook with nothing unposted in it.
    pub(crate) fn open(path: &Path, seal: Seal, posted: u64) -> io::Result<Self> {
        let paper = Paper::open(path, SIZE)?;
        Ok(Self { paper, seal, at: 0, next: posted + 1 })
    }

    /// The number of the next entry.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// Says whether an entry of this length still fits.
    pub(crate) const fn has_room(&self, length: usize) -> bool {
        self.at + HEAD + length <= SIZE
    }

    /// Goes back to the beginning; everything so far must be durable elsewhere.
    pub(crate) const fn rewind(&mut self) {
        self.at = 0;
    }

    /// Writes an entry down; it is durable when this returns.
    pub(crate) fn write(&mut self, entry: &[u8]) -> io::Result<()> {
        let length = u32::try_from(entry.len()).map_err(io::Error::other)?;
        let seal = self.seal.of_entry(self.next, entry);
        let head = [&self.next.to_le_bytes()[..], &length.to_le_bytes(), &seal];
        self.paper.write(&[&head.concat(), entry], self.at as u64)?;
        self.at += (HEAD + entry.len()).next_multiple_of(BLOCK);
        self.next += 1;
        Ok(())
    }
}

/// Entries that were written down and not posted yet, oldest first. The first that is torn, forged or of an earlier
/// round ends them.
///
/// # Errors
/// When the file is there and cannot be read.
pub(crate) fn unposted(path: &Path, seal: &Seal, posted: u64) -> io::Result<Vec<Vec<u8>>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut at = 0;
    let mut expected = None;
    let mut entries = Vec::new();
    while let Some(record) = Record::read(&file, at)? {
        if expected.is_some_and(|expected| expected != record.number) {
            break;
        }
        if record.number > posted {
            // What follows a gap was written for a later state of the database than this one, which was put back.
            let follows = record.number == posted + 1 + entries.len() as u64;
            let Some(entry) = record.entry(&file, seal)?.filter(|_| follows) else { break };
            entries.push(entry);
        }
        expected = Some(record.number + 1);
        at = record.end.next_multiple_of(BLOCK as u64);
    }
    Ok(entries)
}

/// What is before an entry, and where that is.
struct Record {
    number: u64,
    mac: [u8; 32],
    begin: u64,
    end: u64,
}

impl Record {
    /// Reads a head that could be one; whether it is, only the seal tells.
    fn read(file: &File, at: u64) -> io::Result<Option<Self>> {
        let mut head = [0; HEAD];
        match file.read_exact_at(&mut head, at) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let (number, rest) = head.split_at(8);
        let (length, mac) = rest.split_at(4);
        let number = u64::from_le_bytes(number.try_into().unwrap_or_default());
        let length = u32::from_le_bytes(length.try_into().unwrap_or_default());
        let begin = at + HEAD as u64;
        let end = begin + u64::from(length);
        let mac = mac.try_into().unwrap_or_default();
        Ok((number > 0 && end <= SIZE as u64).then_some(Self { number, mac, begin, end }))
    }

    /// Its entry, if this ledger wrote it.
    fn entry(&self, file: &File, seal: &Seal) -> io::Result<Option<Vec<u8>>> {
        let mut entry = vec![0; usize::try_from(self.end - self.begin).unwrap_or(0)];
        match file.read_exact_at(&mut entry, self.begin) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let is_ours = seal.key.is_some() && seal.of_entry(self.number, &entry) == self.mac;
        Ok(is_ours.then_some(entry))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn seal(key: u8) -> Seal {
        Seal { ledger: [7; 32], key: Some([key; 32]) }
    }

    fn owed(path: &Path, key: u8, posted: u64) -> Vec<String> {
        let entries = unposted(path, &seal(key), posted).unwrap();
        entries.into_iter().map(|entry| String::from_utf8(entry).unwrap()).collect()
    }

    fn written(path: &Path, posted: u64, entries: &[&[u8]]) -> Daybook {
        let mut book = Daybook::open(path, seal(1), posted).unwrap();
        entries.iter().for_each(|entry| book.write(entry).unwrap());
        book
    }

    #[test]
    fn what_is_posted_is_not_given_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("daybook");
        assert!(owed(&path, 1, 0).is_empty());
        written(&path, 0, &[b"one", b"", b"three"]);
        assert_eq!(owed(&path, 1, 0), ["one", "", "three"]);
        assert_eq!(owed(&path, 1, 2), ["three"]);
        assert!(owed(&path, 1, 3).is_empty());
    }

    #[test]
    fn an_entry_of_any_length_is_kept_in_memory_and_on_disk() {
        for place in [std::env::temp_dir(), "/dev/shm".into()] {
            let home = tempfile::tempdir_in(place).unwrap();
            let path = home.path().join("daybook");
            let long = "long".repeat(3 * BLOCK);
            let exact = "x".repeat(2 * BLOCK - HEAD);
            written(&path, 0, &[b"short", long.as_bytes(), exact.as_bytes(), b"last"]);
            assert_eq!(owed(&path, 1, 0), ["short", &long, &exact, "last"]);
            assert_eq!(fs::metadata(&path).unwrap().len(), SIZE as u64);
        }
    }

    #[test]
    fn an_earlier_round_does_not_count() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("daybook");
        let mut book = written(&path, 0, &[b"one", b"two", b"three"]);
        book.rewind();
        book.write(b"four").unwrap();
        assert_eq!(owed(&path, 1, 3), ["four"]);
        assert!(owed(&path, 1, 4).is_empty());
    }

    #[test]
    fn torn_forged_and_foreign_records_end_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("daybook");
        written(&path, 0, &[b"one", b"two"]);
        let whole = fs::read(&path).unwrap();
        let second = BLOCK;
        for at in second..second + HEAD + 3 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&path, bytes).unwrap();
            assert_eq!(owed(&path, 1, 0), ["one"], "byte {at}");
        }
        for end in [second + 5, second + HEAD + 1] {
            fs::write(&path, &whole[..end]).unwrap();
            assert_eq!(owed(&path, 1, 0), ["one"]);
        }
        fs::write(&path, &whole).unwrap();
        assert!(owed(&path, 2, 0).is_empty());
    }

    #[test]
    fn a_database_that_was_put_back_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("daybook");
        written(&path, 10, &[b"eleven"]);
        assert!(owed(&path, 1, 8).is_empty());
    }
}
