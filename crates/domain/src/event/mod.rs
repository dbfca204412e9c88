//! One thing that happened: who, where, what, how it was judged, how it ended, what it cost.
//!
//! Owns: the columns of the ledger and their bounds. Refuses: to judge, to hash, to store. Secrets are redacted before
//! an event is made; nothing here can tell one.

mod kind;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use kind::{EventKind, Retention};

use crate::{
    Digest, EventId, ExecutionId, ProjectId, Risk, RunId, SandboxId, Timestamp, Verdict, word::words,
};

words! {
    /// How something ended.
    EventStatus, "status" {
        /// As asked.
        Success = "success",
        /// With an error.
        Failure = "failure",
        /// Its clock ended it.
        Timeout = "timeout",
        /// It was not allowed to begin.
        Denied = "denied",
        /// Somebody changed their mind.
        Cancelled = "cancelled",
    }
}

/// Who did it, as far as known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Actor {
    /// The agent's identity.
    #[serde(rename = "agent_id", default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name for people.
    #[serde(rename = "agent_name", default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its role.
    #[serde(rename = "agent_role", default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// One thing that happened, not yet in the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewEvent {
    /// Its identity, given by whoever saw it, so that telling it twice records it once.
    pub id: EventId,
    /// When it happened, as its source says.
    pub time: Timestamp,
    /// Whose it is.
    pub project: ProjectId,
    /// What kind of thing.
    pub kind: EventKind,
    /// Who did it.
    #[serde(flatten)]
    pub actor: Actor,
    /// The conversation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The sandbox it happened in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxId>,
    /// The command it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionId>,
    /// The run it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The type of operation; [`NewEvent::new`] sets what [`EventKind::operation`] says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The tool that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it was done to: a path, a command, a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What the target is: `file`, `command`, `agent` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_type: Option<String>,
    /// How it was judged. Separate from how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Verdict>,
    /// Why it was judged so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How bad it could turn out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<EventStatus>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it cost, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Tokens it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Everything else.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub payload: Value,
}

/// One thing that happened, as the ledger has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its place in the ledger, from 1, without gaps.
    pub seq: u64,
    /// When the ledger took it; never before the one in front of it.
    #[serde(rename = "recv_time")]
    pub received: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub what: NewEvent,
    /// The hash of the event in front of it.
    pub prev_hash: Digest,
    /// The hash over everything above.
    pub hash: Digest,
}

/// Which field of an event is beyond its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event's {field} has {len} bytes; at most {limit} are kept")]
pub struct EventTooLarge {
    field: &'static str,
    len: usize,
    limit: usize,
}

impl NewEvent {
    /// The most bytes of any text column.
    pub const TEXT_LIMIT: usize = 16 * 1024;
    /// The most bytes of a name: of a session, a tool, an agent.
    pub const NAME_LIMIT: usize = 256;
    /// The most tokens, millionths of a dollar and milliseconds one event can tell of; what says more is mistaken, or means
    /// to spoil sums.
    pub const MOST_TOKENS: u64 = 1_000_000_000;
    /// See [`NewEvent::MOST_TOKENS`].
    pub const MOST_MICROS: u64 = 10_000_000_000;
    /// See [`NewEvent::MOST_TOKENS`].
    pub const MOST_MILLIS: u64 = 10_000_000_000;
    /// The most bytes of a kind's name.
    pub const KIND_LIMIT: usize = 128;
    /// The most bytes of a payload, as JSON. What is larger belongs into an artifact.
    pub const PAYLOAD_LIMIT: usize = 256 * 1024;

    /// An event about nothing in particular yet.
    #[must_use]
    pub fn new(id: EventId, time: Timestamp, project: ProjectId, kind: EventKind) -> Self {
        Self {
            id,
            time,
            project,
            actor: Actor::default(),
            session: None,
            sandbox: None,
            execution: None,
            run: None,
            operation: kind.operation().map(str::to_owned),
            kind,
            tool: None,
            target: None,
            target_type: None,
            decision: None,
            reason: None,
            risk: None,
            status: None,
            error: None,
            cost_micros: None,
            tokens: None,
            duration_ms: None,
            payload: Value::Null,
        }
    }

    /// Cuts texts that are too long and leaves out numbers nobody can mean, so that an event is recorded in part rather than
    /// refused. A payload that is too large, having this many bytes as JSON, is replaced by its size.
    pub fn clip(&mut self, payload_bytes: usize) {
        self.names_mut().into_iter().flatten().for_each(|name| cut(name, Self::NAME_LIMIT));
        self.texts_mut().into_iter().flatten().for_each(|text| cut(text, Self::TEXT_LIMIT));
        self.tokens = self.tokens.filter(|tokens| *tokens <= Self::MOST_TOKENS);
        self.cost_micros = self.cost_micros.filter(|cost| *cost <= Self::MOST_MICROS);
        self.duration_ms = self.duration_ms.filter(|span| *span <= Self::MOST_MILLIS);
        if payload_bytes > Self::PAYLOAD_LIMIT {
            self.payload = serde_json::json!({ "clipped": true, "bytes": payload_bytes });
        }
    }

    /// Says whether every column is within its bound, the payload having this many bytes as JSON.
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn check(&self, payload_bytes: usize) -> Result<(), EventTooLarge> {
        let texts = self.texts().map(|(field, text)| (field, text.map_or(0, str::len), Self::TEXT_LIMIT));
        let others = [
            ("kind", self.kind.as_str().len(), Self::KIND_LIMIT),
            ("payload", payload_bytes, Self::PAYLOAD_LIMIT),
        ];
        match texts.into_iter().chain(others).find(|(_, len, limit)| len > limit) {
            Some((field, len, limit)) => Err(EventTooLarge { field, len, limit }),
            None => Ok(()),
        }
    }

    fn texts(&self) -> [(&'static str, Option<&str>); 10] {
        [
            ("agent_id", self.actor.id.as_deref()),
            ("agent_name", self.actor.name.as_deref()),
            ("agent_role", self.actor.role.as_deref()),
            ("session", self.session.as_deref()),
            ("operation", self.operation.as_deref()),
            ("tool", self.tool.as_deref()),
            ("target", self.target.as_deref()),
            ("target_type", self.target_type.as_deref()),
            ("reason", self.reason.as_deref()),
            ("error", self.error.as_deref()),
        ]
    }

    const fn names_mut(&mut self) -> [&mut Option<String>; 7] {
        let Actor { id, name, role } = &mut self.actor;
        [id, name, role, &mut self.session, &mut self.operation, &mut self.tool, &mut self.target_type]
    }

    const fn texts_mut(&mut self) -> [&mut Option<String>; 3] {
        [&mut self.target, &mut self.reason, &mut self.error]
    }
}

/// Cuts a text that is longer than this, with a mark.
fn cut(text: &mut String, limit: usize) {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit - '…'.len_utf8()));
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn event() -> NewEvent {
        let id = EventId::from_uuid(Uuid::from_u128(7));
        NewEvent::new(id, Timestamp::default(), ProjectId::default(), EventKind::ExecutionEnded)
    }

    #[test]
    fn an_event_survives_its_json() {
        let what = NewEvent {
            actor: Actor { id: Some("coder-1".to_owned()), ..Actor::default() },
            decision: Some(Verdict::Deny),
            status: Some(EventStatus::Denied),
            payload: serde_json::json!({"argv": ["ls"]}),
            ..event()
        };
        let whole = Event {
            seq: 3,
            received: Timestamp::default(),
            what,
            prev_hash: Digest([1; 32]),
            hash: Digest([2; 32]),
        };
        let text = serde_json::to_string(&whole).unwrap();
        assert!(
            text.contains(r#""agent_id":"coder-1""#) && text.contains(r#""operation":"command_execute""#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), whole);
    }

    #[test]
    fn what_is_too_long_is_named_and_can_be_clipped() {
        let mut cut = NewEvent { error: Some("ä".repeat(NewEvent::TEXT_LIMIT)), ..event() };
        assert_eq!(cut.check(0).unwrap_err().field, "error");
        cut.clip(NewEvent::PAYLOAD_LIMIT + 1);
        assert_eq!(cut.check(100), Ok(()));
        assert!(cut.error.unwrap().ends_with("ä…"));
        let mut named = NewEvent { session: Some("s".repeat(100_000)), tokens: Some(u64::MAX), ..event() };
        (named.cost_micros, named.duration_ms) =
            (Some(NewEvent::MOST_MICROS), Some(NewEvent::MOST_MILLIS + 1));
        named.clip(0);
        assert_eq!(named.session.as_ref().map(String::len), Some(NewEvent::NAME_LIMIT));
        assert_eq!(
            (named.tokens, named.duration_ms, named.cost_micros),
            (None, None, Some(NewEvent::MOST_MICROS))
        );
        assert_eq!(cut.payload["clipped"], true);
    }
}
