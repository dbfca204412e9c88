//! Runs: one task for several sandboxes, and which attempt is the best.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{Command, CreateSandbox};

/// A task for several sandboxes.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"attempts": 3, "prompt": "make the failing test pass", "command": ["claude", "-p", "make the failing test pass"], "check": "cargo test", "sandbox": {"workspace": "/home/me/project"}}))]
pub struct ForkRequest {
    /// What the task is called elsewhere; found again by it.
    #[schema(min_length = 1, max_length = 256)]
    pub task_id: Option<String>,
    /// What is to be done; every attempt finds it in `TASK_PROMPT`.
    #[schema(max_length = 131_008)]
    #[serde(default)]
    pub prompt: String,
    /// How many attempts; 3 when left out, or one for each of `agents`.
    #[schema(minimum = 1, maximum = 100)]
    pub attempts: Option<usize>,
    /// How many there may be at most; more than 10 have to be allowed here.
    #[schema(minimum = 1, maximum = 100)]
    pub max_forks: Option<usize>,
    /// What each attempt runs.
    pub command: Option<Command>,
    /// Different agents; repeated in turn until there are enough attempts.
    #[schema(max_items = 100)]
    #[serde(default)]
    pub agents: Vec<RunAgent>,
    /// What every sandbox of the run is like; `workspace` is what is worked on.
    #[serde(default)]
    pub sandbox: CreateSandbox,
    /// A line for the shell that makes the workspace ready, once for all attempts.
    #[schema(max_length = 65_536)]
    pub setup: Option<String>,
    /// A line for the shell that builds.
    #[schema(max_length = 65_536)]
    pub build: Option<String>,
    /// The line for the shell that must succeed.
    #[schema(max_length = 65_536)]
    pub check: Option<String>,
    /// A line for the shell that complains about code.
    #[schema(max_length = 65_536)]
    pub lint: Option<String>,
    /// A line for the shell that compares two attempts: both as JSON on its input, the better one's number as its answer.
    #[schema(max_length = 65_536)]
    pub judge: Option<String>,
    /// Where to post how the run ended, as JSON.
    #[schema(max_length = 2048)]
    pub webhook: Option<String>,
    /// How long an attempt may take; 600 when left out.
    #[schema(minimum = 1, maximum = 604_800)]
    pub timeout_seconds: Option<u64>,
    /// How long each of the commands above may take; 300 when left out.
    #[schema(minimum = 1, maximum = 604_800)]
    pub check_timeout_seconds: Option<u64>,
    /// How many attempts work at one time; the others wait.
    #[schema(minimum = 1, maximum = 100)]
    pub concurrency: Option<usize>,
    /// Whether what agents tell by hooks and telemetry is heard, and so what they cost; they are unless this is false.
    pub observe: Option<bool>,
    /// Keeps the attempts' sandboxes.
    #[serde(default)]
    pub keep: bool,
    /// Leaves the attempts' sandboxes running until their time is over, so that what they serve can be looked at.
    #[serde(default)]
    pub keep_alive: bool,
    /// A line for the shell that serves it, started in each of them when the attempt is over.
    #[schema(max_length = 65_536)]
    pub preview: Option<String>,
    /// What all attempts together may cost, in dollars.
    #[schema(minimum = 0, maximum = 1_000_000)]
    pub budget_usd: Option<f64>,
    /// Files to keep of each attempt, as patterns such as `target/*.xml`.
    #[schema(max_items = 64)]
    #[serde(default)]
    pub artifacts: Vec<String>,
    /// Paths no attempt may touch, as patterns.
    #[schema(max_items = 64)]
    #[serde(default)]
    pub protected: Vec<String>,
    /// Files that are worked on whatever they are called, as patterns; of other tests, settings and scripts that
    /// `check`, `lint` and `build` run, the base's are used.
    #[schema(max_items = 64)]
    #[serde(default)]
    pub subjects: Vec<String>,
    /// By what attempts are judged, where it differs.
    pub rules: Option<JudgingRules>,
}

/// Who makes an attempt.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunAgent {
    /// Its name for people.
    #[schema(max_length = 128)]
    pub name: Option<String>,
    /// What it runs; the run's own command when left out.
    pub command: Option<Command>,
    /// What it has in its environment that others have not.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// By what attempts are judged.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JudgingRules {
    /// How much `tests`, `quality`, `lint`, `scope`, `contributed`, `agreement` and `cost` count.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
    /// Attempts nearer to each other than this many points are a close call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close: Option<f64>,
    /// Gates that do not hold, such as `G4`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waive: Vec<String>,
}

/// A task given to several sandboxes.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Run {
    /// Its identity.
    #[schema(pattern = "^run_[0-9a-f]{32}$")]
    pub id: String,
    /// What the task is called elsewhere.
    pub task_id: String,
    /// Whose it is.
    pub project_id: String,
    /// Who asked for it.
    pub by: String,
    /// Where it stands.
    pub state: RunState,
    /// What went wrong with the run itself.
    pub trouble: Option<String>,
    /// What is to be done.
    pub prompt: String,
    /// What the attempts work on.
    pub workspace: String,
    /// The commit the workspace stood on, in a repository.
    pub base_commit: Option<String>,
    /// What the attempts started from; gone with the run unless it keeps its sandboxes.
    pub snapshot_id: Option<String>,
    /// How many attempts there are.
    pub attempts: usize,
    /// Who won: a person's choice before the judge's.
    pub winner_fork: Option<u32>,
    /// The winner's score, unless a person chose another.
    pub winner_score: Option<f64>,
    /// Why, in a sentence.
    pub reason: Option<String>,
    /// What a person chose.
    pub picked: Option<RunPick>,
    /// The attempt the judge chose, whatever a person says.
    pub judged_fork: Option<u32>,
    /// What all attempts together may cost, in dollars.
    pub budget_usd: Option<f64>,
    /// What they were reckoned to cost, by what such attempts cost before.
    pub estimate_usd: Option<f64>,
    /// What they have cost so far, as far as their agents tell.
    pub cost_usd: Option<f64>,
    /// The attempts.
    pub forks: Vec<RunFork>,
    /// When it began.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When the attempts could begin.
    #[schema(format = DateTime)]
    pub ready_at: Option<String>,
    /// When it was over.
    #[schema(format = DateTime)]
    pub ended_at: Option<String>,
    /// Counts its changes; `…/wait` waits for a higher one.
    pub version: u64,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// What its attempts start from is being made.
    Preparing,
    /// Attempts are at work, or wait for their turn.
    Running,
    /// The attempts are over and are being looked at.
    Judging,
    /// It is over; whether there is a winner is another matter.
    Finished,
    /// It could not be carried out.
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// Whoever carried it out went away.
    Interrupted,
}

/// One attempt.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RunFork {
    /// Its number, from 0.
    pub fork: u32,
    /// Who makes it.
    pub name: Option<String>,
    /// The branch it works on.
    pub branch: String,
    /// How it is doing: `queued`, `starting`, `running`, `collecting`, and once its command is over how that ended:
    /// `finished`, `failed`, `killed`, `timed_out`, `denied`, `over_budget`, `cancelled`.
    pub status: String,
    /// How it ended, in words.
    pub said: Option<String>,
    /// Its sandbox.
    pub sandbox_id: Option<String>,
    /// Its command.
    pub execution_id: Option<String>,
    /// The command that serves what it made, if it is to.
    pub preview_execution_id: Option<String>,
    /// Why it is not served, where it should be.
    pub preview_error: Option<String>,
    /// The command's exit code.
    pub exit_code: Option<u8>,
    /// What it does at this moment, as far as its agent tells.
    pub activity: Option<String>,
    /// What it has cost, in dollars, as far as its agent tells.
    pub cost: Option<f64>,
    /// How long its command took.
    pub duration_ms: Option<u64>,
    /// When its command began.
    #[schema(format = DateTime)]
    pub started_at: Option<String>,
    /// When it ended.
    #[schema(format = DateTime)]
    pub ended_at: Option<String>,
    /// How large its changes are.
    pub diff_stat: Option<RunDiffStat>,
    /// Its changes as a patch: an artifact.
    pub patch: Option<String>,
}

/// How large changes are.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct RunDiffStat {
    /// Files.
    pub files: usize,
    /// Lines that came.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
}

/// What a person chose.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RunPick {
    /// Which attempt.
    pub fork: u32,
    /// Why.
    pub reason: String,
    /// Who chose.
    pub by: Option<String>,
}

/// A choice to be made.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"fork": 2, "reason": "it is the only one that keeps the old interface"}))]
pub struct SelectRequest {
    /// Which attempt.
    pub fork: u32,
    /// Why.
    #[schema(min_length = 10, max_length = 1000)]
    pub reason: String,
}

/// Runs, counted.
#[derive(Debug, Clone, Serialize, ToSchema)]
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

/// Which runs.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RunQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[a-z]{3}_[0-9a-f]{32}$")]
    pub cursor: Option<String>,
    /// Of this project.
    #[param(pattern = "^[a-z0-9][a-z0-9_-]{0,62}$")]
    pub project_id: Option<String>,
    /// In this state.
    pub state: Option<RunState>,
    /// Of this task.
    #[param(max_length = 256)]
    pub task_id: Option<String>,
    /// Begun then or later.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// Begun before.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
}

/// Since when runs are counted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RunStatsQuery {
    /// Begun then or later.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
}

/// What is waited for.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RunWaitQuery {
    /// Answers once the run's version is higher than this, or it is over.
    pub version: u64,
    /// How long to wait at most; the run as it is then is the answer.
    #[param(minimum = 0, maximum = 60, default = 30)]
    pub timeout_seconds: Option<u64>,
}

/// Which changes.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RunChangesQuery {
    /// What is compared: an attempt's number, or `base`.
    #[param(pattern = "^(base|[0-9]{1,3})$", default = "base")]
    pub from: Option<String>,
    /// With what: an attempt's number; the winner's when left out.
    #[param(pattern = "^(base|[0-9]{1,3})$")]
    pub to: Option<String>,
    /// How it is written.
    #[param(inline)]
    pub format: Option<ChangesFormat>,
}

/// How a report is written.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RunReportQuery {
    /// As Markdown, or as one HTML file.
    #[param(inline)]
    pub format: Option<RunReportFormat>,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunReportFormat {
    /// For wherever Markdown is shown.
    Markdown,
    /// One file for a browser.
    Html,
}

/// How changes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangesFormat {
    /// Both sides of every file.
    Json,
    /// For `git apply`; files that are no text are only named.
    Patch,
}
