//! Agents that get nowhere: the same call over and over, or work without a word.

use std::time::Duration;

use belljar_domain::{
    Principal, Timestamp,
    eye::{AgentRecord, Session, SessionState},
};
use belljar_ports::{lens::SessionFilter, store::PAGE_LIMIT};

use super::super::{Result, Service, now};

/// How long an agent is heard of after the last word of it.
const RECENT: Duration = Duration::from_hours(24);

/// What is put up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// The same call so often in a row is a loop.
    pub repeats: u64,
    /// Work without a word for so long is a stall.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { repeats: 3, silence: Duration::from_secs(300) }
    }
}

/// What kind of getting nowhere it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetectionKind {
    /// The same call over and over.
    Loop,
    /// Work without a word.
    Stall,
}

/// An agent that gets nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// How.
    pub kind: DetectionKind,
    /// The session.
    pub session: String,
    /// The subagent; empty for the session's own agent.
    pub agent: String,
    /// What it is doing now; what is over needs nobody.
    pub state: SessionState,
    /// The tool it calls over and over.
    pub tool: Option<String>,
    /// The last of these calls.
    pub call: Option<u64>,
    /// How often in a row.
    pub times: Option<u64>,
    /// How many of them failed.
    pub failed: Option<u64>,
    /// When it was last heard of.
    pub last: Timestamp,
    /// For how long it has been silent, in seconds.
    pub silent_seconds: u64,
}

impl Service {
    /// Agents that get nowhere, loops first.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn detections(&self, who: &Principal, patience: Patience) -> Result<Vec<Detection>> {
        let (lens, _) = self.lens();
        let (scope, time) = (who.scope(), now());
        let repeating = lens.repeating(scope.as_ref(), patience.repeats.max(2), time.minus(RECENT))?;
        let mut found: Vec<Detection> = repeating.iter().map(|agent| repeats(agent, time)).collect();
        let filter = SessionFilter {
            project: scope,
            states: vec![SessionState::Working],
            quiet_since: Some(time.minus(patience.silence)),
            ..SessionFilter::default()
        };
        let silent = lens.sessions(&filter, u64::MAX, PAGE_LIMIT)?;
        let since = time.minus(RECENT);
        found.extend(
            silent.iter().filter(|session| session.received >= since).map(|session| stalls(session, time)),
        );
        Ok(found)
    }
}

fn repeats(agent: &AgentRecord, time: Timestamp) -> Detection {
    let seen = &agent.repetition;
    Detection {
        kind: DetectionKind::Loop,
        session: agent.session.clone(),
        agent: agent.agent.clone(),
        state: agent.state,
        tool: Some(seen.tool.clone()),
        call: Some(seen.call),
        times: Some(seen.times),
        failed: Some(seen.failed),
        last: agent.last,
        silent_seconds: seconds(agent.last, time),
    }
}

fn stalls(session: &Session, time: Timestamp) -> Detection {
    Detection {
        kind: DetectionKind::Stall,
        session: session.session.clone(),
        agent: String::new(),
        state: session.state,
        tool: None,
        call: session.recent.last().copied(),
        times: None,
        failed: None,
        last: session.last,
        silent_seconds: seconds(session.received, time),
    }
}

fn seconds(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_micros().saturating_sub(from.as_micros()) / 1_000_000).unwrap_or(0)
}
