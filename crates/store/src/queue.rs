//! What waits for the writer: a queue bounded in number and in bytes, emptied whole, which is what makes one commit
//! serve many batches. A full queue makes the caller wait; nothing is dropped.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Batches that may wait.
const LONGEST: usize = 4_096;
/// Bytes that may wait; a single batch may be larger when nothing else waits.
const HEAVIEST: usize = 64 * 1024 * 1024;
/// Bytes taken into one commit, so that none takes long.
const LOAD: usize = 16 * 1024 * 1024;

#[derive(Debug)]
struct Waiting<T> {
    items: VecDeque<(T, usize, Instant)>,
    bytes: usize,
    /// When whoever waits is to be woken in any case.
    due: Option<Instant>,
    closed: bool,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    waiting: Mutex<Waiting<T>>,
    filled: Condvar,
    emptied: Condvar,
}

impl<T> Queue<T> {
    pub(crate) const fn new() -> Self {
        let waiting = Waiting { items: VecDeque::new(), bytes: 0, due: None, closed: false };
        Self { waiting: Mutex::new(waiting), filled: Condvar::new(), emptied: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one of this weight, waiting for room; gives it back when the queue is closed.
    pub(crate) fn push(&self, item: T, weight: usize) -> Result<(), T> {
        let mut waiting = self.lock();
        while !waiting.closed && is_full(&waiting, weight) {
            waiting = self.emptied.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        if waiting.closed {
            return Err(item);
        }
        waiting.items.push_back((item, weight, Instant::now()));
        waiting.bytes += weight;
        drop(waiting);
        self.filled.notify_one();
        Ok(())
    }

    /// Waits until something waits, or a moment after somebody rang. The answer is false when the queue is closed and
    /// empty.
    pub(crate) fn wait(&self) -> bool {
        let mut waiting = self.lock();
        while waiting.items.is_empty() {
            if waiting.closed {
                return false;
            }
            waiting = match waiting.due {
                None => self.filled.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                Some(due) => {
                    let Some(left) = due.checked_duration_since(Instant::now()) else { break };
                    self.filled.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        waiting.due = None;
        true
    }

    /// Takes what waits, up to one load.
    pub(crate) fn take(&self) -> Vec<T> {
        let mut waiting = self.lock();
        let mut taken = Vec::with_capacity(waiting.items.len());
        let mut load = 0;
        while let Some((item, weight, _)) = waiting.items.pop_front() {
            taken.push(item);
            load += weight;
            waiting.bytes -= weight;
            if load >= LOAD {
                break;
            }
        }
        drop(waiting);
        self.emptied.notify_all();
        taken
    }

    /// Wakes whoever waits after a while at the latest, although nothing was added.
    pub(crate) fn ring(&self, within: Duration) {
        let mut waiting = self.lock();
        let due = Instant::now() + within;
        let is_sooner = waiting.due.is_none_or(|known| due < known);
        if is_sooner {
            waiting.due = Some(due);
        }
        drop(waiting);
        if is_sooner {
            self.filled.notify_one();
        }
    }

    /// Says whether nothing waits and more may come.
    pub(crate) fn is_idle(&self) -> bool {
        let waiting = self.lock();
        waiting.items.is_empty() && !waiting.closed
    }

    /// Takes no more; what waits is still handed out.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }

    /// How many wait, how many bytes, and for how long the oldest has.
    pub(crate) fn depth(&self) -> (usize, usize, Duration) {
        let waiting = self.lock();
        let lag = waiting.items.front().map_or(Duration::ZERO, |(_, _, since)| since.elapsed());
        (waiting.items.len(), waiting.bytes, lag)
    }
}

fn is_full<T>(waiting: &Waiting<T>, weight: usize) -> bool {
    let heavy = waiting.bytes + weight > HEAVIEST && !waiting.items.is_empty();
    waiting.items.len() >= LONGEST || heavy
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::*;

    #[test]
    fn a_full_queue_makes_the_caller_wait_and_loses_nothing() {
        let queue = Arc::new(Queue::new());
        let pusher = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || (0..3 * LONGEST).for_each(|number| queue.push(number, 1).unwrap()))
        };
        let mut seen = Vec::new();
        while seen.len() < 3 * LONGEST {
            assert!(queue.depth().0 <= LONGEST);
            queue.wait();
            seen.extend(queue.take());
        }
        pusher.join().unwrap();
        assert!(seen.iter().copied().eq(0..3 * LONGEST));
    }

    #[test]
    fn one_load_is_bounded_and_a_giant_still_passes() {
        let queue = Queue::new();
        queue.push('a', 2 * HEAVIEST).unwrap();
        assert_eq!(queue.take(), ['a']);
        for letter in ['b', 'c', 'd'] {
            queue.push(letter, LOAD / 2).unwrap();
        }
        assert_eq!(queue.take(), ['b', 'c']);
    }

    #[test]
    fn a_closed_queue_hands_out_what_waits_and_takes_no_more() {
        let queue = Queue::new();
        queue.push(1, 1).unwrap();
        queue.close();
        assert_eq!(queue.push(2, 1), Err(2));
        assert!(queue.wait());
        assert_eq!(queue.take(), [1]);
        assert!(!queue.wait());
    }
}
