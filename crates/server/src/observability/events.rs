//! One event in the protocol's form: into an event of the ledger, and back.

use belljar_capture::{Agent, HookEvent};
use belljar_domain::{Event, EventId, NewEvent, Timestamp};
use serde_json::{Map, Value, json};

use crate::wire;

/// Where the protocol's own fields are kept in an event's payload.
const KEPT: &str = "observed";
/// What of an event's payload is ours and no part of what the hook said.
const OURS: [&str; 8] = ["source", "vendor", "hook", "rest", "findings", "identity", "sender", KEPT];
/// Fields its scripts lift out of the payload.
const LIFTED: [&str; 13] = [
    "tool_name",
    "tool_use_id",
    "error",
    "is_interrupt",
    "permission_suggestions",
    "agent_id",
    "agent_type",
    "agent_transcript_path",
    "stop_hook_active",
    "notification_type",
    "custom_instructions",
    "source",
    "reason",
];

/// An event as it was told.
#[derive(Debug, Clone)]
pub(super) struct Told {
    fields: Map<String, Value>,
}

impl Told {
    /// Reads a body; none if one of the four fields every event has is missing.
    pub(super) fn read(body: Value) -> Option<Self> {
        let Value::Object(fields) = body else { return None };
        let has = |name: &str| fields.get(name).is_some_and(is_truthy);
        let whole = ["source_app", "session_id", "hook_event_type", "payload"].into_iter().all(has);
        whole.then_some(Self { fields })
    }

    /// The conversation so far, which is kept apart.
    pub(super) fn take_chat(&mut self) -> Option<Value> {
        self.fields.remove("chat").filter(|chat| !chat.is_null())
    }

    /// When it happened: what its sender says, unless that is nothing.
    pub(super) fn millis(&self, now: Timestamp) -> i64 {
        let said = self.fields.get("timestamp").and_then(Value::as_f64).filter(|millis| *millis >= 1.0);
        #[expect(clippy::cast_possible_truncation, reason = "what is beyond the bound becomes the bound")]
        said.map_or(now.as_micros() / 1000, |millis| millis.min(1e14) as i64)
    }

    /// Whether it asks a person something.
    pub(super) fn asks(&self) -> bool {
        self.fields.get("humanInTheLoop").is_some_and(is_truthy)
    }

    /// The event for the ledger. `chat` says where the conversation is kept.
    pub(super) fn event(
        mut self,
        clean: wire::Clean<'_>,
        id: EventId,
        now: Timestamp,
        chat: Option<Value>,
    ) -> NewEvent {
        let time = Timestamp::from_micros(self.millis(now).saturating_mul(1000));
        let text = |value: Option<&Value>| value.map(plain).unwrap_or_default();
        let (kind, session) = (text(self.fields.get("hook_event_type")), text(self.fields.get("session_id")));
        let app = text(self.fields.get("source_app"));
        let payload = self.fields.get("payload").cloned().unwrap_or_default();
        let said = if payload.is_object() { payload } else { json!({}) };
        let mut event = match HookEvent::of(Some(Agent::ClaudeCode), Some(&kind), said) {
            Ok(mut hook) => {
                hook.session_id = Some(session);
                hook.client_time = Some(time);
                wire::hook_event(clean, id, hook, None, now)
            }
            Err(error) => wire::unread_hook(clean, id, time, &error.to_string(), None),
        };
        event.actor.name = Some(app);
        for name in ["id", "timestamp", "humanInTheLoopStatus"] {
            self.fields.remove(name);
        }
        if let Some(chat) = chat {
            self.fields.insert("chat".to_owned(), chat);
        }
        if let Value::Object(fields) = &mut event.payload {
            fields.insert(KEPT.to_owned(), Value::Object(self.fields));
        }
        event.payload = wire::fitting(clean, event.payload);
        event
    }
}

/// What JavaScript takes for yes.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// An event of the ledger in the protocol's form; none if no hook told it.
pub(super) fn shown(event: &Event) -> Option<Map<String, Value>> {
    let payload = event.what.payload.as_object()?;
    if payload.get("source").and_then(Value::as_str) != Some("hook") {
        return None;
    }
    let mut fields = match payload.get(KEPT).and_then(Value::as_object) {
        Some(kept) => kept.clone(),
        None => native(event, payload),
    };
    fields.insert("id".to_owned(), json!(event.seq));
    fields.insert("timestamp".to_owned(), json!(event.what.time.as_micros() / 1000));
    // What is not there is left out: its clients take null for something.
    fields.retain(|_, value| !value.is_null());
    if fields.get("model_name") == Some(&json!("")) {
        fields.remove("model_name");
    }
    Some(fields)
}

/// What a hook told by another way, as one of this protocol would have.
fn native(event: &Event, payload: &Map<String, Value>) -> Map<String, Value> {
    let what = &event.what;
    let name = payload.get("hook").cloned().unwrap_or_default();
    let mut said = payload.get("rest").and_then(Value::as_object).cloned().unwrap_or_default();
    said.extend(payload.iter().filter(|(name, _)| !OURS.contains(&name.as_str())).map(pair));
    said.insert("hook_event_name".to_owned(), name.clone());
    for (name, value) in [("session_id", &what.session), ("tool_name", &what.tool), ("error", &what.error)] {
        if let Some(value) = value {
            said.insert(name.to_owned(), json!(value));
        }
    }
    let mut fields: Map<String, Value> =
        said.iter().filter(|(name, _)| LIFTED.contains(&name.as_str())).map(pair).collect();
    let app = what.actor.name.as_deref().unwrap_or("belljar");
    fields.insert("source_app".to_owned(), json!(app));
    fields.insert("session_id".to_owned(), json!(what.session.as_deref().unwrap_or("unknown")));
    fields.insert("hook_event_type".to_owned(), name);
    fields.insert("model_name".to_owned(), said.get("model").cloned().unwrap_or_default());
    fields.insert("payload".to_owned(), Value::Object(said));
    fields
}

fn pair((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}
