//! Executions whose sandbox is gone: their journal tells what they wrote and perhaps how they ended; without one, that
//! they are over is all there is to tell. Nobody shall find them running.

use belljar_domain::{EventKind, ExitReport, KillCause, Outcome, SandboxId, Span, Usage};
use belljar_ports::{
    JournalRecord, RawExit,
    store::{Batch, ExecutionFilter, LogChunk, LogStream, PAGE_LIMIT},
};

use super::{
    ExecutionView, Result, Service, entries,
    journal::{Head, Journal, Mark},
    now,
    scribe::Scribe,
};

impl Service {
    /// Reads a journal to its end and writes down how that was. Kept for the next service if it cannot be.
    pub(super) fn close_journal(&self, head: Head, mark: Mark, mut journal: Journal, is_known: bool) {
        let mut view = head.view;
        let redactor = self.0.recorder.redactor();
        view.written =
            [(LogStream::Stdout, mark.stdout.written), (LogStream::Stderr, mark.stderr.written)].into();
        let mut stdout = Scribe::new(LogStream::Stdout, redactor, mark.stdout);
        let mut stderr = Scribe::new(LogStream::Stderr, redactor, mark.stderr);
        let (mut logs, mut exit, mut beyond) = (Vec::new(), None, false);
        while exit.is_none() {
            let Ok(bytes) = journal.read() else { break };
            let Ok((records, taken)) = self.0.provider.read_journal(bytes) else { break };
            bytes.drain(..taken);
            if taken == 0 {
                break;
            }
            for record in records {
                match record {
                    JournalRecord::Output { is_error, time_ms, bytes } => {
                        let written = (stdout.counts() + stderr.counts()).written;
                        let is_full = head.whole.is_some_and(|cap| written >= cap);
                        let scribe = if is_error { &mut stderr } else { &mut stdout };
                        let count = u64::try_from(bytes.len()).unwrap_or(0);
                        *view.written.entry(scribe.stream).or_default() += count;
                        let chunk = scribe.take(&view, entries::moment(time_ms), &bytes);
                        beyond |= is_full;
                        logs.extend(chunk.filter(|_| !is_full));
                    }
                    JournalRecord::End(end) => exit = Some(end),
                }
            }
        }
        let time = exit.map_or_else(now, |exit| entries::moment(exit.time_ms));
        if !beyond {
            logs.extend(stdout.finish(&view, time));
            logs.extend(stderr.finish(&view, time));
        }
        view.truncated = beyond;
        let mut batch = if is_known { Batch::default() } else { beginning(&view) };
        if self.close_execution(view, exit, logs, &mut batch).is_ok() {
            journal.remove();
        }
    }

    /// Writes down the end of whatever ran in a sandbox that is gone, and has no journal.
    pub(super) fn close_executions(&self, sandbox: SandboxId) -> Result<()> {
        let filter = ExecutionFilter { sandbox: Some(sandbox), ..ExecutionFilter::default() };
        let mut below = None;
        loop {
            let rows = self.store().executions(&filter, below, PAGE_LIMIT)?;
            below = rows.last().map(|row| row.id);
            for row in rows.iter().filter(|row| row.ended.is_none()) {
                let Ok(view) = serde_json::from_value::<ExecutionView>(row.record.clone()) else { continue };
                if self.0.registry.execution(row.id).is_none() {
                    self.close_execution(view, None, Vec::new(), &mut Batch::default())?;
                }
            }
            if rows.len() < PAGE_LIMIT {
                return Ok(());
            }
        }
    }

    fn close_execution(
        &self,
        mut view: ExecutionView,
        exit: Option<RawExit>,
        logs: Vec<LogChunk>,
        batch: &mut Batch,
    ) -> Result<()> {
        let ended = exit.map_or_else(now, |exit| entries::moment(exit.time_ms)).max(view.started);
        let lived = (ended.as_micros() - view.started.as_micros()) / 1000;
        let dropped = exit.map_or((0, 0), |exit| (exit.dropped_out, exit.dropped_err));
        *view.written.entry(LogStream::Stdout).or_default() += dropped.0;
        *view.written.entry(LogStream::Stderr).or_default() += dropped.1;
        view.truncated |= dropped != (0, 0);
        view.ended = Some(ended);
        view.report = Some(report(exit, Span::millis(u64::try_from(lived).unwrap_or(0))));
        batch.logs = logs;
        batch.executions = vec![entries::row(&view)];
        batch.events.push(entries::ended_event(&view));
        self.0.recorder.commit(std::mem::take(batch))?;
        Ok(())
    }
}

/// What is told of one whose beginning nobody heard of.
pub(super) fn beginning(view: &ExecutionView) -> Batch {
    let event = entries::event_of(view, None, EventKind::ExecutionStarted);
    Batch { executions: vec![entries::row(view)], events: vec![event], ..Batch::default() }
}

/// How it ended: as its journal says, else with its sandbox.
fn report(exit: Option<RawExit>, duration: Span) -> ExitReport {
    let cause = match exit {
        Some(exit) => exit.timed_out.then_some(KillCause::Timeout),
        None => Some(KillCause::Killswitch),
    };
    let outcome = exit.map_or(Outcome::Signal(9), |exit| exit.outcome);
    let usage = Usage { memory_peak_bytes: exit.map(|exit| exit.max_rss_bytes), ..Usage::default() };
    ExitReport { outcome, cause, reached: Vec::new(), duration, usage }
}
