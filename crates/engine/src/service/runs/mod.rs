//! Best of N: one task, several sandboxes, and a judge who says which attempt is the best, or that none is good enough.
//!
//! Owns: runs as use cases: the base all attempts start from ([`base`]), each attempt ([`attempt`]), what it left
//! ([`collect`]), the trial in fresh sandboxes ([`trial`]), evidence and judgement ([`judgement`]), and the order of it all ([`conduct`]). Refuses: to judge (that
//! is `quality::contest`, of evidence alone) and to touch the workspace: what becomes of an attempt is for a person to say.
//!
//! A run is what its record says. Whoever reads it can carry on: sandboxes and commands outlive the service, and every
//! step is written down before the next is taken.

mod attempt;
mod base;
mod collect;
mod completion;
mod conduct;
mod evidence;
mod glob;
mod ground;
mod harness;
mod hearing;
mod judgement;
mod live;
mod money;
mod order;
mod record;
mod report;
mod resume;
mod selection;
mod shell;
mod trial;

use std::{sync::Arc, time::Duration};

use belljar_domain::{Principal, RunId, RunState, Span};
use belljar_ports::store::{RunFilter, RunRow};
use uuid::Uuid;

pub use ground::{Ground, Repository};
pub(super) use hearing::unheard;
pub use hearing::{Ear, Listener};
pub(super) use live::Runs;
pub use order::{Entrant, NewRun, Trial, USUAL};
pub use record::{Attempt, Phase, Run, Shape};
pub use report::ReportFormat;
pub use selection::{RunStats, Side};

use self::{
    live::{Given, Secrets},
    order::ABREAST,
    record::Whole,
};
use super::{Result, Service, ServiceError, now, quotas::Seat};

/// How long an attempt's command may take unless asked otherwise.
const TIMEOUT: Span = Span::millis(600_000);
/// How long an attempt's sandbox lives at least: the fork profile's.
const LIFE: Span = Span::millis(1_800_000);
/// How much longer it lives than its command, so that its changes can be read.
const AFTER: u64 = 120_000;

impl Service {
    /// Begins a run; it goes on by itself.
    ///
    /// # Errors
    /// When it makes no sense, or is not allowed.
    pub fn start_run(&self, who: &Principal, order: NewRun) -> Result<Run> {
        let workspace = order.check()?.clone();
        // What the gate says of the first sandbox it says of all; better heard now than by each of them.
        self.spec(who, &order.shape)?;
        self.find_room(who, &order)?;
        let id = order.id.unwrap_or_else(|| RunId::from_uuid(Uuid::now_v7()));
        let timeout = order.timeout.filter(|timeout| timeout.as_millis() > 0).unwrap_or(TIMEOUT);
        let ttl = order.shape.ttl.unwrap_or(LIFE);
        let ttl = Span::millis(ttl.as_millis().max(timeout.as_millis() + AFTER));
        let count = order.entrants.len();
        let branch = |fork: usize| format!("belljar/{}/{fork}", id.short());
        let attempts = order.entrants.iter().cloned().enumerate().map(|(fork, entrant)| {
            Attempt::new(u32::try_from(fork).unwrap_or(u32::MAX), entrant, branch(fork))
        });
        let run = Run {
            id,
            project: who.project.clone(),
            by: who.name.clone(),
            by_admin: who.admin,
            task: order.task.clone().unwrap_or_else(|| id.short()),
            prompt: order.prompt.clone(),
            state: RunState::Preparing,
            trouble: None,
            attended: self.0.settings.attended,
            observed: !order.unobserved,
            whole: Whole::default(),
            ground: Ground::of(workspace.as_path()),
            harness: harness::harness(workspace.as_path(), &order.trial, &order.prompt),
            subjects: order.subjects.clone(),
            shape: Shape::of(&order.shape, workspace, ttl),
            snapshot: None,
            trial: order.trial.clone(),
            timeout,
            concurrency: order.concurrency.unwrap_or(ABREAST).min(count),
            keep: order.keep,
            keep_alive: order.keep_alive || order.preview.is_some(),
            preview: order.preview.clone(),
            budget: order.budget,
            estimate: self.estimate(who, &order)?,
            reserved: None,
            artifacts: order.artifacts.clone(),
            attempts: attempts.collect(),
            judged: Vec::new(),
            judgement: None,
            pick: None,
            created: now(),
            ready: None,
            ended: None,
            version: 0,
        };
        let run = Run { reserved: self.set_aside(who, &run)?, ..run };
        let secrets = Secrets::told(Given::of(&run), order.shape);
        let live = self.0.runs.insert(self.kept_run(&run)?, secrets);
        let begun = live.change(&self.0.recorder, |_| {}).wait();
        if let Err(error) = begun {
            self.0.runs.remove(id);
            return Err(error.into());
        }
        self.conduct(Arc::clone(&live)).inspect_err(|_| self.0.runs.remove(id))?;
        Ok(live.view())
    }

    /// Attempts that live on keep their seats, and the judge needs one: a run that can never have enough would wait for
    /// the clocks of its own sandboxes.
    fn find_room(&self, who: &Principal, order: &NewRun) -> Result<()> {
        let seat = Seat { project: who.project.clone(), agent: order.shape.agent.clone() };
        let (room, count) = (self.0.places.room(&seat), order.entrants.len());
        let lives_on = order.keep_alive || order.preview.is_some();
        if lives_on && count >= room {
            return Err(ServiceError::Invalid(format!(
                "{count} attempts that live on and their judge need {} sandboxes at once, and there may be {room}; make fewer, or raise the limit in belljar.toml",
                count + 1
            )));
        }
        Ok(())
    }

    /// A record as it may be kept and shown.
    fn kept_run(&self, run: &Run) -> Result<Run> {
        let mut record = serde_json::to_value(run).unwrap_or_default();
        self.0.recorder.redactor().value(&mut record);
        let kept = serde_json::from_value::<Run>(record)
            .map_err(|error| ServiceError::Invalid(format!("the run cannot be written down: {error}")))?;
        Ok(Run { whole: Given::of(run).kept(&Given::of(&kept)), ..kept })
    }

    /// Shows a run.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn run_of(&self, who: &Principal, id: RunId) -> Result<Run> {
        let run = match self.0.runs.get(id) {
            Some(live) => Some(live.view()),
            None => self.store().run(id)?.and_then(read),
        };
        run.filter(|run| who.sees(&run.project)).ok_or_else(|| ServiceError::NotFound(format!("run {id}")))
    }

    /// Waits until there is something newer to know of a run than its state with this version.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn watch_run(&self, who: &Principal, id: RunId, version: u64, patience: Duration) -> Result<Run> {
        let run = self.run_of(who, id)?;
        if run.version > version || run.state.is_over() {
            return Ok(run);
        }
        let waited = self.0.runs.get(id).map(|live| live.wait(version, patience));
        // Over since, it is read as it was written down.
        waited.map_or_else(|| self.run_of(who, id), Ok)
    }

    /// Lists runs, newest first, from just below one of them.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn runs(
        &self,
        who: &Principal,
        mut filter: RunFilter,
        below: Option<RunId>,
        limit: usize,
    ) -> Result<Vec<Run>> {
        filter.project = who.scope().or(filter.project);
        let rows = self.store().runs(&filter, below, limit)?;
        let current =
            |row: RunRow| self.0.runs.get(row.id).map_or_else(|| read(row), |live| Some(live.view()));
        Ok(rows.into_iter().filter_map(current).collect())
    }

    /// Stops a run: its attempts end, their sandboxes go. One that is over already is fine.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn stop_run(&self, who: &Principal, id: RunId) -> Result<Run> {
        let run = self.run_of(who, id)?;
        let Some(live) = self.0.runs.get(id) else { return Ok(run) };
        live.stop();
        Ok(live.view())
    }
}

fn read(row: RunRow) -> Option<Run> {
    serde_json::from_value(row.record).ok()
}
