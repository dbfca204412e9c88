//! One rule: which calls, which verdict, why, and the examples that keep it honest.

use belljar_domain::{Risk, Ruling, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    call::Call,
    pattern::{Pattern, PatternError},
};

/// A rule as a person writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it is called in rulings.
    pub name: String,
    /// Which calls it is about; any of these.
    #[serde(rename = "match", with = "one_or_many")]
    pub patterns: Vec<String>,
    /// What follows.
    pub verdict: Verdict,
    /// How bad such a call could turn out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Why, in words for the model and the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it must and must not match.
    #[serde(default, skip_serializing_if = "Examples::is_empty")]
    pub examples: Examples,
}

/// Calls a rule must and must not match, checked whenever it is loaded. Each is what stands between the parentheses of a
/// call of the rule's first tool: a command line, a path, a URL.
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
    #[error("it matches nothing; say which calls with `match`")]
    Aimless,
    /// A pattern cannot be read.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// It does not match what it says it does.
    #[error("it does not match its example `{0}`")]
    Misses(String),
    /// It matches what it says it does not.
    #[error("it matches `{0}`, which its examples let pass")]
    Catches(String),
}

impl Examples {
    fn is_empty(&self) -> bool {
        self.matching.is_empty() && self.pass.is_empty()
    }
}

impl Rule {
    pub(super) fn check(&self) -> Result<(), RuleError> {
        if self.name.trim().is_empty() {
            return Err(RuleError::Nameless);
        }
        let patterns =
            self.patterns.iter().map(|text| Pattern::parse(text)).collect::<Result<Vec<_>, _>>()?;
        if patterns.is_empty() {
            return Err(RuleError::Aimless);
        }
        let tool = self.patterns.first().and_then(|text| text.split('(').next()).unwrap_or_default().trim();
        let is_match = |example: &str| {
            let input = input_of(tool, example);
            let call = Call { tool, input: &input, cwd: Some("/workspace"), home: Some("/home/user") };
            patterns.iter().any(|pattern| pattern.matches(&call))
        };
        if let Some(missed) = self.examples.matching.iter().find(|example| !is_match(example)) {
            return Err(RuleError::Misses(missed.clone()));
        }
        match self.examples.pass.iter().find(|example| is_match(example)) {
            Some(caught) => Err(RuleError::Catches(caught.clone())),
            None => Ok(()),
        }
    }

    /// Says whether it is about a call. A pattern that cannot be read matches nothing; such a rule is never loaded.
    pub(super) fn matches(&self, call: &Call<'_>) -> bool {
        self.patterns.iter().filter_map(|text| Pattern::parse(text).ok()).any(|pattern| pattern.matches(call))
    }

    pub(super) fn ruling(&self) -> Ruling {
        let risk = self.risk.unwrap_or(match self.verdict {
            Verdict::Allow => Risk::Low,
            Verdict::Ask => Risk::Medium,
            Verdict::Deny => Risk::High,
        });
        let reason = self.reason.clone().unwrap_or_else(|| format!("the rule `{}` says so", self.name));
        Ruling { verdict: self.verdict, risk, rule: self.name.clone(), reason }
    }
}

/// A call with this between its parentheses.
fn input_of(tool: &str, example: &str) -> Value {
    match tool {
        "Bash" | "SandboxExec" => json!({ "command": example }),
        "WebFetch" => json!({ "url": example }),
        _ => json!({ "file_path": example }),
    }
}

/// One pattern needs no list.
mod one_or_many {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        One(String),
        Many(Vec<String>),
    }

    pub(super) fn serialize<S: Serializer>(patterns: &[String], to: S) -> Result<S::Ok, S::Error> {
        patterns.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
        Ok(match Given::deserialize(from)? {
            Given::One(pattern) => vec![pattern],
            Given::Many(patterns) => patterns,
        })
    }
}
