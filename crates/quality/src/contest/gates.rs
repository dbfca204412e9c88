//! Gates: what an attempt must pass before its score counts. What cannot be known does not fail anybody.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    evidence::{Check, CheckEnd, Ending, Evidence, Trial},
    results::{Outcome, Results},
    rules::Rules,
    tampering::{Trace, TraceKind},
};

/// One of the gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Gate {
    /// There is a change, and it goes onto the base.
    #[serde(rename = "G1")]
    Change,
    /// It builds, if the base does.
    #[serde(rename = "G2")]
    Build,
    /// No test that passed on the base fails.
    #[serde(rename = "G3")]
    NothingBroken,
    /// No test was removed, skipped or weakened, and nobody touched how tests run.
    #[serde(rename = "G4")]
    NothingRemoved,
    /// The acceptance command passes.
    #[serde(rename = "G5")]
    Accepted,
    /// Nothing that policy forbids.
    #[serde(rename = "G6")]
    Policy,
    /// It came to its end, with the time and the money it had.
    #[serde(rename = "G7")]
    Budget,
}

impl Gate {
    /// All, in their order.
    pub const ALL: [Self; 7] = [
        Self::Change,
        Self::Build,
        Self::NothingBroken,
        Self::NothingRemoved,
        Self::Accepted,
        Self::Policy,
        Self::Budget,
    ];

    /// `G1` to `G7`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Change => "G1",
            Self::Build => "G2",
            Self::NothingBroken => "G3",
            Self::NothingRemoved => "G4",
            Self::Accepted => "G5",
            Self::Policy => "G6",
            Self::Budget => "G7",
        }
    }

    /// What it asks for, in a few words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Change => "changes something",
            Self::Build => "still builds",
            Self::NothingBroken => "breaks no test",
            Self::NothingRemoved => "leaves tests alone",
            Self::Accepted => "passes the check",
            Self::Policy => "keeps to policy",
            Self::Budget => "finishes in budget",
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// What a gate said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// It is as it should be.
    Passed,
    /// It is not; the attempt cannot win.
    Failed,
    /// Nobody can tell, and nobody is held to it.
    Unknown,
}

impl GateOutcome {
    /// As reports say it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// What a gate said about an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateResult {
    /// Which gate.
    pub gate: Gate,
    /// What it asks for.
    pub name: String,
    /// What it said.
    pub result: GateOutcome,
    /// Why.
    pub reason: String,
}

type Said = (GateOutcome, String);

fn passed(why: impl Into<String>) -> Said {
    (GateOutcome::Passed, why.into())
}

fn failed(why: impl Into<String>) -> Said {
    (GateOutcome::Failed, why.into())
}

fn unknown(why: impl Into<String>) -> Said {
    (GateOutcome::Unknown, why.into())
}

/// Tries every gate on an attempt.
#[must_use]
pub fn gates(evidence: &Evidence, rules: &Rules) -> Vec<GateResult> {
    let all = Gate::ALL.into_iter().map(|gate| {
        let (result, reason) = if rules.waive.contains(&gate) {
            unknown("this run does not ask for it")
        } else {
            match gate {
                Gate::Change => change(evidence),
                Gate::Build => build(evidence),
                Gate::NothingBroken => nothing_broken(evidence),
                Gate::NothingRemoved => nothing_removed(evidence),
                Gate::Accepted => accepted(evidence),
                Gate::Policy => policy(evidence),
                Gate::Budget => budget(evidence),
            }
        };
        GateResult { gate, name: gate.title().to_owned(), result, reason }
    });
    all.collect()
}

fn change(evidence: &Evidence) -> Said {
    match (&evidence.conflict, &evidence.diff) {
        (Some(why), _) => failed(format!("its changes do not go onto the base: {why}")),
        (None, None) => failed("its changes could not be read"),
        (None, Some(diff)) if diff.files.is_empty() => failed("it changed nothing"),
        (None, Some(diff)) => {
            let stat = diff.stat();
            let files = if stat.files == 1 { "file" } else { "files" };
            passed(format!("{} {files}, +{} −{} lines", stat.files, stat.added, stat.removed))
        }
    }
}

fn build(evidence: &Evidence) -> Said {
    let Some(trial) = &evidence.build else { return unknown("the run has no build command") };
    match untold(trial, "build") {
        Some(why) => unknown(why),
        None if trial.after.passed() => passed("it builds"),
        None if !trial.base.passed() => unknown("the base does not build either"),
        None => failed(format!("the base builds, and here the build {}", trial.after.said())),
    }
}

/// Why a trial says nothing: its program is not there, or it finds nothing to do, on the base already.
pub(super) fn untold(trial: &Trial, what: &str) -> Option<String> {
    let is_same = trial.base.end == trial.after.end || !trial.after.is_telling();
    let base = &trial.base;
    let said = if base.is_telling() { return None } else { why_untold(base) };
    is_same.then(|| format!("the {what} tells nothing, for on the base {said}"))
}

fn why_untold(check: &Check) -> String {
    match &check.end {
        CheckEnd::Exited { code: 126 | 127 } | CheckEnd::NotRun { .. } => check.said(),
        _ => "it found no tests".to_owned(),
    }
}

/// Why there is no check to speak of.
pub(super) fn unchecked(evidence: &Evidence) -> &'static str {
    let is_idle = evidence.diff.as_ref().is_some_and(|diff| diff.files.is_empty());
    let is_done = evidence.ending == Ending::Exited { code: 0 };
    if is_done && !is_idle && evidence.conflict.is_none() {
        "the run has no check"
    } else {
        "there was nothing to check"
    }
}

fn nothing_broken(evidence: &Evidence) -> Said {
    let Some(trial) = &evidence.check else { return unknown(unchecked(evidence)) };
    if let Some(why) = untold(trial, "check") {
        return unknown(why);
    }
    let tests = (trial.base.tests.as_ref(), trial.after.tests.as_ref());
    if let Some(base) = tests.0.filter(|base| base.counts().passed > 0) {
        let Some(after) = tests.1 else {
            return failed(format!(
                "no test results could be read any more: the check {}",
                trial.after.said()
            ));
        };
        let broken = broken(base, after);
        if !broken.is_empty() {
            return failed(format!(
                "{} that passed before: {}",
                counted(broken.len(), "test fails", "tests fail"),
                some(&broken)
            ));
        }
        if trial.base.passed() && !trial.after.passed() {
            return failed(format!("the check passed on the base and here it {}", trial.after.said()));
        }
        let still = counted(
            base.counts().passed,
            "test that passed before still passes",
            "tests that passed before still pass",
        );
        return passed(still);
    }
    match (trial.base.passed(), trial.after.passed()) {
        (true, true) => passed("the check passes as before (results by test could not be read)"),
        (true, false) => failed(format!("the check passed on the base and here it {}", trial.after.said())),
        (false, _) => unknown("no test passed on the base"),
    }
}

/// Tests that passed on the base and fail now. Those that are gone are another gate's.
fn broken<'r>(base: &'r Results, after: &Results) -> Vec<&'r str> {
    let is_broken = |id: &str| after.tests.get(id) == Some(&Outcome::Failed);
    base.passing().filter(|id| is_broken(id)).collect()
}

fn nothing_removed(evidence: &Evidence) -> Said {
    let traces = evidence.tampering.traces.iter().filter(|trace| trace.kind != TraceKind::Touched);
    let told: Vec<String> = traces.map(Trace::said).collect();
    if let Some(first) = told.first() {
        let more = told.len() - 1;
        let rest = if more == 0 { String::new() } else { format!(" (and {more} more like this)") };
        return failed(format!("{first}{rest}"));
    }
    let Some(trial) = &evidence.check else {
        return if evidence.diff.is_some() {
            passed("no test or setting of a runner was taken away or weakened")
        } else {
            unknown("its changes could not be read")
        };
    };
    if let (Some(base), Some(after)) = (&trial.base.tests, &trial.after.tests) {
        let gone: Vec<&str> =
            base.tests.keys().map(String::as_str).filter(|id| !after.tests.contains_key(*id)).collect();
        // Where only some ids can be read, one that is not there says nothing.
        if !gone.is_empty() && base.is_complete && after.is_complete && trial.after.is_telling() {
            return failed(format!(
                "{} not run any more: {}",
                counted(gone.len(), "test is", "tests are"),
                some(&gone)
            ));
        }
        if after.total < base.total {
            let (before, now) = (base.total, counted(after.total, "test", "tests"));
            return failed(format!("only {now} of {before} are run"));
        }
        let skipped: Vec<&str> =
            base.passing().filter(|id| after.tests.get(*id) == Some(&Outcome::Skipped)).collect();
        if !skipped.is_empty() {
            return failed(format!(
                "{} skipped now: {}",
                counted(skipped.len(), "test is", "tests are"),
                some(&skipped)
            ));
        }
    }
    if let (Some(base), None) = (&trial.base.tests, &trial.after.tests)
        && !base.tests.is_empty()
        && trial.after.passed()
    {
        return failed("the check passes, and no results of tests can be read any more");
    }
    if evidence.diff.is_none() {
        return unknown("its changes could not be read");
    }
    passed("no test or setting of a runner was taken away or weakened")
}

fn accepted(evidence: &Evidence) -> Said {
    let Some(trial) = &evidence.check else { return unknown(unchecked(evidence)) };
    if let Some(why) = untold(trial, "check") {
        return unknown(why);
    }
    if !trial.after.passed() {
        let failing = trial.after.tests.as_ref().map(Results::failing).unwrap_or_default();
        let named =
            if failing.is_empty() { last_words(&trial.after) } else { format!(": {}", some(&failing)) };
        // Where nothing is known but how it ends, and it ends as before, it may never have got to what was changed.
        let is_same = trial.base.end == trial.after.end
            && trial.base.tests.is_none()
            && trial.after.tests.is_none()
            && !named.is_empty()
            && last_words(&trial.base) == named;
        let doubt = if is_same { ", just as on the base; see whether it is the right command" } else { "" };
        return failed(format!("the check {}{named}{doubt}", trial.after.said()));
    }
    let failing = trial.after.tests.as_ref().map(Results::failing).unwrap_or_default();
    if !failing.is_empty() {
        return failed(format!(
            "the check ended with 0 and yet {}: {}",
            counted(failing.len(), "test failed", "tests failed"),
            some(&failing)
        ));
    }
    if !trial.after.is_telling() {
        return failed("the check finds no tests any more");
    }
    passed("the check passes")
}

/// The last line a check wrote, which mostly says what was wrong.
fn last_words(check: &Check) -> String {
    let line = check.tail.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let plain = |line: &str| line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    line.map(|line| format!(" ({})", short(&plain(line)))).unwrap_or_default()
}

fn policy(evidence: &Evidence) -> Said {
    match evidence.breaches.as_slice() {
        [] if evidence.diff.is_none() => unknown("its changes could not be read"),
        [] => passed("nothing that is protected, secret or too large"),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
            failed(format!("{}: {}{more}", first.path, first.what))
        }
    }
}

fn budget(evidence: &Evidence) -> Said {
    match &evidence.ending {
        Ending::Exited { code: 0 } => passed("it came to its end with the time and money it had"),
        ending => failed(format!("it {}", ending.said())),
    }
}

pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The first three names, and how many more there are; what they all begin with is said once.
pub(super) fn some(names: &[&str]) -> String {
    let shown = names.get(..3).unwrap_or(names);
    let home = common(shown);
    let own = |name: &&str| short(name.strip_prefix(home).unwrap_or(name).trim_start());
    let listed = shown.iter().map(own).collect::<Vec<_>>().join(", ");
    let more = names.len() - shown.len();
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    let place = home.trim_end_matches(['.', ':', '/', '>', ' ']);
    let place = if place.is_empty() { String::new() } else { format!(" in {}", short(place)) };
    format!("{listed}{place}{rest}")
}

/// What several names begin with, up to where their last parts begin.
fn common<'n>(names: &[&'n str]) -> &'n str {
    let [first, others @ ..] = names else { return "" };
    if others.is_empty() {
        return "";
    }
    let is_shared = |home: &&str| others.iter().all(|name| name.starts_with(home));
    let ends = first.match_indices(['.', ':', '/', '>']).map(|(at, sign)| at + sign.len());
    ends.filter_map(|end| first.get(..end)).rfind(is_shared).unwrap_or_default()
}

fn short(name: &str) -> String {
    if name.chars().count() <= 100 {
        name.to_owned()
    } else {
        name.chars().take(99).collect::<String>() + "…"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_share_is_said_once() {
        assert_eq!(some(&["cart.Cart.testSum", "cart.Cart.testTax"]), "testSum, testTax in cart.Cart");
        assert_eq!(some(&["cart.testSum", "shop.testTax"]), "cart.testSum, shop.testTax");
        assert_eq!(some(&["cart::tests::sum"]), "cart::tests::sum");
        assert_eq!(some(&["a > b", "a > c", "a > d", "a > e"]), "b, c, d in a and 1 more");
    }
}
