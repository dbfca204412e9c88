//! The ledger from a place on, as it grows.

use std::{sync::Arc, time::Duration};

use belljar_domain::Principal;
use belljar_engine::service::{ServiceError, Watching};
use belljar_ports::store::EventFilter;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::tape::{PAGE, Told};
use crate::{app::App, problem::Answer};

/// The least time between two reads of one client that is not behind. What happens meanwhile is read at once, so a
/// busy ledger with many clients costs each of them a hundred reads a second and not one for every commit.
const PACE: Duration = Duration::from_millis(10);

/// One reader of the ledger.
#[derive(Debug)]
pub(crate) struct Feed {
    app: App,
    who: Arc<Principal>,
    filter: EventFilter,
    after: u64,
    published: watch::Receiver<u64>,
    /// How long to wait between two reads once all was read.
    pace: Duration,
    /// When to read again at the earliest.
    due: Instant,
    /// Whoever asks for approvals by name is there to answer them.
    _watching: Option<Watching>,
}

impl Feed {
    /// Reads after a place; what happens from now on when none is given. A place the ledger has not reached, as after
    /// a restored backup, is its end.
    pub(crate) fn new(app: &App, who: &Arc<Principal>, mut filter: EventFilter, since: Option<u64>) -> Self {
        // Nobody sees what is not theirs, wherever it is read.
        filter.project = who.scope().or(filter.project);
        let published = app.service.published();
        let durable = *published.borrow();
        let after = since.unwrap_or(durable).min(durable);
        let is_there = filter.kinds.iter().any(|kind| kind.split('.').next() == Some("approval"));
        let watching = is_there.then(|| app.service.watch_approvals());
        Self {
            app: app.clone(),
            who: Arc::clone(who),
            filter,
            after,
            published,
            pace: PACE,
            due: Instant::now(),
            _watching: watching,
        }
    }

    /// Reads no more often than this.
    pub(crate) fn paced(self, pace: Duration) -> Self {
        Self { pace: pace.max(PACE), ..self }
    }

    /// The place up to which everything wanted has been handed out.
    pub(crate) const fn place(&self) -> u64 {
        self.after
    }

    /// Waits for the next events. Dropped on the way, it has not moved.
    pub(crate) async fn next(&mut self) -> Answer<Vec<Arc<Told>>> {
        loop {
            sleep_until(self.due).await;
            // What is durable by now is in the answer that is asked for after this, so the place may move up to it
            // even where nothing there was wanted.
            let durable = *self.published.borrow_and_update();
            if durable > self.after {
                let told = self.read(durable).await?;
                if !told.is_empty() {
                    return Ok(told);
                }
            } else if self.published.changed().await.is_err() {
                return Err(ServiceError::Closing.into());
            }
        }
    }

    /// What is wanted up to a place: from the tape everybody shares, or from the store for one who is further behind.
    async fn read(&mut self, durable: u64) -> Answer<Vec<Arc<Told>>> {
        let after = self.after;
        let on_tape = match self.app.tape.glance(after, durable) {
            Some(told) => Some(told),
            None => {
                let app = self.app.clone();
                self.app.ask(&self.who, move |service, _| app.tape.read(service, after, durable)).await?
            }
        };
        if let Some(mut told) = on_tape {
            self.moved(told.len(), told.last().map(|last| last.event.seq), durable);
            told.retain(|told| self.filter.admits(&told.event));
            return Ok(told);
        }
        let filter = self.filter.clone();
        let events =
            self.app.ask(&self.who, move |service, who| service.events(who, filter, after, PAGE)).await?;
        self.moved(events.len(), events.last().map(|last| last.seq), durable);
        Ok(events.into_iter().map(Told::new).collect())
    }

    /// A page was read. One that is not full was the last of what is durable.
    fn moved(&mut self, count: usize, last: Option<u64>, durable: u64) {
        if count < PAGE {
            self.after = durable.max(last.unwrap_or(0));
            self.due = Instant::now() + self.pace;
        } else {
            self.after = last.unwrap_or(self.after);
        }
    }
}
