//! One conversation of an agent, as it stands.

use serde::{Deserialize, Serialize};

use super::{Counts, Spent};
use crate::{ProjectId, RunId, SandboxId, Timestamp, word::words};

words! {
    /// What a session or an agent is doing.
    SessionState, "state" {
        /// It works on what it was asked.
        Working = "working",
        /// It cannot go on before a person answers.
        Waiting = "waiting",
        /// It has answered, and could be asked something else.
        Idle = "idle",
        /// It is over.
        Done = "done",
        /// Its last turn broke off.
        Failed = "failed",
    }
}

/// One conversation of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its identity among records; see [`super::record_id`].
    pub id: u64,
    /// Whose it is.
    pub project: ProjectId,
    /// What its agent calls it.
    pub session: String,
    /// Which program the agent is.
    #[serde(default)]
    pub vendor: Option<String>,
    /// The model it used last.
    #[serde(default)]
    pub model: Option<String>,
    /// Where it works.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The beginning of the first prompt.
    #[serde(default)]
    pub title: Option<String>,
    /// What it is doing.
    pub state: SessionState,
    /// Since when, by its own clock.
    pub since: Timestamp,
    /// When it was first heard of, by its own clock.
    pub began: Timestamp,
    /// When it was last heard of, by its own clock.
    pub last: Timestamp,
    /// When it was last heard of, by belljar's clock.
    pub received: Timestamp,
    /// When it ended.
    #[serde(default)]
    pub ended: Option<Timestamp>,
    /// The session it came out of.
    #[serde(default)]
    pub parent: Option<String>,
    /// The sandbox it runs in.
    #[serde(default)]
    pub sandbox: Option<SandboxId>,
    /// The run it belongs to.
    #[serde(default)]
    pub run: Option<RunId>,
    /// Where its transcript is, as it says.
    #[serde(default)]
    pub transcript: Option<String>,
    /// How much later its last event came in than its clock says, in milliseconds.
    #[serde(default)]
    pub skew_ms: i64,
    /// What was counted, its subagents included.
    pub counts: Counts,
    /// What it spent, its subagents included.
    pub spent: Spent,
    /// Its last calls, the newest last: what has no name is matched with them.
    #[serde(default)]
    pub recent: Vec<u64>,
    /// Its telemetry does not name requests, so that transcripts cannot be matched with it and do not count.
    #[serde(default)]
    pub nameless: bool,
    /// More than estimates is known of what it spent.
    #[serde(default)]
    pub metered: bool,
}

/// Calls a session remembers.
const RECENT: usize = 24;

impl Session {
    /// A session first heard of now.
    #[must_use]
    pub fn new(id: u64, project: ProjectId, session: &str, time: Timestamp) -> Self {
        Self {
            id,
            project,
            session: session.to_owned(),
            vendor: None,
            model: None,
            cwd: None,
            title: None,
            state: SessionState::Idle,
            since: time,
            began: time,
            last: time,
            received: time,
            ended: None,
            parent: None,
            sandbox: None,
            run: None,
            transcript: None,
            skew_ms: 0,
            counts: Counts::default(),
            spent: Spent::default(),
            recent: Vec::new(),
            nameless: false,
            metered: false,
        }
    }

    /// Goes over into a state, unless something later was heard already.
    pub fn turn(&mut self, state: SessionState, time: Timestamp) {
        if time < self.since {
            return;
        }
        self.since = time;
        self.ended = match state {
            SessionState::Done => Some(time),
            _ => None,
        };
        // How it ended stays visible after it is over.
        if !(state == SessionState::Done && self.state == SessionState::Failed) {
            self.state = state;
        }
    }

    /// Remembers a call.
    pub fn remember(&mut self, call: u64) {
        self.recent.push(call);
        if self.recent.len() > RECENT {
            self.recent.remove(0);
        }
    }
}
