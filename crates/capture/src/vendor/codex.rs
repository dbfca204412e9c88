//! Codex: Claude Code's names and shape, turns instead of prompts; and the old `notify` with its dashes.

use serde_json::Value;

use super::claude_code;
use crate::{fields::Fields, hook::HookEvent, kind::HookKind};

/// The one thing the old `notify` ever said.
const NOTIFY: &str = "agent-turn-complete";

/// What its events are about.
pub(crate) fn kind(name: &str) -> Option<HookKind> {
    match name {
        "Interrupt" => Some(HookKind::TurnEnd),
        NOTIFY => Some(HookKind::Notification),
        _ => claude_code::kind(name),
    }
}

/// Reads its payload.
pub(crate) fn read(mut event: HookEvent, mut fields: Fields) -> HookEvent {
    event.kind = super::kind(&event.agent, &event.name);
    if event.name == NOTIFY {
        return notice(event, fields);
    }
    claude_code::common(&mut event, &mut fields);
    event.prompt_id = fields.word("turn_id");
    event.message = fields.text_of(&["message", "last_assistant_message"]);
    event.error = fields.text("error");
    event.exit_code = event
        .tool_response
        .as_ref()
        .and_then(|response| response.pointer("/metadata/exit_code").or_else(|| response.get("exit_code")))
        .and_then(Value::as_i64);
    event.with_rest(fields)
}

/// The old form, handed over as the last argument of a command.
fn notice(mut event: HookEvent, mut fields: Fields) -> HookEvent {
    let _name = fields.text("type");
    event.session_id = fields.word("thread-id");
    event.prompt_id = fields.word("turn-id");
    event.cwd = fields.word("cwd");
    event.message = fields.text("last-assistant-message");
    let spoken = |value: &Value| {
        let lines: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
        Some(lines?.join("\n"))
    };
    if let Some(prompt) = fields.peek("input-messages").and_then(spoken) {
        let _taken = fields.json("input-messages");
        event.prompt = Some(prompt).filter(|prompt| !prompt.is_empty());
    }
    event.with_rest(fields)
}
