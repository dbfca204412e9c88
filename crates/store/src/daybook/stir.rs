//! Wakes the disk before it is written to. The first request after a pause takes a disk twice as long as the next, above
//! all where it is another machine's; whoever is about to write can have that time pass while they still think.

use std::{
    fs::File,
    num::NonZeroU64,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use rustix::fs::{Advice, fadvise};

use super::{SIZE, paper::BLOCK};

/// How long a disk stays awake.
const AWAKE: Duration = Duration::from_millis(10);
const BLOCKS: u64 = (SIZE / BLOCK) as u64;

/// Reads one block after the other of a file the disk has to be asked for, since it is written past the page cache.
#[derive(Debug)]
pub(crate) struct Stir {
    file: File,
    begun: Instant,
    /// When the disk was last asked for something, in microseconds since we began.
    last: AtomicU64,
    turn: AtomicU64,
}

impl Stir {
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        Some(Self { file, begun: Instant::now(), last: AtomicU64::new(0), turn: AtomicU64::new(0) })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// The disk was written to just now.
    pub(crate) fn wrote(&self) {
        self.last.store(self.now(), Ordering::Relaxed);
    }

    /// Has the disk begin to read something nobody wants, unless it is awake; does not wait for it.
    pub(crate) fn wake(&self) {
        let now = self.now();
        let last = self.last.load(Ordering::Relaxed);
        if Duration::from_micros(now.saturating_sub(last)) < AWAKE {
            return;
        }
        self.last.store(now, Ordering::Relaxed);
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let advise = |turn: u64, advice| {
            let at = turn % BLOCKS * BLOCK as u64;
            // Where this does nothing, nothing is lost but time.
            let _advised = fadvise(&self.file, at, NonZeroU64::new(BLOCK as u64), advice);
        };
        // What was read the last time must not be there when its turn comes again.
        advise(turn.wrapping_sub(1), Advice::DontNeed);
        advise(turn, Advice::WillNeed);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_disk_is_woken_once_and_not_while_it_is_awake() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![0; SIZE]).unwrap();
        let stir = Stir::open(file.path()).unwrap();
        stir.wrote();
        stir.wake();
        assert_eq!(stir.turn.load(Ordering::Relaxed), 0, "it was written to just now");
        let quiet = Stir { begun: Instant::now().checked_sub(AWAKE * 2).unwrap(), ..stir };
        quiet.last.store(0, Ordering::Relaxed);
        quiet.wake();
        quiet.wake();
        assert_eq!(quiet.turn.load(Ordering::Relaxed), 1);
    }
}
