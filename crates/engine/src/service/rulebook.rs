//! The policy as people look at it: its rules with how often each spoke, and what it would say of a call.
//!
//! Owns: counting. Refuses: to do anything; a call that is only looked at is neither made nor written down.

use std::collections::BTreeMap;

use belljar_domain::{Event, Principal, Risk, Timestamp, Verdict};
use belljar_guardian::policy::{
    Acl, Call, Certainty, Fate, Finding, Mode, Policy, Reach, Rule, Scene, Switch, Walls, described,
};
use belljar_ports::store::EventFilter;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Result, Service, now};

/// How far back hits are counted, and how many events at most are looked at for each verdict.
const DAY: i64 = 24 * 3600 * 1_000_000;
const LOOKED_AT: usize = 5000;
const PAGE: usize = 1000;

/// The policy in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rulebook {
    /// Whether rulings hold anybody up, and who has to be known.
    pub mode: Mode,
    /// How long a call waits for a person, in milliseconds.
    pub wait_ms: u64,
    /// Its rules, the user's own first.
    pub rules: Vec<RuleView>,
    /// Directories that are given or kept.
    pub acl: Vec<Acl>,
    /// Whether there were more events than are looked at: hits are then a lower bound.
    pub is_bounded: bool,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleView {
    /// The rule as it is written.
    pub rule: Rule,
    /// Its pack; none if it is the user's.
    pub pack: Option<&'static str>,
    /// What it says, with the policy's switches; none where it is off.
    pub verdict: Option<Verdict>,
    /// How often it decided within a day.
    pub hits: u64,
    /// When it last did.
    pub last: Option<Timestamp>,
}

/// A call to be looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialCall {
    /// The tool.
    pub tool: String,
    /// What it is given.
    pub input: Value,
    /// Where it would be made.
    pub cwd: Option<String>,
    /// Its user's home.
    pub home: Option<String>,
    /// Whether that is in a sandbox.
    pub is_inside: bool,
    /// By whom.
    pub agent: Option<String>,
}

/// What the policy says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// What follows.
    pub verdict: Verdict,
    /// How bad it could turn out; none where no rule speaks.
    pub risk: Option<Risk>,
    /// The rule that speaks.
    pub rule: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What it would do.
    pub effects: Vec<String>,
    /// What every rule that matches says.
    pub findings: Vec<TriedFinding>,
}

/// What one rule says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedFinding {
    /// The rule.
    pub rule: String,
    /// Its pack; none if it is the user's.
    pub pack: Option<&'static str>,
    /// What it says.
    pub verdict: Verdict,
    /// How bad it could turn out.
    pub risk: Risk,
    /// The effect it is about, by its place.
    pub effect: Option<usize>,
    /// Whether it is certain that it is about it.
    pub is_certain: bool,
    /// What takes it back; none if it counts.
    pub relieved_by: Option<String>,
    /// Why, in the rule's words.
    pub reason: Option<String>,
    /// What to do instead.
    pub instead: Option<String>,
}

/// What the rules say of one effect of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectRuling {
    /// How bad it could turn out; low where no rule speaks of it.
    pub risk: Risk,
    /// What follows of it alone.
    pub verdict: Verdict,
    /// The rule that speaks of it.
    #[serde(default)]
    pub rule: Option<String>,
    /// Why, in the rule's words.
    #[serde(default)]
    pub reason: Option<String>,
    /// What takes it back; none if it counts.
    #[serde(default)]
    pub relieved_by: Option<String>,
}

impl EffectRuling {
    pub(super) fn of(finding: Option<&Finding>) -> Self {
        let Some(finding) = finding else {
            return Self {
                risk: Risk::Low,
                verdict: Verdict::Allow,
                rule: None,
                reason: None,
                relieved_by: None,
            };
        };
        Self {
            risk: finding.risk,
            verdict: finding.verdict,
            rule: Some(finding.rule.clone()),
            reason: finding.reason.clone(),
            relieved_by: relieved(finding),
        }
    }
}

/// What takes a finding back.
fn relieved(finding: &Finding) -> Option<String> {
    match &finding.fate {
        Fate::Counts => None,
        Fate::Relaxed(rule) => Some(format!("the rule `{rule}` allows it")),
        Fate::Contained(boundary) => Some(format!("contained by {}", boundary.described())),
    }
}

/// How often each rule decided.
#[derive(Debug, Default)]
struct Tally {
    /// By the rule's name.
    hits: BTreeMap<String, Hits>,
    /// Whether there was more than is looked at.
    is_bounded: bool,
}

/// How often one rule decided, and when last.
#[derive(Debug, Clone, Copy, Default)]
struct Hits {
    count: u64,
    last: Option<Timestamp>,
}

impl Service {
    /// The policy in force, with how often each rule decided since yesterday.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn rulebook(&self, who: &Principal) -> Result<Rulebook> {
        let policy = self.policy();
        let tally = self.tally(who)?;
        let own = policy.rules.iter().map(|rule| (None, rule));
        let shipped = Policy::packs()
            .iter()
            .flat_map(|pack| pack.rules.iter().map(move |rule| (Some(pack.name), rule)));
        let rules = own.chain(shipped).map(|(pack, rule)| {
            let Hits { count, last } = tally.hits.get(&rule.name).copied().unwrap_or_default();
            RuleView { rule: rule.clone(), pack, verdict: verdict(&policy, pack, rule), hits: count, last }
        });
        let wait_ms = u64::try_from(policy.approval.wait().as_millis()).unwrap_or(u64::MAX);
        Ok(Rulebook {
            mode: policy.mode,
            wait_ms,
            rules: rules.collect(),
            acl: policy.acl.clone(),
            is_bounded: tally.is_bounded,
        })
    }

    /// What the policy would say of a call.
    #[must_use]
    pub fn try_call(&self, trial: &TrialCall) -> Tried {
        let policy = self.policy();
        let (cwd, home) = (trial.cwd.as_deref(), trial.home.as_deref());
        let scene = Scene { agent: trial.agent.clone(), ..Scene::on_host(cwd, home, None) };
        // As at the gate: nothing is taken for held in by the network.
        let scene = if trial.is_inside { scene.behind(Walls { network: Reach::Anywhere }) } else { scene };
        let said = policy.explain(&Call { tool: &trial.tool, input: &trial.input, cwd, home }, &scene);
        let finding = |finding: &Finding| TriedFinding {
            rule: finding.rule.clone(),
            pack: finding.pack,
            verdict: finding.verdict,
            risk: finding.risk,
            effect: finding.effect,
            is_certain: finding.certainty == Certainty::Certain,
            relieved_by: relieved(finding),
            reason: finding.reason.clone(),
            instead: finding.instead.clone(),
        };
        Tried {
            verdict: said.ruling.as_ref().map_or(Verdict::Allow, |ruling| ruling.verdict),
            risk: said.ruling.as_ref().map(|ruling| ruling.risk),
            rule: said.ruling.as_ref().map(|ruling| ruling.rule.clone()),
            reason: said.ruling.as_ref().map(|ruling| ruling.reason.clone()),
            effects: said.effects.iter().map(described).collect(),
            findings: said.findings.iter().map(finding).collect(),
        }
    }

    /// How often each rule decided since yesterday.
    fn tally(&self, who: &Principal) -> Result<Tally> {
        let from = Timestamp::from_micros(now().as_micros() - DAY);
        let mut tally = Tally::default();
        for decision in [Verdict::Deny, Verdict::Ask, Verdict::Allow] {
            let (mut before, mut seen) = (u64::MAX, 0);
            loop {
                let filter =
                    EventFilter { decision: Some(decision), from: Some(from), ..EventFilter::default() };
                let page = self.events_before(who, filter, before, PAGE)?;
                for event in &page {
                    if let Some(rule) = decided(event) {
                        let hits = tally.hits.entry(rule.to_owned()).or_default();
                        *hits = Hits { count: hits.count + 1, last: hits.last.max(Some(event.what.time)) };
                    }
                }
                seen += page.len();
                let Some(last) = page.last().filter(|_| page.len() == PAGE) else { break };
                if seen >= LOOKED_AT {
                    tally.is_bounded = true;
                    break;
                }
                before = last.seq;
            }
        }
        Ok(tally)
    }
}

/// The rule that decided about the call an event tells of; what an approval repeats of it counts once.
fn decided(event: &Event) -> Option<&str> {
    let is_repeated = event.what.kind.is_of("approval");
    event.what.payload.get("rule").and_then(Value::as_str).filter(|_| !is_repeated)
}

/// What a rule says with the policy's switches.
fn verdict(policy: &Policy, pack: Option<&'static str>, rule: &Rule) -> Option<Verdict> {
    let Some(pack) = pack else { return Some(rule.verdict) };
    if policy.packs.get(pack) == Some(&Switch::Off) {
        return None;
    }
    match policy.overrides.get(&rule.name) {
        Some(instead) => instead.verdict(),
        None => Some(rule.verdict),
    }
}
