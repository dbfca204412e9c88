//! Evidence: everything an attempt is judged by, as it was seen. It is stored; scores are made of it alone.

use serde::{Deserialize, Serialize};

use super::{diff::Diff, lints::Lints, results::Results, tampering::Tampering};
use crate::{
    delta::Delta,
    finding::{Element, Finding},
};

/// How many findings of one sort are kept by name; all of them count.
const NAMED: usize = 40;

/// What is known about one attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its number, from zero.
    pub fork: u32,
    /// How its command ended.
    pub ending: Ending,
    /// How long its command took.
    pub duration_ms: u64,
    /// What it cost, in dollars, where that is known.
    #[serde(default)]
    pub cost: Option<f64>,
    /// What it changed. Nothing at all if its changes could not be read.
    #[serde(default)]
    pub diff: Option<Diff>,
    /// Why its changes do not go onto the base, if they do not.
    #[serde(default)]
    pub conflict: Option<String>,
    /// The build, if the run has one of its own.
    #[serde(default)]
    pub build: Option<Trial>,
    /// The acceptance command, with the base's tests and settings in place.
    #[serde(default)]
    pub check: Option<Trial>,
    /// The acceptance command once more, with the attempt's own tests.
    #[serde(default)]
    pub own: Option<Check>,
    /// Tests of other attempts, run on this one.
    #[serde(default)]
    pub cross: Vec<Cross>,
    /// The linter before and after, with the base's settings.
    #[serde(default)]
    pub lint: Option<Boundary<Lints>>,
    /// What it did to tests and to the settings of runners and linters.
    #[serde(default)]
    pub tampering: Tampering,
    /// What policy forbids, and it did.
    #[serde(default)]
    pub breaches: Vec<Breach>,
    /// How hard the code is to change, before and after.
    #[serde(default)]
    pub quality: Option<QualityNote>,
}

impl Evidence {
    /// An attempt of which nothing is known but how it ended.
    #[must_use]
    pub fn new(fork: u32, ending: Ending, duration_ms: u64) -> Self {
        Self {
            fork,
            ending,
            duration_ms,
            cost: None,
            diff: None,
            conflict: None,
            build: None,
            check: None,
            own: None,
            cross: Vec::new(),
            lint: None,
            tampering: Tampering::default(),
            breaches: Vec::new(),
            quality: None,
        }
    }
}

/// How an attempt's command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Ending {
    /// By itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// By a signal, a limit or the kill switch.
    Killed {
        /// By what: `oom`, `signal 9`, `killswitch`.
        why: String,
    },
    /// Its time was over.
    TimedOut {
        /// The time it had.
        after_ms: u64,
    },
    /// The guardian or a person refused what it needed.
    Denied {
        /// What was refused.
        why: String,
    },
    /// Its money was spent.
    OverBudget {
        /// How much it had and used.
        why: String,
    },
    /// It never ran: its sandbox could not be made, or broke.
    Failed {
        /// What went wrong.
        why: String,
    },
    /// Somebody stopped the run.
    Cancelled,
}

/// The same thing on the base and on the attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Boundary<T> {
    /// On the base.
    pub base: T,
    /// On the attempt.
    pub after: T,
}

/// A command's ends on the base and on the attempt.
pub type Trial = Boundary<Check>;

/// How a command of the judge ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// How it ended.
    pub end: CheckEnd,
    /// Results by test, where they could be read.
    #[serde(default)]
    pub tests: Option<Results>,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: u64,
    /// The end of what it printed, for people.
    #[serde(default)]
    pub tail: String,
}

/// How a command of the judge ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum CheckEnd {
    /// With this code.
    Exited {
        /// The code.
        code: i32,
    },
    /// It took too long.
    TimedOut,
    /// By a signal or a limit.
    Killed {
        /// By what.
        why: String,
    },
    /// It could not be started.
    NotRun {
        /// Why.
        why: String,
    },
}

impl Check {
    /// An exit code, and nothing else known.
    #[must_use]
    pub fn exited(code: i32) -> Self {
        Self { end: CheckEnd::Exited { code }, tests: None, duration_ms: 0, tail: String::new() }
    }

    /// Whether it ended well.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.end == CheckEnd::Exited { code: 0 }
    }

    /// Whether it says anything about the code: a missing runner or no tests at all say nothing.
    #[must_use]
    pub fn is_telling(&self) -> bool {
        let found_none = self.tests.as_ref().is_some_and(|tests| tests.tests.is_empty() && tests.found_none);
        match self.end {
            CheckEnd::Exited { code: 126 | 127 } | CheckEnd::NotRun { .. } => false,
            _ => !found_none,
        }
    }

    /// How it ended, in words.
    #[must_use]
    pub fn said(&self) -> String {
        match &self.end {
            CheckEnd::Exited { code: 0 } => "passed".to_owned(),
            CheckEnd::Exited { code: 127 } => "its program was not found (exit code 127)".to_owned(),
            CheckEnd::Exited { code: 126 } => "its program could not be executed (exit code 126)".to_owned(),
            CheckEnd::Exited { code } => format!("ended with exit code {code}"),
            CheckEnd::TimedOut => "did not end in time".to_owned(),
            CheckEnd::Killed { why } => format!("was killed: {why}"),
            CheckEnd::NotRun { why } => format!("could not be run: {why}"),
        }
    }
}

/// Tests another attempt wrote, run on this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cross {
    /// Whose tests.
    pub of: u32,
    /// How they ended.
    pub check: Check,
}

/// Something policy forbids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breach {
    /// Where.
    pub path: String,
    /// What it is: a protected path, a secret, a large binary.
    pub what: String,
}

/// What an attempt does to how hard the code is to change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct QualityNote {
    /// Points of what is new less points of what is gone. The score is made of this.
    pub change: f64,
    /// Findings it brings, heaviest first; the heaviest by name.
    pub new: Vec<FindingNote>,
    /// Findings it takes away, heaviest first.
    pub fixed: Vec<FindingNote>,
    /// How many it brings.
    pub new_count: usize,
    /// How many it takes away.
    pub fixed_count: usize,
    /// How many were there before and still are.
    pub kept: usize,
    /// How many of the new ones are sure and high or critical.
    pub blocking: usize,
    /// Comments that take findings out of the count, and it added.
    pub suppressions: Vec<Place>,
    /// Functions over a limit it brings: where, and by how much.
    pub complexity: Vec<String>,
}

/// A finding, for people and for later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingNote {
    /// `CoA`.
    pub kind: String,
    /// `clone`.
    pub rule: String,
    /// `firm` or `provisional`.
    pub confidence: String,
    /// Its points.
    pub weight: f64,
    /// What it is, in a sentence.
    pub message: String,
    /// Its ends.
    pub elements: Vec<Place>,
}

/// A place in the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its file.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// The function or type it is in, or what is said there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub symbol: String,
}

impl From<&Delta> for QualityNote {
    fn from(delta: &Delta) -> Self {
        Self {
            change: delta.change,
            new: heaviest(&delta.new),
            fixed: heaviest(&delta.fixed),
            new_count: delta.new.len(),
            fixed_count: delta.fixed.len(),
            kept: delta.kept,
            blocking: delta.blocking().count(),
            suppressions: delta
                .new_suppressions
                .iter()
                .take(NAMED)
                .map(|one| Place { file: one.file.clone(), line: one.line, symbol: one.rules.join(", ") })
                .collect(),
            complexity: delta
                .new_complexity
                .iter()
                .take(NAMED)
                .map(|one| {
                    let (name, measure) = (&one.symbol, one.measure.name());
                    format!(
                        "{}:{} {name}: {measure} {} of at most {}",
                        one.file, one.line, one.value, one.limit
                    )
                })
                .collect(),
        }
    }
}

impl QualityNote {
    /// 50 for no change, towards 100 for better, towards 0 for worse.
    #[must_use]
    pub fn score(&self) -> f64 {
        50.0 - 50.0 * (self.change / 10.0).tanh()
    }
}

fn heaviest(findings: &[Finding]) -> Vec<FindingNote> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    // Stable: what weighs the same stays in the order of the text.
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
    sorted.into_iter().take(NAMED).map(FindingNote::from).collect()
}

impl From<&Finding> for FindingNote {
    fn from(finding: &Finding) -> Self {
        Self {
            kind: finding.rule.kind().code().to_owned(),
            rule: finding.rule.name().to_owned(),
            confidence: finding.confidence.word().to_owned(),
            weight: finding.weight.value(),
            message: finding.message.clone(),
            elements: finding.elements.iter().take(8).map(Place::from).collect(),
        }
    }
}

impl From<&Element> for Place {
    fn from(element: &Element) -> Self {
        Self { file: element.file.clone(), line: element.line, symbol: element.symbol.clone() }
    }
}
