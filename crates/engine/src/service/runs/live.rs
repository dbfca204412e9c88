//! Runs under way: their record, who watches them, and whether they are to stop.

use std::{
    collections::HashMap,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use belljar_domain::{Principal, RunId};
use belljar_ports::store::{Batch, Pending};

use super::{
    super::{Service, ServiceError, StartExecution, recorder::Recorder},
    record::Run,
};

/// Every run this service carries out.
#[derive(Debug, Default)]
pub(in crate::service) struct Runs {
    live: Mutex<HashMap<RunId, Arc<LiveRun>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// One run under way.
#[derive(Debug)]
pub(super) struct LiveRun {
    record: Mutex<Run>,
    stopped: AtomicBool,
    news: Condvar,
    /// What may not be written down: commands and prompt as they were given.
    pub(super) secrets: Secrets,
}

/// What a run's record says without its secrets.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    /// Each attempt's command, if they are known.
    pub(super) orders: Vec<StartExecution>,
    /// What all sandboxes of the run are like.
    pub(super) shape: Option<super::super::CreateSandbox>,
}

impl Runs {
    pub(super) fn insert(&self, run: Run, secrets: Secrets) -> Arc<LiveRun> {
        let id = run.id;
        let live = Arc::new(LiveRun {
            record: Mutex::new(run),
            stopped: AtomicBool::new(false),
            news: Condvar::new(),
            secrets,
        });
        self.lock().insert(id, Arc::clone(&live));
        live
    }

    pub(super) fn get(&self, id: RunId) -> Option<Arc<LiveRun>> {
        self.lock().get(&id).cloned()
    }

    pub(super) fn remove(&self, id: RunId) {
        self.lock().remove(&id);
    }

    pub(super) fn keep(&self, thread: JoinHandle<()>) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
    }

    /// Waits for the threads; they notice by themselves that the service closes.
    pub(in crate::service) fn join(&self) {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // A panic in it was reported when it happened.
            let _ended = thread.join();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Arc<LiveRun>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveRun {
    pub(super) fn view(&self) -> Run {
        self.lock().clone()
    }

    /// On whose behalf everything of the run is done.
    pub(super) fn who(&self) -> Principal {
        let run = self.lock();
        Principal { project: run.project.clone(), name: run.by.clone(), admin: run.by_admin }
    }

    /// Changes the record; the change is written down in the order of these calls, and shown at once.
    pub(super) fn change(&self, recorder: &Recorder, change: impl FnOnce(&mut Run)) -> Pending {
        self.change_with(recorder, Batch::default(), change)
    }

    /// As [`LiveRun::change`], along with something else.
    pub(super) fn change_with(
        &self,
        recorder: &Recorder,
        mut batch: Batch,
        change: impl FnOnce(&mut Run),
    ) -> Pending {
        let mut run = self.lock();
        change(&mut run);
        run.version += 1;
        batch.runs = vec![run.row()];
        // While the record is held, so that an older state is never written over a newer one.
        let pending = recorder.append(batch);
        self.news.notify_all();
        pending
    }

    /// Shows something that is not worth writing down by itself.
    pub(super) fn show(&self, change: impl FnOnce(&mut Run)) {
        let mut run = self.lock();
        let before = run.clone();
        change(&mut run);
        if *run != before {
            run.version += 1;
            self.news.notify_all();
        }
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Waits until the record is newer than `version`.
    pub(super) fn wait(&self, version: u64, patience: Duration) -> Run {
        let run = self.lock();
        let waited = self.news.wait_timeout_while(run, patience, |run| run.version <= version);
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Run> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a run goes no further.
#[derive(Debug)]
pub(super) enum Halt {
    /// Somebody stopped it.
    Stopped,
    /// The service ends; the next one carries on.
    Closing,
    /// It cannot be carried out.
    Broken(ServiceError),
}

impl From<ServiceError> for Halt {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Closing => Self::Closing,
            error => Self::Broken(error),
        }
    }
}

impl Service {
    /// Says whether a run is to go on.
    pub(super) fn goes_on(&self, run: &LiveRun) -> Result<(), Halt> {
        if self.0.closing.load(Ordering::Relaxed) {
            return Err(Halt::Closing);
        }
        if run.is_stopped() { Err(Halt::Stopped) } else { Ok(()) }
    }
}
