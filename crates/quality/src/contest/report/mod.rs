//! A run's report, for people: Markdown to paste, and one HTML file that needs nothing else.
//!
//! Owns: what is shown and in which order: who won and why, everybody's gates, what scores are made of, what moved them,
//! and the changes themselves. Refuses: to trust a word of it. Names, output and code come from attempts; whatever they
//! contain, it is shown as text.

mod amounts;
mod html;
mod markdown;
mod plain;

use serde::{Deserialize, Serialize};

use super::judgement::{Judgement, Standing};

pub use html::html;
pub use markdown::markdown;

/// What a report shows beside the judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// What was asked for.
    pub prompt: String,
    /// The acceptance command, if there was one.
    #[serde(default)]
    pub check: Option<String>,
    /// The linter, if there was one.
    #[serde(default)]
    pub lint: Option<String>,
    /// When it was decided, as people write it.
    #[serde(default)]
    pub decided_at: Option<String>,
    /// How long the whole run took.
    #[serde(default)]
    pub duration_ms: Option<u64>,
    /// The judgement.
    pub judgement: Judgement,
    /// What each attempt brought, in any order.
    #[serde(default)]
    pub attempts: Vec<AttemptPage>,
    /// Commands that come next, with a word on each.
    #[serde(default)]
    pub next: Vec<(String, String)>,
}

/// What a report shows of an attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptPage {
    /// Its number.
    pub fork: u32,
    /// What tells it from the others: a model, a hint.
    #[serde(default)]
    pub label: String,
    /// Its changes, as a unified diff.
    #[serde(default)]
    pub patch: String,
    /// The end of what the check printed.
    #[serde(default)]
    pub check_tail: String,
}

impl Page {
    /// The first line of what was asked for.
    fn title(&self) -> String {
        let first = self.prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("Best of N");
        let first = first.trim_start_matches('#').trim();
        if first.chars().count() <= 90 {
            first.to_owned()
        } else {
            first.chars().take(89).collect::<String>() + "…"
        }
    }

    /// Everybody, best first.
    fn ranked(&self) -> impl Iterator<Item = &Standing> {
        let judgement = &self.judgement;
        judgement.ranking.iter().filter_map(|fork| judgement.forks.iter().find(|one| one.fork == *fork))
    }

    fn attempt(&self, fork: u32) -> Option<&AttemptPage> {
        self.attempts.iter().find(|one| one.fork == fork)
    }

    /// Who is kept: a person's choice before the judgement's.
    fn kept(&self) -> Option<u32> {
        self.judgement.picked.as_ref().map(|pick| pick.fork).or(self.judgement.winner_fork)
    }

    /// How it came out, in a word or two.
    fn state(&self) -> &'static str {
        match (&self.judgement.picked, self.judgement.winner_fork, &self.judgement.close_call) {
            (Some(_), ..) => "chosen by a person",
            (None, None, _) => "no winner",
            (None, Some(_), Some(_)) => "close call",
            (None, Some(_), None) => "decided",
        }
    }

    fn cost(&self) -> Option<f64> {
        let costs: Vec<f64> = self.judgement.forks.iter().filter_map(|fork| fork.cost).collect();
        (!costs.is_empty()).then(|| costs.iter().sum())
    }
}

/// How a report says a long text goes on elsewhere.
const LONGEST_PATCH: usize = 60_000;

/// As many whole lines of a text as fit, and how many are left out.
fn excerpt(text: &str, most: usize) -> (&str, usize) {
    if text.len() <= most {
        return (text, 0);
    }
    let end =
        text.get(..text.floor_char_boundary(most)).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
    let (shown, rest) = text.split_at(end);
    (shown, rest.lines().count())
}
