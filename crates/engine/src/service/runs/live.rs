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
    super::{CreateSandbox, Service, ServiceError, recorder::Recorder},
    hearing::Ear,
    order::{Entrant, Trial},
    record::{Run, Whole},
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
    secrets: Secrets,
    /// Who listens to which attempt.
    ears: Mutex<HashMap<u32, Box<dyn Ear>>>,
}

/// What may not be written down: what was asked for, as it was asked.
#[derive(Debug)]
pub(super) struct Secrets {
    given: Given,
    /// Which parts of it are all that was given: after a crash there is only the record.
    whole: Whole,
    /// What all sandboxes of the run are like, unless there was a crash.
    shape: Option<CreateSandbox>,
}

/// Prompt, commands and environments of a run, which its record has without their secrets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Given {
    pub(super) prompt: String,
    pub(super) entrants: Vec<Entrant>,
    pub(super) trial: Trial,
    pub(super) preview: Option<String>,
}

/// Who needs what was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    /// The attempts that are to begin.
    Attempts,
    /// Whoever makes ready, judges and shows.
    Trial,
}

impl Given {
    /// What a record says of it.
    pub(super) fn of(run: &Run) -> Self {
        Self {
            prompt: run.prompt.clone(),
            entrants: run.attempts.iter().map(|attempt| attempt.entrant.clone()).collect(),
            trial: run.trial.clone(),
            preview: run.preview.clone(),
        }
    }

    /// Which parts of it a record has, too.
    pub(super) fn kept(&self, record: &Self) -> Whole {
        let said = self.prompt == record.prompt;
        Whole {
            attempts: said && self.entrants == record.entrants,
            trial: said && self.trial == record.trial && self.preview == record.preview,
        }
    }

    pub(super) fn entrant(&self, fork: u32) -> Option<&Entrant> {
        self.entrants.get(usize::try_from(fork).ok()?)
    }
}

impl Secrets {
    /// All there is to know, from whoever asked.
    pub(super) const fn told(given: Given, shape: CreateSandbox) -> Self {
        Self { given, whole: Whole { attempts: true, trial: true }, shape: Some(shape) }
    }

    /// What is left of it after a crash.
    pub(super) fn left(run: &Run) -> Self {
        Self { given: Given::of(run), whole: run.whole, shape: None }
    }
}

impl Runs {
    pub(super) fn insert(&self, run: Run, secrets: Secrets) -> Arc<LiveRun> {
        let id = run.id;
        let live = Arc::new(LiveRun {
            record: Mutex::new(run),
            stopped: AtomicBool::new(false),
            news: Condvar::new(),
            secrets,
            ears: Mutex::default(),
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

    /// What was asked for, with its secrets. After a crash those are gone, and a marker in their place is used for nothing.
    pub(super) fn given(&self, whose: For) -> Result<&Given, Halt> {
        let Secrets { given, whole, .. } = &self.secrets;
        let (is_whole, what) = match whose {
            For::Attempts => (whole.attempts, "its command, its environment or its prompt holds"),
            For::Trial => (whole.trial, "a command of the trial or the prompt holds"),
        };
        if is_whole {
            return Ok(given);
        }
        let why = format!(
            "the server ended meanwhile, and {what} a secret, which is not kept; ask for the run again"
        );
        Err(ServiceError::Conflict(why).into())
    }

    /// What all its sandboxes are like, if that is still known.
    pub(super) const fn shape(&self) -> Option<&CreateSandbox> {
        self.secrets.shape.as_ref()
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

    /// Listens to an attempt until its command is over.
    pub(super) fn hear(&self, fork: u32, ear: Box<dyn Ear>) {
        self.ears().insert(fork, ear);
    }

    /// Hears an attempt's last words.
    pub(super) fn hear_out(&self, fork: u32) {
        let ear = self.ears().remove(&fork);
        if let Some(ear) = ear {
            ear.end();
        }
    }

    fn ears(&self) -> MutexGuard<'_, HashMap<u32, Box<dyn Ear>>> {
        self.ears.lock().unwrap_or_else(PoisonError::into_inner)
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
