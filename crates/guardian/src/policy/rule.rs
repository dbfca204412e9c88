//! One rule: which calls or which effects, which verdict, why, and the examples that keep it honest.

use belljar_domain::{Risk, Verdict};
use serde::{Deserialize, Serialize};

use super::{
    call::Call,
    condition::{Condition, ConditionError},
    one_or_many,
    pattern::{Pattern, PatternError},
    words::Boundary,
};

/// A rule as a person writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it is called in rulings.
    pub name: String,
    /// Which calls it is about; any of these.
    #[serde(default, rename = "match", with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<String>,
    /// Which effects it is about; any of these. With `match`, only those of such calls.
    #[serde(default, with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub effect: Vec<Condition>,
    /// What follows.
    pub verdict: Verdict,
    /// What follows when it only cannot be ruled out that the effect is such a one; else nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perhaps: Option<Verdict>,
    /// How bad such a call could turn out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Why, in words for the model and the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do instead, in the same words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// What holds such an effect in when it is done in a sandbox; it is then no harm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contained: Option<Boundary>,
    /// Shipped rules that deny and shall not, where this one allows.
    #[serde(default, with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub despite: Vec<String>,
    /// High-risk operations such a call is one of: `production_deploy`; a person is asked about those of agents with roles.
    #[serde(default, with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What it must and must not match.
    #[serde(default, skip_serializing_if = "Examples::is_empty")]
    pub examples: Examples,
}

/// Calls a rule must and must not match, checked whenever it is loaded. Each is a command line, or what stands between
/// the parentheses of a call of the rule's first tool, or a call: `Write(~/.bashrc)`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Examples {
    /// It is about these.
    #[serde(default, rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub matching: Vec<String>,
    /// It is not about these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// It has no name.
    #[error("it has no name")]
    Nameless,
    /// It is about nothing.
    #[error("it matches nothing; say which calls with `match`, or which effects with `effect`")]
    Aimless,
    /// A pattern cannot be read.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A condition cannot be met.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// It excuses what it does not allow.
    #[error("it says `despite` and does not allow; only what allows can stand against a rule that denies")]
    Despite,
    /// It does not match what it says it does.
    #[error("it does not match its example `{0}`")]
    Misses(String),
    /// It matches what it says it does not.
    #[error("it matches `{0}`, which its examples let pass")]
    Catches(String),
}

impl Examples {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.matching.is_empty() && self.pass.is_empty()
    }
}

impl Rule {
    /// Makes sure that it can be read and means something; its examples are another matter.
    pub(super) fn check(&self, places: &[&str]) -> Result<(), RuleError> {
        if self.name.trim().is_empty() {
            return Err(RuleError::Nameless);
        }
        if self.patterns.is_empty() && self.effect.is_empty() {
            return Err(RuleError::Aimless);
        }
        if !self.despite.is_empty() && self.verdict != Verdict::Allow {
            return Err(RuleError::Despite);
        }
        for text in &self.patterns {
            Pattern::parse(text)?;
        }
        for condition in &self.effect {
            condition.check(places)?;
        }
        Ok(())
    }

    /// Says whether it is about such a call. A pattern that cannot be read matches nothing; such a rule is never loaded.
    pub(super) fn matches(&self, call: &Call<'_>) -> bool {
        self.patterns.iter().filter_map(|text| Pattern::parse(text).ok()).any(|pattern| pattern.matches(call))
    }

    /// How bad such a call could turn out.
    #[must_use]
    pub fn risk(&self) -> Risk {
        self.risk.unwrap_or(match self.verdict {
            Verdict::Allow => Risk::Low,
            Verdict::Ask => Risk::Medium,
            Verdict::Deny => Risk::High,
        })
    }

    /// The tool its examples are calls of, unless they say otherwise.
    pub(super) fn tool(&self) -> &str {
        let first = self.patterns.first().and_then(|text| text.split('(').next());
        first.map_or("Bash", str::trim)
    }
}
