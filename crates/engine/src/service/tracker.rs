//! Following one execution's journal until it ends: what it writes becomes log, how it ends becomes a record.

use std::{
    collections::VecDeque,
    os::fd::OwnedFd,
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_domain::Span;
use belljar_ports::{
    JournalRecord, RawExit,
    store::{Batch, LogChunk, LogStream, Pending, StoreError},
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{
    ExecutionView, Finished, Service,
    entries::{ended_event, moment, row},
    journal::{Head, Journal, Mark},
    live::LiveExecution,
    now,
    scribe::{Counts, Scribe},
    surplus::Surplus,
};

/// How often a journal is looked at that nobody rings for.
const ROUND: Duration = Duration::from_millis(25);
/// How long a command may take before its beginning is told by itself, and how long to wait for news afterwards.
const MOMENT: Duration = Duration::from_millis(20);
const SHORT: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
const LONG: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// Output that waits for the end of a short command.
const SMALL: usize = 64 * 1024;
/// How often to make sure that the sandbox is still there.
const DOUBT: Duration = Duration::from_secs(1);
/// How long after a command's end somebody is asked to wait for the next; until then the answer has the processors.
const BREATH: Duration = Duration::from_millis(2);

/// How much is read of a journal before something is made of it, and how much is read before its memory is given back
/// where no log takes it.
const TURN: u64 = 1 << 20;
const RELEASE: u64 = 1 << 20;
/// How long a command waits after a turn that nobody hears, so that endless talk to nobody costs little.
const UNHEARD: Duration = Duration::from_millis(20);

/// How a command ended, if that is known, and what it wrote last.
type End = (Option<RawExit>, Vec<LogChunk>);

/// A piece that is in no log, whether it is as it was written, and how much there was at its end.
pub(super) type Beyond = (LogChunk, bool, Counts);

/// One execution being followed.
pub(super) struct Tracker {
    pub(super) service: Service,
    pub(super) live: Arc<LiveExecution>,
    pub(super) head: Head,
    pub(super) journal: Journal,
    /// Rings when there is news; none for an execution of an earlier service.
    pub(super) bell: Option<OwnedFd>,
    /// What is to be told of the beginning. A short command tells beginning and end in one breath.
    pub(super) beginning: Option<Batch>,
    /// What was written before the beginning was told.
    pub(super) held: Vec<LogChunk>,
    /// What no log takes, until the log is durable that it follows.
    pub(super) beyond: Vec<Beyond>,
    /// Whether the journal may have more that was not read.
    pub(super) has_more: bool,
    /// Places of the journal that can be gone back to while somebody may need what comes after them.
    pub(super) marks: VecDeque<(u64, Mark)>,
    pub(super) stdout: Scribe,
    pub(super) stderr: Scribe,
}

impl Tracker {
    /// Follows to the end. The answer comes when the end is durable, or could not be made so.
    pub(super) fn follow(mut self) -> Result<Finished, StoreError> {
        loop {
            if let Some(end) = self.follow_for(Duration::MAX) {
                return self.conclude(end);
            }
        }
    }

    /// Follows a command that may be over in a moment; one that is not is to be followed on.
    pub(super) fn follow_briefly(mut self) -> Result<Result<Finished, StoreError>, Box<Self>> {
        match self.follow_for(MOMENT) {
            Some(end) => Ok(self.conclude(end)),
            None => Err(Box::new(self)),
        }
    }

    /// Follows until the end, or until patience is over.
    fn follow_for(&mut self, patience: Duration) -> Option<End> {
        let begun = Instant::now();
        let mut doubted = begun;
        loop {
            let silent = self.listen();
            let (chunks, exit) = self.read();
            if exit.is_some() {
                return Some((exit, chunks));
            }
            // A command that is over by now tells beginning and end in one breath.
            if self.beginning.is_some() && (silent || begun.elapsed() > MOMENT) {
                drop(self.tell_beginning());
            }
            let news = !chunks.is_empty() || !self.beyond.is_empty();
            self.keep(chunks);
            if !news && self.bell.is_none() {
                // Whoever was waited for may be given up.
                self.release();
                self.service.make_room(&self.live);
            }
            if !news && (silent || self.bell.is_none()) && doubted.elapsed() >= DOUBT.min(ROUND * 4) {
                doubted = Instant::now();
                if self.is_orphaned() {
                    let (chunks, exit) = self.read();
                    return Some((exit, chunks));
                }
            }
            if begun.elapsed() >= patience {
                return None;
            }
        }
    }

    fn conclude(mut self, (exit, mut last): End) -> Result<Finished, StoreError> {
        let time = exit.map_or_else(now, |exit| moment(exit.time_ms));
        let view = self.live.view();
        for is_error in [false, true] {
            let chunk = self.scribe(is_error).finish(&view, time);
            last.extend(self.place(chunk));
        }
        self.finish(exit, last)
    }

    /// Tells that the command began, with what it has written since.
    pub(super) fn tell_beginning(&mut self) -> Pending {
        let mut batch = self.beginning.take().unwrap_or_default();
        batch.logs = std::mem::take(&mut self.held);
        let live = Arc::clone(&self.live);
        self.service.0.recorder.append_then(batch, move || live.ring())
    }

    /// Waits for news. The answer is whether nobody will ring any more.
    fn listen(&mut self) -> bool {
        if self.has_more {
            return false;
        }
        let Some(bell) = &self.bell else {
            std::thread::sleep(ROUND);
            return false;
        };
        let mut wait = [PollFd::new(bell, PollFlags::IN)];
        let timeout = if self.beginning.is_some() { SHORT } else { LONG };
        if poll(&mut wait, Some(&timeout)).is_ok_and(|ready| ready == 0) {
            return true;
        }
        let mut rings = [0_u8; 512];
        loop {
            match rustix::net::recv(bell, &mut rings[..], rustix::net::RecvFlags::DONTWAIT) {
                Ok((1.., _)) => {}
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return false,
                // The other side is gone: what it wrote last is in the journal.
                Ok(_) | Err(_) => {
                    self.bell = None;
                    return true;
                }
            }
        }
    }

    /// Whether the sandbox is over, so that nobody will write the end.
    fn is_orphaned(&self) -> bool {
        !self.live.sandbox.sandbox.info().state.is_live()
    }

    /// Reads what is new, or some of it where there is a lot.
    fn read(&mut self) -> (Vec<LogChunk>, Option<RawExit>) {
        let (mut chunks, mut exit) = (Vec::new(), None);
        let begun = self.journal.place();
        self.has_more = false;
        while let Ok(bytes) = self.journal.read() {
            let before = bytes.len();
            let Ok((records, taken)) = self.service.0.provider.read_journal(bytes) else { break };
            bytes.drain(..taken);
            for record in records {
                match record {
                    JournalRecord::Output { is_error, time_ms, bytes } => {
                        chunks.extend(self.chunk(is_error, time_ms, &bytes));
                    }
                    JournalRecord::End(end) => exit = Some(end),
                }
            }
            if taken == 0 || before < taken || exit.is_some() {
                break;
            }
            if self.journal.place() - begun >= TURN {
                self.has_more = true;
                break;
            }
        }
        (chunks, exit)
    }

    fn scribe(&mut self, is_error: bool) -> &mut Scribe {
        if is_error { &mut self.stderr } else { &mut self.stdout }
    }

    /// What becomes of a piece of output in the log; nothing, if that is full, and nothing yet, if it may be the beginning
    /// of a secret.
    fn chunk(&mut self, is_error: bool, time_ms: u64, bytes: &[u8]) -> Option<LogChunk> {
        let count = u64::try_from(bytes.len()).unwrap_or(0);
        let stream = self.scribe(is_error).stream;
        let view = self.live.change(|view| *view.written.entry(stream).or_default() += count);
        let is_beyond = self.is_log_full();
        let chunk = self.scribe(is_error).take(&view, moment(time_ms), bytes);
        if is_beyond { self.set_aside(chunk) } else { self.offered(chunk).map(|(chunk, _)| chunk) }
    }

    /// Where the last piece belongs.
    fn place(&mut self, chunk: Option<LogChunk>) -> Option<LogChunk> {
        if self.is_log_full() { self.set_aside(chunk) } else { self.offered(chunk).map(|(chunk, _)| chunk) }
    }

    /// Whether what was written until now is all the log takes.
    fn is_log_full(&self) -> bool {
        self.head.whole.is_some_and(|cap| self.counts().written >= cap)
    }

    /// Keeps a piece for whoever follows the command now.
    fn set_aside(&mut self, chunk: Option<LogChunk>) -> Option<LogChunk> {
        let (chunk, as_written) = self.offered(chunk)?;
        self.beyond.push((chunk, as_written, self.counts()));
        None
    }

    /// Hands whoever started the command what the log does not say. The answer is whether that is anything.
    fn offered(&mut self, chunk: Option<LogChunk>) -> Option<(LogChunk, bool)> {
        let mut as_written = true;
        for scribe in [&mut self.stdout, &mut self.stderr] {
            as_written &= scribe.raw.is_empty();
            self.live.offer(scribe.stream, &mut scribe.raw);
        }
        Some((chunk?, as_written))
    }

    /// Keeps output; readers are told when it is durable, and its memory is given back. The first of it waits a moment
    /// for the end, which may be near.
    fn keep(&mut self, logs: Vec<LogChunk>) {
        self.held.extend(logs);
        let held: usize = self.held.iter().map(|chunk| chunk.bytes.len()).sum();
        if held == 0 && self.beyond.is_empty() || (self.beginning.is_some() && held < SMALL) {
            return;
        }
        self.live.sandbox.touch();
        // Whoever writes faster than the disk waits here, and its journal grows up to its cap.
        if (held > 0 || self.beginning.is_some()) && self.tell_beginning().wait().is_err() {
            return;
        }
        let goes_beyond = self.show_beyond();
        let last = self.marks.back().map_or(0, |(_, mark)| mark.place);
        if !goes_beyond || self.journal.place() - last >= RELEASE {
            let (stdout, stderr) = (self.stdout.placed(), self.stderr.placed());
            self.marks
                .push_back((self.counts().written, Mark { place: self.journal.place(), stdout, stderr }));
        }
        self.release();
    }

    /// Gives back what of the journal nobody needs any more.
    fn release(&mut self) {
        let settled = self.live.surplus.as_ref().map_or(u64::MAX, Surplus::settled);
        let done = self.marks.partition_point(|(written, _)| *written <= settled);
        if let Some((_, mark)) = self.marks.drain(..done).next_back() {
            // What cannot be marked is not given back, and read again by the next service.
            let _again = self.journal.release(&mark);
        }
    }

    fn counts(&self) -> Counts {
        self.stdout.counts() + self.stderr.counts()
    }

    /// Shows what no log takes to whoever follows the command, and lets it go on.
    fn show_beyond(&mut self) -> bool {
        let beyond = std::mem::take(&mut self.beyond);
        let Some(surplus) = &self.live.surplus else { return false };
        let goes_beyond = !beyond.is_empty();
        for (chunk, as_written, until) in beyond {
            surplus.push(chunk, as_written, until);
        }
        surplus.consumed(self.counts().written);
        if goes_beyond {
            self.live.ring();
            if !self.live.is_followed() {
                std::thread::sleep(UNHEARD);
            }
        }
        self.service.make_room(&self.live);
        goes_beyond
    }

    fn finish(mut self, exit: Option<RawExit>, logs: Vec<LogChunk>) -> Result<Finished, StoreError> {
        let ended = exit.map_or_else(now, |exit| moment(exit.time_ms));
        let started = self.head.view.started;
        let ended = ended.max(started);
        let millis = u64::try_from((ended.as_micros() - started.as_micros()) / 1000).unwrap_or(0);
        let sandbox = &self.live.sandbox;
        let report = sandbox.sandbox.judge(exit.as_ref(), &self.head.strikes, Span::millis(millis));
        let dropped = exit.map_or((0, 0), |exit| (exit.dropped_out, exit.dropped_err));
        let is_beyond = !self.beyond.is_empty() || self.live.surplus.as_ref().is_some_and(Surplus::has_begun);
        let view = self.live.change(|view| {
            view.ended = Some(ended);
            *view.written.entry(LogStream::Stdout).or_default() += dropped.0;
            *view.written.entry(LogStream::Stderr).or_default() += dropped.1;
            view.truncated = dropped != (0, 0) || is_beyond;
        });
        let view = ExecutionView { report: Some(report), ..view };
        sandbox.touch();
        self.service.0.counters.finished(&view);
        let mut batch = self.beginning.take().unwrap_or_default();
        batch.is_new = true;
        batch.logs = std::mem::take(&mut self.held);
        batch.logs.extend(logs);
        batch.executions = vec![row(&view)];
        batch.events.push(ended_event(&view));
        self.service.0.recorder.commit(batch)?;
        self.show_beyond();
        let live = self.live;
        live.change(|live| live.clone_from(&view));
        self.service.0.registry.end(view.id);
        live.ring();
        // Where one command ran, the next is likely.
        let (journal, bell) = (self.journal, self.bell);
        self.service.0.crew.after(BREATH, move || {
            drop(bell);
            journal.remove();
            live.sandbox.sandbox.stand_by();
        });
        Ok(Finished { execution: view, stdout: self.stdout.collected, stderr: self.stderr.collected })
    }
}
