//! Cursor: conversations and generations, and an event of its own for each sort of tool.
//!
//! The events about a shell command, an MCP call or a file name no tool; they get the name the general event would use.

use serde_json::{Map, Value};

use crate::{fields::Fields, hook::HookEvent, kind::HookKind};

/// What its events are about.
pub(crate) fn kind(name: &str) -> Option<HookKind> {
    Some(match name {
        "sessionStart" => HookKind::SessionStart,
        "sessionEnd" => HookKind::SessionEnd,
        "beforeSubmitPrompt" => HookKind::Prompt,
        "preToolUse"
        | "beforeShellExecution"
        | "beforeMCPExecution"
        | "beforeReadFile"
        | "beforeTabFileRead" => HookKind::ToolBefore,
        "postToolUse"
        | "afterShellExecution"
        | "afterMCPExecution"
        | "afterFileEdit"
        | "afterTabFileEdit" => HookKind::ToolAfter,
        "postToolUseFailure" => HookKind::ToolFailed,
        "subagentStart" => HookKind::SubagentStart,
        "subagentStop" => HookKind::SubagentEnd,
        "preCompact" => HookKind::CompactBefore,
        "stop" => HookKind::TurnEnd,
        "afterAgentResponse" | "afterAgentThought" => HookKind::Message,
        _ => return None,
    })
}

/// Reads its payload.
pub(crate) fn read(mut event: HookEvent, mut fields: Fields) -> HookEvent {
    event.kind = super::kind(&event.agent, &event.name);
    if fields.peek("hook_event_name").and_then(Value::as_str) == Some(event.name.as_str()) {
        let _taken = fields.text("hook_event_name");
    }
    let session = fields.word("conversation_id");
    event.session_id = session.or_else(|| fields.word("session_id"));
    event.prompt_id = fields.word("generation_id");
    event.parent_session_id = fields.word("parent_conversation_id");
    event.model = fields.word("model");
    event.transcript_path = fields.word("transcript_path");
    event.agent_id = fields.word("subagent_id");
    event.agent_type = fields.word("subagent_type");
    event.cwd = fields.word("cwd").or_else(|| first_root(&fields));
    event.tool_use_id = fields.word("tool_use_id");
    event.duration_ms = fields.count("duration_ms").or_else(|| fields.count("duration"));
    event.prompt = fields.text("prompt");
    event.message = fields.text_of(&["text", "message"]);
    event.error = fields.text_of(&["error_message", "error"]);
    tool(&mut event, &mut fields);
    event.exit_code = fields.peek("exit_code").and_then(Value::as_i64);
    if event.exit_code.is_some() {
        let _taken = fields.json("exit_code");
    }
    event.with_rest(fields)
}

/// The tool, its input and what it gave back, wherever this event has them.
fn tool(event: &mut HookEvent, fields: &mut Fields) {
    event.tool_name = fields.word("tool_name");
    event.tool_input = fields.json_or_text("tool_input");
    let given = ["tool_output", "result_json", "output"];
    event.tool_response = given.iter().find_map(|name| fields.json_or_text(name));
    let (tool, inputs): (&str, &[&str]) = match event.name.as_str() {
        "beforeShellExecution" | "afterShellExecution" => ("Shell", &["command"]),
        "beforeReadFile" | "beforeTabFileRead" => ("Read", &["file_path"]),
        "afterFileEdit" | "afterTabFileEdit" => ("Write", &["file_path", "edits"]),
        _ => return,
    };
    let mut input = Map::new();
    for name in inputs {
        if let Some(value) = fields.json(name) {
            input.insert((*name).to_owned(), value);
        }
    }
    event.tool_name.get_or_insert_with(|| tool.to_owned());
    event.tool_input.get_or_insert(Value::Object(input));
}

fn first_root(fields: &Fields) -> Option<String> {
    let roots = fields.peek("workspace_roots")?.as_array()?;
    roots.first()?.as_str().map(str::to_owned)
}
