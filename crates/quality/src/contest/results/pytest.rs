//! pytest's output: the short summary of `-rA`, else the lines of `-v`, else the letters' failures.

use super::{Format, Outcome, Results, Tally};

pub(super) fn read(text: &str) -> Option<Results> {
    let last = text.lines().rev().find_map(closing)?;
    let mut tally = Tally::default();
    // What is tested prints before the summary; the last summary is pytest's own.
    let summary = text.rfind("short test summary info").and_then(|at| text.get(at..)).unwrap_or_default();
    for line in summary.lines().skip(1) {
        if let Some((id, outcome)) = summed_up(line) {
            tally.add(id, outcome);
        }
    }
    for line in text.lines() {
        if let Some((id, outcome)) = verbose(line) {
            tally.add(id, outcome);
        }
    }
    tally.counted(Format::Pytest, last)
}

/// How many tests pytest's last line counts: `== 3 passed, 1 failed in 0.12s ==`, or without the bars with `-q`.
fn closing(line: &str) -> Option<usize> {
    let line = line.trim().trim_matches('=').trim();
    if line.starts_with("no tests ran") || line.starts_with("no tests collected") {
        return Some(0);
    }
    let (counts, time) = line.rsplit_once(" in ")?;
    if !time.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut all = 0;
    for part in counts.split(", ") {
        let (number, word) = part.trim().split_once(' ')?;
        let number: usize = number.parse().ok()?;
        match word {
            "passed" | "failed" | "skipped" | "xfailed" | "xpassed" | "error" | "errors" => all += number,
            "deselected" | "warning" | "warnings" | "rerun" => {}
            _ => return None,
        }
    }
    Some(all)
}

/// `PASSED tests/test_a.py::test_b`, `FAILED tests/test_a.py::test_b - assert 1 == 2`.
fn summed_up(line: &str) -> Option<(&str, Outcome)> {
    let (word, rest) = line.split_once(' ')?;
    let outcome = outcome(word)?;
    if word == "SKIPPED" {
        // `SKIPPED [1] tests/test_a.py:3: reason` names a place, not a test.
        return None;
    }
    Some((identity(rest)?, outcome))
}

/// `tests/test_a.py::test_b PASSED [ 50%]`.
fn verbose(line: &str) -> Option<(&str, Outcome)> {
    let line = line.trim_end();
    let line = line.rsplit_once('[').filter(|(_, end)| end.ends_with("%]")).map_or(line, |(start, _)| start);
    let (id, word) = line.trim_end().rsplit_once(' ')?;
    let outcome = outcome(word)?;
    (id.contains("::") && !id.starts_with(char::is_whitespace)).then_some((id.trim_end(), outcome))
}

/// The name before ` - reason`. A parameter may contain that, too; it is in brackets.
fn identity(rest: &str) -> Option<&str> {
    let brackets = rest.find('[').and_then(|open| rest.rfind("] - ").filter(|close| *close > open));
    let id = match brackets {
        Some(close) => rest.get(..=close)?,
        None if rest.contains('[') && rest.trim_end().ends_with(']') => rest,
        None => rest.split(" - ").next()?,
    };
    let id = id.trim();
    (id.contains("::") || id.ends_with(".py")).then_some(id)
}

fn outcome(word: &str) -> Option<Outcome> {
    match word {
        "PASSED" | "XPASS" => Some(Outcome::Passed),
        "FAILED" | "ERROR" => Some(Outcome::Failed),
        "SKIPPED" | "XFAIL" => Some(Outcome::Skipped),
        _ => None,
    }
}
