//! Reading what commands wrote: as it is kept, as it comes, or looked for by words.

use std::sync::Arc;

use belljar_domain::{ExecutionId, Principal, SandboxId};
use belljar_ports::{
    Order,
    store::{LogFilter, LogHits, LogRow, LogSearch, LogStream},
};
use tokio::sync::watch;

use super::{
    ExecutionView, OutputChunk, OutputPage, Result, Service, journal,
    live::LiveExecution,
    scribe::COLLECTED,
    surplus::{self, Surplus},
};

/// What a command writes, as it is written, for whoever started it. While they have this, it waits for them.
#[derive(Debug)]
pub struct OwnOutput {
    pub(super) service: Service,
    pub(super) live: Arc<LiveExecution>,
}

impl OwnOutput {
    /// Puts what was written in the place of what the log says.
    pub fn restore(&self, chunks: &mut [OutputChunk]) {
        for chunk in chunks {
            if let Some(raw) = self.live.raw(chunk.stream, chunk.offset) {
                chunk.bytes = raw;
            }
        }
    }

    /// Says that everything up to a place has arrived, so that the command may go on.
    pub fn taken(&self, place: u64) {
        if let Some(surplus) = &self.live.surplus {
            surplus.taken(place);
            self.service.make_room(&self.live);
        }
    }
}

impl Drop for OwnOutput {
    fn drop(&mut self) {
        self.live.unheard();
        self.service.make_room(&self.live);
    }
}

/// One reader of a command's output, from its beginning to its end.
#[derive(Debug, Clone)]
pub struct Reader {
    id: ExecutionId,
    /// None for a command that was over when they came.
    live: Option<Arc<LiveExecution>>,
}

impl Reader {
    /// Something that changes whenever there may be more output, or the end.
    #[must_use]
    pub fn news(&self) -> watch::Receiver<u64> {
        self.live.as_ref().map_or_else(|| watch::channel(0).1, |live| live.news())
    }

    /// The command's own output, if they are whoever started it, who lost the server that was there before. What was
    /// replaced in the log stays so.
    #[must_use]
    pub fn come_back(&self, service: &Service) -> Option<OwnOutput> {
        let live = self.live.as_ref().filter(|live| live.surplus.as_ref().is_some_and(Surplus::come_back))?;
        Some(OwnOutput { service: service.clone(), live: Arc::clone(live) })
    }

    /// Reads output after a place, as far as there is some now.
    ///
    /// # Errors
    /// When it is none of theirs.
    pub fn read(
        &self,
        service: &Service,
        who: &Principal,
        after: u64,
        max_bytes: usize,
    ) -> Result<OutputPage> {
        let Some((live, surplus)) = self.live.as_ref().and_then(|live| Some((live, live.surplus.as_ref()?)))
        else {
            return service.output(who, self.id, after, max_bytes);
        };
        // First whether it is over, then what is in no log: whatever comes before either is in the log by now.
        let is_over = live.view().report.is_some();
        let ahead = surplus.after(after, max_bytes);
        if !surplus::is_beyond(after) {
            let page = service.output(who, self.id, after, max_bytes)?;
            if !page.chunks.is_empty() {
                return Ok(OutputPage { end: page.end && is_over && ahead.is_empty(), ..page });
            }
        }
        let end = is_over && !ahead.more;
        Ok(OutputPage { chunks: ahead.chunks, end, missed: ahead.missed })
    }

    /// How the command is, or was: `truncated` is whether this reader missed something.
    ///
    /// # Errors
    /// When it is none of theirs.
    pub fn view(&self, service: &Service, who: &Principal, missed: bool) -> Result<ExecutionView> {
        let view = service.execution(who, self.id)?;
        let hears_all = self.live.as_ref().is_some_and(|live| live.surplus.is_some());
        Ok(ExecutionView { truncated: if hears_all { missed } else { view.truncated }, ..view })
    }
}

impl Service {
    /// A reader of what a command of theirs writes.
    ///
    /// # Errors
    /// When there is none.
    pub fn reader(&self, who: &Principal, id: ExecutionId) -> Result<Reader> {
        // First who is alive: one that ends meanwhile is found with all it wrote.
        let live = self.0.registry.execution(id);
        self.execution(who, id)?;
        Ok(Reader { id, live })
    }

    /// Tells a command that it may write more, if there is room.
    pub(super) fn make_room(&self, live: &LiveExecution) {
        let Some(upto) = live.surplus.as_ref().and_then(Surplus::grant) else { return };
        let order = self.0.provider.write_order(&Order::Upto(upto));
        // One that is over needs no room.
        let _over = journal::send(&self.0.runtime_dir, live.view().id, &order);
    }

    /// Reads what the log has of a command's output after a place, as far as there is some now.
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
        Ok(OutputPage { end, chunks, missed: false })
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
