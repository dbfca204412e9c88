//! Errors that look alike: since when, how often, whose, and whether somebody dealt with them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{ProjectId, Timestamp, word::words};

words! {
    /// Whether errors of a kind are dealt with.
    ErrorGroupState, "state" {
        /// They are not.
        Open = "open",
        /// Somebody said so.
        Resolved = "resolved",
    }
}

/// Those who are named; the rest is only counted.
const NAMED: usize = 64;

/// Errors that look alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorGroup {
    /// Its identity among records; see [`super::record_id`].
    pub id: u64,
    /// Whose they are.
    pub project: ProjectId,
    /// What they have in common, hashed.
    pub fingerprint: String,
    /// What failed: `tool`, `model`, `turn`.
    pub what: String,
    /// The tool, if it was one.
    #[serde(default)]
    pub tool: Option<String>,
    /// What they have in common.
    pub title: String,
    /// What the last one said.
    pub sample: String,
    /// When the first one was seen.
    pub first: Timestamp,
    /// When the last one was seen.
    pub last: Timestamp,
    /// How many there were.
    pub count: u64,
    /// Whose they were: agents, named up to a bound.
    #[serde(default)]
    pub agents: BTreeSet<String>,
    /// In which sessions, named up to a bound.
    #[serde(default)]
    pub sessions: BTreeSet<String>,
    /// Whether somebody dealt with them.
    pub state: ErrorGroupState,
    /// Who said so last; nobody when it opened by itself.
    #[serde(default)]
    pub by: Option<String>,
    /// Why they said so.
    #[serde(default)]
    pub reason: Option<String>,
    /// Since when.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// How often it was resolved and seen again.
    #[serde(default)]
    pub returned: u64,
}

impl ErrorGroup {
    /// Counts one more.
    pub fn see(&mut self, sample: &str, time: Timestamp, agent: &str, session: &str) {
        self.count += 1;
        self.first = self.first.min(time);
        self.last = self.last.max(time);
        sample.clone_into(&mut self.sample);
        for (set, name) in [(&mut self.agents, agent), (&mut self.sessions, session)] {
            if !name.is_empty() && set.len() < NAMED {
                set.insert(name.to_owned());
            }
        }
        let is_back = self.state == ErrorGroupState::Resolved && self.since.is_none_or(|since| time > since);
        if is_back {
            self.state = ErrorGroupState::Open;
            self.by = None;
            self.reason = Some("seen again after it was resolved".to_owned());
            self.since = Some(time);
            self.returned += 1;
        }
    }
}
