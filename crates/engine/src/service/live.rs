//! What is alive now: sandboxes and executions, by their identities.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Condvar, Mutex, PoisonError, RwLock,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use belljar_domain::{ExecutionId, SandboxId, Timestamp, Usage};
use belljar_ports::{Sandbox, store::LogStream};
use tokio::sync::watch;

use super::{ExecutionView, SandboxView, now, quotas::Seat, surplus::Surplus};

/// Everything alive.
#[derive(Debug, Default)]
pub(super) struct Registry {
    sandboxes: RwLock<HashMap<SandboxId, Arc<LiveSandbox>>>,
    executions: RwLock<HashMap<ExecutionId, Arc<LiveExecution>>>,
    /// Sandboxes that were announced and are being made.
    making: Mutex<HashSet<SandboxId>>,
    made: Condvar,
}

/// A sandbox that was alive when last looked at.
#[derive(Debug)]
pub(super) struct LiveSandbox {
    pub(super) sandbox: Box<dyn Sandbox>,
    view: Mutex<SandboxView>,
    last_activity: AtomicI64,
    running: AtomicUsize,
    measured: Mutex<Option<Usage>>,
    /// Changes whenever there may be more of its log.
    news: watch::Sender<u64>,
}

/// Pieces of a log as they were written, by stream and where they begin.
type RawPieces = HashMap<(LogStream, u64), Vec<u8>>;

/// A command that was running when last looked at.
#[derive(Debug)]
pub(super) struct LiveExecution {
    pub(super) sandbox: Arc<LiveSandbox>,
    view: Mutex<ExecutionView>,
    over: Condvar,
    news: watch::Sender<u64>,
    /// Pieces of its output as they were written, while whoever started it hears it themselves.
    raw: Mutex<Option<RawPieces>>,
    /// What it writes after its log is full, unless that is left out.
    pub(super) surplus: Option<Surplus>,
}

impl Registry {
    pub(super) fn sandbox(&self, id: SandboxId) -> Option<Arc<LiveSandbox>> {
        self.sandboxes.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    pub(super) fn sandboxes(&self) -> Vec<Arc<LiveSandbox>> {
        self.sandboxes.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub(super) fn insert(&self, live: LiveSandbox) -> Arc<LiveSandbox> {
        let live = Arc::new(live);
        let id = live.view().id;
        self.sandboxes.write().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::clone(&live));
        live
    }

    /// Says that a sandbox is being made, until [`Registry::made`] is called.
    pub(super) fn making(&self, id: SandboxId) {
        self.making.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }

    pub(super) fn made(&self, id: SandboxId) {
        self.making.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        self.made.notify_all();
    }

    /// Waits for one that is being made; at once for any other.
    pub(super) fn await_made(&self, id: SandboxId) {
        let making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.made.wait_while(making, |making| making.contains(&id)));
    }

    /// Takes a sandbox out; only one caller gets it.
    pub(super) fn remove(&self, id: SandboxId) -> Option<Arc<LiveSandbox>> {
        self.sandboxes.write().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }

    /// Puts one back that was taken out and is alive after all.
    pub(super) fn put_back(&self, live: Arc<LiveSandbox>) {
        let id = live.view().id;
        self.sandboxes.write().unwrap_or_else(PoisonError::into_inner).insert(id, live);
    }

    pub(super) fn execution(&self, id: ExecutionId) -> Option<Arc<LiveExecution>> {
        self.executions.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    pub(super) fn begin(&self, execution: LiveExecution) -> Arc<LiveExecution> {
        let execution = Arc::new(execution);
        let id = execution.view().id;
        execution.sandbox.running.fetch_add(1, Ordering::Relaxed);
        self.executions.write().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::clone(&execution));
        execution
    }

    pub(super) fn end(&self, id: ExecutionId) {
        let ended = self.executions.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(ended) = ended {
            ended.sandbox.running.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(super) fn running(&self) -> usize {
        self.executions.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl LiveSandbox {
    pub(super) fn new(sandbox: Box<dyn Sandbox>, view: SandboxView) -> Self {
        let last_activity = AtomicI64::new(view.last_activity.as_micros());
        Self {
            sandbox,
            view: Mutex::new(view),
            last_activity,
            running: AtomicUsize::new(0),
            measured: Mutex::default(),
            news: watch::Sender::new(0),
        }
    }

    pub(super) fn view(&self) -> SandboxView {
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner).clone();
        view.last_activity = Timestamp::from_micros(self.last_activity.load(Ordering::Relaxed));
        view
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut SandboxView)) -> SandboxView {
        change(&mut self.view.lock().unwrap_or_else(PoisonError::into_inner));
        self.view()
    }

    pub(super) fn touch(&self) {
        self.last_activity.store(now().as_micros(), Ordering::Relaxed);
    }

    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Remembers what it used just now.
    pub(super) fn measure(&self, usage: Usage) {
        *self.measured.lock().unwrap_or_else(PoisonError::into_inner) = Some(usage);
    }

    /// What it used when it was last measured.
    pub(super) fn measured(&self) -> Option<Usage> {
        *self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    pub(super) fn seat(&self) -> Seat {
        let view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        Seat { project: view.project.clone(), agent: view.spec.agent.clone() }
    }
}

impl LiveExecution {
    pub(super) fn new(sandbox: Arc<LiveSandbox>, view: ExecutionView) -> Self {
        Self {
            sandbox,
            view: Mutex::new(view),
            over: Condvar::new(),
            news: watch::Sender::new(0),
            raw: Mutex::default(),
            surplus: None,
        }
    }

    /// One of whose output nothing is left out.
    pub(super) fn whole(self, surplus: Surplus) -> Self {
        Self { surplus: Some(surplus), ..self }
    }

    /// One whose starter hears what it writes as it is written.
    pub(super) fn heard(self) -> Self {
        Self { raw: Mutex::new(Some(RawPieces::default())), ..self }
    }

    /// Whoever started it hears it no more.
    pub(super) fn unheard(&self) {
        *self.raw.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(surplus) = &self.surplus {
            surplus.left();
        }
    }

    /// Whether somebody follows it now.
    pub(super) fn is_followed(&self) -> bool {
        self.news.receiver_count() > 0
    }

    /// Keeps pieces for whoever started it; for nobody else. How far it may be ahead of them bounds what is kept.
    pub(super) fn offer(&self, stream: LogStream, pieces: &mut Vec<(u64, Vec<u8>)>) {
        let pieces = std::mem::take(pieces);
        if pieces.is_empty() {
            return;
        }
        if let Some(raw) = &mut *self.raw.lock().unwrap_or_else(PoisonError::into_inner) {
            raw.extend(pieces.into_iter().map(|(offset, bytes)| ((stream, offset), bytes)));
        }
    }

    /// How a piece of the log was written, if it is not the same; told once.
    pub(super) fn raw(&self, stream: LogStream, offset: u64) -> Option<Vec<u8>> {
        self.raw.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.remove(&(stream, offset))
    }

    pub(super) fn view(&self) -> ExecutionView {
        self.view.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut ExecutionView)) -> ExecutionView {
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut view);
        view.clone()
    }

    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Says that there is more to read, or that it is over.
    pub(super) fn ring(&self) {
        self.news.send_modify(|turn| *turn += 1);
        self.sandbox.news.send_modify(|turn| *turn += 1);
        self.over.notify_all();
    }

    /// Waits for the end, as long as patience lasts.
    pub(super) fn wait(&self, patience: Duration) -> ExecutionView {
        let deadline = Instant::now() + patience;
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        while view.report.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            view = self.over.wait_timeout(view, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        view.clone()
    }
}
