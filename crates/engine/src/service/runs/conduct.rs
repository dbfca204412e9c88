//! A run from beginning to end, by its own thread, or carried on where another service left it.
//!
//! Owns: the order of things, and that nothing of a run that is over is left but what was asked for. Refuses: to lose a
//! result because another failed.

use std::{
    num::NonZero,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use belljar_domain::{EventKind, EventStatus, RunState};
use belljar_ports::store::Batch;
use belljar_quality::contest::{Ending, Judgement};
use serde_json::{Value, json};

use super::{
    super::{Result, Service, ServiceError, now},
    live::{For, Halt, LiveRun},
    record::{Phase, Run},
};

impl Service {
    /// Has a run carried out by a thread of its own.
    pub(super) fn conduct(&self, run: Arc<LiveRun>) -> Result<()> {
        let service = self.clone();
        let thread = thread::Builder::new().name("run".to_owned()).spawn(move || service.carry_out(&run));
        let thread =
            thread.map_err(|error| ServiceError::Unsupported(format!("no thread for the run: {error}")))?;
        self.0.runs.keep(thread);
        Ok(())
    }

    fn carry_out(&self, run: &LiveRun) {
        let (state, trouble) = match self.stages(run) {
            Ok(()) => (RunState::Finished, None),
            // The next service carries on from what is written down.
            Err(Halt::Closing) => return,
            Err(Halt::Stopped) => (RunState::Cancelled, None),
            Err(Halt::Broken(error)) => (RunState::Failed, Some(error.to_string())),
        };
        self.conclude(run, state, trouble);
    }

    fn stages(&self, run: &LiveRun) -> std::result::Result<(), Halt> {
        if run.view().snapshot.is_none() {
            self.lay_ground(run)?;
            self.give_back(run);
        }
        self.all_attempts(run)?;
        self.goes_on(run)?;
        drop(run.change(&self.0.recorder, |run| run.state = RunState::Judging));
        self.adjudicate(run)
    }

    /// Has every attempt made, as many at one time as there may be. Whatever becomes of one, the others go on.
    fn all_attempts(&self, run: &LiveRun) -> std::result::Result<(), Halt> {
        let view = run.view();
        let forks: Vec<u32> = view.attempts.iter().map(|attempt| attempt.fork).collect();
        self.abreast(view.concurrency, &forks, |fork| self.make_attempt(run, fork))
    }

    /// Does something for several attempts, so many at one time. The first reason to halt is the answer, after all that
    /// had begun is done.
    pub(super) fn abreast(
        &self,
        width: usize,
        forks: &[u32],
        work: impl Fn(u32) -> std::result::Result<(), Halt> + Sync,
    ) -> std::result::Result<(), Halt> {
        let next = AtomicUsize::new(0);
        let one_by_one = || {
            while let Some(fork) = forks.get(next.fetch_add(1, Ordering::Relaxed)) {
                work(*fork)?;
            }
            Ok(())
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..width.min(forks.len())).map(|_| scope.spawn(one_by_one)).collect();
            let ends = workers.into_iter().map(|worker| {
                let broke = || Halt::Broken(ServiceError::Conflict("an attempt's thread broke".to_owned()));
                worker.join().unwrap_or_else(|_panicked| Err(broke()))
            });
            // All are waited for before one of them speaks.
            let ends: Vec<std::result::Result<(), Halt>> = ends.collect();
            ends.into_iter().collect()
        })
    }

    /// Writes down how a run ended, and removes what it needed.
    pub(super) fn conclude(&self, run: &LiveRun, state: RunState, trouble: Option<String>) {
        self.clear(run);
        self.give_back(run);
        let (who, view) = (run.who(), run.view());
        let mut ended = self.event(&who, EventKind::RunEnded);
        ended.run = Some(view.id);
        ended.status = Some(status(state));
        ended.reason.clone_from(&trouble);
        ended.duration_ms = u64::try_from((now().as_micros() - view.created.as_micros()) / 1000).ok();
        ended.payload = json!({ "by": who.name, "task_id": view.task, "attempts": view.attempts.len() });
        let selected = view.judgement.as_ref().filter(|_| state == RunState::Finished).map(|judgement| {
            let mut event = self.event(&who, EventKind::BestOfNSelected);
            event.run = Some(view.id);
            event.status = Some(judgement.winner_fork.map_or(EventStatus::Failure, |_| EventStatus::Success));
            event.reason = Some(judgement.reason.clone());
            event.payload = selection(&view, judgement);
            event
        });
        let batch = Batch::of_events(selected.into_iter().chain([ended]).collect());
        let told = run.change_with(&self.0.recorder, batch, |run| {
            run.state = state;
            run.trouble = trouble;
            run.ended = Some(now());
            for attempt in &mut run.attempts {
                attempt.phase = Phase::Over;
                attempt.activity = None;
                attempt.ending.get_or_insert(Ending::Cancelled);
            }
        });
        // Unwritten, the next service finds the run unfinished and ends it again.
        let _later = told.wait();
        self.0.runs.remove(view.id);
        let wanted = run.given(For::Trial).ok().and_then(|given| given.trial.webhook.clone());
        if let Some(url) = wanted {
            self.tell_end(&run.view(), &url);
        }
    }

    /// Removes what the run needed and nobody asked to keep. What cannot be removed has a clock.
    fn clear(&self, run: &LiveRun) {
        let (who, view) = (run.who(), run.view());
        for id in self.sandboxes_of_run(&who, &view, &[]) {
            let stays = view.keep || view.keep_alive;
            let is_kept = stays && view.attempts.iter().any(|attempt| attempt.sandbox == Some(id));
            if !is_kept {
                let _later = self.delete(&who, id);
            }
        }
        if let Some(snapshot) = view.snapshot.filter(|_| !view.keep && !view.keep_alive) {
            let _later = self.delete_snapshot(&who, snapshot);
        }
    }
}

/// How many commands of the judge go on at one time: they are at work, where agents mostly wait.
pub(super) fn judges() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// What is told of a selection: who won, and what everybody's score is made of.
fn selection(view: &Run, judgement: &Judgement) -> Value {
    let breakdown: Vec<Value> = judgement
        .forks
        .iter()
        .map(|standing| {
            json!({
                "fork": standing.fork, "status": standing.status, "eligible": standing.eligible,
                "score": standing.score, "breakdown": standing.breakdown,
            })
        })
        .collect();
    json!({
        "task_id": view.task, "attempts": judgement.attempts, "winner_fork": judgement.winner_fork,
        "winner_score": judgement.winner_score, "all_scores": judgement.all_scores, "reason": judgement.reason,
        "breakdown": breakdown,
    })
}

const fn status(state: RunState) -> EventStatus {
    match state {
        RunState::Finished => EventStatus::Success,
        RunState::Cancelled => EventStatus::Cancelled,
        RunState::Preparing
        | RunState::Running
        | RunState::Judging
        | RunState::Failed
        | RunState::Interrupted => EventStatus::Failure,
    }
}
