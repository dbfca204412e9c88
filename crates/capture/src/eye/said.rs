//! What an event says, asked by name.

use belljar_domain::{Event, EventKind, eye::Told};
use serde_json::Value;

/// An event and what is in its payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'e> {
    event: &'e Event,
}

impl<'e> Said<'e> {
    pub(super) const fn new(event: &'e Event) -> Self {
        Self { event }
    }

    /// Who says it.
    pub(super) fn told(self) -> Told {
        match (&self.event.what.kind, self.text("source")) {
            (
                EventKind::GuardianAllowed
                | EventKind::GuardianDenied
                | EventKind::GuardianAsked
                | EventKind::ApprovalAnswered
                | EventKind::ApprovalExpired,
                _,
            ) => Told::Belljar,
            (_, Some("otlp")) => Told::Telemetry,
            (_, Some("transcript")) => Told::Transcript,
            _ => Told::Hook,
        }
    }

    pub(super) fn value(self, name: &str) -> Option<&'e Value> {
        self.event.what.payload.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn at(self, pointer: &str) -> Option<&'e Value> {
        self.event.what.payload.pointer(pointer)
    }

    pub(super) fn text(self, name: &str) -> Option<&'e str> {
        self.value(name)?.as_str().filter(|text| !text.is_empty())
    }

    pub(super) fn owned(self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    pub(super) fn count(self, name: &str) -> Option<u64> {
        count(self.value(name)?)
    }

    /// The conversation; empty if none is named.
    pub(super) fn session(self) -> &'e str {
        self.event.what.session.as_deref().unwrap_or_default()
    }

    /// The subagent; empty for the session's own agent.
    pub(super) fn agent(self) -> &'e str {
        let own = self.text("agent_id");
        // Whoever tells events directly names agents there alone; what belljar tells itself names whom the registry knows.
        let is_direct = self.text("source").is_none() && self.event.what.kind.may_be_told();
        let named = self.event.what.actor.id.as_deref().filter(|_| is_direct);
        own.or(named).filter(|agent| *agent != self.session()).unwrap_or_default()
    }

    /// The program the agent is.
    pub(super) fn vendor(self) -> Option<String> {
        self.owned("vendor").or_else(|| self.event.what.actor.name.clone())
    }
}

/// A count, as number or text.
pub(super) fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
