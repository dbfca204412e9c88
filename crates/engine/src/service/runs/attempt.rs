//! One attempt: a sandbox forked from the base, its command, and what came of it.
//!
//! Owns: that an attempt is always where its record says, so that whoever reads the record can carry on from there.
//! Refuses: to let its trouble touch another: whatever goes wrong here is how this attempt ended.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use belljar_domain::{EventKind, EventStatus, ExitReport, KillCause, Outcome, Principal, SandboxId};
use belljar_ports::store::{Batch, SandboxFilter};
use belljar_quality::contest::Ending;
use serde_json::json;

use super::{
    super::{Service, ServiceError, StartExecution, new_execution_id, now},
    base::{FORK, ROLE, RUN},
    live::{For, Halt, LiveRun},
    money::overspent,
    record::{Attempt, Phase, Run},
    shell,
};

/// How often a waiting attempt looks for room, and a running one whether it is to go on.
const LOOK: Duration = Duration::from_millis(200);
/// How often it is looked how much a running one has changed.
const GAUGE: Duration = Duration::from_secs(3);
/// How long the end of a command that was killed is waited for.
const BURIAL: Duration = Duration::from_secs(5);
/// Gives the attempt a branch of its own without touching a file.
const BRANCH: &str = r#"git update-ref "refs/heads/$1" HEAD 2>/dev/null
git symbolic-ref HEAD "refs/heads/$1""#;

impl Service {
    /// Takes an attempt from where it is to the end of its command, with its changes read.
    pub(super) fn make_attempt(&self, run: &LiveRun, fork: u32) -> Result<(), Halt> {
        loop {
            let view = run.view();
            let Some(attempt) = view.attempt(fork) else { return Ok(()) };
            let step = match attempt.phase {
                Phase::Queued | Phase::Starting => self.launch(run, &view, attempt),
                Phase::Running => self.follow_attempt(run, &view, attempt),
                Phase::Collecting => {
                    self.collect(run, &view, attempt);
                    Ok(())
                }
                Phase::Waiting | Phase::Judging | Phase::Over => return Ok(()),
            };
            match step {
                Ok(()) => {}
                Err(Halt::Closing) => return Err(Halt::Closing),
                Err(Halt::Stopped) => self.end_attempt(run, fork, Ending::Cancelled, None, Phase::Over),
                Err(Halt::Broken(error)) => {
                    self.end_attempt(run, fork, ending_of(&error), None, Phase::Over);
                    self.dismiss(run, fork);
                }
            }
        }
    }

    fn launch(&self, run: &LiveRun, view: &Run, attempt: &Attempt) -> Result<(), Halt> {
        let (who, fork) = (run.who(), attempt.fork);
        self.goes_on(run)?;
        let given = run.given(For::Attempts)?;
        let Some(entrant) = given.entrant(fork) else {
            return Err(ServiceError::Conflict("nobody was asked to make it".to_owned()).into());
        };
        // What an earlier service may have made for it and not written down.
        if attempt.phase == Phase::Starting {
            self.dismiss(run, fork);
        }
        drop(run.change(&self.0.recorder, |run| with(run, fork, |one| one.phase = Phase::Starting)));
        let mut wanted = self.sandbox_order(run, view, "attempt", Some(fork))?;
        wanted.env.extend(entrant.env.clone());
        wanted.env.insert("BELLJAR_BRANCH".to_owned(), attempt.branch.clone());
        let made = loop {
            match self.create(&who, wanted.clone()) {
                Ok(made) => break made,
                // Queued, not refused.
                Err(ServiceError::Quota(_)) => {
                    self.goes_on(run)?;
                    thread::sleep(LOOK);
                }
                Err(error) => return Err(error.into()),
            }
        };
        run.show(|run| with(run, fork, |one| one.sandbox = Some(made.id)));
        if view.ground.is_top() {
            let argv = ["sh", "-c", BRANCH, "sh", &attempt.branch].map(str::to_owned).to_vec();
            let branch = StartExecution { argv, env: shell::quiet_git(), ..StartExecution::default() };
            // A branch of its own is a courtesy; without git inside nobody misses it.
            let _courtesy = self.run(&who, made.id, branch);
        }
        let execution = new_execution_id();
        let mut env = self.lend_an_ear(run, view, (fork, execution), &made)?;
        env.insert("TASK_PROMPT".to_owned(), given.prompt.clone());
        let order = StartExecution {
            id: Some(execution),
            argv: entrant.command.clone(),
            env,
            timeout: Some(view.timeout),
            ..StartExecution::default()
        };
        let started = self.start(&who, made.id, order)?;
        let mut event = self.sandbox_event(&made.project, &who.name, made.id, EventKind::AgentStarted);
        event.run = Some(view.id);
        event.execution = Some(started.id);
        event.actor.id.clone_from(&view.shape.agent);
        event.payload =
            json!({ "by": who.name, "fork": fork, "task_id": view.task, "name": attempt.entrant.name });
        let told = run.change_with(&self.0.recorder, Batch::of_events(vec![event]), |run| {
            with(run, fork, |one| {
                one.execution = Some(started.id);
                one.started = Some(started.started);
                one.phase = Phase::Running;
            });
        });
        told.wait()?;
        Ok(())
    }

    fn follow_attempt(&self, run: &LiveRun, view: &Run, attempt: &Attempt) -> Result<(), Halt> {
        let (who, fork) = (run.who(), attempt.fork);
        let Some(id) = attempt.execution else {
            return Err(ServiceError::Conflict("its command was lost".to_owned()).into());
        };
        let mut gauged = Instant::now();
        let report = loop {
            let seen = self.wait(&who, id, LOOK)?;
            if let Some(report) = seen.report {
                break report;
            }
            if let Err(halt) = self.goes_on(run) {
                if matches!(halt, Halt::Stopped) {
                    // It may be over by now.
                    let _over = self.kill(&who, id);
                    let _last = self.wait(&who, id, BURIAL);
                    self.dismiss(run, fork);
                }
                return Err(halt);
            }
            self.observe(run, view, attempt);
            if gauged.elapsed() >= GAUGE {
                self.gauge(run, view, attempt);
                gauged = Instant::now();
            }
            if let Some(why) = overspent(&run.view()) {
                let _over = self.kill(&who, id);
                let _last = self.wait(&who, id, BURIAL);
                self.end_attempt(run, fork, Ending::OverBudget { why }, None, Phase::Collecting);
                return Ok(());
            }
        };
        self.end_attempt(run, fork, ending(&report), Some(&report), Phase::Collecting);
        Ok(())
    }

    fn end_attempt(
        &self,
        run: &LiveRun,
        fork: u32,
        ending: Ending,
        report: Option<&ExitReport>,
        phase: Phase,
    ) {
        let (who, view) = (run.who(), run.view());
        let mut event = self.event(&who, EventKind::AgentStopped);
        event.run = Some(view.id);
        event.sandbox = view.attempt(fork).and_then(|attempt| attempt.sandbox);
        event.actor.id.clone_from(&view.shape.agent);
        event.status = Some(status(&ending));
        event.reason = Some(ending.said());
        event.duration_ms = report.map(|report| report.duration.as_millis());
        event.payload = json!({ "by": who.name, "fork": fork, "task_id": view.task });
        let told = run.change_with(&self.0.recorder, Batch::of_events(vec![event]), |run| {
            with(run, fork, |one| {
                one.ending = Some(ending);
                one.ended = Some(now());
                one.activity = None;
                one.phase = phase;
                if let Some(report) = report {
                    one.exit_code = Some(report.exit_code());
                    one.cause = report.cause;
                    one.ended = one.started.map(|start| start.plus(report.duration.as_duration()));
                }
            });
        });
        // Unwritten, the next service finds the command over and says the same.
        let _later = told.wait();
    }

    /// Removes whatever sandboxes there are of an attempt.
    pub(super) fn dismiss(&self, run: &LiveRun, fork: u32) {
        run.hear_out(fork);
        let view = run.view();
        for id in self.sandboxes_of_run(&run.who(), &view, &[(ROLE, "attempt"), (FORK, &fork.to_string())]) {
            // One that is over already is fine; one that cannot be removed has a clock.
            let _later = self.delete(&run.who(), id);
        }
    }

    /// The sandboxes of a run that carry these labels too.
    pub(super) fn sandboxes_of_run(
        &self,
        who: &Principal,
        view: &Run,
        labels: &[(&str, &str)],
    ) -> Vec<SandboxId> {
        let mut wanted = BTreeMap::from([(RUN.to_owned(), view.id.to_string())]);
        wanted.extend(labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let filter = SandboxFilter { labels: wanted, ..SandboxFilter::default() };
        let found = self.sandboxes(who, filter, None, belljar_ports::store::PAGE_LIMIT).unwrap_or_default();
        let there = found.into_iter().filter(|one| one.state != belljar_domain::SandboxState::Destroyed);
        there.map(|one| one.id).collect()
    }
}

pub(super) fn with(run: &mut Run, fork: u32, change: impl FnOnce(&mut Attempt)) {
    if let Some(attempt) = run.attempt_mut(fork) {
        change(attempt);
    }
}

fn ending(report: &ExitReport) -> Ending {
    match (report.cause, report.outcome) {
        (Some(KillCause::Timeout | KillCause::Ttl | KillCause::Idle), _) => {
            Ending::TimedOut { after_ms: report.duration.as_millis() }
        }
        (Some(cause), _) => Ending::Killed { why: cause.to_string() },
        (None, Outcome::Code(code)) => Ending::Exited { code: code.into() },
        (None, Outcome::Signal(signal)) => Ending::Killed { why: format!("signal {signal}") },
    }
}

fn ending_of(error: &ServiceError) -> Ending {
    let why = error.to_string();
    match error {
        ServiceError::Denied(_) | ServiceError::Refused { .. } | ServiceError::ApprovalRequired { .. } => {
            Ending::Denied { why }
        }
        ServiceError::Budget { .. } => Ending::OverBudget { why },
        _ => Ending::Failed { why },
    }
}

fn status(ending: &Ending) -> EventStatus {
    match ending {
        Ending::Exited { code: 0 } => EventStatus::Success,
        Ending::TimedOut { .. } => EventStatus::Timeout,
        Ending::Cancelled => EventStatus::Cancelled,
        _ => EventStatus::Failure,
    }
}
