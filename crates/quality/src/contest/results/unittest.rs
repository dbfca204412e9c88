//! Python's `unittest`: a line for each test with `-v`, the failures alone without it.

use super::{Format, Outcome, Results, Tally};

pub(super) fn read(text: &str) -> Option<Results> {
    let total = text.lines().rev().find_map(|line| {
        let rest = line.strip_prefix("Ran ")?;
        let (count, rest) = rest.split_once(" test")?;
        rest.contains(" in ").then(|| count.parse().ok())?
    })?;
    let mut tally = Tally::default();
    let mut named: Option<&str> = None;
    for line in text.lines() {
        let line = line.trim_end();
        if let Some(failed) = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: ")) {
            if let Some(id) = identity(failed) {
                tally.add(id, Outcome::Failed);
            }
            named = None;
            continue;
        }
        if line.starts_with(char::is_whitespace) {
            continue;
        }
        // With a description the answer is on the line after the name.
        if let Some(id) = identity(line) {
            named = Some(id);
        }
        if let (Some(id), Some(outcome)) = (named, outcome(line)) {
            tally.add(id, outcome);
            named = None;
        }
    }
    tally.counted(Format::Unittest, total)
}

/// `test_sum (tests.test_cart.TestCart.test_sum)`; before Python 3.11 the name was not repeated in the brackets.
fn identity(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(" (")?;
    let (inside, _) = rest.split_once(')')?;
    let is_name =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
    if !is_name(name) || !is_name(inside) {
        return None;
    }
    if inside.ends_with(name) { Some(inside) } else { line.get(..name.len() + 3 + inside.len()) }
}

/// What stands behind the dots; a test may have printed something in between.
fn outcome(line: &str) -> Option<Outcome> {
    let (_, said) = line.split_once(" ... ")?;
    match said {
        said if said.ends_with("ok") => Some(Outcome::Passed),
        said if said.ends_with("FAIL") || said.ends_with("ERROR") => Some(Outcome::Failed),
        said if said.contains("skipped ") || said.ends_with("expected failure") => Some(Outcome::Skipped),
        _ => None,
    }
}
