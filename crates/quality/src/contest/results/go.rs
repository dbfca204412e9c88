//! `go test`, as lines and as JSON.

use serde::Deserialize;

use super::{Format, Outcome, Results, Tally};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Told {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
}

/// A line of JSON for everything that happens.
pub(super) fn json(text: &str) -> Option<Results> {
    let mut tally = Tally::default();
    let mut is_go = false;
    let mut broken = Vec::new();
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let Ok(told) = serde_json::from_str::<Told>(line) else { continue };
        is_go |= !told.package.is_empty();
        let outcome = match told.action.as_str() {
            "pass" => Outcome::Passed,
            "fail" => Outcome::Failed,
            "skip" => Outcome::Skipped,
            _ => continue,
        };
        if told.test.is_empty() {
            if outcome == Outcome::Failed {
                broken.push(told.package);
            }
        } else {
            tally.add(&format!("{} {}", told.package, told.test), outcome);
        }
    }
    if !is_go {
        return None;
    }
    add_broken(&mut tally, &broken);
    Some(tally.finish(Format::GoJson))
}

/// A package that fails without a failing test did not build, or died.
fn add_broken(tally: &mut Tally, packages: &[String]) {
    for package in packages {
        let prefix = format!("{package} ");
        let has_failure =
            tally.tests.iter().any(|(id, outcome)| *outcome == Outcome::Failed && id.starts_with(&prefix));
        if !has_failure {
            tally.add(&format!("{package} (package)"), Outcome::Failed);
        }
    }
}

/// `--- PASS: TestName (0.00s)` above the `ok package 0.01s` that closes each package.
pub(super) fn text(text: &str) -> Option<Results> {
    let mut tally = Tally::default();
    let mut open: Vec<(String, Outcome)> = Vec::new();
    let mut packages = 0_usize;
    let mut is_verbose = false;
    let mut has_tests = false;
    for line in text.lines() {
        is_verbose |= line.starts_with("=== RUN ");
        if let Some(found) = single(line) {
            open.push(found);
        } else if let Some((package, outcome)) = package(line) {
            packages += 1;
            let is_silent = open.is_empty() && outcome != Outcome::Skipped;
            has_tests |= outcome != Outcome::Skipped;
            let has_failure = open.iter().any(|(_, outcome)| *outcome == Outcome::Failed);
            for (name, outcome) in open.drain(..) {
                tally.add(&format!("{package} {name}"), outcome);
            }
            if is_silent || (outcome == Outcome::Failed && !has_failure) {
                tally.add(&format!("{package} (package)"), outcome);
            }
        }
    }
    if packages == 0 {
        return None;
    }
    let found = tally.finish(Format::Go);
    // Without -v only failures are named.
    Some(Results { is_complete: found.is_complete && is_verbose, found_none: !has_tests, ..found })
}

fn single(line: &str) -> Option<(String, Outcome)> {
    let rest = line.trim_start().strip_prefix("--- ")?;
    let (word, rest) = rest.split_once(": ")?;
    let outcome = match word {
        "PASS" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    let (name, time) = rest.rsplit_once(" (")?;
    time.ends_with("s)").then(|| (name.to_owned(), outcome))
}

/// `ok`, `FAIL` or `?`, the package and how long it took, with tabs between them.
fn package(line: &str) -> Option<(&str, Outcome)> {
    let mut parts = line.split('\t');
    let (word, name) = (parts.next()?.trim_end(), parts.next()?);
    let outcome = match word {
        "ok" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "?" => Outcome::Skipped,
        _ => return None,
    };
    let name = name.split_whitespace().next()?;
    let is_empty = line.contains("[no test files]") || line.contains("[no tests to run]");
    Some((name, if is_empty { Outcome::Skipped } else { outcome }))
}
