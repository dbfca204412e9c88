//! Reading what commands wrote: as it is kept, as it comes, or looked for by words.

use std::sync::Arc;

use belljar_domain::{ExecutionId, Principal, SandboxId};
use belljar_ports::store::{LogFilter, LogHits, LogRow, LogSearch, LogStream};
use tokio::sync::watch;

use super::{OutputChunk, OutputPage, Result, Service, live::LiveExecution, scribe::COLLECTED};

/// What a command writes, as it is written, for whoever started it.
#[derive(Debug, Clone)]
pub struct OwnOutput(pub(super) Arc<LiveExecution>);

impl OwnOutput {
    /// Puts what was written in the place of what the log says.
    pub fn restore(&self, chunks: &mut [OutputChunk]) {
        for chunk in chunks {
            if let Some(raw) = self.0.raw(chunk.stream, chunk.offset) {
                chunk.bytes = raw;
            }
        }
    }
}

impl Service {
    /// Reads output after a place, as far as there is some now.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn output(
        &self,
        who: &Principal,
        id: ExecutionId,
        after: u64,
        max_bytes: usize,
    ) -> Result<OutputPage> {
        const ROWS: usize = 256;
        // First whether it is over: what was written until then is there.
        let view = self.execution(who, id)?;
        let filter = LogFilter { execution: Some(id), ..LogFilter::of(view.sandbox) };
        let rows = self.store().logs(&filter, after, ROWS)?;
        let full = rows.len() == ROWS;
        let (mut chunks, mut bytes, mut all) = (Vec::new(), 0, true);
        for row in rows {
            bytes += row.chunk.bytes.len();
            if bytes > max_bytes && !chunks.is_empty() {
                all = false;
                break;
            }
            chunks.push(OutputChunk {
                place: row.seq,
                stream: row.chunk.stream,
                offset: row.chunk.offset,
                time: row.chunk.time,
                bytes: row.chunk.bytes,
            });
        }
        let last = chunks.last().map_or(after, |chunk| chunk.place);
        // The store ends a page early where its pieces are large, so whether there are more is asked.
        let end = view.report.is_some() && all && !full && self.store().logs(&filter, last, 1)?.is_empty();
        Ok(OutputPage { end, chunks })
    }

    /// Something that changes whenever there may be more output, or the end.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn watch(&self, who: &Principal, id: ExecutionId) -> Result<watch::Receiver<u64>> {
        self.execution(who, id)?;
        Ok(self.0.registry.execution(id).map_or_else(|| watch::channel(0).1, |live| live.news()))
    }

    /// The first bytes of what a command wrote so far, by stream: standard output, then standard error.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn written(&self, who: &Principal, id: ExecutionId) -> Result<(Vec<u8>, Vec<u8>)> {
        self.execution(who, id)?;
        let read = |stream| self.store().log_bytes(id, stream, 0, COLLECTED);
        Ok((read(LogStream::Stdout)?, read(LogStream::Stderr)?))
    }

    /// Something that changes whenever there may be more of a sandbox's log; it closes at the sandbox's end.
    ///
    /// # Errors
    /// When there is no such sandbox.
    pub fn watch_log(&self, who: &Principal, id: SandboxId) -> Result<watch::Receiver<u64>> {
        self.sandbox(who, id)?;
        Ok(self.0.registry.sandbox(id).map_or_else(|| watch::channel(0).1, |live| live.news()))
    }

    /// Reads a sandbox's log.
    ///
    /// # Errors
    /// When there is no such sandbox.
    pub fn logs(&self, who: &Principal, filter: &LogFilter, after: u64, limit: usize) -> Result<Vec<LogRow>> {
        self.sandbox(who, filter.sandbox)?;
        Ok(self.store().logs(filter, after, limit)?)
    }

    /// Looks for words in logs.
    ///
    /// # Errors
    /// When there is nothing to look for.
    pub fn search_logs(&self, who: &Principal, search: &LogSearch, limit: usize) -> Result<LogHits> {
        if let Some(sandbox) = search.sandbox {
            self.sandbox(who, sandbox)?;
        }
        let project = who.scope().or_else(|| search.project.clone());
        Ok(self.store().search_logs(&LogSearch { project, ..search.clone() }, limit)?)
    }
}
