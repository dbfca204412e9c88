//! What agents did, seen through records: a thread of its own follows the ledger and folds it; questions wait, for a
//! moment, until it has caught up with what was acknowledged.
//!
//! Owns: the thread. Nothing here is on the way into the ledger; when records are behind, or lost, only questions wait.

mod bell;
mod money;
mod questions;
mod stuck;
mod trace;
mod tree;

use std::{
    sync::{Arc, OnceLock},
    thread::{self, JoinHandle},
    time::Duration,
};

use belljar_capture::eye::Folder;
use belljar_domain::{Timestamp, Usd};
use belljar_ports::{
    Lens,
    store::{EventFilter, PAGE_LIMIT, StoreError},
};

pub use money::AgentScore;
pub use questions::{FoundEvents, Judgement};
pub use stuck::{Detection, DetectionKind, Patience};
pub use trace::{SessionView, TraceItem};
pub use tree::AgentNode;

pub(super) use bell::Bell;

use super::Service;

/// How long a question waits for records to catch up.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait after records could not be written.
const RECOVER: Duration = Duration::from_secs(1);
/// How long records are kept; sums by day stay.
const KEPT: Duration = Duration::from_hours(90 * 24);

/// How far this thread stands back.
const LATER: i32 = 19;

/// The records, and how far they are.
#[derive(Debug)]
pub(super) struct Eye {
    pub(super) lens: Arc<dyn Lens>,
    pub(super) bell: Arc<Bell>,
    /// When this service began, where the ledger was then, and what that day had cost by then.
    pub(super) since: Timestamp,
    pub(super) began: u64,
    pub(super) before: OnceLock<Usd>,
}

/// Starts the thread.
pub(super) fn begin(service: &Service) -> Option<JoinHandle<()>> {
    let own = service.clone();
    thread::Builder::new().name("eye".to_owned()).spawn(move || own.keep_looking()).ok()
}

impl Service {
    fn keep_looking(&self) {
        // Whoever waits for an acknowledgement goes first. On Linux this is about the calling thread alone; where it is
        // not allowed, all go on as before.
        let _as_before = rustix::process::nice(LATER);
        let folder = Folder::new(self.0.settings.prices.clone());
        let bell = &self.0.eye.bell;
        while !bell.has_stopped() {
            match self.look(&folder) {
                Ok(true) if !bell.has_rung() => {}
                // While more come in, those who wait for an acknowledgement have the processors in between.
                Ok(_) => bell.wait(None),
                // A full disk, say: the records are behind until there is room.
                Err(_) => bell.wait(Some(RECOVER)),
            }
        }
    }

    /// Folds what is new, up to a bound; true when that was reached. What has come meanwhile waits for more of its kind.
    fn look(&self, folder: &Folder) -> Result<bool, StoreError> {
        let lens = &self.0.eye.lens;
        let (place, head) = (lens.place()?, self.store().last_seq()?);
        if place >= self.0.eye.began && self.0.eye.before.get().is_none() {
            let before = self.spent_since_that_day()?;
            self.0.eye.before.get_or_init(|| before);
        }
        let events = self.store().events(&EventFilter::default(), place, PAGE_LIMIT)?;
        let Some(last) = events.last().map(|event| event.seq) else {
            self.0.eye.bell.reached(head.max(place));
            return Ok(false);
        };
        lens.revise(last, &mut |shelf| events.iter().try_for_each(|event| folder.fold(event, shelf)))?;
        self.0.eye.bell.reached(last);
        self.hear_costs(&events);
        Ok(events.len() >= PAGE_LIMIT)
    }

    /// The records, caught up with everything that was acknowledged before; false beside them if that takes too long.
    pub(super) fn lens(&self) -> (&Arc<dyn Lens>, bool) {
        let wanted = *self.published().borrow();
        (&self.0.eye.lens, self.0.eye.bell.reaches(wanted, PATIENCE))
    }

    /// The day the list of prices was made.
    #[must_use]
    pub fn prices_as_of(&self) -> &str {
        self.0.settings.prices.as_of()
    }

    /// How many events the records are behind.
    #[must_use]
    pub fn eye_lag(&self) -> u64 {
        let published = *self.published().borrow();
        published.saturating_sub(self.0.eye.bell.done())
    }

    /// Removes records past their time.
    pub(super) fn prune_records(&self) -> Result<(), StoreError> {
        let oldest = self.store().events(&EventFilter::default(), 0, 1)?.first().map_or(0, |event| event.seq);
        self.0.eye.lens.prune(super::now().minus(KEPT), oldest).map(drop)
    }
}
