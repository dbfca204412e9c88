//! What attempts are scored by: one number from 0 to 100 for each dimension, and what it was made of.
//!
//! A dimension that is not known of everybody who may win counts for nobody: numbers made of different things cannot be
//! compared. Who is better in one and worse in none is never behind.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    diff::{Diff, ratio},
    evidence::{Check, Evidence},
    gates::{counted, unchecked, untold},
    ground::Role,
    judgement::Part,
    lints,
    results::{Outcome, Results},
    rules::{Dimension, Weights},
};

/// A dimension of an attempt: the number, and what it was made of.
type Measure = (Option<f64>, String);

/// Measures everybody who may win, against each other where that matters.
pub(super) fn parts(field: &[&Evidence], weights: &Weights) -> Vec<BTreeMap<Dimension, Part>> {
    let measured: Vec<BTreeMap<Dimension, Measure>> = field
        .iter()
        .map(|one| Dimension::ALL.into_iter().map(|of| (of, measure(of, one, field))).collect())
        .collect();
    let is_known =
        |of: &Dimension| measured.iter().all(|one| one.get(of).is_some_and(|(score, _)| score.is_some()));
    let known: BTreeSet<Dimension> = Dimension::ALL.into_iter().filter(is_known).collect();
    let whole: f64 = known.iter().map(|of| weights.of(*of)).sum();
    let share = |of: Dimension| {
        if known.contains(&of) && whole > 0.0 { 100.0 * weights.of(of) / whole } else { 0.0 }
    };
    let part = |of: Dimension, (score, note): Measure| {
        let weight = share(of);
        let points = score.unwrap_or(0.0) * weight / 100.0;
        let note = if score.is_some() && weight <= 0.0 { format!("{note}; counts for nobody") } else { note };
        (of, Part { score, weight, points, note })
    };
    measured.into_iter().map(|one| one.into_iter().map(|(of, measure)| part(of, measure)).collect()).collect()
}

fn measure(of: Dimension, one: &Evidence, field: &[&Evidence]) -> Measure {
    match of {
        Dimension::Tests => tests(one),
        Dimension::Quality => quality(one),
        Dimension::Lint => lint(one),
        Dimension::Scope => scope(one, field),
        Dimension::Contributed => contributed(one),
        Dimension::Agreement => agreement(one, field),
        Dimension::Cost => cost(one, field),
    }
}

fn tests(one: &Evidence) -> Measure {
    let Some(trial) = &one.check else { return (None, unchecked(one).to_owned()) };
    if let Some(why) = untold(trial, "check") {
        return (None, why);
    }
    let accepted = if trial.after.passed() { 100.0 } else { 0.0 };
    let known = trial.base.tests.as_ref();
    let (mut passed, mut all) =
        trial.after.tests.as_ref().map(|tests| tally(tests, |_| true)).unwrap_or_default();
    let is_new = |id: &str| known.is_none_or(|base| !base.tests.contains_key(id));
    let others = one.own.iter().chain(one.cross.iter().map(|cross| &cross.check));
    for tests in others.filter_map(|check: &Check| check.tests.as_ref()) {
        let (more, of) = tally(tests, is_new);
        passed += more;
        all += of;
    }
    if all == 0 {
        return (Some(accepted), format!("the check {}", trial.after.said()));
    }
    let share = 100.0 * ratio(passed, all);
    (
        Some((accepted + share) / 2.0),
        format!("{passed} of {} pass, the check {}", counted(all, "test", "tests"), trial.after.said()),
    )
}

/// Those that pass, and those that were run.
fn tally(results: &Results, counts: impl Fn(&str) -> bool) -> (usize, usize) {
    let run = results.tests.iter().filter(|(id, outcome)| **outcome != Outcome::Skipped && counts(id));
    let (passed, failed): (Vec<_>, Vec<_>) = run.partition(|(_, outcome)| **outcome == Outcome::Passed);
    (passed.len(), passed.len() + failed.len())
}

fn quality(one: &Evidence) -> Measure {
    let Some(note) = &one.quality else { return (None, "no file in a language that is read".to_owned()) };
    let points = match note.change {
        change if change > 0.0 => format!("{change:.1} points worse"),
        change if change < 0.0 => format!("{:.1} points better", -change),
        _ => "no difference".to_owned(),
    };
    let moved = format!("{} came, {} went", counted(note.new_count, "finding", "findings"), note.fixed_count);
    (Some(note.score()), format!("{points}: {moved}"))
}

fn lint(one: &Evidence) -> Measure {
    let Some(both) = &one.lint else { return (None, "the run has no linter".to_owned()) };
    match (&both.base.problems, &both.after.problems, both.base.exit, both.after.exit) {
        (Some(base), Some(after), ..) => {
            let change = lints::change(base, after);
            let count = |number: usize| ratio(number, 1);
            let score =
                100.0 - 12.0 * count(change.errors) - 2.0 * count(change.warnings) + count(change.resolved);
            let note = format!(
                "{} and {} came, {} went",
                counted(change.errors, "error", "errors"),
                counted(change.warnings, "warning", "warnings"),
                change.resolved
            );
            (Some(score.clamp(0.0, 100.0)), note)
        }
        (_, _, Some(0), Some(0)) => (Some(100.0), "the linter is content".to_owned()),
        (_, _, Some(0), _) => {
            (Some(50.0), "the linter was content with the base, and is not any more".to_owned())
        }
        _ => (None, "what the linter said about the base could not be read".to_owned()),
    }
}

fn scope(one: &Evidence, field: &[&Evidence]) -> Measure {
    let Some(diff) = &one.diff else { return (None, "its changes could not be read".to_owned()) };
    let mut churns: Vec<usize> =
        field.iter().filter_map(|other| other.diff.as_ref()).map(Diff::churn).collect();
    churns.sort_unstable();
    // Small is no merit: below twice the middle nobody loses anything. A few lines more are never too many.
    let middle = churns.get(churns.len().saturating_sub(1) / 2).copied().unwrap_or(0).max(10);
    let size = ratio(diff.churn(), middle);
    let mut score = if size <= 2.0 { 100.0 } else { 100.0 - 50.0 * (size - 2.0) };
    let mut note =
        format!("{} changed, {:.1} times the middle", counted(diff.churn(), "line", "lines"), size);
    let alone = alone(one, field);
    if alone > 0 {
        score -= 3.0 * ratio(alone.min(5), 1);
        note.push_str(&format!("; {} nobody else touched", counted(alone, "file", "files")));
    }
    let churn: usize = diff.files.iter().map(|file| file.added + file.removed).sum();
    let layout: usize = diff.files.iter().map(|file| file.layout).sum();
    if layout > 0 {
        score -= 30.0 * ratio(layout, churn);
        note.push_str(&format!("; {} only laid out anew", counted(layout, "line", "lines")));
    }
    (Some(score.clamp(0.0, 100.0)), note)
}

/// Files of the base only this one touched, if there are others to compare with.
fn alone(one: &Evidence, field: &[&Evidence]) -> usize {
    let others: Vec<_> =
        field.iter().filter(|other| other.fork != one.fork).filter_map(|other| other.diff.as_ref()).collect();
    if others.len() < 2 {
        return 0;
    }
    let files = one.diff.iter().flat_map(|diff| &diff.files);
    let counted = files.filter(|file| file.existed && !matches!(file.role, Role::Test | Role::Lock));
    counted
        .filter(|file| !others.iter().any(|diff| diff.files.iter().any(|other| other.path == file.path)))
        .count()
}

fn contributed(one: &Evidence) -> Measure {
    let Some(diff) = &one.diff else { return (None, "its changes could not be read".to_owned()) };
    let has_code = diff.files.iter().any(|file| file.role == Role::Code && file.added + file.removed > 0);
    let (files, tests) = (one.tampering.test_files, one.tampering.tests_added);
    let told = format!("{} in {}", counted(tests, "new test", "new tests"), counted(files, "file", "files"));
    if !has_code && tests > 0 {
        return (Some(0.0), format!("{told}, and no code that they test"));
    }
    (Some(100.0 * ratio(files.min(3), 3)), if tests == 0 { "no new tests".to_owned() } else { told })
}

fn agreement(one: &Evidence, field: &[&Evidence]) -> Measure {
    let others: Vec<_> = field.iter().filter(|other| other.fork != one.fork).collect();
    let Some(diff) = one.diff.as_ref().filter(|_| !others.is_empty()) else {
        return (None, "there is nobody to compare with".to_owned());
    };
    let alike = others
        .iter()
        .filter_map(|other| other.diff.as_ref())
        .filter(|other| diff.likeness(other) >= 0.3)
        .count();
    (
        Some(100.0 * ratio(alike, others.len())),
        format!("{alike} of {} changed much the same lines", counted(others.len(), "other", "others")),
    )
}

/// Time counts from a second on: below, chance decides.
fn cost(one: &Evidence, field: &[&Evidence]) -> Measure {
    if field.len() < 2 {
        return (None, "there is nobody to compare with".to_owned());
    }
    let fastest = field.iter().map(|other| other.duration_ms).min().unwrap_or(0);
    let seconds = |ms: u64| 1.0 + Duration(ms).seconds();
    let time = seconds(fastest) / seconds(one.duration_ms);
    let costs: Option<Vec<f64>> = field.iter().map(|other| other.cost.filter(|cost| *cost >= 0.0)).collect();
    let money = costs.and_then(|costs| {
        let least = costs.into_iter().fold(f64::INFINITY, f64::min);
        one.cost.map(|own| (least + 0.001) / (own + 0.001))
    });
    let score = money.map_or(time, |money| f64::midpoint(money, time));
    let paid = one.cost.map_or_else(|| "cost not known".to_owned(), |cost| format!("${cost:.2}"));
    (Some(100.0 * score.clamp(0.0, 1.0)), format!("{paid}, {:.1} s", Duration(one.duration_ms).seconds()))
}

struct Duration(u64);

impl Duration {
    fn seconds(&self) -> f64 {
        u32::try_from(self.0).map_or(f64::from(u32::MAX), f64::from) / 1000.0
    }
}
