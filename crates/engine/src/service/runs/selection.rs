//! What people do with a run that is over: compare, choose, count.

use belljar_domain::{EventKind, Principal, RunId, RunState, Timestamp, Usd};
use belljar_ports::store::{Batch, RunFilter};
use belljar_quality::contest::{Contest, Ending, Evidence, Judgement, Pick, judge};
use serde_json::{Value, json};

use super::{
    super::{Result, Service, ServiceError},
    judgement,
    record::Run,
};
use crate::changes::Bundle;

/// The bounds of a reason, in characters.
const REASON: std::ops::RangeInclusive<usize> = 10..=1000;
/// Runs looked at for statistics.
const COUNTED: usize = 1000;

/// One side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What all attempts started from.
    Base,
    /// What an attempt made of it.
    Attempt(u32),
}

/// Runs, counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunStats {
    /// How many there were.
    pub runs: u64,
    /// How many are under way.
    pub under_way: u64,
    /// How many ended as they should.
    pub finished: u64,
    /// How many of those had a winner.
    pub with_winner: u64,
    /// How often a person chose another than the judge.
    pub overruled: u64,
    /// Attempts made.
    pub attempts: u64,
    /// Attempts that might have won.
    pub eligible: u64,
    /// Mean score of the winners.
    pub winner_score: Option<f64>,
    /// What was spent, in dollars, as far as known.
    pub cost: f64,
}

impl Service {
    /// Records that a person chose an attempt, and why. Choosing again replaces the choice.
    ///
    /// # Errors
    /// When the run is under way, there is no such attempt, or the reason says too little.
    pub fn pick(&self, who: &Principal, id: RunId, fork: u32, reason: &str) -> Result<Run> {
        let run = self.run_of(who, id)?;
        if !run.state.is_over() {
            return Err(ServiceError::Conflict(format!(
                "run {id} is {}; wait for its end or stop it",
                run.state
            )));
        }
        let length = reason.trim().chars().count();
        if !REASON.contains(&length) {
            return Err(ServiceError::Invalid(format!(
                "a reason has {} to {} characters, not {length}: say why this attempt is the one to keep",
                REASON.start(),
                REASON.end()
            )));
        }
        let attempt =
            run.attempt(fork).ok_or_else(|| ServiceError::NotFound(format!("attempt {fork} in run {id}")))?;
        if attempt.bundle.is_none() {
            return Err(ServiceError::Conflict(format!("attempt {fork} left no changes to keep")));
        }
        let judged = run.judgement.as_ref().and_then(|judgement| judgement.winner_fork);
        let pick = Pick { fork, reason: reason.trim().to_owned(), by: Some(who.name.clone()) };
        let mut event = self.event(who, EventKind::AttemptPicked);
        event.run = Some(id);
        event.reason = Some(pick.reason.clone());
        event.payload = json!({
            "by": who.name, "task_id": run.task, "fork": fork, "judged": judged, "overruled": judged != Some(fork),
        });
        let mut run = run;
        run.version += 1;
        if let Some(judgement) = &mut run.judgement {
            judgement.picked = Some(pick.clone());
        }
        run.pick = Some(pick);
        let batch = Batch { runs: vec![run.row()], events: vec![event], ..Batch::default() };
        self.0.recorder.commit(batch)?;
        Ok(run)
    }

    /// The attempt that won.
    ///
    /// # Errors
    /// When there is none.
    pub fn winner_of(&self, who: &Principal, id: RunId) -> Result<u32> {
        let run = self.run_of(who, id)?;
        run.winner().ok_or_else(|| {
            let why = if run.state.is_over() { "has no winner; name an attempt" } else { "is under way" };
            ServiceError::Conflict(format!("run {id} {why}"))
        })
    }

    /// How a run was judged, as it is printed. One that was never judged has no winner, and every attempt how it ended.
    ///
    /// # Errors
    /// When there is none of theirs, or it is under way.
    pub fn run_results(&self, who: &Principal, id: RunId) -> Result<Value> {
        let run = self.run_of(who, id)?;
        if !run.state.is_over() {
            return Err(ServiceError::Conflict(format!(
                "run {id} is {}; its results come at its end",
                run.state
            )));
        }
        let judgement = judgement_of(&run);
        let mut value = serde_json::to_value(judgement).unwrap_or_default();
        if let Some(fields) = value.as_object_mut() {
            fields.insert("state".to_owned(), run.state.as_str().into());
        }
        Ok(value)
    }

    /// What leads from one side to another.
    ///
    /// # Errors
    /// When there is no such run or attempt, or an attempt left nothing.
    pub fn run_changes(&self, who: &Principal, id: RunId, from: Side, to: Side) -> Result<Bundle> {
        let run = self.run_of(who, id)?;
        let side = |side: Side| match side {
            Side::Base => Ok(Bundle::default()),
            Side::Attempt(fork) => {
                let attempt = run
                    .attempt(fork)
                    .ok_or_else(|| ServiceError::NotFound(format!("attempt {fork} in run {id}")))?;
                self.bundle_of(attempt)?
                    .ok_or_else(|| ServiceError::Conflict(format!("attempt {fork} left no changes")))
            }
        };
        if from == Side::Base {
            return side(to);
        }
        Ok(Bundle::between(&side(from)?, &side(to)?))
    }

    /// Counts runs begun since a moment.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn run_stats(&self, who: &Principal, from: Option<Timestamp>) -> Result<RunStats> {
        let (mut stats, mut below, mut scores) = (RunStats::default(), None, Vec::new());
        let mut left = COUNTED;
        while left > 0 {
            let filter = RunFilter { from, ..RunFilter::default() };
            let page = self.runs(who, filter, below, left.min(100))?;
            let Some(last) = page.last() else { break };
            below = Some(last.id);
            left = left.saturating_sub(page.len());
            page.iter().for_each(|run| count(run, &mut stats, &mut scores));
        }
        let many = f64::from(u32::try_from(scores.len()).unwrap_or(u32::MAX));
        stats.winner_score = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / many);
        Ok(stats)
    }
}

/// How a run was judged; one that never was has no winner.
pub(super) fn judgement_of(run: &Run) -> Judgement {
    run.judgement.clone().unwrap_or_else(|| unjudged(run))
}

fn unjudged(run: &Run) -> Judgement {
    let bare = run.attempts.iter().map(|attempt| {
        let ending = attempt.ending.clone().unwrap_or(Ending::Cancelled);
        Evidence::new(attempt.fork, ending, attempt.duration_ms().unwrap_or(0))
    });
    let reason =
        run.trouble.clone().unwrap_or_else(|| format!("The run was {} before it was judged.", run.state));
    let contest = Contest { evidence: bare.collect(), ..judgement::contest(run) };
    Judgement { winner_fork: None, winner_score: None, reason, ..judge(&contest) }
}

fn count(run: &Run, stats: &mut RunStats, scores: &mut Vec<f64>) {
    stats.runs += 1;
    stats.under_way += u64::from(!run.state.is_over());
    stats.finished += u64::from(run.state == RunState::Finished);
    stats.attempts += run.attempts.len() as u64;
    let judged = run.judgement.as_ref().and_then(|judgement| judgement.winner_fork);
    stats.with_winner += u64::from(judged.is_some());
    stats.overruled += u64::from(run.pick.as_ref().is_some_and(|pick| Some(pick.fork) != judged));
    if let Some(judgement) = &run.judgement {
        stats.eligible += judgement.forks.iter().filter(|standing| standing.eligible).count() as u64;
        scores.extend(judgement.winner_score);
    }
    let spent = run.attempts.iter().filter_map(|attempt| attempt.cost).map(Usd::micros);
    #[expect(clippy::cast_precision_loss, reason = "cents are what people read")]
    let dollars = spent.sum::<u64>() as f64 / 1e6;
    stats.cost += dollars;
}
