//! What a policy says about asking a person: how long, and what follows where nobody says anything.

use std::time::Duration;

use belljar_domain::Span;
use serde::{Deserialize, Deserializer, Serializer};

/// How a person is asked: `[approval]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Asking {
    /// How long a call waits for an answer.
    #[serde(deserialize_with = "span", serialize_with = "text")]
    pub wait: Span,
    /// What is done at once where nobody watches and a person sits before the agent.
    pub unwatched: Unwatched,
    /// What follows when nobody answered in time.
    pub unanswered: Unanswered,
}

impl Default for Asking {
    fn default() -> Self {
        Self { wait: Span::seconds(300), unwatched: Unwatched::Agent, unanswered: Unanswered::Agent }
    }
}

impl Asking {
    /// Whether it says nothing of its own.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// How long a call waits for an answer.
    #[must_use]
    pub const fn wait(&self) -> Duration {
        self.wait.as_duration()
    }
}

/// Where nobody watches and a person sits before the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unwatched {
    /// The agent's own prompt asks them, at once.
    Agent,
    /// The call waits as if somebody watched.
    Wait,
}

/// Where nobody answered in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unanswered {
    /// An agent that can ask its own person does so; from any other it is a no.
    Agent,
    /// It is a no.
    Deny,
    /// An agent nobody sits before puts it off and ends; the answer is there when its session goes on. Else a no.
    Defer,
}

fn span<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
    let written = String::deserialize(deserializer)?;
    written.parse().map_err(serde::de::Error::custom)
}

fn text<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{}ms", span.as_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_written_and_kept() {
        let read: Asking = toml::from_str("wait = \"90s\"\nunanswered = \"deny\"").unwrap();
        assert_eq!((read.wait(), read.unanswered), (Duration::from_secs(90), Unanswered::Deny));
        let kept = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<Asking>(&kept).unwrap(), read);
        for wrong in ["wait = 90", "wait = \"soon\"", "unanswered = \"allow\"", "patience = \"1m\""] {
            assert!(toml::from_str::<Asking>(wrong).is_err(), "{wrong}");
        }
    }
}
