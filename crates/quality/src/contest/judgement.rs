//! The judgement of a run: who won and why, and where everybody stands. This is what `--json` prints.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    diff::DiffStat,
    evidence::{Ending, FindingNote},
    gates::GateResult,
    judging::Pairing,
    rules::{Dimension, Weights},
};

/// The judgement of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The run's id.
    pub run: String,
    /// What the task is called elsewhere.
    pub task_id: String,
    /// How many attempts there were.
    pub attempts: usize,
    /// Who won; nobody if no attempt passed every gate.
    pub winner_fork: Option<u32>,
    /// The winner's score.
    pub winner_score: Option<f64>,
    /// Everybody's score in the order of their numbers; nothing for those that did not pass.
    pub all_scores: Vec<Option<f64>>,
    /// Why, in a sentence.
    pub reason: String,
    /// If the first were near to each other: who, and how it was decided.
    pub close_call: Option<CloseCall>,
    /// Two attempts a judge should compare, if there is one and it has not been asked.
    pub undecided: Option<Pairing>,
    /// What a person chose.
    pub picked: Option<Pick>,
    /// The attempts, in the order of their numbers.
    pub forks: Vec<Standing>,
    /// The numbers of the attempts, best first; those that did not pass come last.
    pub ranking: Vec<u32>,
    /// How much each dimension counted.
    pub weights: Weights,
    /// The version of the formulas.
    pub formula: u32,
}

/// Where an attempt stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Its number.
    pub fork: u32,
    /// Its place among all, from one.
    pub rank: usize,
    /// How it ended.
    pub status: Status,
    /// How it ended, in words.
    pub status_said: String,
    /// Whether it may win.
    pub eligible: bool,
    /// What each gate said.
    pub gates: Vec<GateResult>,
    /// From 0 to 100; nothing if it may not win.
    pub score: Option<f64>,
    /// What the score is made of, by dimension.
    pub breakdown: BTreeMap<Dimension, Part>,
    /// How much it changed.
    pub diff_stat: DiffStat,
    /// What it cost, in dollars.
    pub cost: Option<f64>,
    /// How long it took.
    pub duration_ms: u64,
    /// How many others it beats, dimension by dimension.
    pub pairwise_wins: usize,
    /// The findings that moved its score most.
    pub movers: Vec<Mover>,
    /// What people should look at though no gate failed of it.
    pub notes: Vec<String>,
}

/// One dimension of one attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// From 0 to 100; nothing if it is not known.
    pub score: Option<f64>,
    /// How much of 100 it counts, of what is known.
    pub weight: f64,
    /// What it adds to the score.
    pub points: f64,
    /// What it was made of.
    pub note: String,
}

/// A finding that moved a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mover {
    /// What it did to the points of the code: more is worse.
    pub change: f64,
    /// The finding.
    pub finding: FindingNote,
}

/// Attempts that were near to each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CloseCall {
    /// Who, best first.
    pub forks: Vec<u32>,
    /// How far the first two are apart.
    pub margin: f64,
    /// What decided it: `pairwise`, `judge`, `score`, `cost`, `order`.
    pub decided_by: String,
}

/// A person's choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pick {
    /// Which attempt.
    pub fork: u32,
    /// Why.
    pub reason: String,
    /// Who chose.
    #[serde(default)]
    pub by: Option<String>,
}

/// How an attempt ended, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// By itself, well.
    Finished,
    /// By itself, with an error; or it never ran.
    Failed,
    /// By a signal or a limit.
    Killed,
    /// Its time was over.
    TimedOut,
    /// The guardian refused.
    Denied,
    /// Its money was spent.
    OverBudget,
    /// Somebody stopped it.
    Cancelled,
}

impl Status {
    /// As reports say it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Killed => "killed",
            Self::TimedOut => "timed out",
            Self::Denied => "denied",
            Self::OverBudget => "over budget",
            Self::Cancelled => "cancelled",
        }
    }
}

impl From<&Ending> for Status {
    fn from(ending: &Ending) -> Self {
        match ending {
            Ending::Exited { code: 0 } => Self::Finished,
            Ending::Exited { .. } | Ending::Failed { .. } => Self::Failed,
            Ending::Killed { .. } => Self::Killed,
            Ending::TimedOut { .. } => Self::TimedOut,
            Ending::Denied { .. } => Self::Denied,
            Ending::OverBudget { .. } => Self::OverBudget,
            Ending::Cancelled => Self::Cancelled,
        }
    }
}

impl Ending {
    /// How it ended, in words.
    #[must_use]
    pub fn said(&self) -> String {
        match self {
            Self::Exited { code: 0 } => "finished".to_owned(),
            Self::Exited { code } => format!("ended with exit code {code}"),
            Self::Killed { why } => format!("was killed ({why})"),
            Self::TimedOut { after_ms } => format!("ran out of time after {} s", after_ms / 1000),
            Self::Denied { why } => format!("was refused: {why}"),
            Self::OverBudget { why } => format!("ran out of money: {why}"),
            Self::Failed { why } => format!("did not run: {why}"),
            Self::Cancelled => "was stopped".to_owned(),
        }
    }
}
