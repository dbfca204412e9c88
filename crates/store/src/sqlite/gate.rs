//! What readers wait at: whoever was answered finds what the answer was about, although it may still be on its way from
//! the daybook into the database.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use belljar_ports::StoreError;

/// How long a reader waits; posting takes less than a millisecond unless the disk fails.
const PATIENCE: Duration = Duration::from_secs(5);

struct Numbers {
    noted: AtomicU64,
    posted: AtomicU64,
    /// Somebody waits.
    wanted: AtomicBool,
    waiting: Mutex<()>,
    moved: Condvar,
    hurry: Box<dyn Fn() + Send + Sync>,
}

/// The numbers of the last entry written down and of the last one posted.
#[derive(Clone)]
pub(crate) struct Gate(Arc<Numbers>);

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Gate").field(&self.0.noted).field(&self.0.posted).finish()
    }
}

impl Gate {
    /// A gate at which whoever has to wait asks for hurry.
    pub(crate) fn new(hurry: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(Numbers {
            noted: AtomicU64::new(0),
            posted: AtomicU64::new(0),
            wanted: AtomicBool::new(false),
            waiting: Mutex::new(()),
            moved: Condvar::new(),
            hurry: Box::new(hurry),
        }))
    }

    /// An entry is about to be answered.
    pub(crate) fn noted(&self, number: u64) {
        self.0.noted.store(number, Ordering::Release);
    }

    /// Everything up to this one can be read.
    pub(crate) fn posted(&self, number: u64) {
        let waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.posted.store(number, Ordering::Release);
        drop(waiting);
        self.0.moved.notify_all();
    }

    /// Says whether somebody waits who did not when this was last asked.
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.wanted.swap(false, Ordering::AcqRel)
    }

    /// Waits until everything that was answered can be read.
    pub(crate) fn pass(&self) -> Result<(), StoreError> {
        let noted = self.0.noted.load(Ordering::Acquire);
        let is_behind = || self.0.posted.load(Ordering::Acquire) < noted;
        if !is_behind() {
            return Ok(());
        }
        self.0.wanted.store(true, Ordering::Release);
        (self.0.hurry)();
        let waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.moved.wait_timeout_while(waiting, PATIENCE, |()| is_behind());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        if is_behind() { Err(late()) } else { Ok(()) }
    }
}

fn late() -> StoreError {
    let why = "the disk may be full or failing; what was acknowledged is safe in the daybook";
    StoreError::backend("read what was written last, since it could not be posted yet", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_waits_for_what_was_answered_and_not_for_more() {
        let gate = Gate::new(|| {});
        gate.pass().unwrap();
        gate.noted(1);
        let reader = std::thread::spawn({
            let gate = gate.clone();
            move || gate.pass()
        });
        gate.posted(1);
        reader.join().unwrap().unwrap();
    }
}
