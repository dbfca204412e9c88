//! A batch on its way to the disk: the answer comes when it is durable, to a thread that waits or to a callback.
//!
//! Owns: the one-shot between a store's writer and whoever appended. Refuses: a runtime; an asynchronous caller bridges
//! with [`Pending::then`].

use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, PoisonError},
};

use super::{Appended, StoreError};

type Outcome = Result<Appended, StoreError>;
type Callback = Box<dyn FnOnce(Outcome) + Send>;

enum State {
    Waiting,
    Listening(Callback),
    Done(Outcome),
    Taken,
}

struct Slot {
    state: Mutex<State>,
    done: Condvar,
}

/// The appender's end.
#[must_use = "a batch is durable only once this has answered"]
pub struct Pending(Arc<Slot>);

/// The writer's end. Dropped without an answer, it answers [`StoreError::Closed`].
pub struct Promise(Option<Arc<Slot>>);

/// Makes both ends.
pub fn pending() -> (Promise, Pending) {
    let slot = Arc::new(Slot { state: Mutex::new(State::Waiting), done: Condvar::new() });
    (Promise(Some(Arc::clone(&slot))), Pending(slot))
}

impl Pending {
    /// One that is answered already.
    pub fn ready(outcome: Outcome) -> Self {
        let (promise, pending) = pending();
        promise.keep(outcome);
        pending
    }

    /// Blocks until the batch is durable.
    ///
    /// # Errors
    /// When it was refused or could not be written; then nothing of it was.
    pub fn wait(self) -> Outcome {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match std::mem::replace(&mut *state, State::Taken) {
                State::Done(outcome) => return outcome,
                other => *state = other,
            }
            state = self.0.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Calls back once the batch is durable or has failed: at once if it already is, else on the writer's thread,
    /// where the next commit waits for the callback's return. It must only hand the answer on.
    pub fn then(self, callback: impl FnOnce(Outcome) + Send + 'static) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Taken) {
            State::Done(outcome) => {
                drop(state);
                callback(outcome);
            }
            State::Waiting | State::Listening(_) | State::Taken => {
                *state = State::Listening(Box::new(callback));
            }
        }
    }
}

impl Promise {
    /// Answers.
    pub fn keep(mut self, outcome: Outcome) {
        self.answer(outcome);
    }

    fn answer(&mut self, outcome: Outcome) {
        let Some(slot) = self.0.take() else { return };
        let mut state = slot.state.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Taken) {
            State::Listening(callback) => {
                drop(state);
                callback(outcome);
            }
            State::Waiting | State::Done(_) | State::Taken => {
                *state = State::Done(outcome);
                slot.done.notify_one();
            }
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.answer(Err(StoreError::Closed));
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").finish_non_exhaustive()
    }
}

impl fmt::Debug for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Promise").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    const DONE: Appended = Appended { first: 1, last: 2 };

    #[test]
    fn an_answer_reaches_whoever_waits_before_or_after_it() {
        let (promise, waiting) = pending();
        let waiter = thread::spawn(|| waiting.wait());
        promise.keep(Ok(DONE));
        assert_eq!(waiter.join().unwrap().unwrap(), DONE);
        assert_eq!(Pending::ready(Ok(DONE)).wait().unwrap(), DONE);
    }

    #[test]
    fn an_answer_reaches_a_callback_set_before_or_after_it() {
        let (sender, receiver) = mpsc::channel();
        let (promise, before) = pending();
        let to = sender.clone();
        before.then(move |outcome| to.send(outcome).unwrap());
        promise.keep(Ok(DONE));
        assert_eq!(receiver.recv().unwrap().unwrap(), DONE);
        Pending::ready(Ok(DONE)).then(move |outcome| sender.send(outcome).unwrap());
        assert_eq!(receiver.recv().unwrap().unwrap(), DONE);
    }

    #[test]
    fn a_writer_that_vanishes_answers_too() {
        let (promise, waiting) = pending();
        drop(promise);
        assert!(matches!(waiting.wait(), Err(StoreError::Closed)));
    }
}
