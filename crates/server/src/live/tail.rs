//! A command's output from a place on, as it is written, and how it ended.

use std::{sync::Arc, time::Duration};

use belljar_domain::{ExecutionId, Principal};
use belljar_engine::service::{ExecutionView, OutputChunk, OwnOutput, Reader};
use tokio::sync::watch;

use crate::{app::App, problem::Answer};

/// Bytes read at once.
const PAGE: usize = 256 * 1024;
/// How long to wait where nobody tells of news, as for a command of a server that was killed.
const POLL: Duration = Duration::from_millis(250);

/// One reader of a command's output.
#[derive(Debug)]
pub(crate) struct Tail {
    app: App,
    who: Arc<Principal>,
    id: ExecutionId,
    reader: Reader,
    after: u64,
    news: watch::Receiver<u64>,
    state: State,
    /// Whether something went by before it could be read.
    missed: bool,
    own: Option<OwnOutput>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    Ended,
    Done,
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Output.
    Output(Vec<OutputChunk>),
    /// The end, which is told once.
    Exit(Box<ExecutionView>),
    /// Nothing, ever.
    Nothing,
}

impl Tail {
    pub(crate) async fn new(app: &App, who: &Arc<Principal>, id: ExecutionId, after: u64) -> Answer<Self> {
        let reader = app.ask(who, move |service, who| service.reader(who, id)).await?;
        let (app, who, news) = (app.clone(), Arc::clone(who), reader.news());
        let own = reader.come_back(&app.service);
        Ok(Self { app, who, id, reader, after, news, state: State::Reading, missed: false, own })
    }

    /// The same for whoever started the command: they hear what it writes, not what the log keeps of it.
    pub(crate) fn own(self, own: OwnOutput) -> Self {
        Self { own: Some(own), ..self }
    }

    /// Waits for what comes next. Dropped on the way, it has not moved.
    pub(crate) async fn next(&mut self) -> Answer<Piece> {
        match self.state {
            State::Done => return Ok(Piece::Nothing),
            State::Ended => return self.end().await,
            State::Reading => {}
        }
        // Whoever asks for more has what they got.
        if let Some(own) = &self.own {
            own.taken(self.after);
        }
        loop {
            // Seen before reading, so that what comes while reading wakes the wait below.
            self.news.borrow_and_update();
            let (reader, after) = (self.reader.clone(), self.after);
            let mut page =
                self.app.ask(&self.who, move |service, who| reader.read(service, who, after, PAGE)).await?;
            self.missed |= page.missed;
            if page.end {
                self.state = State::Ended;
            }
            if let Some(last) = page.chunks.last() {
                self.after = last.place;
                if let Some(own) = &self.own {
                    own.restore(&mut page.chunks);
                }
                return Ok(Piece::Output(page.chunks));
            }
            if page.end {
                return self.end().await;
            }
            if self.news.changed().await.is_err() {
                tokio::time::sleep(POLL).await;
            }
        }
    }

    /// Ends the command, unless the server itself is ending. Nobody is left to be told how that went.
    pub(super) fn kill(&self) {
        if *self.app.closing.borrow() {
            return;
        }
        let (app, who, id) = (self.app.clone(), Arc::clone(&self.who), self.id);
        if let Ok(reactor) = tokio::runtime::Handle::try_current() {
            reactor.spawn_blocking(move || drop(app.service.kill(&who, id)));
        }
    }

    async fn end(&mut self) -> Answer<Piece> {
        let (reader, missed) = (self.reader.clone(), self.missed);
        let view = self.app.ask(&self.who, move |service, who| reader.view(service, who, missed)).await?;
        self.state = State::Done;
        Ok(Piece::Exit(Box::new(view)))
    }
}
