//! opencode: dotted names, told by belljar's plugin; events of its bus come as they are, with their properties inside.

use belljar_domain::Tokens;
use serde_json::Value;

use super::claude_code;
use crate::{
    fields::Fields,
    hook::{HookEvent, ModelUse},
    kind::HookKind,
};

/// What its events are about.
pub(crate) fn kind(name: &str) -> Option<HookKind> {
    Some(match name {
        "session.created" => HookKind::SessionStart,
        "session.deleted" | "server.instance.disposed" | "dispose" => HookKind::SessionEnd,
        "chat.message" => HookKind::Prompt,
        "tool.execute.before" => HookKind::ToolBefore,
        "tool.execute.after" => HookKind::ToolAfter,
        "permission.ask" => HookKind::Permission,
        "permission.asked" | "permission.updated" => HookKind::Notification,
        "session.idle" => HookKind::TurnEnd,
        "session.error" => HookKind::TurnFailed,
        "session.compacted" => HookKind::CompactAfter,
        "experimental.session.compacting" => HookKind::CompactBefore,
        "message.updated" | "message.part.updated" => HookKind::Message,
        "file.edited" => HookKind::FileChanged,
        _ => return None,
    })
}

/// Reads its payload.
pub(crate) fn read(mut event: HookEvent, mut fields: Fields) -> HookEvent {
    event.kind = super::kind(&event.agent, &event.name);
    if fields.peek("type").and_then(Value::as_str) == Some(event.name.as_str()) {
        let _taken = fields.text("type");
    }
    fields.lift("properties");
    claude_code::common(&mut event, &mut fields);
    let info = |name: &str, fields: &Fields| {
        fields.peek("info").and_then(|info| info.get(name)).and_then(Value::as_str).map(str::to_owned)
    };
    event.session_id = event.session_id.or_else(|| fields.word("sessionID"));
    if event.session_id.is_none() {
        let own = if event.name.starts_with("session.") { "id" } else { "sessionID" };
        event.session_id = info(own, &fields);
    }
    // What a message comes after is a message, not a session.
    let parent = info("parentID", &fields).filter(|_| event.name.starts_with("session."));
    event.parent_session_id = fields.word("parentID").or(parent);
    event.model = event.model.or_else(|| info("modelID", &fields));
    event.usage = fields.peek("info").and_then(usage);
    if event.usage.is_some() {
        event.kind = HookKind::ModelAfter;
    }
    event.prompt_id = fields.word("messageID");
    event.tool_use_id = event.tool_use_id.or_else(|| fields.word("callID"));
    event.tool_name = event.tool_name.or_else(|| fields.word("tool"));
    event.tool_input = event.tool_input.or_else(|| fields.json("args"));
    event.tool_response = event.tool_response.or_else(|| fields.json("output"));
    event.cwd = event.cwd.or_else(|| fields.word("directory")).or_else(|| info("directory", &fields));
    event.message = fields.text("message");
    event.error = failure(&mut fields);
    // A session with a parent is a subagent's.
    if event.parent_session_id.is_some() {
        event.kind = match event.kind {
            HookKind::SessionStart => HookKind::SubagentStart,
            HookKind::TurnEnd | HookKind::SessionEnd => HookKind::SubagentEnd,
            other => other,
        };
    }
    event.with_rest(fields)
}

/// What an answer used, once it is whole. Its input is counted without the cache, its reasoning beside its output.
fn usage(info: &Value) -> Option<ModelUse> {
    let is_whole = info.get("role")?.as_str()? == "assistant" && info.pointer("/time/completed").is_some();
    let tokens = info.get("tokens").filter(|_| is_whole)?;
    let count = |path: &str| tokens.pointer(path).and_then(Value::as_u64).unwrap_or_default();
    // A model without a price there, or one that is paid for by the month, costs nothing there.
    let dollars = info.get("cost").and_then(Value::as_f64).filter(|dollars| *dollars > 0.0);
    Some(ModelUse {
        tokens: Tokens {
            input: count("/input"),
            output: count("/output").saturating_add(count("/reasoning")),
            cache_read: count("/cache/read"),
            cache_write_5m: count("/cache/write"),
            cache_write_1h: 0,
        },
        cost_micros: dollars.and_then(|dollars| format!("{:.0}", dollars * 1e6).parse().ok()),
        message_id: info.get("id").and_then(Value::as_str).map(str::to_owned),
    })
}

/// An error is text, or an object whose data has the message.
fn failure(fields: &mut Fields) -> Option<String> {
    let message = |error: &Value| {
        let said =
            error.pointer("/data/message").or_else(|| error.get("message")).or_else(|| error.get("name"));
        said.and_then(Value::as_str).map(str::to_owned)
    };
    match fields.peek("error") {
        Some(Value::Object(_)) => fields.peek("error").and_then(message),
        _ => fields.text("error"),
    }
}
