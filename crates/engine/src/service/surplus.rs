//! What a command writes after its log is full, for whoever follows it now.
//!
//! Owns: a window of output in memory, and how much more the command may write. It waits for whoever started it, as for
//! the reader of a pipe, and for nobody else: other readers who are slower miss what has gone by, and are told so.
//! Refuses: to keep anything. What nobody follows is forgotten.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use belljar_ports::store::LogChunk;

use super::{OutputChunk, scribe::Counts};

/// How much the command may be ahead of whoever reads it.
pub(super) const WINDOW: u64 = 4 << 20;
/// How much more room is worth an order.
const STEP: u64 = WINDOW / 4;
/// How long whoever lost a server looks for the next.
const AWAY: Duration = Duration::from_secs(15);
/// The most bytes of a piece that more is added to.
const PIECE: u64 = 16 * 1024;
/// Where places of what is in no log begin. Every place is a number that JavaScript has.
const BEYOND: u64 = 1 << 52;

/// The window.
#[derive(Debug)]
pub(super) struct Surplus(Mutex<Window>);

#[derive(Debug)]
struct Window {
    /// Bytes the log takes: what is written before them is found there.
    cap: u64,
    pieces: VecDeque<Held>,
    /// Bytes in the pieces.
    held: u64,
    /// The place of what went by last.
    gone: Option<u64>,
    /// Bytes the command wrote that were read here.
    consumed: u64,
    starter: Starter,
    /// How many bytes the command was told it may write.
    granted: u64,
}

/// A piece; its place is where it ends.
#[derive(Debug)]
struct Held {
    chunk: OutputChunk,
    /// Bytes written when this one was.
    written: u64,
    /// Whether what follows it may become part of it.
    is_open: bool,
}

/// Whoever started the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Starter {
    /// Follows it, and has so many bytes of what was written.
    Follows(u64),
    /// Lost the server that was there before, had so many bytes, and may come back until then.
    Away(u64, Instant),
    Left,
}

/// What there is after a place.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    pub(super) chunks: Vec<OutputChunk>,
    /// Whether there is more.
    pub(super) more: bool,
    /// Whether something has gone by that was not read.
    pub(super) missed: bool,
}

impl Ahead {
    pub(super) const fn is_empty(&self) -> bool {
        self.chunks.is_empty() && !self.missed
    }
}

/// Whether a place is in no log.
pub(super) const fn is_beyond(place: u64) -> bool {
    place >= BEYOND
}

impl Surplus {
    /// Of a command that has written something already: what of it is in no log is gone.
    pub(super) fn new(cap: u64, until: Counts) -> Self {
        let Counts { written, kept } = until;
        let window = Window {
            cap,
            pieces: VecDeque::new(),
            held: 0,
            gone: (written >= cap).then_some(BEYOND + kept),
            consumed: written,
            starter: Starter::Left,
            granted: 0,
        };
        Self(Mutex::new(window))
    }

    /// The same, while whoever started it follows.
    pub(super) fn followed(self) -> Self {
        self.with(|window| window.starter = Starter::Follows(0));
        self
    }

    /// The same, after the server was lost through which whoever started it followed.
    pub(super) fn awaited(self) -> Self {
        self.with(|window| window.starter = Starter::Away(window.consumed, Instant::now() + AWAY));
        self
    }

    /// Whether somebody who comes now is whoever was away.
    pub(super) fn come_back(&self) -> bool {
        self.with(|window| match window.waits_for() {
            Some(had) if matches!(window.starter, Starter::Away(..)) => {
                window.starter = Starter::Follows(had);
                true
            }
            _ => false,
        })
    }

    /// How many bytes of what was written nobody needs to find again.
    pub(super) fn settled(&self) -> u64 {
        self.with(|window| window.base())
    }

    fn with<T>(&self, work: impl FnOnce(&mut Window) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether something was written that is in no log.
    pub(super) fn has_begun(&self) -> bool {
        self.with(|window| window.gone.is_some() || !window.pieces.is_empty())
    }

    /// Takes a piece, which may become part of the one before if it is `as_written`: if its starter is not to hear
    /// something else. `until` is how much both streams had at its end.
    pub(super) fn push(&self, chunk: LogChunk, as_written: bool, until: Counts) {
        let (place, written) = (BEYOND + until.kept, until.written);
        self.with(|window| {
            window.held += length(&chunk.bytes);
            window.consumed = window.consumed.max(written);
            match window.pieces.back_mut().filter(|last| as_written && last.goes_on_with(&chunk)) {
                Some(last) => {
                    last.chunk.bytes.extend(chunk.bytes);
                    (last.chunk.place, last.written) = (place, written);
                }
                None => {
                    let LogChunk { stream, offset, time, bytes, .. } = chunk;
                    let chunk = OutputChunk { place, stream, offset, time, bytes };
                    window.pieces.push_back(Held { chunk, written, is_open: as_written });
                }
            }
            window.forget();
        });
    }

    /// Notes how many bytes the command has written that were read.
    pub(super) fn consumed(&self, written: u64) {
        self.with(|window| window.consumed = window.consumed.max(written));
    }

    /// What there is after a place.
    pub(super) fn after(&self, place: u64, max_bytes: usize) -> Ahead {
        self.with(|window| {
            let mut ahead =
                Ahead { missed: window.gone.is_some_and(|gone| place < gone), ..Ahead::default() };
            let mut bytes = 0;
            let first = window.pieces.partition_point(|held| held.chunk.place <= place);
            for held in window.pieces.range(first..) {
                let chunk = held.after(place);
                bytes += chunk.bytes.len();
                if bytes > max_bytes && !ahead.chunks.is_empty() {
                    ahead.more = true;
                    break;
                }
                ahead.chunks.push(chunk);
            }
            ahead
        })
    }

    /// Whoever started it has everything up to a place.
    pub(super) fn taken(&self, place: u64) {
        self.with(|window| {
            let had = window.pieces.partition_point(|held| held.chunk.place <= place);
            let last = had.checked_sub(1).and_then(|last| window.pieces.get(last));
            if let (Starter::Follows(had), Some(upto)) = (window.starter, last.map(|held| held.written)) {
                window.starter = Starter::Follows(had.max(upto));
                window.forget();
            }
        });
    }

    /// Whoever started it is gone; the command waits for nobody any more.
    pub(super) fn left(&self) {
        self.with(|window| {
            window.starter = Starter::Left;
            window.forget();
        });
    }

    /// How many bytes the command may write, if that is worth telling it.
    pub(super) fn grant(&self) -> Option<u64> {
        self.with(|window| {
            let upto = window.cap.max(window.base() + WINDOW);
            let worth = window.granted.max(window.cap) + STEP;
            (upto >= worth).then(|| {
                window.granted = upto;
                upto
            })
        })
    }
}

impl Window {
    /// Where the window of what may be written begins.
    fn base(&self) -> u64 {
        // All of the log is theirs whenever they come to it.
        self.waits_for().map_or(self.consumed, |had| had.max(self.cap).min(self.consumed))
    }

    /// How much they have for whom the command waits.
    fn waits_for(&self) -> Option<u64> {
        match self.starter {
            Starter::Follows(had) => Some(had),
            Starter::Away(had, until) => (Instant::now() < until).then_some(had),
            Starter::Left => None,
        }
    }

    /// Lets go by what is more than a window and nobody is waited for to read.
    fn forget(&mut self) {
        while self.held > WINDOW
            && let Some(first) = self.pieces.front()
        {
            if self.waits_for().is_some_and(|had| had < first.written) {
                return;
            }
            self.held -= length(&first.chunk.bytes);
            self.gone = Some(first.chunk.place);
            self.pieces.pop_front();
        }
    }
}

impl Held {
    /// Whether a chunk can become part of it.
    fn goes_on_with(&self, chunk: &LogChunk) -> bool {
        let ends = self.chunk.offset + length(&self.chunk.bytes);
        let fits = length(&self.chunk.bytes) + length(&chunk.bytes) <= PIECE;
        self.is_open && fits && self.chunk.stream == chunk.stream && ends == chunk.offset
    }

    /// What of it is after a place.
    fn after(&self, place: u64) -> OutputChunk {
        let begins = self.chunk.place - length(&self.chunk.bytes);
        let had = place.saturating_sub(begins);
        let bytes = usize::try_from(had).ok().and_then(|had| self.chunk.bytes.get(had..)).unwrap_or_default();
        OutputChunk { offset: self.chunk.offset + had, bytes: bytes.to_vec(), ..self.chunk }
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use belljar_domain::{SandboxId, Timestamp};
    use belljar_ports::store::LogStream;

    use super::*;

    const CAP: u64 = 100;

    fn chunk(stream: LogStream, offset: u64, bytes: &[u8]) -> LogChunk {
        let (sandbox, time) = (SandboxId::from_uuid(uuid::Uuid::nil()), Timestamp::from_micros(7));
        LogChunk { sandbox, execution: None, stream, offset, time, bytes: bytes.to_vec() }
    }

    fn at(written: u64, kept: u64) -> Counts {
        Counts { written, kept }
    }

    fn text(ahead: &Ahead) -> String {
        let bytes: Vec<_> = ahead.chunks.iter().flat_map(|chunk| chunk.bytes.clone()).collect();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_reader_goes_on_in_the_middle_of_what_became_one_piece() {
        let surplus = Surplus::new(CAP, Counts::default());
        surplus.push(chunk(LogStream::Stdout, 100, b"one "), true, at(104, 104));
        let first = surplus.after(0, 1000);
        let place = first.chunks.last().unwrap().place;
        surplus.push(chunk(LogStream::Stdout, 104, b"two "), true, at(108, 108));
        surplus.push(chunk(LogStream::Stdout, 108, b"(hidden) "), false, at(111, 117));
        surplus.push(chunk(LogStream::Stderr, 0, b"three"), true, at(116, 122));
        let next = surplus.after(place, 1000);
        assert_eq!((text(&first).as_str(), text(&next).as_str()), ("one ", "two (hidden) three"));
        assert_eq!(next.chunks.iter().map(|chunk| chunk.offset).collect::<Vec<_>>(), [104, 108, 0]);
        assert!(!next.missed && is_beyond(place) && !is_beyond(99));
    }

    #[test]
    fn whoever_started_it_is_waited_for_and_others_are_told_what_they_missed() {
        const LARGE: u64 = WINDOW / 8;
        let surplus = Surplus::new(CAP, Counts::default()).followed();
        let bytes = vec![b'x'; usize::try_from(LARGE).unwrap()];
        let push = |turn: u64| {
            let end = CAP + (turn + 1) * LARGE;
            surplus.push(chunk(LogStream::Stdout, end - LARGE, &bytes), true, at(end, end));
        };
        (0..16).for_each(push);
        assert_eq!(surplus.grant(), Some(CAP + WINDOW));
        assert_eq!(surplus.grant(), None);
        let page = surplus.after(0, 6 * bytes.len());
        assert_eq!((page.chunks.len(), page.more, page.missed), (6, true, false));
        surplus.taken(page.chunks.last().unwrap().place);
        assert_eq!(surplus.grant(), Some(CAP + 6 * LARGE + WINDOW));
        assert!(surplus.after(0, 1).missed);
        assert!(!surplus.after(page.chunks.last().unwrap().place, 1).missed);
        surplus.left();
        assert_eq!(surplus.grant(), Some(CAP + 16 * LARGE + WINDOW));
        assert!(surplus.after(page.chunks.last().unwrap().place, 1).missed);
    }

    #[test]
    fn whoever_lost_a_server_is_waited_for_once() {
        let surplus = Surplus::new(CAP, at(500, 500)).awaited();
        surplus.consumed(700);
        assert_eq!(surplus.settled(), 500);
        assert!(surplus.come_back() && !surplus.come_back());
        surplus.left();
        assert!(!surplus.come_back());
        assert_eq!(surplus.settled(), 700);
    }

    #[test]
    fn what_another_server_had_in_memory_is_gone() {
        let surplus = Surplus::new(CAP, at(500, 600));
        assert!(surplus.has_begun());
        assert!(surplus.after(3, 1).missed);
        assert!(!surplus.after(BEYOND + 600, 1).missed);
    }
}
