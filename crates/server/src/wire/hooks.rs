//! What agents say through their hooks, into events of the ledger. What is known gets a column, everything else is kept
//! beside it; a call and its outcome stay two events, told apart by their kind and joined by the call's id.

use std::borrow::Cow;

use belljar_capture::{HookEvent, HookKind};
use belljar_domain::{
    Actor, EventId, EventKind, EventStatus, NewEvent, ProjectId, Ruling, SandboxId, Timestamp,
};
use belljar_engine::service::{Passage, target_of};
use serde_json::{Map, Value, json};

use crate::extract::Teller;

/// A text without its secrets: what is to be cut is cleaned first, for half a secret would not be known as one.
pub(crate) type Clean<'a> = &'a dyn for<'t> Fn(&'t str) -> Cow<'t, str>;

/// Texts longer than this are cut: a file's whole body is the sandbox's to keep, not the ledger's.
const LONGEST: usize = 16 * 1024;
/// The event of a hook, with the id its sender gave it. Where it ran is a claim, unless its sender is known.
pub(crate) fn hook_event(
    clean: Clean<'_>,
    id: EventId,
    hook: HookEvent,
    sandbox: Option<SandboxId>,
    now: Timestamp,
) -> NewEvent {
    let mut event =
        NewEvent::new(id, hook.client_time.unwrap_or(now), ProjectId::default(), kind(&hook.kind));
    let vendor = hook.agent.to_string();
    event.actor = Actor {
        id: hook.agent_id.clone().or_else(|| hook.session_id.clone()),
        name: Some(vendor.clone()),
        role: hook.agent_type.clone(),
    };
    event.session.clone_from(&hook.session_id);
    event.sandbox = sandbox;
    event.tool.clone_from(&hook.tool_name);
    (event.target, event.target_type) = hook.tool_input.as_ref().map_or((None, None), target_of);
    event.status = status(&hook);
    event.error.clone_from(&hook.error);
    event.duration_ms = hook.duration_ms;
    if let Some(used) = &hook.usage {
        event.kind = EventKind::ModelCalled;
        event.cost_micros = used.cost_micros;
        event.tokens = Some(used.tokens.prompt().saturating_add(used.tokens.output));
    }
    event.payload = payload(clean, hook, &vendor);
    event
}

/// Adds what was said of the call before it was made.
pub(crate) fn ruled(event: &mut NewEvent, ruling: &Ruling) {
    event.decision = Some(ruling.verdict);
    event.risk = Some(ruling.risk);
    event.reason = Some(ruling.reason.clone());
    if let Value::Object(payload) = &mut event.payload {
        payload.insert("rule".to_owned(), Value::String(ruling.rule.clone()));
    }
}

/// Adds what the gate said of the call. Where nothing spoke, the agent's own rules decide, and the decision is theirs.
pub(crate) fn weighed(event: &mut NewEvent, passage: &Passage) {
    if passage.speaks() { passage.write(event) } else { passage.note(event) }
}

/// The event of a hook nobody could read: what it said is kept as it was said.
pub(crate) fn unread_hook(
    clean: Clean<'_>,
    id: EventId,
    time: Timestamp,
    why: &str,
    text: Option<&str>,
) -> NewEvent {
    let kind = EventKind::Other("hook.unread".to_owned());
    let mut event = NewEvent::new(id, time, ProjectId::default(), kind);
    event.status = Some(EventStatus::Failure);
    event.error = Some(why.to_owned());
    event.payload = shortened(clean, json!({ "source": "hook", "text": text }));
    event
}

fn kind(hook: &HookKind) -> EventKind {
    match hook {
        HookKind::SessionStart => EventKind::SessionStarted,
        HookKind::SessionEnd => EventKind::SessionEnded,
        HookKind::Prompt => EventKind::PromptSubmitted,
        HookKind::ToolBefore => EventKind::ToolRequested,
        HookKind::ToolAfter => EventKind::ToolFinished,
        HookKind::ToolFailed => EventKind::ToolFailed,
        HookKind::Permission => EventKind::PermissionAsked,
        HookKind::PermissionDenied => EventKind::PermissionDenied,
        HookKind::Notification => EventKind::AgentNotified,
        HookKind::SubagentStart => EventKind::AgentStarted,
        HookKind::SubagentEnd => EventKind::AgentStopped,
        HookKind::TurnEnd => EventKind::TurnEnded,
        HookKind::TurnFailed => EventKind::TurnFailed,
        HookKind::CompactAfter => EventKind::ContextCompacted,
        other => {
            let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
            let name: String = other.as_str().chars().map(plain).take(48).collect();
            EventKind::Other(format!("hook.{name}"))
        }
    }
}

/// How a call came out; a call that is about to be made has not.
fn status(hook: &HookEvent) -> Option<EventStatus> {
    match hook.kind {
        HookKind::ToolAfter if hook.error.is_some() || hook.exit_code.is_some_and(|code| code != 0) => {
            Some(EventStatus::Failure)
        }
        HookKind::ToolAfter => Some(EventStatus::Success),
        HookKind::ToolFailed if hook.rest.get("is_interrupt") == Some(&json!(true)) => {
            Some(EventStatus::Cancelled)
        }
        HookKind::ToolFailed | HookKind::TurnFailed => Some(EventStatus::Failure),
        HookKind::PermissionDenied => Some(EventStatus::Denied),
        _ => None,
    }
}

fn payload(clean: Clean<'_>, hook: HookEvent, vendor: &str) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            fields.insert(name.to_owned(), shortened(clean, value));
        }
    };
    put("source", json!("hook"));
    put("vendor", json!(vendor));
    put("hook", json!(hook.name));
    put("tool_use_id", json!(hook.tool_use_id));
    put("parent_tool_use_id", json!(hook.parent_tool_use_id));
    put("prompt_id", json!(hook.prompt_id));
    put("parent_session_id", json!(hook.parent_session_id));
    put("agent_id", json!(hook.agent_id));
    put("agent_type", json!(hook.agent_type));
    put("tool_input", hook.tool_input.unwrap_or_default());
    put("tool_response", hook.tool_response.unwrap_or_default());
    put("exit_code", json!(hook.exit_code));
    put("prompt", json!(hook.prompt));
    put("message", json!(hook.message));
    put("cwd", json!(hook.cwd));
    put("transcript_path", json!(hook.transcript_path));
    put("permission_mode", json!(hook.permission_mode));
    put("model", json!(hook.model));
    if let Some(used) = hook.usage {
        put("message_id", json!(used.message_id));
        put("usage", json!(used.tokens));
    }
    if !hook.rest.is_empty() {
        put("rest", Value::Object(hook.rest));
    }
    if !hook.findings.is_empty() {
        put("findings", json!(hook.findings));
    }
    Value::Object(fields)
}

/// Cuts every long text and says how long it was.
pub(crate) fn shortened(clean: Clean<'_>, value: Value) -> Value {
    shortened_to(clean, value, LONGEST)
}

fn shortened_to(clean: Clean<'_>, value: Value, longest: usize) -> Value {
    let below = |value| shortened_to(clean, value, longest);
    match value {
        Value::String(text) if text.len() > longest => {
            let shown = clean(&text);
            let kept = shown.floor_char_boundary(longest);
            Value::String(format!("{}… ({} bytes)", &shown[..kept], text.len()))
        }
        Value::Array(items) => Value::Array(items.into_iter().map(below).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, below(value))).collect())
        }
        other => other,
    }
}

/// Cuts texts ever shorter until a payload is small enough to be kept. What redaction puts in the place of secrets may
/// be longer than they were.
pub(crate) fn fitting(clean: Clean<'_>, payload: Value) -> Value {
    const ROOM: usize = NewEvent::PAYLOAD_LIMIT * 3 / 4;
    let fits = |value: &Value| serde_json::to_vec(value).is_ok_and(|json| json.len() <= ROOM);
    [LONGEST, 2048, 256].into_iter().fold(payload, |payload, longest| {
        if fits(&payload) { payload } else { shortened_to(clean, payload, longest) }
    })
}

/// Makes an event that of whoever tells it, whatever it says of itself.
pub(crate) fn known(event: &mut NewEvent, teller: &Teller) {
    let identity = match teller {
        Teller { pass: Some(_), .. } => "known",
        Teller { sender: Some(_), .. } => "verified",
        Teller { pass: None, sender: None } => "claimed",
    };
    if let Some(pass) = &teller.pass {
        event.sandbox = Some(pass.sandbox);
        event.execution = pass.execution;
        event.run = pass.run;
        if let Some(agent) = &pass.agent {
            event.actor.id = Some(agent.clone());
        }
    }
    if let Value::Object(fields) = &mut event.payload {
        fields.insert("identity".to_owned(), json!(identity));
        if let Some(sender) = &teller.sender {
            fields.insert("sender".to_owned(), json!(**sender));
        }
    }
}

#[cfg(test)]
mod tests {
    use belljar_capture::Agent;
    use uuid::Uuid;

    use super::*;

    fn event(payload: Value) -> NewEvent {
        let hook = HookEvent::of(Some(Agent::ClaudeCode), None, payload).unwrap();
        hook_event(
            &|text| text.into(),
            EventId::from_uuid(Uuid::now_v7()),
            hook,
            None,
            Timestamp::from_micros(7),
        )
    }

    #[test]
    fn a_call_and_its_outcome_are_told_apart_and_joined() {
        let call = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_use_id": "toolu_1",
            "tool_input": {"command": "ls", "description": "look"}, "cwd": "/w",
        });
        let before = event(call.clone());
        assert_eq!((before.kind.as_str(), before.status), ("tool.requested", None));
        assert_eq!((before.target.as_deref(), before.target_type.as_deref()), (Some("ls"), Some("command")));
        let mut done = call;
        done["hook_event_name"] = json!("PostToolUse");
        done["tool_response"] = json!({"stdout": "x".repeat(100_000)});
        done["duration_ms"] = json!(12);
        let after = event(done);
        assert_eq!((after.kind.as_str(), after.status), ("tool.finished", Some(EventStatus::Success)));
        assert_eq!((after.duration_ms, after.session.as_deref()), (Some(12), Some("s")));
        assert_eq!(before.payload["tool_use_id"], after.payload["tool_use_id"]);
        let kept = after.payload["tool_response"]["stdout"].as_str().unwrap();
        assert!(kept.len() < 17_000 && kept.ends_with("(100000 bytes)"), "{}", kept.len());
    }

    #[test]
    fn what_nobody_knows_is_kept_under_its_own_name() {
        let strange = event(json!({"hook_event_name": "Moon Rise", "phase": "full"}));
        assert_eq!(strange.kind.as_str(), "hook.Moon_Rise");
        assert!(strange.kind.may_be_told());
        assert_eq!(strange.payload["rest"]["phase"], "full");
    }
}
