//! A run as it is kept and shown: what was asked, how far each attempt is, what was decided.
//!
//! Owns: the whole truth about a run. Whoever carries one on after a crash needs nothing else, but for secrets, which
//! are not kept.

use belljar_domain::{
    Digest, ExecutionId, HostPath, KillCause, ProjectId, RunId, RunState, SandboxId, SnapshotId, Span,
    Timestamp, Usd,
};
use belljar_ports::store::RunRow;
use belljar_quality::contest::{Ending, Evidence, JudgeAnswer, Judgement, Pick, Status, is_restored};
use serde::{Deserialize, Serialize};

use super::{
    super::CreateSandbox,
    glob::matches,
    ground::Ground,
    order::{Entrant, Trial},
};
use crate::changes::Extent;

/// One task given to several sandboxes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its identity.
    pub id: RunId,
    /// Whose it is.
    pub project: ProjectId,
    /// Who asked for it.
    pub by: String,
    /// Whether every project is open to them, as the admin's are.
    pub by_admin: bool,
    /// What they call the task.
    pub task: String,
    /// What is to be done.
    pub prompt: String,
    /// Where it stands.
    pub state: RunState,
    /// What went wrong with the run itself.
    #[serde(default)]
    pub trouble: Option<String>,
    /// Whether the process that carries it out is the one that asked for it; they end together.
    pub attended: bool,
    /// Whether its agents are heard.
    #[serde(default)]
    pub observed: bool,
    /// Whether what is kept of its commands and prompt is all of it: secrets are not.
    #[serde(default)]
    pub whole: Whole,
    /// What every sandbox of it is like.
    pub shape: Shape,
    /// What the workspace was when it began.
    pub ground: Ground,
    /// What the attempts start from.
    #[serde(default)]
    pub snapshot: Option<SnapshotId>,
    /// By what they are judged.
    pub trial: Trial,
    /// The scripts of the workspace its commands run; the base's are used.
    #[serde(default)]
    pub harness: Vec<String>,
    /// Files that are worked on whatever they are called, as patterns; nothing of them is put back.
    #[serde(default)]
    pub subjects: Vec<String>,
    /// How long an attempt's command may take.
    pub timeout: Span,
    /// How many work at one time.
    pub concurrency: usize,
    /// Whether the attempts' sandboxes stay.
    pub keep: bool,
    /// Whether they go on living afterwards.
    #[serde(default)]
    pub keep_alive: bool,
    /// What is started in each of them then.
    #[serde(default)]
    pub preview: Option<String>,
    /// What all attempts together may cost.
    #[serde(default)]
    pub budget: Option<Usd>,
    /// What they are reckoned to cost, by what such attempts cost before.
    #[serde(default)]
    pub estimate: Option<Usd>,
    /// What was set aside for them.
    #[serde(default)]
    pub reserved: Option<String>,
    /// Files to keep of each attempt, as patterns.
    #[serde(default)]
    pub artifacts: Vec<String>,
    /// The attempts, by number.
    pub attempts: Vec<Attempt>,
    /// What a judge said about two of them.
    #[serde(default)]
    pub judged: Vec<JudgeAnswer>,
    /// What came out.
    #[serde(default)]
    pub judgement: Option<Judgement>,
    /// What a person chose.
    #[serde(default)]
    pub pick: Option<Pick>,
    /// When it began.
    pub created: Timestamp,
    /// When the attempts could begin.
    #[serde(default)]
    pub ready: Option<Timestamp>,
    /// When it was over.
    #[serde(default)]
    pub ended: Option<Timestamp>,
    /// Counts its changes, for whoever watches it.
    #[serde(default)]
    pub version: u64,
}

/// Which parts of what was asked for a record has as they were given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whole {
    /// What attempts need to begin: commands, environments, the prompt.
    pub attempts: bool,
    /// What making ready, judging and showing needs: its commands, the prompt.
    pub trial: bool,
}

/// What the sandboxes of a run are like, as far as it is needed again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// The directory the attempts work on.
    pub workspace: HostPath,
    /// How long each may live.
    pub ttl: Span,
    /// The agent they belong to.
    #[serde(default)]
    pub agent: Option<String>,
}

/// One of the attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Its number, from 0.
    pub fork: u32,
    /// Who makes it.
    pub entrant: Entrant,
    /// The branch it works on, in a repository.
    pub branch: String,
    /// How far it is.
    pub phase: Phase,
    /// How its command ended.
    #[serde(default)]
    pub ending: Option<Ending>,
    /// Its sandbox.
    #[serde(default)]
    pub sandbox: Option<SandboxId>,
    /// Its command.
    #[serde(default)]
    pub execution: Option<ExecutionId>,
    /// The command that serves what it made.
    #[serde(default)]
    pub preview: Option<ExecutionId>,
    /// Why there is none, where there should be one.
    #[serde(default)]
    pub unserved: Option<String>,
    /// The command's exit code.
    #[serde(default)]
    pub exit_code: Option<u8>,
    /// What killed it.
    #[serde(default)]
    pub cause: Option<KillCause>,
    /// When its command began.
    #[serde(default)]
    pub started: Option<Timestamp>,
    /// When it ended.
    #[serde(default)]
    pub ended: Option<Timestamp>,
    /// What it does at this moment, as far as its agent tells.
    #[serde(default)]
    pub activity: Option<String>,
    /// What it has cost so far.
    #[serde(default)]
    pub cost: Option<Usd>,
    /// How large its changes are.
    #[serde(default)]
    pub extent: Option<Extent>,
    /// Both sides of its changes, as an artifact.
    #[serde(default)]
    pub bundle: Option<Digest>,
    /// Its changes as a patch, as an artifact.
    #[serde(default)]
    pub patch: Option<Digest>,
    /// Everything it is judged by.
    #[serde(default)]
    pub evidence: Option<Evidence>,
}

/// How far an attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It waits for its turn.
    Queued,
    /// Its sandbox is being made.
    Starting,
    /// Its command runs.
    Running,
    /// Its command is over, its changes are read.
    Collecting,
    /// It waits for the others, or to be looked at.
    Waiting,
    /// It is being looked at.
    Judging,
    /// Nothing more happens to it.
    Over,
}

impl Phase {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Collecting => "collecting",
            Self::Waiting => "waiting",
            Self::Judging => "judging",
            Self::Over => "over",
        }
    }
}

impl Attempt {
    pub(super) fn new(fork: u32, entrant: Entrant, branch: String) -> Self {
        Self {
            fork,
            entrant,
            branch,
            phase: Phase::Queued,
            ending: None,
            sandbox: None,
            execution: None,
            preview: None,
            unserved: None,
            exit_code: None,
            cause: None,
            started: None,
            ended: None,
            activity: None,
            cost: None,
            extent: None,
            bundle: None,
            patch: None,
            evidence: None,
        }
    }

    /// How it is doing, in a word: where it stands, and once its command is over, how that ended.
    #[must_use]
    pub fn status(&self) -> &'static str {
        match (&self.ending, self.phase) {
            (Some(ending), Phase::Waiting | Phase::Judging | Phase::Over) => match Status::from(ending) {
                Status::Finished => "finished",
                Status::Failed => "failed",
                Status::Killed => "killed",
                Status::TimedOut => "timed_out",
                Status::Denied => "denied",
                Status::OverBudget => "over_budget",
                Status::Cancelled => "cancelled",
            },
            (_, phase) => phase.as_str(),
        }
    }

    /// How it ended, in words.
    #[must_use]
    pub fn said(&self) -> Option<String> {
        self.ending.as_ref().map(Ending::said)
    }

    /// How long its command took.
    #[must_use]
    pub fn duration_ms(&self) -> Option<u64> {
        let micros = self.ended?.as_micros() - self.started?.as_micros();
        u64::try_from(micros / 1000).ok()
    }

    /// Says whether its command is over.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.ending.is_some()
    }
}

impl Run {
    /// The attempt that won: a person's choice before the judge's.
    #[must_use]
    pub fn winner(&self) -> Option<u32> {
        let picked = self.pick.as_ref().map(|pick| pick.fork);
        picked.or_else(|| self.judgement.as_ref().and_then(|judgement| judgement.winner_fork))
    }

    pub(super) fn row(&self) -> RunRow {
        RunRow {
            id: self.id,
            project: self.project.clone(),
            state: self.state,
            task: self.task.clone(),
            winner: self.winner(),
            created: self.created,
            ended: self.ended,
            record: serde_json::to_value(self).unwrap_or_default(),
        }
    }

    /// Says whether the base's state of a file is put back before gates are tried.
    pub(super) fn restores(&self, path: &str, existed: bool) -> bool {
        !self.is_subject(path) && is_restored(path, existed, &self.harness)
    }

    /// Says whether somebody named a file as what is worked on.
    pub(super) fn is_subject(&self, path: &str) -> bool {
        self.subjects.iter().any(|subject| matches(subject, path))
    }

    pub(super) fn attempt(&self, fork: u32) -> Option<&Attempt> {
        self.attempts.get(usize::try_from(fork).ok()?)
    }

    pub(super) fn attempt_mut(&mut self, fork: u32) -> Option<&mut Attempt> {
        self.attempts.get_mut(usize::try_from(fork).ok()?)
    }
}

impl Shape {
    pub(super) fn of(order: &CreateSandbox, workspace: HostPath, ttl: Span) -> Self {
        Self { workspace, ttl, agent: order.agent.clone() }
    }
}
