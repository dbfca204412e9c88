//! Findings: what each rule that matches says of a call, and what becomes of that.

use belljar_domain::{Risk, Ruling, Verdict};

use super::{certainty::Certainty, describe::described, rule::Rule, words::Boundary};
use crate::effects::Effect;

/// What one rule says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// The pack it is of; none if it is the user's.
    pub pack: Option<&'static str>,
    /// What follows.
    pub verdict: Verdict,
    /// How bad it could turn out.
    pub risk: Risk,
    /// How sure it is that the rule is about it.
    pub certainty: Certainty,
    /// Which effect it is about; none if it is about the call.
    pub effect: Option<usize>,
    /// Why, in the rule's words.
    pub reason: Option<String>,
    /// What to do instead.
    pub instead: Option<String>,
    /// What would hold it in.
    pub contained: Option<Boundary>,
    /// High-risk operations it is one of.
    pub tags: Vec<String>,
    /// What became of it.
    pub fate: Fate,
}

/// What becomes of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It counts.
    Counts,
    /// A rule of the user allows it.
    Relaxed(String),
    /// The sandbox holds it in.
    Contained(Boundary),
}

impl Finding {
    pub(super) fn of(
        rule: &Rule,
        pack: Option<&'static str>,
        verdict: Verdict,
        certainty: Certainty,
        effect: Option<usize>,
    ) -> Self {
        Self {
            rule: rule.name.clone(),
            pack,
            verdict,
            risk: rule.risk(),
            certainty,
            effect,
            reason: rule.reason.clone(),
            instead: rule.instead.clone(),
            contained: rule.contained,
            tags: rule.tags.clone(),
            fate: Fate::Counts,
        }
    }

    /// Whether a rule of the user may take it away without naming it: what is shipped, and what enforcing adds.
    pub(super) fn is_relaxable(&self) -> bool {
        self.pack.is_some() || self.rule == "enforce"
    }

    /// The ruling it makes.
    pub(super) fn ruling(&self, effects: &[Effect]) -> Ruling {
        let why = self.reason.clone().unwrap_or_else(|| format!("the rule `{}` says so", self.rule));
        let seen = self.effect.and_then(|place| effects.get(place)).map(described);
        let mut reason = match seen {
            Some(seen) => format!("{seen}. {why}"),
            None => why,
        };
        if let Some(instead) = &self.instead {
            reason.push_str(&format!(" Instead: {instead}"));
        }
        Ruling { verdict: self.verdict, risk: self.risk, rule: self.rule.clone(), reason }
    }
}
