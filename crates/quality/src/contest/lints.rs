//! What a linter complained about, so that two of its runs can be compared: SARIF, a few JSON forms, or lines.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

const LONGEST: usize = 16 << 20;
const MOST: usize = 20_000;

/// Everything a linter complained about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lints {
    /// Its exit code, if it ended by itself.
    pub exit: Option<i32>,
    /// What it said; nothing if that could not be read.
    pub problems: Option<Vec<Lint>>,
}

/// One complaint.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Lint {
    /// How bad it is.
    pub level: LintLevel,
    /// Where.
    pub file: String,
    /// What it is, without line numbers: the same wherever it moves.
    pub text: String,
}

/// How bad a complaint is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LintLevel {
    /// An error.
    Error,
    /// Anything less.
    Warning,
}

/// What changed between two runs of a linter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) resolved: usize,
}

/// Reads what a linter printed. Without a word and without an error it has nothing to complain about.
#[must_use]
pub fn lints(exit: Option<i32>, output: &str) -> Lints {
    let output = output.get(..output.floor_char_boundary(LONGEST)).unwrap_or_default();
    let mut problems = json(output).or_else(|| lines(output));
    if problems.is_none() && exit == Some(0) {
        problems = Some(Vec::new());
    }
    if let Some(problems) = &mut problems {
        problems.sort();
        problems.truncate(MOST);
    }
    Lints { exit, problems }
}

/// What came and what went, as often as it is there.
pub(super) fn change(base: &[Lint], after: &[Lint]) -> Change {
    let mut left: BTreeMap<&Lint, usize> = BTreeMap::new();
    for lint in base {
        *left.entry(lint).or_default() += 1;
    }
    let mut change = Change::default();
    for lint in after {
        match left.get_mut(lint).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None if lint.level == LintLevel::Error => change.errors += 1,
            None => change.warnings += 1,
        }
    }
    change.resolved = left.values().sum();
    change
}

fn json(output: &str) -> Option<Vec<Lint>> {
    let start = output.find(['{', '['])?;
    let text = output.get(start..)?.trim();
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return sarif(&value)
            .or_else(|| eslint(&value))
            .or_else(|| ruff(&value))
            .or_else(|| golangci(&value));
    }
    clippy(output)
}

fn lint(level: LintLevel, file: &str, text: &str) -> Lint {
    let short = |text: &str| text.chars().take(300).collect::<String>();
    Lint { level, file: short(file.trim_start_matches("./")), text: short(text.trim()) }
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn sarif(value: &Value) -> Option<Vec<Lint>> {
    let runs = value.get("runs")?.as_array()?;
    let results = runs.iter().filter_map(|run| run.get("results")?.as_array()).flatten();
    let read = results.map(|result| {
        let level = if text(result, "/level") == "error" { LintLevel::Error } else { LintLevel::Warning };
        let file = text(result, "/locations/0/physicalLocation/artifactLocation/uri");
        lint(level, file, &format!("{} {}", text(result, "/ruleId"), text(result, "/message/text")))
    });
    Some(read.collect())
}

fn eslint(value: &Value) -> Option<Vec<Lint>> {
    let files = value.as_array()?;
    let mut found = Vec::new();
    for file in files {
        let path = file.get("filePath")?.as_str()?;
        for message in file.get("messages")?.as_array()? {
            let is_error = message.get("severity").and_then(Value::as_u64) == Some(2);
            let level = if is_error { LintLevel::Error } else { LintLevel::Warning };
            found.push(lint(
                level,
                path,
                &format!("{} {}", text(message, "/ruleId"), text(message, "/message")),
            ));
        }
    }
    Some(found)
}

fn ruff(value: &Value) -> Option<Vec<Lint>> {
    let all = value.as_array()?;
    let read = all.iter().map(|one| {
        let file = one.get("filename")?.as_str()?;
        Some(lint(LintLevel::Error, file, &format!("{} {}", text(one, "/code"), text(one, "/message"))))
    });
    read.collect()
}

fn golangci(value: &Value) -> Option<Vec<Lint>> {
    let issues = value.get("Issues")?;
    let read = issues.as_array().into_iter().flatten().map(|one| {
        let level = if text(one, "/Severity") == "warning" { LintLevel::Warning } else { LintLevel::Error };
        lint(
            level,
            text(one, "/Pos/Filename"),
            &format!("{} {}", text(one, "/FromLinter"), text(one, "/Text")),
        )
    });
    Some(read.collect())
}

/// `cargo clippy --message-format json`: a line of JSON each.
fn clippy(output: &str) -> Option<Vec<Lint>> {
    let mut found = Vec::new();
    let mut is_cargo = false;
    for line in output.lines().filter(|line| line.starts_with("{\"reason\"")) {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        is_cargo = true;
        if text(&value, "/reason") != "compiler-message" {
            continue;
        }
        let level = match text(&value, "/message/level") {
            "error" => LintLevel::Error,
            "warning" => LintLevel::Warning,
            _ => continue,
        };
        let file = text(&value, "/message/spans/0/file_name");
        if !file.is_empty() {
            let said = format!("{} {}", text(&value, "/message/code/code"), text(&value, "/message/message"));
            found.push(lint(level, file, &said));
        }
    }
    is_cargo.then_some(found)
}

/// `path:line:column: level: message`, as most linters print, and the two lines of rustc and clippy.
fn lines(output: &str) -> Option<Vec<Lint>> {
    let mut found = Vec::new();
    let mut said: Option<(LintLevel, &str)> = None;
    for line in output.lines() {
        let line = line.trim_end();
        if let Some(place) = line.trim_start().strip_prefix("--> ") {
            if let Some((level, message)) = said.take() {
                found.push(lint(level, place.split(':').next().unwrap_or_default(), message));
            }
        } else if line.starts_with("warning") || line.starts_with("error") {
            let level = if line.starts_with("error") { LintLevel::Error } else { LintLevel::Warning };
            said = line.split_once(": ").map(|(_, message)| (level, message));
        } else if let Some(one) = placed(line) {
            found.push(one);
        }
    }
    (!found.is_empty()).then_some(found)
}

fn placed(line: &str) -> Option<Lint> {
    let (file, rest) = line.split_once(':')?;
    let looks_like_file = file.contains('.') && !file.contains(char::is_whitespace);
    let (number, rest) = rest.split_once(':')?;
    if !looks_like_file || number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let rest = match rest.split_once(':') {
        Some((column, rest)) if !column.is_empty() && column.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest
        }
        _ => rest,
    };
    let message = rest.trim();
    let lower = message.to_ascii_lowercase();
    let is_warning = ["warning", "warn", "note", "info", "style"].iter().any(|word| lower.starts_with(word));
    let level = if is_warning { LintLevel::Warning } else { LintLevel::Error };
    (!message.is_empty()).then(|| lint(level, file, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(output: &str) -> (usize, usize) {
        let found = lints(Some(1), output).problems.unwrap_or_default();
        let errors = found.iter().filter(|one| one.level == LintLevel::Error).count();
        (errors, found.len() - errors)
    }

    #[test]
    fn linters_of_many_kinds_are_read() {
        assert_eq!(levels("src/a.py:3:1: F401 `os` imported but unused\nFound 1 error.\n"), (1, 0));
        assert_eq!(
            levels(
                "warning: unused variable: `x`\n --> src/a.rs:3:9\n  |\nerror[E0308]: mismatched\n --> src/b.rs:1:1\n"
            ),
            (1, 1)
        );
        assert_eq!(
            levels(
                r#"[{"filePath":"/w/a.js","messages":[{"ruleId":"semi","severity":2,"message":"m"},{"ruleId":"x","severity":1,"message":"n"}]}]"#
            ),
            (1, 1)
        );
        assert_eq!(levels(r#"[{"filename":"a.py","code":"F401","message":"m"}]"#), (1, 0));
        assert_eq!(
            levels(r#"{"runs":[{"results":[{"level":"warning","ruleId":"r","message":{"text":"t"}}]}]}"#),
            (0, 1)
        );
        assert_eq!(
            levels(r#"{"Issues":[{"FromLinter":"errcheck","Text":"t","Pos":{"Filename":"a.go"}}]}"#),
            (1, 0)
        );
        assert_eq!(lints(Some(0), "All checks passed!\n").problems, Some(Vec::new()));
        assert_eq!(lints(Some(2), "no configuration\n").problems, None);
    }

    #[test]
    fn a_complaint_that_moves_is_the_same() {
        let (a, b) =
            (lints(Some(1), "a.py:3:1: E1 long\n"), lints(Some(1), "a.py:9:2: E1 long\na.py:9:2: E2 new\n"));
        let found = change(&a.problems.unwrap(), &b.problems.unwrap());
        assert_eq!(found, Change { errors: 1, warnings: 0, resolved: 0 });
    }
}
