//! Runs as they travel.

use belljar_api as api;
use belljar_domain::{RunState, Span, Usd};
use belljar_engine::service::{Attempt, Entrant, NewRun, Run, RunStats, Side, Trial};
use belljar_ports::store::RunFilter;

use super::order;
use crate::{
    extract::{moment, parsed},
    problem::{Answer, Failure},
};

/// How many attempts there are unless somebody says.
const ATTEMPTS: usize = 3;
const MOST: usize = 100;

/// A run to be begun.
pub(crate) fn new_run(request: api::ForkRequest) -> Answer<NewRun> {
    let entrants = entrants(&request)?;
    let mut trial = Trial {
        setup: request.setup,
        build: request.build,
        check: request.check,
        lint: request.lint,
        judge: request.judge,
        webhook: request.webhook,
        protected: request.protected,
        ..Trial::default()
    };
    if let Some(seconds) = request.check_timeout_seconds {
        trial.patience = seconds_of("check_timeout_seconds", seconds)?;
    }
    if let Some(rules) = &request.rules {
        let rules = serde_json::to_value(rules).unwrap_or_default();
        trial.rules =
            serde_json::from_value(rules).map_err(|error| Failure::field("rules", error.to_string()))?;
    }
    Ok(NewRun {
        id: None,
        task: request.task_id,
        prompt: request.prompt,
        entrants,
        max_forks: request.max_forks,
        shape: order(request.sandbox)?,
        trial,
        timeout: request.timeout_seconds.map(|seconds| seconds_of("timeout_seconds", seconds)).transpose()?,
        concurrency: request.concurrency,
        unobserved: request.observe == Some(false),
        keep: request.keep,
        keep_alive: request.keep_alive,
        preview: request.preview,
        budget: request.budget_usd.map(dollars).transpose()?,
        artifacts: request.artifacts,
        subjects: request.subjects,
    })
}

fn seconds_of(field: &str, seconds: u64) -> Answer<Span> {
    if (1..=604_800).contains(&seconds) {
        Ok(Span::seconds(seconds))
    } else {
        Err(Failure::field(field, "must be from 1 to 604800"))
    }
}

fn dollars(amount: f64) -> Answer<Usd> {
    if !(0.0..=1e6).contains(&amount) {
        return Err(Failure::field("budget_usd", "must be from 0 to 1000000"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within bounds")]
    let micros = (amount * 1e6).round() as u64;
    Ok(Usd::from_micros(micros))
}

/// One entrant for each attempt: agents take turns until there are enough.
fn entrants(request: &api::ForkRequest) -> Answer<Vec<Entrant>> {
    let own = request.command.as_ref().map(argv);
    let agents: Vec<Entrant> = if request.agents.is_empty() {
        let command =
            own.ok_or_else(|| Failure::field("command", "say what each attempt runs, or name `agents`"))?;
        vec![Entrant { name: None, command, env: std::collections::BTreeMap::new() }]
    } else {
        let each = request.agents.iter().enumerate().map(|(at, agent)| {
            let command = agent.command.as_ref().map(argv).or_else(|| own.clone());
            let command = command.ok_or_else(|| {
                Failure::field(
                    format!("agents[{at}].command"),
                    "is needed where the run has no command of its own",
                )
            })?;
            Ok(Entrant { name: agent.name.clone(), command, env: agent.env.clone() })
        });
        each.collect::<Answer<_>>()?
    };
    let several = if request.agents.is_empty() { ATTEMPTS } else { agents.len() };
    let count = request.attempts.unwrap_or(several);
    if !(1..=MOST).contains(&count) {
        return Err(Failure::field("attempts", format!("must be from 1 to {MOST}")));
    }
    Ok(agents.iter().cycle().take(count).cloned().collect())
}

fn argv(command: &api::Command) -> Vec<String> {
    match command {
        api::Command::Argv(words) => words.clone(),
        api::Command::Shell(line) => ["sh", "-c", line].map(str::to_owned).to_vec(),
    }
}

pub(crate) fn run(run: Run) -> api::Run {
    let winner_fork = run.winner();
    let judgement = run.judgement.as_ref();
    let judged = judgement.and_then(|judgement| judgement.winner_fork);
    api::Run {
        id: run.id.to_string(),
        task_id: run.task,
        project_id: run.project.to_string(),
        by: run.by,
        state: state(run.state),
        trouble: run.trouble,
        prompt: run.prompt,
        workspace: run.shape.workspace.to_string(),
        base_commit: run.ground.repository.and_then(|repository| repository.head),
        snapshot_id: run.snapshot.map(|id| id.to_string()),
        attempts: run.attempts.len(),
        winner_fork,
        winner_score: judgement
            .filter(|_| judged == winner_fork)
            .and_then(|judgement| judgement.winner_score),
        reason: judgement.map(|judgement| judgement.reason.clone()),
        judged_fork: judged,
        budget_usd: run.budget.map(in_dollars),
        estimate_usd: run.estimate.map(in_dollars),
        cost_usd: run.attempts.iter().filter_map(|attempt| attempt.cost).reduce(Usd::plus).map(in_dollars),
        picked: run.pick.map(|pick| api::RunPick { fork: pick.fork, reason: pick.reason, by: pick.by }),
        forks: run.attempts.into_iter().map(fork).collect(),
        created_at: run.created.to_string(),
        ready_at: run.ready.map(|time| time.to_string()),
        ended_at: run.ended.map(|time| time.to_string()),
        version: run.version,
    }
}

#[expect(clippy::cast_precision_loss, reason = "millionths of a dollar are fine enough")]
fn in_dollars(amount: Usd) -> f64 {
    amount.micros() as f64 / 1e6
}

fn fork(attempt: Attempt) -> api::RunFork {
    api::RunFork {
        fork: attempt.fork,
        status: attempt.status().to_owned(),
        duration_ms: attempt.duration_ms(),
        said: attempt.said(),
        name: attempt.entrant.name,
        branch: attempt.branch,
        sandbox_id: attempt.sandbox.map(|id| id.to_string()),
        execution_id: attempt.execution.map(|id| id.to_string()),
        preview_execution_id: attempt.preview.map(|id| id.to_string()),
        preview_error: attempt.unserved,
        exit_code: attempt.exit_code,
        activity: attempt.activity,
        cost: attempt.cost.map(in_dollars),
        started_at: attempt.started.map(|time| time.to_string()),
        ended_at: attempt.ended.map(|time| time.to_string()),
        diff_stat: attempt.extent.map(|extent| api::RunDiffStat {
            files: extent.files,
            added: extent.additions,
            removed: extent.deletions,
        }),
        patch: attempt.patch.map(|digest| digest.to_string()),
    }
}

const fn state(state: RunState) -> api::RunState {
    match state {
        RunState::Preparing => api::RunState::Preparing,
        RunState::Running => api::RunState::Running,
        RunState::Judging => api::RunState::Judging,
        RunState::Finished => api::RunState::Finished,
        RunState::Failed => api::RunState::Failed,
        RunState::Cancelled => api::RunState::Cancelled,
        RunState::Interrupted => api::RunState::Interrupted,
    }
}

const fn asked_state(state: api::RunState) -> RunState {
    match state {
        api::RunState::Preparing => RunState::Preparing,
        api::RunState::Running => RunState::Running,
        api::RunState::Judging => RunState::Judging,
        api::RunState::Finished => RunState::Finished,
        api::RunState::Failed => RunState::Failed,
        api::RunState::Cancelled => RunState::Cancelled,
        api::RunState::Interrupted => RunState::Interrupted,
    }
}

pub(crate) fn run_filter(query: &api::RunQuery) -> Answer<RunFilter> {
    Ok(RunFilter {
        project: parsed("project_id", query.project_id.as_deref())?,
        states: query.state.map(asked_state).into_iter().collect(),
        task: query.task_id.clone(),
        from: moment("from", query.from.as_deref())?,
        until: moment("until", query.until.as_deref())?,
    })
}

/// One side of a comparison.
pub(crate) fn side(field: &str, text: &str) -> Answer<Side> {
    match text {
        "base" => Ok(Side::Base),
        number => number
            .parse()
            .map(Side::Attempt)
            .map_err(|_wrong| Failure::field(field, "must be `base` or the number of an attempt")),
    }
}

pub(crate) const fn run_stats(stats: &RunStats) -> api::RunStats {
    api::RunStats {
        runs: stats.runs,
        under_way: stats.under_way,
        finished: stats.finished,
        with_winner: stats.with_winner,
        overruled: stats.overruled,
        attempts: stats.attempts,
        eligible: stats.eligible,
        winner_score: stats.winner_score,
        cost: stats.cost,
    }
}
