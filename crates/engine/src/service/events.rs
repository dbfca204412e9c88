//! The ledger as it is shown.

use std::borrow::Cow;

use belljar_domain::{Event, NewEvent, Principal};
use belljar_ports::store::{Batch, EventFilter, Pending};
use tokio::sync::watch;

use super::{Result, Service};

impl Service {
    /// A text as it would be recorded, for whoever must cut it first: half a secret would not be known as one.
    #[must_use]
    pub fn without_secrets<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.recorder.redactor().text(text)
    }

    /// Records something that happened. It is shown once it is durable.
    pub fn record(&self, event: NewEvent) -> Pending {
        self.0.recorder.append(Batch::of_events(vec![event]))
    }

    /// Events after a place, oldest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn events(
        &self,
        who: &Principal,
        mut filter: EventFilter,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Event>> {
        filter.project = who.scope().or(filter.project);
        Ok(self.store().events(&filter, after, limit)?)
    }

    /// Events of everybody after a place, for whoever sorts them out before showing them.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn everything(&self, after: u64, limit: usize) -> Result<Vec<Event>> {
        Ok(self.store().events(&EventFilter::default(), after, limit)?)
    }

    /// Events before a place, newest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn events_before(
        &self,
        who: &Principal,
        mut filter: EventFilter,
        before: u64,
        limit: usize,
    ) -> Result<Vec<Event>> {
        filter.project = who.scope().or(filter.project);
        Ok(self.store().events_before(&filter, before, limit)?)
    }

    /// The place of the last event that may be shown; grows.
    #[must_use]
    pub fn published(&self) -> watch::Receiver<u64> {
        self.0.recorder.published()
    }
}
