//! What goes on by itself: noticing ends, measuring, keeping the pool full, retention. One thread, named and joined.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use belljar_domain::{EventKind, Principal, ProjectId, SandboxState};
use belljar_ports::store::{Batch, Sample, StoreHealth};

use super::{ExecutionView, Service, now};

/// How often to look for sandboxes that ended by themselves.
const ROUND: Duration = Duration::from_millis(500);
/// How long after a sandbox was taken from the pool the next is made.
const BREATH: Duration = Duration::from_millis(20);
/// How many sandboxes' needs the provider is asked to have ready.
const BEDS: usize = 2;
/// How often to measure.
const MEASURE: Duration = Duration::from_secs(5);
/// How long after it was last used a sandbox counts as doing nothing.
const QUIET: Duration = Duration::from_secs(5);
/// How often to sweep and to prune.
const SWEEP: Duration = Duration::from_secs(60);
const PRUNE: Duration = Duration::from_secs(3600);
/// How old a snapshot is when whoever took it has told of it, or never will.
const SETTLED: Duration = Duration::from_secs(60);
/// How long what nobody waits for may take when the service ends.
const FAREWELL: Duration = Duration::from_secs(10);

/// How the service is doing; cheap.
#[derive(Debug, Clone, Default)]
pub struct ServiceHealth {
    /// Sandboxes alive, by project, provider and state.
    pub active: BTreeMap<(ProjectId, String, SandboxState), u64>,
    /// Commands running.
    pub executions: u64,
    /// Sandboxes ready, and how many there are to be.
    pub pool_ready: u64,
    /// As many as there are to be.
    pub pool_target: u64,
    /// Requests that wait for room.
    pub queued: u64,
    /// The store's writer.
    pub writer: StoreHealth,
    /// Sandboxes made since the start.
    pub spawned: u64,
    /// Sandboxes that could not be made or removed, since the start.
    pub errors: u64,
    /// Sandboxes taken over from an earlier service.
    pub adopted: u64,
    /// Sandboxes whose end an earlier service had not seen.
    pub reaped: u64,
    /// Events that are not in the records of what agents did yet.
    pub unseen: u64,
    /// Events no record takes.
    pub passed_over: u64,
    /// How long commands took since the start, in milliseconds: how many up to each bound, and all together.
    pub durations: Durations,
}

/// A histogram of how long commands took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Durations {
    /// Commands that took up to each of [`Durations::BOUNDS`], and longer ones last; not summed up.
    pub counts: [u64; 13],
    /// How long all took together.
    pub sum_ms: u64,
}

impl Durations {
    /// Upper bounds in milliseconds.
    pub const BOUNDS: [u64; 12] = [1, 5, 10, 50, 100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 1_800_000];
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    spawned: AtomicU64,
    failed: AtomicU64,
    adopted: AtomicU64,
    reaped: AtomicU64,
    durations: Mutex<Durations>,
    keeper: Mutex<Option<JoinHandle<()>>>,
    helpers: Mutex<Vec<JoinHandle<()>>>,
}

impl Counters {
    pub(super) fn spawned(&self) {
        self.spawned.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn adopted(&self) {
        self.adopted.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn reaped(&self) {
        self.reaped.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn finished(&self, view: &ExecutionView) {
        let took = view.report.as_ref().map_or(0, |report| report.duration.as_millis());
        let mut durations = self.durations.lock().unwrap_or_else(PoisonError::into_inner);
        let place =
            Durations::BOUNDS.iter().position(|bound| took <= *bound).unwrap_or(Durations::BOUNDS.len());
        if let Some(count) = durations.counts.get_mut(place) {
            *count += 1;
        }
        durations.sum_ms += took;
    }
}

/// Starts the threads.
pub(super) fn begin(service: &Service) {
    let own = service.clone();
    let thread = thread::Builder::new().name("lifecycle".to_owned()).spawn(move || own.live_on());
    *service.0.counters.keeper.lock().unwrap_or_else(PoisonError::into_inner) = thread.ok();
    let helpers =
        [super::webhooks::begin(service), super::alerts::begin(service), super::eye::begin(service)]
            .into_iter()
            .flatten();
    let helpers = helpers.chain(super::aftermath::begin(service)).chain(super::spans::begin(service));
    service.0.counters.helpers.lock().unwrap_or_else(PoisonError::into_inner).extend(helpers);
}

/// Ends them, and waits for what is under way.
pub(super) fn end(service: &Service) {
    if service.0.closing.swap(true, Ordering::Relaxed) {
        return;
    }
    service.0.runs.join();
    service.0.eye.bell.stop();
    let keeper = service.0.counters.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
    let helpers =
        std::mem::take(&mut *service.0.counters.helpers.lock().unwrap_or_else(PoisonError::into_inner));
    for thread in keeper.into_iter().chain(helpers) {
        thread.thread().unpark();
        // A panic in it was reported when it happened.
        let _ended = thread.join();
    }
    for waiting in service.0.pool.drain() {
        let _swept_later = waiting.sandbox.destroy();
    }
    // What was made ready for sandboxes that will not come would wait for the next service to sweep it away.
    let _swept_later = service.0.provider.prepare(&service.0.settings.defaults, 0);
    service.0.crew.settle(FAREWELL);
    service.clear_drafts();
    let goodbye = service.event(&Principal::admin("belljar"), EventKind::ServerStopped);
    // Without it the next start says the same.
    let _unsaid = service.record(goodbye).wait();
    let _closed = service.store().close();
}

impl Service {
    /// How the service is doing.
    #[must_use]
    pub fn health(&self) -> ServiceHealth {
        let mut active = BTreeMap::new();
        for view in self.0.registry.sandboxes().into_iter().map(|live| live.view()) {
            *active.entry((view.project, view.provider, view.state)).or_default() += 1;
        }
        let counters = &self.0.counters;
        let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let size = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        ServiceHealth {
            active,
            executions: size(self.0.registry.running()),
            pool_ready: size(self.0.pool.len()),
            pool_target: size(self.0.settings.pool),
            queued: size(self.0.places.waiting()),
            writer: self.store().health(),
            unseen: self.eye_lag(),
            passed_over: self.passed_over(),
            spawned: count(&counters.spawned),
            errors: count(&counters.failed),
            adopted: count(&counters.adopted),
            reaped: count(&counters.reaped),
            durations: counters.durations.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// Has the pool looked after soon.
    pub(super) fn nudge(&self) {
        if let Some(keeper) = &*self.0.counters.keeper.lock().unwrap_or_else(PoisonError::into_inner) {
            keeper.thread().unpark();
        }
    }

    fn live_on(&self) {
        let (mut measured, mut swept, mut pruned, mut looked) =
            (Instant::now(), Instant::now(), Instant::now(), Instant::now());
        while !self.0.closing.load(Ordering::Relaxed) {
            if self.0.pool.len() > 0 || self.0.settings.pool == 0 {
                // Whoever just took one wants to use it; making the next can wait that long.
                thread::sleep(BREATH);
            }
            if self.fill_pool() || self.0.provider.prepare(&self.0.settings.defaults, BEDS).unwrap_or(false) {
                continue;
            }
            thread::park_timeout(ROUND);
            if looked.elapsed() >= ROUND {
                looked = Instant::now();
                self.notice_ends();
                self.tidy_approvals();
                self.see_to_agents();
                self.tidy_books();
                self.see_to_budgets();
            }
            if measured.elapsed() >= MEASURE {
                measured = Instant::now();
                self.measure();
            }
            if swept.elapsed() >= SWEEP {
                swept = Instant::now();
                // What cannot be removed now is tried again.
                let _later = self.0.provider.sweep();
                let _later = self.find_strangers();
                let _later = self.compare_snapshots(SETTLED);
                self.clear_drafts();
                self.forget_holds();
            }
            if pruned.elapsed() >= PRUNE {
                pruned = Instant::now();
                let _later = self.store().prune(now());
                let _later = self.prune_records();
                self.forget_books();
            }
        }
    }

    /// Writes down sandboxes that ended by themselves.
    fn notice_ends(&self) {
        for live in self.0.registry.sandboxes() {
            let info = live.sandbox.info();
            let view = live.view();
            if info.state.is_live() {
                if info.state != view.state && info.state != SandboxState::Stopping {
                    live.change(|view| view.state = info.state);
                }
                continue;
            }
            // Its executions tell their end first.
            if live.running() > 0 || self.0.registry.remove(view.id).is_none() {
                continue;
            }
            // Unwritten, the next service writes it off.
            let _unsaid = self.close_sandbox(&live, view, info.state, info.cause, "belljar");
            self.0.places.leave(&live.seat());
            if info.spec.workspace.is_none() {
                // Nothing of it is wanted any more.
                let _later = live.sandbox.destroy();
            }
        }
    }

    /// Takes over what other belljars on this host made meanwhile.
    fn find_strangers(&self) -> super::Result<()> {
        for info in self.0.provider.list()? {
            let known = self.0.registry.sandbox(info.id).is_some()
                || !info.state.is_live()
                || super::pool::is_pooled(&info.spec)
                || self.store().sandbox(info.id)?.is_some();
            if !known {
                drop(self.adopt_one(self.0.provider.find(info.id)?));
            }
        }
        Ok(())
    }

    fn measure(&self) {
        let time = now();
        let measured = self.0.registry.sandboxes().into_iter().filter_map(|live| {
            if live.running() == 0 && live.view().last_activity.plus(QUIET) < time {
                live.sandbox.rest();
            }
            let usage = live.sandbox.usage().ok()?;
            live.measure(usage);
            Some(Sample { sandbox: live.view().id, time, usage })
        });
        let samples: Vec<_> = measured.collect();
        if !samples.is_empty() {
            drop(self.0.recorder.append(Batch { samples, ..Batch::default() }));
        }
    }
}
