//! The newest stretch of the ledger, read once for everybody who watches.
//!
//! Owns: a run of events without a gap, bounded, each with its text, which is made once however many want it. Refuses:
//! what is further back; whoever is that far behind reads the store.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use axum::extract::ws::{Message, Utf8Bytes};
use belljar_api::ServerFrame;
use belljar_domain::Event;
use belljar_engine::service::{Service, ServiceError};
use belljar_ports::store::PAGE_LIMIT;

use super::{socket, sse};
use crate::wire;

/// Events on the tape: at a thousand a second, some seconds of being slow.
const LONGEST: usize = 4096;
/// Bytes they may take together.
const HEAVIEST: usize = 32 << 20;

/// Events handed out at once, so that nobody holds much of what is on its way.
pub(super) const PAGE: usize = 256;

/// One event, and how it is told.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) event: Event,
    frame: Utf8Bytes,
    block: OnceLock<String>,
}

impl Told {
    pub(super) fn new(event: Event) -> Arc<Self> {
        let frame = socket::said(&ServerFrame::Event(Box::new(wire::event(event.clone())))).into();
        Arc::new(Self { event, frame, block: OnceLock::new() })
    }

    /// As a message of a WebSocket.
    pub(crate) fn message(&self) -> Message {
        Message::Text(self.frame.clone())
    }

    /// The same, among others.
    pub(super) fn frame(&self) -> &str {
        self.frame.as_str()
    }

    /// As server-sent text.
    pub(crate) fn block(&self) -> &str {
        self.block.get_or_init(|| {
            let event = wire::event(self.event.clone());
            sse::block(&event.kind, Some(event.seq), &event)
        })
    }

    /// Roughly what it takes to keep: the event, and its text twice.
    fn weight(&self) -> usize {
        3 * self.frame.as_str().len()
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Tape(Mutex<Run>);

#[derive(Debug, Default)]
struct Run {
    /// Everything after this place, and up to the other, is here.
    after: u64,
    until: u64,
    told: VecDeque<Arc<Told>>,
    weight: usize,
}

impl Tape {
    fn lock(&self) -> MutexGuard<'_, Run> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A page of what is after a place, if it is on the tape up to the other; never waits for the disk.
    pub(super) fn glance(&self, after: u64, until: u64) -> Option<Vec<Arc<Told>>> {
        let run = self.lock();
        (run.until >= until).then(|| run.since(after)).flatten()
    }

    /// A page of what is after a place, once the tape has been brought up to the other; none when it begins later.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) fn read(
        &self,
        service: &Service,
        after: u64,
        until: u64,
    ) -> Result<Option<Vec<Arc<Told>>>, ServiceError> {
        let mut run = self.lock();
        if until.saturating_sub(run.until) > LONGEST as u64 {
            // Nobody watched for long: it begins anew, where this one is if that is near.
            let begin = after.max(until.saturating_sub(LONGEST as u64));
            *run = Run { after: begin, until: begin, ..Run::default() };
        }
        while run.until < until {
            let page = service.everything(run.until, PAGE_LIMIT)?;
            let is_last = page.len() < PAGE_LIMIT;
            let last = page.last().map_or(0, |event| event.seq);
            page.into_iter().for_each(|event| run.push(Told::new(event)));
            run.until = if is_last { until.max(last) } else { last };
        }
        Ok(run.since(after))
    }
}

impl Run {
    fn since(&self, after: u64) -> Option<Vec<Arc<Told>>> {
        let begin = self.told.partition_point(|told| told.event.seq <= after);
        (after >= self.after).then(|| self.told.range(begin..).take(PAGE).cloned().collect())
    }

    fn push(&mut self, told: Arc<Told>) {
        self.weight += told.weight();
        self.told.push_back(told);
        while self.told.len() > LONGEST || self.weight > HEAVIEST {
            let Some(gone) = self.told.pop_front() else { break };
            self.weight = self.weight.saturating_sub(gone.weight());
            self.after = gone.event.seq;
        }
    }
}
