//! Wakes the thread that folds, and lets others wait for it.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

#[derive(Debug, Default)]
struct Progress {
    rung: bool,
    /// The furthest place somebody has waited for.
    wanted: u64,
    stop: bool,
    done: u64,
}

/// How long new events wait for others to be folded with, unless somebody wants the records. Whoever waits for an
/// acknowledgement has the processors meanwhile.
const BREATH: Duration = Duration::from_millis(50);

/// See the module.
#[derive(Debug, Default)]
pub(in crate::service) struct Bell {
    progress: Mutex<Progress>,
    moved: Condvar,
}

impl Bell {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There are new events.
    pub(in crate::service) fn ring(&self) {
        if !std::mem::replace(&mut self.lock().rung, true) {
            self.moved.notify_all();
        }
    }

    /// No more will come.
    pub(in crate::service) fn stop(&self) {
        self.lock().stop = true;
        self.moved.notify_all();
    }

    pub(super) fn has_stopped(&self) -> bool {
        self.lock().stop
    }

    /// Says whether events have come since the last wait.
    pub(super) fn has_rung(&self) -> bool {
        self.lock().rung
    }

    pub(super) fn done(&self) -> u64 {
        self.lock().done
    }

    /// Everything up to a place is in the records.
    pub(super) fn reached(&self, place: u64) {
        let mut progress = self.lock();
        progress.done = progress.done.max(place);
        drop(progress);
        self.moved.notify_all();
    }

    /// Waits for the next ring, or a while.
    pub(super) fn wait(&self, most: Option<Duration>) {
        let mut progress = self.lock();
        if let Some(most) = most {
            let idle = |progress: &mut Progress| !progress.stop;
            progress =
                self.moved.wait_timeout_while(progress, most, idle).unwrap_or_else(PoisonError::into_inner).0;
        } else {
            let idle = |progress: &mut Progress| !progress.rung && !progress.stop;
            progress = self.moved.wait_while(progress, idle).unwrap_or_else(PoisonError::into_inner);
            let calm = |progress: &mut Progress| progress.done >= progress.wanted && !progress.stop;
            progress = self
                .moved
                .wait_timeout_while(progress, BREATH, calm)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        progress.rung = false;
    }

    /// Waits until a place is reached; false when that takes too long.
    pub(super) fn reaches(&self, place: u64, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let mut progress = self.lock();
        if progress.done < place {
            progress.wanted = progress.wanted.max(place);
            self.moved.notify_all();
        }
        while progress.done < place && !progress.stop {
            let Some(left) = until.checked_duration_since(Instant::now()) else { break };
            progress = self.moved.wait_timeout(progress, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        progress.done >= place
    }
}
