//! What a change does to code: findings that are new, gone or kept, and one number for it.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    catalogue::Kind,
    classify::Skip,
    complexity::{Excess, Measure},
    finding::{Confidence, Finding, Points, Severity},
    scorecard::Scorecard,
    sheet::{Class, Sheet, Source},
    suppress::Suppression,
    words::canonical,
};

/// The difference between two states of the same files.
#[derive(Debug)]
pub struct Delta {
    /// 50 for no change, towards 100 for better, towards 0 for worse.
    pub quality: f64,
    /// Points of what is new less points of what is gone, complexity at half its weight.
    pub change: f64,
    /// Findings only the candidate has.
    pub new: Vec<Finding>,
    /// Findings only the base has.
    pub fixed: Vec<Finding>,
    /// How many both have.
    pub kept: usize,
    /// Gone from sight and not from the code: the literal got a name its own function uses once.
    pub neutral: Vec<Finding>,
    /// Excesses only the candidate has.
    pub new_complexity: Vec<Excess>,
    /// Excesses only the base has.
    pub fixed_complexity: Vec<Excess>,
    /// Suppressions the candidate added.
    pub new_suppressions: Vec<Suppression>,
    /// Files the candidate brought that are left out.
    pub excluded: Vec<(String, Skip)>,
    /// The base.
    pub base: Scorecard,
    /// The candidate.
    pub candidate: Scorecard,
}

impl Delta {
    /// New findings that are sure, and high or critical: what a gate refuses.
    pub fn blocking(&self) -> impl Iterator<Item = &Finding> {
        self.new.iter().filter(|finding| {
            finding.confidence == Confidence::Firm && finding.weight.severity() >= Severity::High
        })
    }
}

/// Compares a candidate with its base. Both hold the same set of paths, where they exist: every file that any
/// candidate touches, so that all candidates are measured on the same ground.
///
/// How a file is looked at is settled by the base: code that moves to a place that is left out, or gets a header that
/// says it was generated, is looked at all the same.
#[must_use]
pub fn delta(base: &[Source<'_>], candidate: &[Source<'_>]) -> Delta {
    let before: Vec<Sheet> = base.iter().map(Sheet::read).collect();
    let classes: BTreeMap<&str, Class> = base.iter().map(|source| (source.path, Class::of(source))).collect();
    let bodies: BTreeSet<u64> = before
        .iter()
        .flat_map(|sheet| &sheet.facts.bodies)
        .filter(|body| body.tokens >= 10)
        .map(|body| body.renamed)
        .collect();
    let mut excluded = Vec::new();
    let mut after = Vec::new();
    for source in candidate {
        let own = Class::of(source);
        let class = match classes.get(source.path) {
            Some(known) => Class {
                skip: known
                    .skip
                    .or(own.skip.filter(|skip| matches!(skip, Skip::TooLarge | Skip::Unreadable))),
                ..*known
            },
            None => newcomer(source, own, &bodies),
        };
        if let Some(skip) = class.skip.filter(|_| !classes.contains_key(source.path)) {
            excluded.push((source.path.to_owned(), skip));
        }
        after.push(Sheet::read_as(source, class));
    }
    let mut delta = between(Scorecard::of(before), Scorecard::of(after));
    delta.excluded = excluded;
    delta
}

/// A new file is what it says it is, unless code of the base moved into it.
fn newcomer(source: &Source<'_>, own: Class, bodies: &BTreeSet<u64>) -> Class {
    let hides = own.is_test || own.skip.is_some_and(|skip| skip != Skip::TooLarge);
    if !hides || bodies.is_empty() {
        return own;
    }
    let open = Class { skip: None, is_test: false };
    let sheet = Sheet::read_as(source, open);
    if sheet.facts.bodies.iter().any(|body| bodies.contains(&body.renamed)) { open } else { own }
}

fn between(base: Scorecard, candidate: Scorecard) -> Delta {
    let mut new: Vec<Finding> = candidate.findings.clone();
    let mut fixed: Vec<Finding> = base.findings.clone();
    let exact = |finding: &Finding| (finding.fingerprint, finding.weight.0);
    let alike = |finding: &Finding| (finding.shape, finding.weight.0);
    let kept = cancel(&mut new, &mut fixed, exact) + cancel(&mut new, &mut fixed, alike);
    let (neutral, fixed): (Vec<Finding>, Vec<Finding>) =
        fixed.into_iter().partition(|finding| is_hidden(finding, &candidate));
    let (new_complexity, fixed_complexity) = excesses(&base, &candidate);
    let sum = |findings: &[Finding]| findings.iter().map(|finding| finding.weight).sum::<Points>().0;
    let load = |excesses: &[Excess]| excesses.iter().map(|excess| excess.weight).sum::<Points>().0;
    // In half thousandths, so that what cancels out cancels exactly.
    let worse = 2 * sum(&new) + load(&new_complexity);
    let better = 2 * sum(&fixed) + load(&fixed_complexity);
    let change = (Points(worse).value() - Points(better).value()) / 2.0;
    let known: BTreeSet<(&str, &[String], Option<&str>)> = base
        .suppressions
        .iter()
        .map(|one| (one.file.as_str(), one.rules.as_slice(), one.reason.as_deref()))
        .collect();
    let is_new = |one: &&Suppression| {
        !known.contains(&(one.file.as_str(), one.rules.as_slice(), one.reason.as_deref()))
    };
    Delta {
        quality: 50.0 - 50.0 * (change / 10.0).tanh(),
        change,
        kept,
        neutral,
        new_complexity,
        fixed_complexity,
        new_suppressions: candidate.suppressions.iter().filter(is_new).cloned().collect(),
        excluded: Vec::new(),
        new,
        fixed,
        base,
        candidate,
    }
}

/// Takes out of both what is in both, as often as it is in both; says how many.
fn cancel<T, K: Ord>(new: &mut Vec<T>, old: &mut Vec<T>, key: impl Fn(&T) -> K) -> usize {
    let mut counts: BTreeMap<K, usize> = BTreeMap::new();
    for one in old.iter() {
        *counts.entry(key(one)).or_default() += 1;
    }
    let mut both: BTreeMap<K, usize> = BTreeMap::new();
    new.retain(|one| match counts.get_mut(&key(one)).filter(|left| **left > 0) {
        Some(left) => {
            *left -= 1;
            *both.entry(key(one)).or_default() += 1;
            false
        }
        None => true,
    });
    let kept = both.values().sum();
    old.retain(|one| match both.get_mut(&key(one)).filter(|left| **left > 0) {
        Some(left) => {
            *left -= 1;
            false
        }
        None => true,
    });
    kept
}

/// Whether a bare value only got a name that its own function uses once.
fn is_hidden(finding: &Finding, candidate: &Scorecard) -> bool {
    let Some(literal) = finding.literal.as_deref().filter(|_| finding.rule.kind() == Kind::Meaning) else {
        return false;
    };
    let symbol = finding.elements.first().map_or("", |element| element.symbol.as_str());
    candidate
        .local_constants
        .iter()
        .any(|(function, named)| function == symbol && canonical(named) == canonical(literal))
}

/// Excesses of functions the candidate touched. A layout is no touch.
fn excesses(base: &Scorecard, candidate: &Scorecard) -> (Vec<Excess>, Vec<Excess>) {
    let mut new = candidate.complexity.clone();
    let mut old = base.complexity.clone();
    cancel(&mut new, &mut old, |excess| (excess.fingerprint, excess.weight.0));
    // Under another name, or laid out in another way.
    cancel(&mut new, &mut old, |excess| (excess.measure, excess.weight.0));
    let is_layout =
        |one: &Excess, other: &Scorecard| one.measure == Measure::Length && other.codes.contains(&one.code);
    old.retain(|one| !is_layout(one, candidate));
    new.retain(|one| !is_layout(one, base));
    (new, old)
}
