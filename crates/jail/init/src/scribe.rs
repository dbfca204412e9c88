//! The scribe: what a shepherd is when its execution is recorded. Carries what the command writes into a journal that
//! outlives whoever asked, and orders from a pipe to the command. Both ends belong to the host; nothing is lost when
//! the visitor leaves.

use alloc::{vec, vec::Vec};

use belljar_init::{
    journal::{self, End, HEADER, Kind, MAX_RECORD, Order},
    wire::{FromShepherd, Recording, encode},
};

use crate::{
    shepherd::{self, Flock},
    sys::{self, Ended, Fd, Wait},
};

/// After the command ended, how long what it left running may be silent, and how long it is listened to at all.
const GRACE_MS: u64 = 200;
const LONGEST_GRACE_MS: u64 = 1000;
/// End of input, as a terminal says it.
const END_OF_TRANSMISSION: u8 = 4;

/// The descriptors of a recorded execution.
pub(crate) struct Scribe {
    pub(crate) journal: Fd,
    pub(crate) orders: Fd,
    /// Our ends of standard output and error; a terminal is the first alone.
    pub(crate) output: [Option<Fd>; 2],
    /// The host's pipe for standard input, and our end of the command's.
    pub(crate) input: Option<(Fd, Fd)>,
    pub(crate) is_terminal: bool,
    pub(crate) recording: Recording,
    /// Whether nothing may be left out.
    pub(crate) is_whole: bool,
}

struct State {
    scribe: Scribe,
    flock: Flock,
    /// Bytes the journal has taken, and how many it may.
    taken: u64,
    limit: u64,
    dropped: [u64; 2],
    /// Input the command has not taken.
    pending: Vec<u8>,
    closing: bool,
    /// What came through the pipe and is no whole order yet.
    heard: Vec<u8>,
    record: Vec<u8>,
    ended: Option<(Ended, bool)>,
    ended_at: u64,
    silent_since: u64,
    /// Whether the visitor has yet to hear of something written.
    news: bool,
}

impl Scribe {
    pub(crate) fn watch(self, flock: Flock, connection: Fd) -> ! {
        let limit = self.recording.cap;
        let mut state = State {
            scribe: self,
            flock,
            taken: 0,
            limit,
            dropped: [0; 2],
            pending: Vec::new(),
            closing: false,
            heard: Vec::new(),
            record: Vec::new(),
            ended: None,
            ended_at: 0,
            silent_since: 0,
            news: false,
        };
        let mut visitor = Some(connection);
        loop {
            state.turn(&mut visitor);
            if state.is_told() {
                state.finish(visitor.as_ref());
            }
        }
    }
}

impl State {
    /// Waits for whatever comes next and does what it asks for.
    fn turn(&mut self, visitor: &mut Option<Fd>) {
        let number = |fd: Option<&Fd>| fd.map_or(-1, |fd| fd.0);
        let [out, err] = match self.is_full() {
            // The command waits, as it would for any reader that is slower.
            true => [-1, -1],
            false => [number(self.scribe.output[0].as_ref()), number(self.scribe.output[1].as_ref())],
        };
        // Input is read once what was read before is taken.
        let (input, room) = match (&self.scribe.input, self.pending.is_empty()) {
            (Some((pipe, _)), true) => (pipe.0, -1),
            (Some((_, end)), false) => (-1, end.0),
            (None, _) => (-1, -1),
        };
        let waits = [
            Wait::Readable(number(visitor.as_ref())),
            Wait::Readable(self.flock.signals.0),
            Wait::Readable(self.scribe.orders.0),
            Wait::Readable(out),
            Wait::Readable(err),
            Wait::Readable(input),
            Wait::Writable(room),
        ];
        let [spoke, child, ordered, wrote_out, wrote_err, fed, room] = sys::wait_for(waits, self.patience());
        for (index, ready) in [wrote_out, wrote_err].into_iter().enumerate() {
            if ready {
                self.take(index);
            }
        }
        if let (true, Some(connection)) = (self.news, visitor.as_ref()) {
            sys::send_if_room(connection.0, &encode(&FromShepherd::Wrote));
        }
        self.news = false;
        if ordered {
            self.obey();
        }
        if fed || room {
            self.feed();
        }
        if spoke && let Some(connection) = visitor.as_ref() {
            match Flock::listen(connection) {
                Some(Some(order)) => self.carry_out(order),
                Some(None) => {}
                // Whoever asked left; the journal is read by whoever comes next.
                None => *visitor = None,
            }
        }
        if child {
            self.bury();
        }
        if self.ended.is_none() && self.flock.is_overdue() {
            self.end(true);
        }
    }

    /// Whether there is no room for what may not be left out.
    const fn is_full(&self) -> bool {
        self.scribe.is_whole && self.taken >= self.limit
    }

    fn patience(&self) -> Option<u64> {
        let now = sys::now_ms();
        match self.ended {
            // What it wrote last waits for whoever makes room for it.
            Some(_) if self.is_full() => None,
            Some(_) => Some(self.last_word().saturating_sub(now)),
            None => self.flock.deadline.map(|end| end.saturating_sub(now)),
        }
    }

    /// When nobody is listened to any more.
    fn last_word(&self) -> u64 {
        (self.silent_since + GRACE_MS).min(self.ended_at + LONGEST_GRACE_MS)
    }

    fn is_told(&self) -> bool {
        let silent = !self.is_full() && sys::now_ms() >= self.last_word();
        self.ended.is_some() && (self.scribe.output.iter().all(Option::is_none) || silent)
    }

    /// Writes one piece of output down.
    fn take(&mut self, index: usize) {
        self.silent_since = sys::now_ms();
        if self.record.is_empty() {
            self.record = vec![0; HEADER + MAX_RECORD];
        }
        let Some(stream) = self.scribe.output.get(index).and_then(Option::as_ref) else { return };
        let count = match self.record.get_mut(HEADER..).map(|space| sys::read(stream.0, space)) {
            Some(Ok(count @ 1..)) => count,
            Some(Err(sys::EINTR | sys::EAGAIN)) => return,
            // A terminal whose last user left answers EIO.
            Some(Ok(_) | Err(_)) | None => {
                if let Some(stream) = self.scribe.output.get_mut(index) {
                    *stream = None;
                }
                return;
            }
        };
        let room = match self.scribe.is_whole {
            // What was read has to go somewhere; the next piece waits.
            true => u64::MAX,
            false => self.limit.saturating_sub(self.taken),
        };
        let kept = usize::try_from(room).map_or(count, |room| room.min(count));
        let kind = if index == 0 { Kind::Stdout } else { Kind::Stderr };
        let written = kept > 0 && self.write(kind, kept);
        self.news |= written;
        let kept = if written { kept } else { 0 };
        self.taken += kept as u64;
        if let Some(dropped) = self.dropped.get_mut(index) {
            *dropped += (count - kept) as u64;
        }
    }

    /// Appends the record whose bytes are in place. One write: a reader never sees half a header.
    fn write(&mut self, kind: Kind, len: usize) -> bool {
        let header = journal::header(kind, len, sys::real_ms());
        for (slot, byte) in self.record.iter_mut().zip(header) {
            *slot = byte;
        }
        let record = self.record.get(..HEADER + len).unwrap_or_default();
        sys::write(self.scribe.journal.0, record) == Ok(record.len())
    }

    fn obey(&mut self) {
        let mut bytes = [0_u8; 4096];
        if let Ok(count @ 1..) = sys::read(self.scribe.orders.0, &mut bytes) {
            self.heard.extend_from_slice(bytes.get(..count).unwrap_or_default());
        }
        while let Some(order) = journal::take_order(&mut self.heard) {
            self.carry_out(order);
        }
    }

    fn carry_out(&mut self, order: Order) {
        match order {
            Order::CloseInput => {
                self.closing = true;
                self.feed();
            }
            Order::Resize(rows, cols) => {
                if let (true, Some(master)) = (self.scribe.is_terminal, &self.scribe.output[0]) {
                    sys::resize_terminal(master, rows, cols);
                }
            }
            Order::Signal(signal) => sys::kill(-self.flock.pid, i32::from(signal)),
            Order::Kill => self.end(false),
            Order::Upto(limit) => {
                if self.is_full() {
                    // Nobody was listened to since, so that time does not count.
                    let now = sys::now_ms();
                    self.ended_at += now.saturating_sub(self.silent_since);
                    self.silent_since = now;
                }
                if self.scribe.is_whole {
                    self.limit = self.limit.max(limit);
                }
            }
        }
    }

    /// Carries input from the host's pipe to the command, as fast as it reads.
    fn feed(&mut self) {
        let Some((pipe, end)) = &self.scribe.input else { return };
        if self.pending.is_empty() {
            let mut bytes = [0_u8; 4096];
            match sys::read(pipe.0, &mut bytes) {
                Ok(count @ 1..) => self.pending.extend_from_slice(bytes.get(..count).unwrap_or_default()),
                Err(sys::EINTR) => {}
                Ok(_) | Err(_) if self.closing && self.scribe.is_terminal => {
                    self.closing = false;
                    self.pending.push(END_OF_TRANSMISSION);
                }
                Ok(_) | Err(_) if self.closing => {
                    self.scribe.input = None;
                    return;
                }
                Ok(_) | Err(_) => {}
            }
        }
        match sys::write(end.0, &self.pending) {
            Ok(count) => drop(self.pending.drain(..count)),
            Err(sys::EINTR | sys::EAGAIN) => {}
            // It reads no more.
            Err(_) => {
                self.scribe.input = None;
                self.pending = Vec::new();
            }
        }
        if self.closing && self.pending.is_empty() {
            self.feed();
        }
    }

    fn bury(&mut self) {
        let _drained = sys::next_signal(&self.flock.signals);
        while let Some(ended) = sys::reap(-1, false) {
            if ended.pid == self.flock.pid {
                self.note(ended, false);
            }
        }
    }

    fn end(&mut self, timed_out: bool) {
        self.flock.deadline = None;
        // Whoever was ended writes no more, and nobody has to make room for what their pipes hold.
        self.limit = if self.scribe.is_whole { u64::MAX } else { self.limit };
        if let Some(ended) = self.flock.end() {
            self.note(ended, timed_out);
        }
    }

    fn note(&mut self, ended: Ended, timed_out: bool) {
        self.ended = Some((ended, timed_out));
        self.ended_at = sys::now_ms();
        self.silent_since = self.ended_at;
        self.scribe.input = None;
    }

    /// Writes down and tells how it ended, then stays only for those who still write.
    fn finish(&mut self, visitor: Option<&Fd>) -> ! {
        if let Some((ended, timed_out)) = self.ended {
            let Ended { status, max_rss_kib, cpu_micros, .. } = ended;
            let [out, err] = self.dropped;
            let bytes = encode(&End { status, timed_out, max_rss_kib, cpu_micros, dropped: (out, err) });
            let mut record = journal::header(Kind::End, bytes.len(), sys::real_ms()).to_vec();
            record.extend(bytes);
            sys::write_all(self.scribe.journal.0, &record);
            if let Some(connection) = visitor {
                let frame = FromShepherd::Exited { status, timed_out, max_rss_kib, cpu_micros };
                let _visitor_left = sys::send(connection.0, &encode(&frame), None);
            }
        }
        self.drain();
        match visitor {
            Some(connection) => shepherd::leave(connection),
            None => sys::exit(0),
        }
    }

    /// A daemon that still holds the command's output must not die of writing to it.
    fn drain(&mut self) {
        (self.scribe.is_whole, self.limit) = (false, 0);
        while self.scribe.output.iter().any(Option::is_some) {
            let [out, err] = [0, 1].map(|index: usize| {
                self.scribe.output.get(index).and_then(Option::as_ref).map_or(-1, |fd| fd.0)
            });
            let [wrote_out, wrote_err, child] = sys::wait_readable([out, err, self.flock.signals.0], None);
            if wrote_out {
                self.take(0);
            }
            if wrote_err {
                self.take(1);
            }
            if child {
                let _drained = sys::next_signal(&self.flock.signals);
                while sys::reap(-1, false).is_some() {}
            }
        }
    }
}
