//! Wakes the disk before it is written to. The first request after a pause takes a disk twice as long as the next, above
//! all where it is another machine's; whoever is about to write can have that time pass while they still think.
//!
//! Owns: two threads, each on a processor of its own, made when they are needed first. Asking the disk takes as long as is won
//! by it, so it must not be the time of whoever is about to write; the scheduler, which does not know that, would often put
//! whom it wakes on the same processor. Refuses: to do anything where there is only one.

use std::{
    fs::File,
    num::NonZeroU64,
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

use rustix::{
    fs::{Advice, fadvise},
    thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity},
};

use super::{SIZE, paper::BLOCK};

/// How long a disk stays awake.
const AWAKE: Duration = Duration::from_millis(10);
const BLOCKS: u64 = (SIZE / BLOCK) as u64;
/// What a thread needs that makes two calls.
const STACK: usize = 64 * 1024;

/// See the module.
#[derive(Debug)]
pub(crate) struct Stir {
    bed: Arc<Bed>,
    begun: Instant,
    /// When the disk was last asked for something, in microseconds since we began.
    last: AtomicU64,
    hands: OnceLock<Option<[Hand; 2]>>,
}

/// A thread that stirs, and its processor.
#[derive(Debug)]
struct Hand {
    processor: usize,
    thread: Thread,
}

/// A file the disk has to be asked for, since it is written past the page cache.
#[derive(Debug)]
struct Bed {
    file: File,
    turn: AtomicU64,
    is_over: AtomicBool,
}

impl Stir {
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let bed =
            Bed { file: File::open(path).ok()?, turn: AtomicU64::new(0), is_over: AtomicBool::new(false) };
        let (begun, last) = (Instant::now(), AtomicU64::new(0));
        Some(Self { bed: Arc::new(bed), begun, last, hands: OnceLock::new() })
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
        let last = self.last.load(Ordering::Relaxed);
        if Duration::from_micros(self.now().saturating_sub(last)) < AWAKE {
            return;
        }
        self.wrote();
        let Some(hands) = self.hands.get_or_init(|| two_of(&self.bed)) else { return };
        let here = sched_getcpu();
        if let Some(hand) = hands.iter().find(|hand| hand.processor != here) {
            hand.thread.unpark();
        }
    }
}

impl Drop for Stir {
    fn drop(&mut self) {
        self.bed.is_over.store(true, Ordering::Release);
        if let Some(Some(hands)) = self.hands.get() {
            hands.iter().for_each(|hand| hand.thread.unpark());
        }
    }
}

/// A hand on each of two processors this process may use.
fn two_of(bed: &Arc<Bed>) -> Option<[Hand; 2]> {
    let allowed = sched_getaffinity(None).ok()?;
    let mut processors = (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor));
    let (one, other) = (processors.next()?, processors.next()?);
    Some([hand(bed, one)?, hand(bed, other)?])
}

fn hand(bed: &Arc<Bed>, processor: usize) -> Option<Hand> {
    let bed = Arc::clone(bed);
    let work = move || {
        let mut only = CpuSet::new();
        only.set(processor);
        // Where it may not be bound, it goes where it is sent, and wins less.
        let _bound = sched_setaffinity(None, &only);
        while !bed.is_over.load(Ordering::Acquire) {
            thread::park();
            bed.stir();
        }
    };
    let thread = thread::Builder::new().name("stir".to_owned()).stack_size(STACK).spawn(work).ok()?;
    Some(Hand { processor, thread: thread.thread().clone() })
}

impl Bed {
    /// Asks for one block after the other.
    fn stir(&self) {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let advise = |turn: u64, advice| {
            let at = turn % BLOCKS * BLOCK as u64;
            // Where this does nothing, nothing is lost but time.
            let _advised = fadvise(&self.file, at, NonZeroU64::new(BLOCK as u64), advice);
        };
        advise(turn, Advice::WillNeed);
        // What was read the last time must not be there when its turn comes again.
        advise(turn.wrapping_sub(1), Advice::DontNeed);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn stir(begun: Instant) -> Stir {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![0; SIZE]).unwrap();
        let mut stir = Stir::open(file.path()).unwrap();
        stir.begun = begun;
        stir
    }

    #[test]
    fn a_disk_is_woken_once_and_not_while_it_is_awake() {
        let awake = stir(Instant::now());
        awake.wrote();
        awake.wake();
        assert!(awake.hands.get().is_none(), "it was written to just now");
        let quiet = stir(Instant::now().checked_sub(AWAKE * 2).unwrap());
        quiet.wake();
        quiet.wake();
        let Some(Some(_two)) = quiet.hands.get() else { return };
        while quiet.bed.turn.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
    }

    #[test]
    fn its_hands_end_with_it() {
        let quiet = stir(Instant::now().checked_sub(AWAKE * 2).unwrap());
        quiet.wake();
        let bed = Arc::clone(&quiet.bed);
        drop(quiet);
        while Arc::strong_count(&bed) > 1 {
            thread::yield_now();
        }
    }
}
