//! Records: how long questions take among a million events, by the store's own example.

use anyhow::Context as _;

use crate::shell::{self, Workspace};

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    pub(crate) events: usize,
    /// Bytes an event, as the example says it.
    pub(crate) room: String,
    /// Each question with its median and p95 in milliseconds.
    pub(crate) questions: Vec<(String, f64, f64)>,
}

pub(crate) fn measure(workspace: &Workspace, events: usize) -> anyhow::Result<Records> {
    let count = events.to_string();
    let arguments =
        ["run", "--release", "--quiet", "--package", "belljar-store", "--example", "records", &count];
    let said = shell::read(&mut workspace.cargo(&arguments))?;
    println!("{said}");
    let room = said.lines().find_map(|line| line.strip_prefix("room per event: "));
    let questions: Vec<_> = said.lines().filter_map(question).collect();
    Ok(Records { events, room: room.context("the store did not say how large it is")?.to_owned(), questions })
}

impl Records {
    /// The slowest question's p95.
    pub(crate) fn slowest(&self) -> Option<f64> {
        self.questions.iter().map(|(_, _, p95)| *p95).reduce(f64::max)
    }
}

/// `what   median   1.2ms  p95   3.4ms`
fn question(line: &str) -> Option<(String, f64, f64)> {
    let (what, times) = line.split_once(" median ")?;
    let (median, p95) = times.split_once(" p95 ")?;
    Some((what.trim().to_owned(), millis(median)?, millis(p95)?))
}

fn millis(text: &str) -> Option<f64> {
    let text = text.trim();
    [("ns", 1e-6), ("µs", 1e-3), ("ms", 1.0), ("s", 1e3)]
        .into_iter()
        .find_map(|(unit, scale)| text.strip_suffix(unit)?.parse::<f64>().ok().map(|number| number * scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_read_with_its_units() {
        let (what, median, p95) =
            question("session trace, first page     median  812.40µs  p95   13.20ms").unwrap();
        assert_eq!(what, "session trace, first page");
        assert!((median - 0.8124).abs() < 1e-9 && (p95 - 13.2).abs() < 1e-9, "{median} {p95}");
        assert_eq!(question("room per event: ledger 996 bytes"), None);
    }
}
