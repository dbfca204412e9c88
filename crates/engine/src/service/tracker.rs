//! Following one execution's journal until it ends: what it writes becomes log, how it ends becomes a record.

use std::{
    os::fd::OwnedFd,
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_domain::{EventId, EventKind, EventStatus, KillCause, NewEvent, Span, Timestamp};
use belljar_ports::{
    JournalRecord, RawExit,
    store::{Batch, ExecutionRow, LogChunk, LogStream, Pending, StoreError},
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;
use uuid::Uuid;

use super::{
    ExecutionView, Finished, Service,
    journal::{Head, Journal},
    live::LiveExecution,
    now,
    scribe::Scribe,
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

/// How a command ended, if that is known, and what it wrote last.
type End = (Option<RawExit>, Vec<LogChunk>);

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
            let news = !chunks.is_empty();
            self.keep(chunks);
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
        last.extend(self.stdout.finish(&view, time));
        last.extend(self.stderr.finish(&view, time));
        self.offer();
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

    fn read(&mut self) -> (Vec<LogChunk>, Option<RawExit>) {
        let (mut chunks, mut exit) = (Vec::new(), None);
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
        }
        (chunks, exit)
    }

    /// What becomes of a piece of output in the log; nothing yet, if it may be the beginning of a secret.
    fn chunk(&mut self, is_error: bool, time_ms: u64, bytes: &[u8]) -> Option<LogChunk> {
        let scribe = if is_error { &mut self.stderr } else { &mut self.stdout };
        let count = u64::try_from(bytes.len()).unwrap_or(0);
        let view = self.live.change(|view| *view.written.entry(scribe.stream).or_default() += count);
        let chunk = scribe.take(&view, moment(time_ms), bytes);
        self.offer();
        chunk
    }

    /// Hands whoever started the command what the log does not say.
    fn offer(&mut self) {
        for scribe in [&mut self.stdout, &mut self.stderr] {
            self.live.offer(scribe.stream, &mut scribe.raw);
        }
    }

    /// Keeps output; readers are told when it is durable, and its memory is given back. The first of it waits a moment
    /// for the end, which may be near.
    fn keep(&mut self, logs: Vec<LogChunk>) {
        self.held.extend(logs);
        let held: usize = self.held.iter().map(|chunk| chunk.bytes.len()).sum();
        if held == 0 || (self.beginning.is_some() && held < SMALL) {
            return;
        }
        self.live.sandbox.touch();
        // Whoever writes faster than the disk waits here, and its journal grows up to its cap.
        if self.tell_beginning().wait().is_ok() {
            // What cannot be marked is not given back, and read again by the next service.
            let _again = self.journal.release(self.stdout.placed(), self.stderr.placed());
        }
    }

    fn finish(self, exit: Option<RawExit>, logs: Vec<LogChunk>) -> Result<Finished, StoreError> {
        let ended = exit.map_or_else(now, |exit| moment(exit.time_ms));
        let started = self.head.view.started;
        let ended = ended.max(started);
        let millis = u64::try_from((ended.as_micros() - started.as_micros()) / 1000).unwrap_or(0);
        let sandbox = &self.live.sandbox;
        let report = sandbox.sandbox.judge(exit.as_ref(), &self.head.strikes, Span::millis(millis));
        let dropped = exit.map_or((0, 0), |exit| (exit.dropped_out, exit.dropped_err));
        let view = self.live.change(|view| {
            view.ended = Some(ended);
            *view.written.entry(LogStream::Stdout).or_default() += dropped.0;
            *view.written.entry(LogStream::Stderr).or_default() += dropped.1;
            view.truncated = dropped != (0, 0);
        });
        let view = ExecutionView { report: Some(report), ..view };
        sandbox.touch();
        self.service.0.counters.finished(&view);
        let mut batch = self.beginning.unwrap_or_default();
        batch.logs = self.held;
        batch.logs.extend(logs);
        batch.executions = vec![row(&view)];
        batch.events.push(ended_event(&view));
        self.service.0.recorder.commit(batch)?;
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

pub(super) fn moment(time_ms: u64) -> Timestamp {
    Timestamp::from_micros(i64::try_from(time_ms.saturating_mul(1000)).unwrap_or(i64::MAX))
}

pub(super) fn row(view: &ExecutionView) -> ExecutionRow {
    ExecutionRow {
        id: view.id,
        sandbox: view.sandbox,
        project: view.project.clone(),
        command: view.argv.join(" "),
        status: status(view),
        exit_code: view.report.as_ref().map(|report| i32::from(report.exit_code())),
        started: view.started,
        ended: view.ended,
        record: serde_json::to_value(view).unwrap_or_default(),
    }
}

fn status(view: &ExecutionView) -> Option<EventStatus> {
    let report = view.report.as_ref()?;
    Some(match report.cause {
        Some(KillCause::Timeout) => EventStatus::Timeout,
        Some(KillCause::Killswitch) => EventStatus::Cancelled,
        Some(_) => EventStatus::Failure,
        None if report.is_success() => EventStatus::Success,
        None => EventStatus::Failure,
    })
}

pub(super) fn event_of(view: &ExecutionView, agent: Option<String>, kind: EventKind) -> NewEvent {
    let id = EventId::from_uuid(Uuid::now_v7());
    let mut event = NewEvent::new(id, view.ended.unwrap_or(view.started), view.project.clone(), kind);
    event.sandbox = Some(view.sandbox);
    event.execution = Some(view.id);
    event.actor.id = agent;
    event.target = Some(view.argv.join(" "));
    event.target_type = Some("command".to_owned());
    event.payload = json!({ "by": view.started_by, "argv": view.argv, "cwd": view.cwd, "user": view.user });
    event
}

pub(super) fn ended_event(view: &ExecutionView) -> NewEvent {
    let mut event = event_of(view, None, EventKind::ExecutionEnded);
    event.status = status(view);
    if let Some(report) = &view.report {
        event.duration_ms = Some(report.duration.as_millis());
        event.reason = report.cause.map(|cause| cause.to_string());
        event.payload = json!({
            "by": view.started_by,
            "exit_code": report.exit_code(),
            "cause": report.cause,
            "limits_reached": report.reached,
            "truncated": view.truncated,
            "usage": report.usage,
        });
    }
    event
}
