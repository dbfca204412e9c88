//! One agent of a session: the session's own, or one that works for another.

use serde::{Deserialize, Serialize};

use super::{Counts, SessionState, Spent, Spread};
use crate::{ProjectId, Timestamp};

/// One agent within a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRecord {
    /// Its identity among records; see [`super::record_id`].
    pub id: u64,
    /// Whose it is.
    pub project: ProjectId,
    /// The conversation it is part of.
    pub session: String,
    /// What the session calls it; empty for the session's own agent.
    pub agent: String,
    /// Which program it is.
    #[serde(default)]
    pub vendor: Option<String>,
    /// What kind of subagent it is.
    #[serde(default)]
    pub agent_type: Option<String>,
    /// The agent it works for; empty for the session's own. None for that one itself, and while nobody told.
    #[serde(default)]
    pub parent: Option<String>,
    /// The call that started it.
    #[serde(default)]
    pub started_by: Option<String>,
    /// What it is doing.
    pub state: SessionState,
    /// When it was first heard of.
    pub began: Timestamp,
    /// When it was last heard of.
    pub last: Timestamp,
    /// When it ended.
    #[serde(default)]
    pub ended: Option<Timestamp>,
    /// What was counted of it alone.
    pub counts: Counts,
    /// What it alone spent.
    pub spent: Spent,
    /// How long its calls took.
    #[serde(default)]
    pub durations: Spread,
    /// All of them together, in milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
    /// The call it repeats, if it does.
    #[serde(default)]
    pub repetition: Repetition,
}

/// The same call over and over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repetition {
    /// The call it is.
    pub call: u64,
    /// What it is about: tool and input, hashed.
    pub about: u64,
    /// The tool.
    pub tool: String,
    /// How often in a row.
    pub times: u64,
    /// How often without success.
    pub failed: u64,
    /// The most there was in a row.
    pub most: u64,
}

impl AgentRecord {
    /// An agent first heard of now.
    #[must_use]
    pub fn new(id: u64, project: ProjectId, session: &str, agent: &str, time: Timestamp) -> Self {
        Self {
            id,
            project,
            session: session.to_owned(),
            agent: agent.to_owned(),
            vendor: None,
            agent_type: None,
            parent: None,
            started_by: None,
            state: SessionState::Working,
            began: time,
            last: time,
            ended: None,
            counts: Counts::default(),
            spent: Spent::default(),
            durations: Spread::default(),
            duration_ms: 0,
            repetition: Repetition::default(),
        }
    }
}
