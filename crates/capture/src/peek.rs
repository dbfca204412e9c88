//! A glance at a payload: which agent, which event. All the hook command needs before it hands the payload on.
//!
//! Refuses: to build what it does not need; everything but a few names is skipped as it is read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{agent::Agent, bounds::MAX_PAYLOAD, error::CaptureError, kind::HookKind, vendor};

/// What a parser that builds values follows, less the envelope around it.
const PARSER_DEPTH: usize = 120;

/// The few fields that tell vendors and events apart. Wrong types count as absent.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Peek<'p> {
    #[serde(borrow, default, deserialize_with = "lenient")]
    hook_event_name: Option<Cow<'p, str>>,
    /// Old Codex and opencode's bus.
    #[serde(borrow, default, rename = "type", deserialize_with = "lenient")]
    kind: Option<Cow<'p, str>>,
    #[serde(default, deserialize_with = "present")]
    cursor_version: bool,
    #[serde(borrow, default, deserialize_with = "lenient")]
    session_id: Option<Cow<'p, str>>,
    /// opencode.
    #[serde(borrow, default, rename = "sessionID", deserialize_with = "lenient")]
    own_session: Option<Cow<'p, str>>,
    #[serde(borrow, default, deserialize_with = "lenient")]
    conversation_id: Option<Cow<'p, str>>,
    #[serde(default, deserialize_with = "present")]
    turn_id: bool,
    #[serde(default, deserialize_with = "present")]
    message_id: bool,
    #[serde(default, deserialize_with = "present")]
    timestamp: bool,
    #[serde(borrow, default, rename = "thread-id", deserialize_with = "lenient")]
    thread: Option<Cow<'p, str>>,
}

impl<'p> Peek<'p> {
    /// Looks at a payload; all of it is checked to be JSON.
    ///
    /// # Errors
    /// If it is too large, not JSON, or not an object.
    pub fn at(payload: &'p [u8]) -> Result<Self, CaptureError> {
        if payload.len() > MAX_PAYLOAD {
            return Err(CaptureError::TooLarge { actual: payload.len(), limit: MAX_PAYLOAD });
        }
        if !payload.trim_ascii_start().starts_with(b"{") {
            return Err(CaptureError::NotAnObject("something else"));
        }
        if is_bottomless(payload) {
            return Err(CaptureError::NotJson("nested too deeply".to_owned()));
        }
        serde_json::from_slice(payload).map_err(|error| CaptureError::NotJson(error.to_string()))
    }

    /// Looks at a payload that was read.
    pub(crate) fn of_map(map: &'p Map<String, Value>) -> Self {
        let text = |name: &str| map.get(name).and_then(Value::as_str).map(Cow::Borrowed);
        let has = |name: &str| map.get(name).is_some_and(|value| !value.is_null());
        Self {
            hook_event_name: text("hook_event_name"),
            kind: text("type"),
            cursor_version: has("cursor_version"),
            session_id: text("session_id"),
            own_session: text("sessionID"),
            conversation_id: text("conversation_id"),
            turn_id: has("turn_id"),
            message_id: has("message_id"),
            timestamp: has("timestamp"),
            thread: text("thread-id"),
        }
    }

    /// What its vendor calls the event.
    #[must_use]
    pub fn event(&self) -> Option<&str> {
        self.hook_event_name.as_deref().or(self.kind.as_deref())
    }

    /// Whose conversation it is about, where that stands on top of the payload.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        let names = [&self.conversation_id, &self.session_id, &self.own_session, &self.thread];
        names.into_iter().find_map(Option::as_deref)
    }

    /// Who is speaking, by the payload first and by the variables it set second.
    #[must_use]
    pub fn agent(&self, has_variable: impl Fn(&str) -> bool) -> Agent {
        let event = self.event().unwrap_or_default();
        let is_camel = event.starts_with(|c: char| c.is_ascii_uppercase());
        if self.cursor_version || self.conversation_id.is_some() {
            Agent::Cursor
        } else if self.thread.is_some() || (self.turn_id && is_camel && !self.message_id) {
            // Claude Code has turns too, in the one event about pieces of messages.
            Agent::Codex
        } else if vendor::gemini::is_own(event) || (self.timestamp && is_camel) {
            Agent::Gemini
        } else if event.contains('.') {
            Agent::OpenCode
        } else if is_camel {
            Agent::ClaudeCode
        } else {
            by_variables(has_variable)
        }
    }

    /// What the event is about, for a given agent.
    #[must_use]
    pub fn kind(agent: &Agent, event: &str) -> HookKind {
        vendor::kind(agent, event)
    }
}

/// Whether it is nested so deeply that a parser that builds values would give up: skipping does not notice.
fn is_bottomless(payload: &[u8]) -> bool {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in payload {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > PARSER_DEPTH {
            return true;
        }
    }
    false
}

fn by_variables(has: impl Fn(&str) -> bool) -> Agent {
    let marks = [
        ("GEMINI_SESSION_ID", Agent::Gemini),
        ("CURSOR_VERSION", Agent::Cursor),
        ("CLAUDECODE", Agent::ClaudeCode),
    ];
    let known = marks.into_iter().find(|(name, _)| has(name)).map(|(_, agent)| agent);
    known.unwrap_or_else(|| Agent::Unknown("unknown".to_owned()))
}

/// Text, or nothing if it is something else.
fn lenient<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Any<'a> {
        Text(#[serde(borrow)] Cow<'a, str>),
        Other(serde::de::IgnoredAny),
    }
    Ok(match Any::deserialize(from)? {
        Any::Text(text) => Some(text),
        Any::Other(_) => None,
    })
}

/// Whether there is anything but null.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Option::<serde::de::IgnoredAny>::deserialize(from).map(|found| found.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent_of(payload: &str) -> String {
        Peek::at(payload.as_bytes()).unwrap().agent(|_| false).to_string()
    }

    #[test]
    fn agents_are_told_apart_by_their_payloads() {
        for (payload, agent) in [
            (r#"{"hook_event_name":"PreToolUse","session_id":"s"}"#, "claude-code"),
            (r#"{"hook_event_name":"MessageDisplay","turn_id":"t","message_id":"m"}"#, "claude-code"),
            (r#"{"hook_event_name":"PreToolUse","turn_id":"t"}"#, "codex"),
            (r#"{"type":"agent-turn-complete","thread-id":"t"}"#, "codex"),
            (r#"{"hook_event_name":"BeforeTool"}"#, "gemini"),
            (r#"{"hook_event_name":"SessionStart","timestamp":"2026-01-31T12:00:00Z"}"#, "gemini"),
            (r#"{"hook_event_name":"preToolUse","conversation_id":"c"}"#, "cursor"),
            (r#"{"hook_event_name":"PreToolUse","cursor_version":"2"}"#, "cursor"),
            (r#"{"hook_event_name":"tool.execute.before"}"#, "opencode"),
            (r#"{"type":"session.idle","properties":{}}"#, "opencode"),
            ("{}", "unknown"),
            (r#"{"hook_event_name":7,"type":[{}]}"#, "unknown"),
        ] {
            assert_eq!(agent_of(payload), agent, "{payload}");
        }
    }

    #[test]
    fn a_session_has_a_name_with_every_vendor() {
        for payload in [
            r#"{"hook_event_name":"Stop","session_id":"s"}"#,
            r#"{"hook_event_name":"stop","conversation_id":"s","session_id":"other"}"#,
            r#"{"type":"agent-turn-complete","thread-id":"s"}"#,
            r#"{"type":"session.idle","sessionID":"s","session_id":7}"#,
        ] {
            assert_eq!(Peek::at(payload.as_bytes()).unwrap().session(), Some("s"), "{payload}");
        }
        assert_eq!(Peek::at(b"{}").unwrap().session(), None);
    }

    #[test]
    fn where_the_payload_is_silent_the_variables_speak() {
        let peek = Peek::at(b"{}").unwrap();
        assert_eq!(peek.agent(|name| name == "CLAUDECODE"), Agent::ClaudeCode);
        assert_eq!(peek.agent(|name| name == "GEMINI_SESSION_ID"), Agent::Gemini);
    }

    #[test]
    fn a_glance_still_reads_to_the_end() {
        for broken in ["", "[]", "{\"a\":1", "{} {}", "nonsense"] {
            assert!(Peek::at(broken.as_bytes()).is_err(), "{broken}");
        }
        let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(Peek::at(nested(PARSER_DEPTH).as_bytes()).is_err());
        assert!(Peek::at(nested(PARSER_DEPTH - 1).as_bytes()).is_ok());
        let quoted = format!("{{\"a\":\"\\\"{}\"}}", "[".repeat(1000));
        assert!(Peek::at(quoted.as_bytes()).is_ok(), "brackets in text are text");
    }
}
