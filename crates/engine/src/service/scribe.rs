//! One stream of a command on its way into the log: secrets are replaced before anything is kept, and what was written
//! as it was is for whoever started the command alone.
//!
//! Owns: where the log is; it is the log's bytes that offsets count. Refuses: to keep more than a cap for one answer.

use std::{ops::Add, sync::Arc};

use belljar_domain::Timestamp;
use belljar_guardian::redact::{Redactor, Shown, Stream};
use belljar_ports::store::{LogChunk, LogStream};

use super::{ExecutionView, journal::Placed};

/// Most output of each stream handed to whoever waits for the end.
pub(super) const COLLECTED: usize = 1 << 20;

/// One stream.
#[derive(Debug)]
pub(super) struct Scribe {
    pub(super) stream: LogStream,
    redacted: Stream,
    written: u64,
    kept: u64,
    /// What was written, for whoever waits for the end.
    pub(super) collected: Vec<u8>,
    /// Pieces of the log that are not as they were written: where they begin, and how they were.
    pub(super) raw: Vec<(u64, Vec<u8>)>,
}

/// How much there was of a stream, or of both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Bytes as they were written.
    pub(super) written: u64,
    /// Bytes as they are shown, where secrets are replaced.
    pub(super) kept: u64,
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { written: self.written + other.written, kept: self.kept + other.kept }
    }
}

impl Scribe {
    /// Goes on from a place; from the beginning, if it is new.
    pub(super) fn new(stream: LogStream, redactor: &Arc<Redactor>, placed: Placed) -> Self {
        let Placed { written, kept, state } = placed;
        let redacted = redactor.resume(state);
        Self { stream, redacted, written, kept, collected: Vec::new(), raw: Vec::new() }
    }

    /// Where it is.
    pub(super) fn placed(&self) -> Placed {
        Placed { written: self.written, kept: self.kept, state: self.redacted.state().clone() }
    }

    /// How much of it there was until now.
    pub(super) const fn counts(&self) -> Counts {
        Counts { written: self.written, kept: self.kept }
    }

    /// Takes what was written; the answer is what can be kept of it now.
    pub(super) fn take(&mut self, view: &ExecutionView, time: Timestamp, bytes: &[u8]) -> Option<LogChunk> {
        let room = COLLECTED.saturating_sub(self.collected.len()).min(bytes.len());
        self.collected.extend_from_slice(bytes.get(..room).unwrap_or_default());
        self.written += u64::try_from(bytes.len()).unwrap_or(0);
        let shown = self.redacted.push(bytes);
        self.chunk(view, time, shown)
    }

    /// The rest, when nothing follows.
    pub(super) fn finish(&mut self, view: &ExecutionView, time: Timestamp) -> Option<LogChunk> {
        let shown = self.redacted.finish();
        self.chunk(view, time, shown)
    }

    fn chunk(&mut self, view: &ExecutionView, time: Timestamp, shown: Shown) -> Option<LogChunk> {
        let Shown { clean: bytes, raw } = shown;
        if bytes.is_empty() {
            return None;
        }
        let (stream, offset) = (self.stream, self.kept);
        self.kept += u64::try_from(bytes.len()).unwrap_or(0);
        self.raw.extend(raw.map(|raw| (offset, raw)));
        Some(LogChunk { sandbox: view.sandbox, execution: Some(view.id), stream, offset, time, bytes })
    }
}
