//! What all commands of a sandbox write, from a place on, until the sandbox ends.

use std::{sync::Arc, time::Duration};

use belljar_domain::Principal;
use belljar_engine::service::Service;
use belljar_ports::store::LogFilter;
use serde_json::json;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::sse::{self, Said, Source};
use crate::{app::App, problem::Answer, wire};

/// Pieces read at once.
const PAGE: usize = 256;
/// The least time between two reads, so that a command that writes a byte at a time costs a read for many of them.
const PACE: Duration = Duration::from_millis(10);
/// How long to wait where nobody tells of news, as of the end of what another process made.
const POLL: Duration = Duration::from_secs(1);

/// One reader of a sandbox's log.
#[derive(Debug)]
pub(crate) struct LogTail {
    app: App,
    who: Arc<Principal>,
    filter: LogFilter,
    after: u64,
    news: watch::Receiver<u64>,
}

impl LogTail {
    pub(crate) async fn new(app: &App, who: &Arc<Principal>, filter: LogFilter, after: u64) -> Answer<Self> {
        let id = filter.sandbox;
        let news = app.ask(who, move |service, who| service.watch_log(who, id)).await?;
        Ok(Self { app: app.clone(), who: Arc::clone(who), filter, after, news })
    }

    /// What there is after the place, and how the sandbox is doing: over, if that was so before reading.
    async fn read(&mut self) -> Answer<Option<Said>> {
        let (filter, after) = (self.filter, self.after);
        let ask = move |service: &Service, who: &Principal| {
            let state = service.sandbox(who, filter.sandbox)?.state;
            Ok((state, service.logs(who, &filter, after, PAGE)?))
        };
        let (state, rows) = self.app.ask(&self.who, ask).await?;
        if let Some(last) = rows.last() {
            self.after = last.seq;
            let pieces = rows.into_iter().map(wire::log_piece);
            let text =
                pieces.map(|piece| sse::block(wire::stream_name(piece.stream), Some(piece.seq), &piece));
            return Ok(Some(Said::Text(text.collect())));
        }
        let over = !state.is_live();
        Ok(over.then(|| Said::Last(sse::block("end", None::<u64>, &json!({ "state": state })))))
    }
}

impl Source for LogTail {
    async fn next(&mut self) -> Said {
        loop {
            // Seen before reading, so that what comes while reading wakes the wait below.
            self.news.borrow_and_update();
            match self.read().await {
                Ok(Some(said)) => return said,
                Ok(None) => {}
                Err(failure) => return Said::Last(sse::failed(&failure)),
            }
            match timeout(POLL, self.news.changed()).await {
                Ok(Ok(())) => sleep(PACE).await,
                Ok(Err(_)) => sleep(POLL).await,
                Err(_) => {}
            }
        }
    }
}
