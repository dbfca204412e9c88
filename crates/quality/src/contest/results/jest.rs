//! Jest's and Vitest's JSON, which is the same, and their lines.

use serde::Deserialize;

use super::{Format, Outcome, Results, Tally};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    num_total_tests: usize,
    test_results: Vec<Suite>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Suite {
    #[serde(default)]
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    assertion_results: Vec<Assertion>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    #[serde(default)]
    full_name: String,
    status: String,
}

pub(super) fn json(text: &str) -> Option<Results> {
    let report: Report = serde_json::from_str(text.trim()).ok()?;
    let mut tally = Tally::default();
    let folder = common_folder(&report.test_results);
    for suite in &report.test_results {
        let file = suite.name.get(folder..).unwrap_or(&suite.name);
        for test in &suite.assertion_results {
            let outcome = match test.status.as_str() {
                "passed" => Outcome::Passed,
                "failed" => Outcome::Failed,
                _ => Outcome::Skipped,
            };
            tally.add(&format!("{file} {}", test.full_name.trim()), outcome);
        }
        if suite.status == "failed" && suite.assertion_results.is_empty() {
            tally.add(&format!("{file} (file)"), Outcome::Failed);
        }
    }
    Some(Results {
        found_none: report.num_total_tests == 0 && tally.tests.is_empty(),
        ..tally.finish(Format::JestJson)
    })
}

/// A line of the output that is the report.
pub(super) fn json_in(text: &str) -> Option<Results> {
    let lines = text.lines().rev().filter(|line| line.starts_with("{\"num"));
    lines.take(3).find_map(json)
}

/// Reports name files by where they were; the place of the workspace is no part of a test's name. The folder is taken
/// up to the last `/` all files share before `src`, `test` and the like.
fn common_folder(suites: &[Suite]) -> usize {
    let known = ["/src/", "/test/", "/tests/", "/__tests__/", "/lib/", "/packages/", "/app/"];
    let ends = suites.iter().filter_map(|suite| known.iter().filter_map(|part| suite.name.find(part)).min());
    let end = ends.min();
    let first = suites.first().map(|suite| suite.name.as_str()).unwrap_or_default();
    let shared = suites.iter().fold(first.len(), |shared, suite| {
        first.bytes().zip(suite.name.bytes()).take(shared).take_while(|(a, b)| a == b).count()
    });
    let shared = first.get(..shared).and_then(|shared| shared.rfind('/')).unwrap_or(0);
    let cut = end.unwrap_or(shared).min(shared);
    if cut == 0 && !first.starts_with('/') { 0 } else { cut + 1 }
}

/// `✓ adds two numbers (3 ms)` below `PASS src/cart.test.ts`, or Vitest's `✓ src/cart.test.ts > adds 3ms`.
pub(super) fn text(text: &str) -> Option<Results> {
    let summed = text.lines().rev().find_map(total)?;
    let mut tally = Tally::default();
    let mut file = String::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        if let Some(name) = suite(line) {
            file = name.to_owned();
            path.clear();
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        path.retain(|(at, _)| *at < depth);
        if let Some((name, outcome)) = marked(line) {
            let named = path.iter().map(|(_, group)| group.as_str()).chain([name]);
            let id = named.collect::<Vec<_>>().join(" ");
            tally.add(format!("{file} {id}").trim(), outcome);
        } else if depth >= 2 && !line.trim().is_empty() && !file.is_empty() {
            path.push((depth, line.trim().to_owned()));
        }
    }
    tally.counted(Format::Jest, summed)
}

/// `Tests:       1 failed, 2 passed, 3 total` or `      Tests  1 failed | 2 passed (3)`.
fn total(line: &str) -> Option<usize> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("Tests:") {
        return rest.split(", ").find_map(|part| part.trim().strip_suffix(" total")?.parse().ok());
    }
    let rest = line.strip_prefix("Tests ")?;
    rest.trim().strip_suffix(')')?.rsplit_once('(')?.1.parse().ok()
}

fn suite(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("PASS ").or_else(|| line.strip_prefix("FAIL "))?;
    rest.split_whitespace().next()
}

fn marked(line: &str) -> Option<(&str, Outcome)> {
    let line = line.trim();
    let (mark, rest) = line.split_once(' ')?;
    let outcome = match mark {
        "✓" | "√" | "✔" => Outcome::Passed,
        "✕" | "×" | "✗" | "✖" => Outcome::Failed,
        "○" | "↓" => Outcome::Skipped,
        _ => return None,
    };
    Some((without_time(rest.trim_start_matches("skipped ").trim()), outcome))
}

/// `adds (3 ms)` and `adds 3ms` are the same test.
fn without_time(name: &str) -> &str {
    let in_brackets = name.rsplit_once(" (").filter(|(_, time)| is_time(time.trim_end_matches(')')));
    let bare = name.rsplit_once(' ').filter(|(_, time)| is_time(time));
    in_brackets.or(bare).map_or(name, |(name, _)| name)
}

fn is_time(text: &str) -> bool {
    let number = text.trim_end_matches("ms").trim_end_matches('s').trim();
    number.len() < text.len() && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}
