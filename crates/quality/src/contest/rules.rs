//! What a run is judged by: weights, close calls, and which gates hold. Stored with the evidence.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::gates::Gate;

/// The version of the formulas in `measures`; raised when one of them changes.
pub(super) const FORMULA: u32 = 1;

/// What a run is judged by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// How much each dimension counts.
    pub weights: Weights,
    /// Two attempts nearer to each other than this are a close call.
    pub close: f64,
    /// Gates that do not hold in this run.
    pub waive: BTreeSet<Gate>,
    /// Which formulas are meant.
    pub formula: u32,
}

impl Default for Rules {
    fn default() -> Self {
        Self { weights: Weights::default(), close: 3.0, waive: BTreeSet::new(), formula: FORMULA }
    }
}

impl Rules {
    /// What is wrong with them, if anything.
    ///
    /// # Errors
    /// A sentence that says which value it is.
    pub fn check(&self) -> Result<(), String> {
        let bad = Dimension::ALL.into_iter().find(|one| !is_amount(self.weights.of(*one)));
        if let Some(dimension) = bad {
            return Err(format!("the weight of {} must be a number from 0 to 1000", dimension.name()));
        }
        if Dimension::ALL.into_iter().all(|one| self.weights.of(one) <= 0.0) {
            return Err("at least one weight must be more than 0".to_owned());
        }
        if !is_amount(self.close) {
            return Err("a close call must be a number of points from 0 to 1000".to_owned());
        }
        Ok(())
    }
}

fn is_amount(number: f64) -> bool {
    (0.0..=1000.0).contains(&number)
}

/// How much each dimension counts; they are shared out over what is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// Tests that pass.
    pub tests: f64,
    /// How hard the code is to change, against the base.
    pub quality: f64,
    /// What linters say, against the base.
    pub lint: f64,
    /// Whether it keeps to the task.
    pub scope: f64,
    /// Tests it brings.
    pub contributed: f64,
    /// Whether others came to the same change.
    pub agreement: f64,
    /// Money and time.
    pub cost: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            tests: 40.0,
            quality: 20.0,
            lint: 10.0,
            scope: 10.0,
            contributed: 10.0,
            agreement: 5.0,
            cost: 5.0,
        }
    }
}

impl Weights {
    /// The weight of one dimension.
    #[must_use]
    pub fn of(&self, dimension: Dimension) -> f64 {
        match dimension {
            Dimension::Tests => self.tests,
            Dimension::Quality => self.quality,
            Dimension::Lint => self.lint,
            Dimension::Scope => self.scope,
            Dimension::Contributed => self.contributed,
            Dimension::Agreement => self.agreement,
            Dimension::Cost => self.cost,
        }
    }
}

/// One of the things an attempt is scored by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Tests that pass.
    Tests,
    /// How hard the code is to change.
    Quality,
    /// What linters say.
    Lint,
    /// Whether it keeps to the task.
    Scope,
    /// Tests it brings.
    Contributed,
    /// Whether others came to the same change.
    Agreement,
    /// Money and time.
    Cost,
}

impl Dimension {
    /// All, heaviest first.
    pub const ALL: [Self; 7] =
        [Self::Tests, Self::Quality, Self::Lint, Self::Scope, Self::Contributed, Self::Agreement, Self::Cost];

    /// Its key in JSON and in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Quality => "quality",
            Self::Lint => "lint",
            Self::Scope => "scope",
            Self::Contributed => "contributed",
            Self::Agreement => "agreement",
            Self::Cost => "cost",
        }
    }

    /// What it is called in reports.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Tests => "Tests pass",
            Self::Quality => "Easy to change",
            Self::Lint => "Linter",
            Self::Scope => "Keeps to the task",
            Self::Contributed => "Brings tests",
            Self::Agreement => "Others agree",
            Self::Cost => "Cost and time",
        }
    }

    /// What it asks, in a sentence.
    #[must_use]
    pub fn question(self) -> &'static str {
        match self {
            Self::Tests => "Which share of the tests passes, with the tests as they were before?",
            Self::Quality => "Is the code harder or easier to change than before? 50 is no difference.",
            Self::Lint => "Does the linter complain about more than before?",
            Self::Scope => "Is the change about as large as the others', without files nobody else touched?",
            Self::Contributed => "Are there new tests for the new behaviour?",
            Self::Agreement => "How many other attempts changed the same lines?",
            Self::Cost => "How does it compare with the cheapest and fastest attempt?",
        }
    }
}
