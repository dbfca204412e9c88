//! The ledger from a place on, as it grows.

use std::{sync::Arc, time::Duration};

use belljar_domain::{Event, Principal};
use belljar_engine::service::{ServiceError, Watching};
use belljar_ports::store::EventFilter;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::{app::App, problem::Answer};

/// Events read at once.
const PAGE: usize = 256;
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
    /// When to read again at the earliest.
    due: Instant,
    /// Whoever asks for approvals by name is there to answer them.
    _watching: Option<Watching>,
}

impl Feed {
    /// Reads after a place; what happens from now on when none is given. A place the ledger has not reached, as after
    /// a restored backup, is its end.
    pub(crate) fn new(app: &App, who: &Arc<Principal>, filter: EventFilter, since: Option<u64>) -> Self {
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
            due: Instant::now(),
            _watching: watching,
        }
    }

    /// The place up to which everything wanted has been handed out.
    pub(crate) const fn place(&self) -> u64 {
        self.after
    }

    /// Waits for the next events. Dropped on the way, it has not moved.
    pub(crate) async fn next(&mut self) -> Answer<Vec<Event>> {
        loop {
            sleep_until(self.due).await;
            // What is durable by now is in the answer that is asked for after this, so the place may move up to it
            // even where nothing there was wanted.
            let durable = *self.published.borrow_and_update();
            if durable > self.after {
                let (filter, after) = (self.filter.clone(), self.after);
                let events = self
                    .app
                    .ask(&self.who, move |service, who| service.events(who, filter, after, PAGE))
                    .await?;
                let last = events.last().map_or(0, |event| event.seq);
                if events.len() < PAGE {
                    self.after = durable.max(last);
                    self.due = Instant::now() + PACE;
                } else {
                    self.after = last;
                }
                if !events.is_empty() {
                    return Ok(events);
                }
            } else if self.published.changed().await.is_err() {
                return Err(ServiceError::Closing.into());
            }
        }
    }
}
