//! What the rules look at, gathered from the ledger, the counters and the last measurements.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use belljar_domain::{Event, EventKind, EventStatus, ProjectId, SandboxId, Usd};
use belljar_ports::store::{EventFilter, PAGE_LIMIT};

use super::super::{Result, Service};

/// The most commands that are remembered; the newest count.
const MOST: usize = 20_000;

/// Everything the rules look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Commands that ended in the window, and how many of them ran out of time.
    pub(super) commands: (u64, u64),
    /// Sandboxes made or not in the window, and how many of them were not.
    pub(super) sandboxes: (u64, u64),
    /// What agents cost in the window, as their records say.
    pub(super) cost_micros: u64,
    /// Those who wait for a sandbox, and how many may.
    pub(super) queue: (u64, u64),
    /// How long the oldest write waits.
    pub(super) writer_lag: Duration,
    /// What sandboxes used when they were last measured.
    pub(super) used: Vec<Used>,
}

/// One sandbox: used and allowed bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) sandbox: SandboxId,
    pub(super) project: ProjectId,
    pub(super) memory: Option<(u64, u64)>,
    pub(super) disk: Option<(u64, u64)>,
}

/// What is remembered between two looks.
#[derive(Debug)]
pub(super) struct Memory {
    /// How far the ledger was read.
    place: u64,
    commands: VecDeque<(Instant, bool)>,
    counters: VecDeque<(Instant, u64, u64)>,
    /// What everything had cost.
    spent: VecDeque<(Instant, Usd)>,
}

impl Memory {
    pub(super) const fn new(place: u64) -> Self {
        Self { place, commands: VecDeque::new(), counters: VecDeque::new(), spent: VecDeque::new() }
    }

    /// Gathers the facts of now.
    pub(super) fn look(&mut self, service: &Service, window: Duration) -> Result<Facts> {
        self.read(service)?;
        let (now, health) = (Instant::now(), service.health());
        self.counters.push_back((now, health.spawned + health.errors, health.errors));
        let spent = service.spent_so_far()?;
        self.spent.push_back((now, spent));
        let is_old = |time: &Instant| now.duration_since(*time) > window;
        while self.commands.len() > MOST || self.commands.front().is_some_and(|(time, ..)| is_old(time)) {
            self.commands.pop_front();
        }
        while self.counters.len() > 2 && self.counters.front().is_some_and(|(time, ..)| is_old(time)) {
            self.counters.pop_front();
        }
        while self.spent.len() > 2 && self.spent.front().is_some_and(|(time, _)| is_old(time)) {
            self.spent.pop_front();
        }
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let late = self.commands.iter().filter(|(_, timed_out)| *timed_out).count();
        let before = self.spent.front().map_or(spent, |(_, before)| *before);
        let (_, all, failed) = self.counters.front().copied().unwrap_or((now, 0, 0));
        Ok(Facts {
            commands: (count(self.commands.len()), count(late)),
            sandboxes: (
                (health.spawned + health.errors).saturating_sub(all),
                health.errors.saturating_sub(failed),
            ),
            cost_micros: spent.minus(before).micros(),
            queue: (health.queued, count(service.0.settings.quotas.queue)),
            writer_lag: health.writer.lag,
            used: service.0.registry.sandboxes().iter().filter_map(|live| used(live)).collect(),
        })
    }

    fn read(&mut self, service: &Service) -> Result<()> {
        let kinds = vec![EventKind::ExecutionEnded.as_str().to_owned()];
        let filter = EventFilter { kinds, ..EventFilter::default() };
        loop {
            let published = *service.published().borrow();
            if published <= self.place {
                return Ok(());
            }
            let events = service.store().events(&filter, self.place, PAGE_LIMIT)?;
            events.iter().for_each(|event| self.commands.push_back(command(event)));
            let full = events.len() >= PAGE_LIMIT;
            self.place = events.last().filter(|_| full).map_or(published, |event| event.seq);
        }
    }
}

fn command(event: &Event) -> (Instant, bool) {
    (Instant::now(), event.what.status == Some(EventStatus::Timeout))
}

fn used(live: &super::super::live::LiveSandbox) -> Option<Used> {
    let (usage, view) = (live.measured()?, live.view());
    let limits = view.spec.limits;
    Some(Used {
        sandbox: view.id,
        project: view.project,
        memory: usage.memory_bytes.map(|bytes| (bytes, limits.memory.as_bytes())),
        disk: usage.disk_bytes.map(|bytes| (bytes, limits.disk.as_bytes())),
    })
}
