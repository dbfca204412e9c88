//! Policy: rules that say of a call whether it may be made.
//!
//! Owns: reading a policy so that a wrong one is refused with the place that is wrong, and the ruling on a call. Refuses:
//! files and clocks; whoever loads a policy keeps the last good one. What a command *does* is not looked at yet: a rule
//! names tools, paths and the words a command begins with.

mod call;
mod commands;
mod glob;
mod pattern;
mod rule;

use belljar_domain::Ruling;
use serde::{Deserialize, Serialize};

pub use call::Call;
pub(crate) use glob::{is_like, resolved};
pub use pattern::{Pattern, PatternError};
pub use rule::{Examples, Rule, RuleError};

/// How much a policy may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Rulings are written down and nobody is held up.
    Observe,
    /// What a rule refuses is refused; what no rule names is left to the agent.
    #[default]
    Guard,
}

/// A policy as a person writes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// How much it may do.
    #[serde(default)]
    pub mode: Mode,
    /// Its rules. The strictest that matches wins, and of those the first.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// What is wrong with a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule {place} (`{name}`): {error}")]
pub struct PolicyError {
    /// Which rule, from 1.
    pub place: usize,
    /// Its name.
    pub name: String,
    /// What is wrong with it.
    pub error: RuleError,
}

impl Policy {
    /// Makes sure that every rule can be read and says of its examples what it promises.
    ///
    /// # Errors
    /// The first rule that does not.
    pub fn check(&self) -> Result<(), PolicyError> {
        for (place, rule) in (1..).zip(&self.rules) {
            rule.check().map_err(|error| PolicyError { place, name: rule.name.clone(), error })?;
        }
        Ok(())
    }

    /// The ruling on a call; none when no rule names it.
    #[must_use]
    pub fn judge(&self, call: &Call<'_>) -> Option<Ruling> {
        // The last of equals is what `max_by` would give; here the first one that was written speaks.
        let matching = self.rules.iter().filter(|rule| rule.matches(call));
        let strictest =
            matching.reduce(|first, next| if next.verdict > first.verdict { next } else { first });
        strictest.map(Rule::ruling)
    }
}

#[cfg(test)]
mod tests {
    use belljar_domain::Verdict;
    use serde_json::json;

    use super::*;

    fn rule(name: &str, pattern: &str, verdict: Verdict) -> Rule {
        Rule {
            name: name.to_owned(),
            patterns: vec![pattern.to_owned()],
            verdict,
            risk: None,
            reason: None,
            examples: Examples::default(),
        }
    }

    #[test]
    fn the_strictest_rule_speaks_and_of_equals_the_first() {
        let rules = vec![
            rule("git", "Bash(git:*)", Verdict::Allow),
            rule("push", "Bash(git push:*)", Verdict::Deny),
            rule("force", "Bash(git push --force:*)", Verdict::Deny),
        ];
        let policy = Policy { rules, ..Policy::default() };
        let judge = |command: &str| {
            let input = json!({ "command": command });
            let call = Call { tool: "Bash", input: &input, cwd: None, home: None };
            policy.judge(&call).map(|ruling| (ruling.rule, ruling.verdict))
        };
        assert_eq!(judge("git status"), Some(("git".to_owned(), Verdict::Allow)));
        assert_eq!(judge("git push --force"), Some(("push".to_owned(), Verdict::Deny)));
        assert_eq!(judge("ls"), None);
    }

    #[test]
    fn a_rule_that_breaks_its_promise_is_named() {
        let mut broken = rule("push", "Bash(git push:*)", Verdict::Deny);
        broken.examples.pass = vec!["git push origin".to_owned()];
        let rules = vec![rule("ok", "Read", Verdict::Allow), broken];
        let error = Policy { rules, ..Policy::default() }.check().unwrap_err();
        assert_eq!((error.place, error.name.as_str()), (2, "push"));
        assert!(error.to_string().contains("git push origin"), "{error}");
    }
}
