//! Following the ledger from stop to stop.
//!
//! Owns: how far each follower is, kept in the store and moved on after the work: what a killed server was at is done again
//! by the next, and nothing is passed over, however many wait. Refuses: what was told before there was a place, and to keep one
//! for work that is not wanted any more.

use std::{
    sync::atomic::Ordering,
    thread::{self, JoinHandle},
    time::Duration,
};

use belljar_domain::{EventKind, NewEvent, ProjectId};
use belljar_ports::store::{Batch, Document, EventFilter, Removal};
use serde_json::json;

use super::super::{Result, Service, now};

/// How often to look.
const ROUND: Duration = Duration::from_millis(100);
/// Stops read at one time.
const EVENTS: usize = 100;
/// Where places are kept.
const PLACES: &str = "place";

/// Somebody who does one thing at certain stops.
#[derive(Debug, Clone, Copy)]
pub(super) struct Follower {
    /// What its thread and its place are called.
    pub(super) name: &'static str,
    pub(super) wants: fn(&NewEvent) -> bool,
    pub(super) work: fn(&Service, &NewEvent),
}

impl Follower {
    /// Starts its thread. The place of the first one ever is where the ledger is now, before anybody is served.
    pub(super) fn begin(self, service: &Service) -> Option<JoinHandle<()>> {
        let (own, place) = (service.clone(), self.find_place(service).ok());
        thread::Builder::new().name(self.name.to_owned()).spawn(move || self.run(&own, place)).ok()
    }

    /// Lets go of its place: one that begins later begins where the ledger is then.
    pub(super) fn forget(self, service: &Service) {
        if let Ok(Some(_)) = service.store().document(PLACES, self.name) {
            let removals = vec![Removal::Document(PLACES.to_owned(), self.name.to_owned())];
            // What cannot be written now, the next server lets go of.
            let _kept = service.0.recorder.commit(Batch { removals, ..Batch::default() });
        }
    }

    fn run(self, service: &Service, mut place: Option<u64>) {
        while !service.0.closing.load(Ordering::Relaxed) {
            // What cannot be read or written now is tried again.
            place = place.or_else(|| self.find_place(service).ok());
            let moved = place.map(|from| self.step(service, from));
            match moved {
                Some(Ok(reached)) if Some(reached) != place => place = Some(reached),
                _ => thread::park_timeout(ROUND),
            }
        }
    }

    fn find_place(self, service: &Service) -> Result<u64> {
        let kept = service.store().document(PLACES, self.name)?;
        if let Some(place) = kept.and_then(|kept| kept.record.get("seq")?.as_u64()) {
            return Ok(place);
        }
        let place = *service.published().borrow();
        self.keep_place(service, place)?;
        Ok(place)
    }

    /// Does what follows from the next stops; the answer is how far it is.
    fn step(self, service: &Service, from: u64) -> Result<u64> {
        let published = *service.published().borrow();
        if published <= from {
            return Ok(from);
        }
        let kinds = [EventKind::TurnEnded, EventKind::TurnFailed, EventKind::SessionEnded];
        let kinds = kinds.iter().map(|kind| kind.as_str().to_owned()).collect();
        let filter = EventFilter { kinds, ..EventFilter::default() };
        let stops = service.store().events(&filter, from, EVENTS)?;
        for stop in stops.iter().filter(|stop| (self.wants)(&stop.what)) {
            if service.0.closing.load(Ordering::Relaxed) {
                return Ok(from);
            }
            (self.work)(service, &stop.what);
            self.keep_place(service, stop.seq)?;
        }
        // Between stops a place need not be kept: what lies there is passed over again.
        let is_all = stops.len() < EVENTS;
        let last = stops.last().map_or(from, |stop| stop.seq);
        Ok(if is_all { published.max(last) } else { last })
    }

    fn keep_place(self, service: &Service, seq: u64) -> Result<()> {
        let (collection, id) = (PLACES.to_owned(), self.name.to_owned());
        let (project, record) = (ProjectId::default(), json!({ "seq": seq }));
        let documents = vec![Document { collection, id, project, updated: now(), record }];
        service.0.recorder.commit(Batch { documents, ..Batch::default() })?;
        Ok(())
    }
}
