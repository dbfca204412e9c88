//! The spool: envelopes no server took, in `spool/` of belljar's home, one file each, one line in each file.
//!
//! A name is `MICROS-PID-BYTES-TAG.jsonl`: when it was said, by which process, how long the line is, and in which
//! conversation. Sorted by name is sorted by time, and what the spool holds, and of whom, is known without opening anything.
//! A file appears whole or not at all.
//! What waits at most is in `tally`, so that whoever puts in does not count.
//! Owns: writing, bounded; reading, in order. An entry is there until it was acknowledged; its envelope's id tells a
//! receiver that died in between, or was told by two at once, that it has it already. Refuses: to wait, and to grow: what does not fit is counted
//! in `lost`, one byte each.

mod tally;

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
    vec,
};

use belljar_domain::Timestamp;
use rustix::fs::{FlockOperation, flock};

use self::tally::Tally;
use crate::secrets;

/// The most the spool holds: days of a busy agent, or a moment of a mad one.
const MAX_ENTRIES: usize = 20_000;
const MAX_BYTES: u64 = 256 << 20;
/// A file half written this long ago has nobody who writes it.
const STALE: Duration = Duration::from_secs(60);
const WHOLE: &str = "jsonl";
const PART: &str = "part";
const REFUSED: &str = "refused";

/// Why something was not spooled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpoolError {
    #[error("the spool is full")]
    Full,
    #[error("write to the spool")]
    Io(#[from] io::Error),
}

/// What the spool holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Held {
    pub(crate) entries: usize,
    pub(crate) bytes: u64,
    /// How many did not fit.
    pub(crate) lost: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Spool {
    home: PathBuf,
    dir: PathBuf,
    max_entries: usize,
    max_bytes: u64,
}

impl Spool {
    /// The spool of a home; nothing is made until something is put in.
    pub(crate) fn of(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            dir: home.join("spool"),
            max_entries: MAX_ENTRIES,
            max_bytes: MAX_BYTES,
        }
    }

    /// Puts one line in, without its secrets: it may wait for long.
    pub(crate) fn put(&self, at: Timestamp, pid: u32, tag: Tag, line: &[u8]) -> Result<(), SpoolError> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let line =
            &*secrets::line(&self.home, line).map_err(|error| SpoolError::Io(io::Error::other(error)))?;
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if !self.tally().add(length)? && !self.has_room(length)? {
            OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(self.dir.join("lost"))?
                .write_all(b".")?;
            return Err(SpoolError::Full);
        }
        let stem = format!("{:020}-{pid:010}-{length}-{tag}", at.as_micros());
        let part = self.dir.join(format!("{stem}.{PART}"));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
        file.write_all(&[line, b"\n"].concat())?;
        Ok(fs::rename(&part, self.dir.join(format!("{stem}.{WHOLE}")))?)
    }

    fn tally(&self) -> Tally {
        Tally::of(&self.dir, self.max_entries, self.max_bytes)
    }

    /// Whether there may be something in it, without a look at the names.
    pub(crate) fn may_hold(&self) -> bool {
        !self.tally().is_empty()
    }

    fn has_room(&self, length: u64) -> io::Result<bool> {
        let held = self.held()?;
        Ok(held.entries < self.max_entries && held.bytes.saturating_add(length) <= self.max_bytes)
    }

    /// Counts, by the names alone.
    pub(crate) fn held(&self) -> io::Result<Held> {
        let lost = fs::metadata(self.dir.join("lost")).map_or(0, |file| file.len());
        let names = self.names()?;
        Ok(Held { entries: names.len(), bytes: lengths(&names).fold(0, u64::saturating_add), lost })
    }

    /// What waits of one conversation, oldest first. Somebody else may be taking it meanwhile.
    pub(crate) fn of_tag(&self, tag: Tag) -> io::Result<Taking> {
        let end = format!("-{tag}.{WHOLE}");
        let mut names = self.names()?;
        names.retain(|name| name.ends_with(&end));
        names.sort_unstable();
        Ok(Taking { dir: self.dir.clone(), names: names.into_iter(), _lock: None })
    }

    /// Everything in the spool, oldest first. None while somebody else is taking.
    pub(crate) fn take(&self) -> io::Result<Option<Taking>> {
        if !self.dir.exists() {
            return Ok(None);
        }
        let lock = OpenOptions::new().create(true).append(true).mode(0o600).open(self.dir.join("lock"))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        self.sweep()?;
        let mut whole = self.names()?;
        self.tally().set(lengths(&whole))?;
        whole.retain(|name| name.ends_with(WHOLE));
        whole.sort_unstable();
        Ok(Some(Taking { dir: self.dir.clone(), names: whole.into_iter(), _lock: Some(lock) }))
    }

    /// Names of entries: whole, or refused by a receiver.
    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| name.ends_with(WHOLE) || name.ends_with(REFUSED)).collect())
    }

    /// Removes what a killed hook left half written.
    fn sweep(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.dir)?.flatten() {
            let is_part = entry.path().extension().is_some_and(|end| end == PART);
            let written =
                entry.metadata().and_then(|file| file.modified()).unwrap_or_else(|_| SystemTime::now());
            if is_part && written.elapsed().is_ok_and(|age| age > STALE) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// How long the lines are that have these names.
fn lengths(names: &[String]) -> impl Iterator<Item = u64> {
    let length = |name: &String| name.split('-').nth(2)?.split('.').next()?.parse().ok();
    names.iter().map(move |name| length(name).unwrap_or(0))
}

/// A walk through the spool, past what is gone when its turn comes.
#[derive(Debug)]
pub(crate) struct Taking {
    dir: PathBuf,
    names: vec::IntoIter<String>,
    /// With it nobody else goes through all of it.
    _lock: Option<File>,
}

impl Iterator for Taking {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let path = self.dir.join(self.names.next()?);
            let mut line = Vec::new();
            let read = File::open(&path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut line));
            while line.last() == Some(&b'\n') {
                line.pop();
            }
            match read {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                read => return Some(read.map(|_| Entry { path, line })),
            }
        }
    }
}

/// One envelope. It stays in the spool unless it is said what became of it.
#[derive(Debug)]
pub(crate) struct Entry {
    path: PathBuf,
    pub(crate) line: Vec<u8>,
}

impl Entry {
    /// It was taken: it leaves the spool.
    pub(crate) fn taken(self) -> io::Result<()> {
        there(fs::remove_file(self.path))
    }

    /// It will never be taken: it is put aside, for a person to look at.
    pub(crate) fn refused(self) -> io::Result<()> {
        there(fs::rename(&self.path, self.path.with_extension(REFUSED)))
    }
}

/// Whoever told it at the same moment heard the same, and was first.
fn there(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Eight digits for a conversation. Two that share them are told in order where each might have been told alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag(u32);

impl Tag {
    /// FNV-1a: the same in every process.
    pub(crate) fn of(name: &str) -> Self {
        let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        Self(name.bytes().fold(0x811c_9dc5, mix))
    }
}

impl std::fmt::Display for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    fn lines(spool: &Spool) -> Vec<String> {
        let taking = spool.take().unwrap().unwrap();
        taking.map(|entry| String::from_utf8(entry.unwrap().line).unwrap()).collect()
    }

    #[test]
    fn what_is_put_in_comes_out_in_order_and_once() {
        let home = tempfile::tempdir().unwrap();
        let spool = Spool::of(home.path());
        assert!(spool.take().unwrap().is_none(), "nothing was ever put in");
        for (micros, line) in [(30, "third"), (9, "first"), (20, "second")] {
            spool.put(at(micros), 1, Tag::of("s"), line.as_bytes()).unwrap();
        }
        assert_eq!(lines(&spool), ["first", "second", "third"]);
        let mut taking = spool.take().unwrap().unwrap();
        taking.next().unwrap().unwrap().taken().unwrap();
        taking.next().unwrap().unwrap().refused().unwrap();
        drop(taking);
        assert_eq!(lines(&spool), ["third"], "one was taken, one will never be");
        assert_eq!(spool.held().unwrap().entries, 2, "what was refused is still there");
    }

    #[test]
    fn what_waits_of_one_conversation_is_found_and_two_may_tell_it() {
        let home = tempfile::tempdir().unwrap();
        let spool = Spool::of(home.path());
        for (micros, name) in [(3, "ours"), (1, "ours"), (2, "theirs")] {
            spool.put(at(micros), 1, Tag::of(name), format!("{name} {micros}").as_bytes()).unwrap();
        }
        let mut all = spool.take().unwrap().unwrap();
        let first = all.next().unwrap().unwrap();
        let mut ours = spool.of_tag(Tag::of("ours")).unwrap();
        let same = ours.next().unwrap().unwrap();
        assert_eq!((&*same.line, &*first.line), (&b"ours 1"[..], &b"ours 1"[..]));
        same.taken().unwrap();
        first.taken().unwrap();
        let next = ours.next().unwrap().unwrap();
        assert_eq!(next.line, b"ours 3");
        next.taken().unwrap();
        assert!(ours.next().is_none());
        let left: Vec<_> = all.map(|entry| entry.unwrap().line).collect();
        assert_eq!(left, [b"theirs 2".to_vec()], "what was told meanwhile is passed over");
    }

    #[test]
    fn two_do_not_take_at_once() {
        let home = tempfile::tempdir().unwrap();
        let spool = Spool::of(home.path());
        spool.put(at(1), 1, Tag::of("s"), b"a").unwrap();
        let taking = spool.take().unwrap();
        assert!(taking.is_some() && spool.take().unwrap().is_none());
        spool.put(at(2), 1, Tag::of("s"), b"b").unwrap();
        drop(taking);
        assert_eq!(lines(&spool), ["a", "b"], "hooks go on while somebody takes");
    }

    #[test]
    fn it_is_private_and_bounded_and_counts_what_did_not_fit() {
        let home = tempfile::tempdir().unwrap();
        let spool = Spool { max_entries: 2, max_bytes: 10, ..Spool::of(home.path()) };
        spool.put(at(1), 1, Tag::of("s"), b"12345678").unwrap();
        assert!(matches!(spool.put(at(2), 1, Tag::of("s"), b"123"), Err(SpoolError::Full)));
        spool.put(at(3), 1, Tag::of("s"), b"1").unwrap();
        assert!(matches!(spool.put(at(4), 1, Tag::of("s"), b"1"), Err(SpoolError::Full)));
        assert_eq!(spool.held().unwrap(), Held { entries: 2, bytes: 9, lost: 2 });
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&home.path().join("spool")), 0o700);
        for entry in fs::read_dir(home.path().join("spool")).unwrap() {
            assert_eq!(mode(&entry.unwrap().path()), 0o600);
        }
    }

    #[test]
    fn a_half_written_entry_is_not_read() {
        let home = tempfile::tempdir().unwrap();
        let spool = Spool::of(home.path());
        spool.put(at(1), 1, Tag::of("s"), b"whole").unwrap();
        let part = home.path().join("spool/00000000000000000000-0000000001-9.part");
        fs::write(&part, "ha").unwrap();
        assert_eq!(lines(&spool), ["whole"]);
        assert!(part.exists(), "whoever writes it may still be there");
        let long_ago = SystemTime::now() - 2 * STALE;
        File::options().write(true).open(&part).unwrap().set_modified(long_ago).unwrap();
        assert_eq!(lines(&spool), ["whole"]);
        assert!(!part.exists());
    }
}
