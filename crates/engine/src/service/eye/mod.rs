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
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use belljar_capture::eye::Folder;
use belljar_domain::{EventKind, EventStatus, Principal, Timestamp, Usd};
use belljar_ports::{
    Lens,
    store::{EventFilter, PAGE_LIMIT, StoreError},
};

use serde_json::json;

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
    pub(super) passed_over: AtomicU64,
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
        // Where something cannot be kept, what comes before it is folded by itself, and then it is passed over.
        let mut at_once = PAGE_LIMIT;
        while !bell.has_stopped() {
            match self.look(&folder, at_once) {
                Ok(true) if at_once < PAGE_LIMIT => at_once = (at_once * 2).min(PAGE_LIMIT),
                Ok(true) if !bell.has_rung() => {}
                // While more come in, those who wait for an acknowledgement have the processors in between.
                Ok(_) => bell.wait(None),
                Err(StoreError::Unfit { .. }) if at_once > 1 => at_once = 1,
                Err(StoreError::Unfit { source, .. }) if self.pass_over(&source.to_string()).is_ok() => {}
                // A full disk, say: the records are behind until there is room.
                Err(_) => bell.wait(Some(RECOVER)),
            }
        }
    }

    /// Folds what is new, up to a bound; true when that was reached. What has come meanwhile waits for more of its kind.
    fn look(&self, folder: &Folder, at_once: usize) -> Result<bool, StoreError> {
        let lens = &self.0.eye.lens;
        let (place, head) = (lens.place()?, self.store().last_seq()?);
        if place >= self.0.eye.began && self.0.eye.before.get().is_none() {
            let before = self.spent_since_that_day()?;
            self.0.eye.before.get_or_init(|| before);
        }
        let events = self.store().events(&EventFilter::default(), place, at_once)?;
        let Some(last) = events.last().map(|event| event.seq) else {
            self.0.eye.bell.reached(head.max(place));
            return Ok(false);
        };
        lens.revise(last, &mut |shelf| events.iter().try_for_each(|event| folder.fold(event, shelf)))?;
        self.0.eye.bell.reached(last);
        self.hear_costs(&events);
        Ok(events.len() >= at_once)
    }

    /// Goes on after the next event, which no record takes. It stays in the ledger, and that it is in no record is said
    /// there too.
    fn pass_over(&self, why: &str) -> Result<(), StoreError> {
        let lens = &self.0.eye.lens;
        let events = self.store().events(&EventFilter::default(), lens.place()?, 1)?;
        let Some(event) = events.first() else { return Ok(()) };
        lens.revise(event.seq, &mut |_| Ok(()))?;
        self.0.eye.passed_over.fetch_add(1, Ordering::Relaxed);
        self.0.eye.bell.reached(event.seq);
        let kind = EventKind::Other("record.passed_over".to_owned());
        let mut told = self.event(&Principal::admin("belljar"), kind);
        told.status = Some(EventStatus::Failure);
        told.error = Some(why.to_owned());
        told.payload = json!({ "seq": event.seq, "id": event.what.id, "kind": event.what.kind });
        // It is counted all the same.
        drop(self.record(told));
        Ok(())
    }

    /// How many events were passed over because no record takes them.
    pub(super) fn passed_over(&self) -> u64 {
        self.0.eye.passed_over.load(Ordering::Relaxed)
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
