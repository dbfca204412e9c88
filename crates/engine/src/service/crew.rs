//! Work nobody waits for, done after the answer by a few threads that come when they are needed and go when they are
//! not. Refuses: anything that must survive the process; whoever hands work in knows what finds it again after a crash.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// The most threads at one time.
const MOST: usize = 8;
/// How long one waits for more.
const PATIENCE: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce() + Send>;

/// The threads and what is left for them to do.
#[derive(Debug, Clone, Default)]
pub(super) struct Crew(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
    done: Condvar,
}

#[derive(Default)]
struct State {
    /// By when they are due, and by when they came.
    jobs: BTreeMap<(Instant, u64), Job>,
    came: u64,
    threads: usize,
    idle: usize,
    /// Idle threads that were called and are not awake yet.
    called: usize,
    /// Nothing is put off any more.
    hurry: bool,
}

impl fmt::Debug for State {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} jobs, {} threads, {} of them idle", self.jobs.len(), self.threads, self.idle)
    }
}

impl Crew {
    /// Has a job done soon.
    pub(super) fn later(&self, job: impl FnOnce() + Send + 'static) {
        self.after(Duration::ZERO, job);
    }

    /// Has a job done after a while.
    pub(super) fn after(&self, wait: Duration, job: impl FnOnce() + Send + 'static) {
        let mut state = self.0.lock();
        state.came += 1;
        let place = (Instant::now() + wait, state.came);
        state.jobs.insert(place, Box::new(job));
        let is_next = state.jobs.first_key_value().is_some_and(|(first, _)| *first == place);
        if !is_next && state.idle > 0 {
            // Whoever waits for the first of them sees to this one, too.
            return;
        }
        if state.idle > state.called {
            state.called += 1;
            drop(state);
            self.0.work.notify_one();
        } else if state.threads < MOST {
            let shared = Arc::clone(&self.0);
            match thread::Builder::new().name("crew".to_owned()).spawn(move || shared.toil()) {
                Ok(_) => state.threads += 1,
                // Whoever is there does it in time; if nobody is, this thread does.
                Err(_) if state.threads > 0 => {}
                Err(_) => {
                    let jobs = std::mem::take(&mut state.jobs);
                    drop(state);
                    jobs.into_values().for_each(|job| job());
                }
            }
        }
    }

    /// Has everything done now and waits for it, as long as patience lasts.
    pub(super) fn settle(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        let mut state = self.0.lock();
        state.hurry = true;
        self.0.work.notify_all();
        while !state.jobs.is_empty() || state.idle < state.threads {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.0.done.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.hurry = false;
    }
}

impl State {
    /// A job that is due, or how long to wait for one.
    fn next(&mut self) -> Result<Job, Duration> {
        let Some(first) = self.jobs.first_entry() else { return Err(PATIENCE) };
        let wait = first.key().0.saturating_duration_since(Instant::now());
        if wait.is_zero() || self.hurry { Ok(first.remove()) } else { Err(wait.min(PATIENCE)) }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn toil(&self) {
        let mut state = self.lock();
        loop {
            let wait = match state.next() {
                Ok(job) => {
                    // Somebody else waits for the next meanwhile.
                    if !state.jobs.is_empty() && state.idle > state.called {
                        state.called += 1;
                        self.work.notify_one();
                    }
                    drop(state);
                    // A job that panics has said so; the others are still to be done.
                    let _said = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
                    state = self.lock();
                    continue;
                }
                Err(wait) => wait,
            };
            state.idle += 1;
            self.done.notify_all();
            let (woken, waited) = self.work.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            state.called = state.called.saturating_sub(1).min(state.idle);
            if waited.timed_out() && state.jobs.is_empty() {
                state.threads -= 1;
                self.done.notify_all();
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    };

    use super::*;

    #[test]
    fn everything_is_done_by_few() {
        let (crew, done) = (Crew::default(), Arc::new(AtomicUsize::new(0)));
        for _job in 0..1000 {
            let done = Arc::clone(&done);
            crew.later(move || {
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        crew.settle(Duration::from_secs(60));
        assert_eq!(done.load(Ordering::Relaxed), 1000);
        assert!(crew.0.lock().threads <= MOST);
    }

    #[test]
    fn what_is_put_off_is_done_at_the_end() {
        let (crew, done) = (Crew::default(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&done);
        crew.after(Duration::from_secs(3600), move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        crew.settle(Duration::from_secs(60));
        assert_eq!(done.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn one_that_takes_long_keeps_nobody_waiting() {
        let crew = Crew::default();
        let (release, held) = mpsc::channel::<()>();
        crew.later(move || held.recv().unwrap_or_default());
        let (tell, told) = mpsc::channel();
        crew.later(move || tell.send(()).unwrap_or_default());
        told.recv_timeout(Duration::from_secs(60)).unwrap();
        crew.settle(Duration::from_millis(1));
        drop(release);
        crew.settle(Duration::from_secs(60));
        assert_eq!(crew.0.lock().jobs.len(), 0);
    }
}
