//! What the gate says, stage by stage.
//!
//! Owns: how findings add up. Refuses: to find anything itself.

use belljar_domain::{NewEvent, Risk, Ruling, Verdict};
use serde_json::{Value, json};

/// The stages, in the one order there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Who asks, and whether they may ask at all.
    Identity,
    /// What the policy says.
    Permission,
    /// Whether it can be paid for.
    Budget,
    /// What a person says.
    Approval,
}

impl Stage {
    /// Its name in the ledger.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Permission => "permission",
            Self::Budget => "budget",
            Self::Approval => "approval",
        }
    }
}

/// What one stage says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Yes, no, or let a person say.
    pub verdict: Verdict,
    /// How bad it could turn out.
    pub risk: Risk,
    /// The rule that says so, where there is one.
    pub rule: Option<String>,
    /// Why, in words for the model and the user.
    pub reason: String,
}

impl Finding {
    /// Nothing is in its way.
    #[must_use]
    pub fn allow(reason: impl Into<String>) -> Self {
        Self { verdict: Verdict::Allow, risk: Risk::Low, rule: None, reason: reason.into() }
    }

    /// It is not to be.
    #[must_use]
    pub fn deny(risk: Risk, reason: impl Into<String>) -> Self {
        Self { verdict: Verdict::Deny, risk, rule: None, reason: reason.into() }
    }

    /// A person is to say.
    #[must_use]
    pub fn ask(risk: Risk, reason: impl Into<String>) -> Self {
        Self { verdict: Verdict::Ask, risk, rule: None, reason: reason.into() }
    }
}

impl From<Ruling> for Finding {
    fn from(ruling: Ruling) -> Self {
        let Ruling { verdict, risk, rule, reason } = ruling;
        Self { verdict, risk, rule: Some(rule), reason }
    }
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    stages: Vec<(Stage, Finding)>,
    /// Whether it holds anybody up: a policy that observes only says what it would have done.
    pub holds: bool,
    /// What is to be done instead, where a person changed it.
    pub edited: Option<Value>,
    /// Whether whoever asks is to stop altogether.
    pub stops: bool,
}

impl Passage {
    pub(super) const fn begin(holds: bool) -> Self {
        Self { stages: Vec::new(), holds, edited: None, stops: false }
    }

    pub(in crate::service) fn add(&mut self, stage: Stage, finding: Finding) {
        self.stages.push((stage, finding));
    }

    /// It is not to be, and whoever asks is to stop altogether.
    pub(super) fn kill(&mut self, reason: String) {
        self.stops = true;
        self.add(Stage::Identity, Finding::deny(Risk::Critical, reason));
    }

    /// What each stage said, in order; the last is the one that ended it.
    #[must_use]
    pub fn stages(&self) -> &[(Stage, Finding)] {
        &self.stages
    }

    /// The answer. Whoever was asked has the last word over those who wanted to ask.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.deciding().map_or(Verdict::Allow, |finding| finding.verdict)
    }

    /// The finding that decides: a person's answer, else the strictest, and of equals the first that a rule or a stage
    /// had something to say for.
    #[must_use]
    pub fn deciding(&self) -> Option<&Finding> {
        let answered = self.stages.iter().find(|(stage, _)| *stage == Stage::Approval);
        let all = self.stages.iter().map(|(_, finding)| finding);
        let strictest = all.reduce(|first, next| {
            let is_stricter = (next.verdict, next.rule.is_some()) > (first.verdict, first.rule.is_some());
            if is_stricter { next } else { first }
        });
        match (answered, strictest) {
            (Some((_, answer)), Some(strictest)) if strictest.verdict != Verdict::Deny => Some(answer),
            (_, strictest) => strictest,
        }
    }

    /// Whether it must not be done.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.holds && self.verdict() != Verdict::Allow
    }

    /// The budget that is in its way, where one decides.
    #[must_use]
    pub fn unpaid(&self) -> Option<&str> {
        let deciding = self.deciding()?;
        let is_budget = |(stage, finding): &&(Stage, Finding)| *stage == Stage::Budget && finding == deciding;
        self.stages.iter().find(is_budget)?.1.rule.as_deref()?.strip_prefix("budget.")
    }

    /// Whether there is anything to tell: a rule or a person spoke, or something is in its way.
    #[must_use]
    pub fn speaks(&self) -> bool {
        self.stages.iter().any(|(stage, finding)| {
            finding.rule.is_some() || finding.verdict != Verdict::Allow || *stage == Stage::Approval
        })
    }

    /// How bad it could turn out: the worst any stage says.
    #[must_use]
    pub fn risk(&self) -> Risk {
        self.stages.iter().map(|(_, finding)| finding.risk).max().unwrap_or(Risk::Low)
    }

    /// The rule that spoke, of the strictest stage that went by one.
    #[must_use]
    pub fn rule(&self) -> Option<&str> {
        let ruled = self.stages.iter().filter(|(_, finding)| finding.rule.is_some());
        let strictest =
            ruled.reduce(|first, next| if next.1.verdict > first.1.verdict { next } else { first });
        strictest.and_then(|(_, finding)| finding.rule.as_deref())
    }

    /// Why.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.deciding().map_or("", |finding| finding.reason.as_str())
    }

    /// All of it, as the ledger keeps it.
    #[must_use]
    pub fn json(&self) -> Value {
        let stage = |(stage, finding): &(Stage, Finding)| {
            let mut said = json!({
                "stage": stage.as_str(), "verdict": finding.verdict, "risk": finding.risk, "reason": finding.reason,
            });
            if let (Some(rule), Value::Object(said)) = (&finding.rule, &mut said) {
                said.insert("rule".to_owned(), json!(rule));
            }
            said
        };
        Value::Array(self.stages.iter().map(stage).collect())
    }

    /// Writes it into the event of what was judged.
    pub fn write(&self, event: &mut NewEvent) {
        event.decision = Some(self.verdict());
        event.risk = Some(self.risk());
        event.reason = Some(self.reason().to_owned());
        self.note(event);
    }

    /// Writes down what each stage said, and leaves the decision to others.
    pub fn note(&self, event: &mut NewEvent) {
        if event.payload.is_null() {
            event.payload = json!({});
        }
        if let Value::Object(payload) = &mut event.payload {
            payload.insert("gate".to_owned(), self.json());
            if let Some(rule) = self.rule() {
                payload.insert("rule".to_owned(), json!(rule));
            }
            if !self.holds {
                payload.insert("observed_only".to_owned(), json!(true));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(stages: &[(Stage, Finding)]) -> Passage {
        let mut passage = Passage::begin(true);
        stages.iter().cloned().for_each(|(stage, finding)| passage.add(stage, finding));
        passage
    }

    #[test]
    fn the_strictest_stage_decides_and_a_person_settles_what_was_asked() {
        let known = (Stage::Identity, Finding::allow("known"));
        let asked = (
            Stage::Permission,
            Finding { rule: Some("push".to_owned()), ..Finding::ask(Risk::High, "sure?") },
        );
        let open = passage(&[known.clone(), asked.clone()]);
        assert_eq!((open.verdict(), open.reason(), open.risk()), (Verdict::Ask, "sure?", Risk::High));
        assert!(open.is_refused());
        let yes = (Stage::Approval, Finding::allow("ann says so"));
        let settled = passage(&[known.clone(), asked.clone(), yes]);
        assert_eq!(
            (settled.verdict(), settled.reason(), settled.rule()),
            (Verdict::Allow, "ann says so", Some("push"))
        );
        let no = (Stage::Approval, Finding::deny(Risk::Low, "not today"));
        assert_eq!(passage(&[known, asked, no]).verdict(), Verdict::Deny);
    }

    #[test]
    fn what_only_observes_refuses_nothing() {
        let mut passage = Passage::begin(false);
        passage.add(Stage::Identity, Finding::deny(Risk::High, "nobody"));
        assert!(!passage.is_refused() && passage.verdict() == Verdict::Deny);
    }
}
