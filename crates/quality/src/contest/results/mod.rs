//! Results by test: what a runner said about each, out of its report or out of what it printed.
//!
//! Whatever is tested can print what it likes, so a report of the runner's own counts more than its output, and which of
//! them was read is kept. Every text is read up to a bound; what is not understood leaves the exit code to decide.

mod asking;
mod cargo;
mod go;
mod jest;
mod junit;
mod pytest;
mod tap;
mod unittest;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use asking::{Asking, asking};

/// How much of a text is read.
const LONGEST: usize = 16 << 20;
/// How many tests are kept.
const MOST: usize = 50_000;
/// How long the name of a test may be.
const LONGEST_ID: usize = 500;

/// Results by test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// Whose words they are.
    pub format: Format,
    /// Where they were read.
    pub origin: Origin,
    /// By the runner's own name of each test.
    pub tests: BTreeMap<String, Outcome>,
    /// Whether every test that ran is among them.
    pub is_complete: bool,
    /// How many there are by the runner's own count.
    #[serde(default)]
    pub total: usize,
    /// The runner said that there are no tests.
    #[serde(default)]
    pub found_none: bool,
}

/// What became of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It passed.
    Passed,
    /// It was not run, or was expected to fail.
    Skipped,
    /// It failed.
    Failed,
}

/// Whose words results are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `JUnit`'s XML, which many runners write.
    Junit,
    /// pytest's lines.
    Pytest,
    /// `cargo test`'s lines.
    Cargo,
    /// `cargo nextest`'s lines.
    Nextest,
    /// Python's unittest.
    Unittest,
    /// The Test Anything Protocol, which Node's runner and others speak.
    Tap,
    /// `go test`'s lines.
    Go,
    /// `go test -json`.
    GoJson,
    /// Jest's or Vitest's JSON.
    JestJson,
    /// Jest's or Vitest's lines.
    Jest,
}

impl Format {
    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Junit => "JUnit XML",
            Self::Pytest => "pytest",
            Self::Cargo => "cargo test",
            Self::Nextest => "cargo nextest",
            Self::Unittest => "unittest",
            Self::Tap => "TAP",
            Self::Go | Self::GoJson => "go test",
            Self::JestJson | Self::Jest => "jest or vitest",
        }
    }
}

/// Where results were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// In a report the runner wrote.
    File(String),
    /// In what was printed: whatever is tested could have printed it, too.
    Output,
}

/// How many tests there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCounts {
    /// Passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Not run.
    pub skipped: usize,
}

impl Results {
    /// How many there are of each sort.
    #[must_use]
    pub fn counts(&self) -> TestCounts {
        let of = |wanted: Outcome| self.tests.values().filter(|outcome| **outcome == wanted).count();
        TestCounts { passed: of(Outcome::Passed), failed: of(Outcome::Failed), skipped: of(Outcome::Skipped) }
    }

    /// The names of tests that passed.
    pub fn passing(&self) -> impl Iterator<Item = &str> {
        self.tests.iter().filter(|(_, outcome)| **outcome == Outcome::Passed).map(|(id, _)| id.as_str())
    }

    /// The names of tests that failed.
    #[must_use]
    pub fn failing(&self) -> Vec<&str> {
        let failed = self.tests.iter().filter(|(_, outcome)| **outcome == Outcome::Failed);
        failed.map(|(id, _)| id.as_str()).collect()
    }
}

/// What a command left: its output, and the reports it was asked to write.
#[derive(Debug, Clone, Copy, Default)]
pub struct Transcript<'s> {
    /// Standard output and standard error, in the order they came.
    pub output: &'s str,
    /// Reports, by path.
    pub files: &'s [(String, String)],
}

/// Reads results by test; nothing if no runner is recognised.
#[must_use]
pub fn results(transcript: &Transcript<'_>) -> Option<Results> {
    let mut found: Vec<Results> =
        transcript.files.iter().filter_map(|(path, text)| report(path, text)).collect();
    match found.len() {
        0 => output(bounded(transcript.output)),
        1 => found.pop(),
        // A report for each part of the project.
        _ => {
            let format = found.first()?.format;
            let origin = Origin::File(format!("{} reports", found.len()));
            let is_complete = found.iter().all(|one| one.is_complete);
            let mut tally = Tally::default();
            for (id, outcome) in found.into_iter().flat_map(|one| one.tests) {
                tally.add(&id, outcome);
            }
            let total = tally.tests.len();
            Some(Results {
                origin,
                total,
                is_complete: is_complete && !tally.is_full,
                ..tally.finish(format)
            })
        }
    }
}

fn report(path: &str, text: &str) -> Option<Results> {
    let text = bounded(text);
    let read = junit::read(text).or_else(|| jest::json(text)).or_else(|| go::json(text))?;
    Some(Results { origin: Origin::File(path.to_owned()), ..read })
}

/// What a runner printed. Those that are hardest to mistake come first.
fn output(text: &str) -> Option<Results> {
    let plain = without_colour(text);
    let text = plain.as_str();
    go::json(text)
        .or_else(|| jest::json_in(text))
        .or_else(|| cargo::nextest(text))
        .or_else(|| cargo::libtest(text))
        .or_else(|| pytest::read(text))
        .or_else(|| unittest::read(text))
        .or_else(|| tap::read(text))
        .or_else(|| go::text(text))
        .or_else(|| jest::text(text))
}

/// The end of a text that is too long: runners sum up at the end.
fn bounded(text: &str) -> &str {
    let mut from = text.len().saturating_sub(LONGEST);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}

/// A text without the escape sequences terminals take for colours.
fn without_colour(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, after) = rest.split_at(at);
        plain.push_str(before);
        let after = after.get(1..).unwrap_or_default();
        rest = match after.strip_prefix('[') {
            Some(code) => {
                let end = code.find(|c: char| c.is_ascii_alphabetic()).map_or(code.len(), |end| end + 1);
                code.get(end..).unwrap_or_default()
            }
            None => after,
        };
    }
    plain.push_str(rest);
    plain
}

/// Results in the making.
#[derive(Debug, Default)]
struct Tally {
    tests: BTreeMap<String, Outcome>,
    is_full: bool,
}

impl Tally {
    /// A test that is told of twice is as bad as it was worst.
    fn add(&mut self, id: &str, outcome: Outcome) {
        let id = id.trim();
        if id.is_empty() || id.len() > LONGEST_ID || id.chars().any(char::is_control) {
            return;
        }
        if let Some(known) = self.tests.get_mut(id) {
            *known = outcome.max(*known);
        } else if self.tests.len() < MOST {
            self.tests.insert(id.to_owned(), outcome);
        } else {
            self.is_full = true;
        }
    }

    fn finish(self, format: Format) -> Results {
        Results {
            format,
            origin: Origin::Output,
            found_none: self.tests.is_empty(),
            is_complete: !self.is_full,
            total: self.tests.len(),
            tests: self.tests,
        }
    }

    /// With the runner's own count. More names than it counted are not all its own: then none of them is believed.
    fn counted(self, format: Format, total: usize) -> Option<Results> {
        if self.tests.len() > total {
            return None;
        }
        let is_complete = self.tests.len() == total && !self.is_full;
        Some(Results { is_complete, total, found_none: total == 0, ..self.finish(format) })
    }
}
