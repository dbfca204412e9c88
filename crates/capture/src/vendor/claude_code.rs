//! Claude Code: names in camel case, fields in snake case, the shape most others copy.

use crate::{fields::Fields, hook::HookEvent, kind::HookKind};

/// What its events are about.
pub(crate) fn kind(name: &str) -> Option<HookKind> {
    Some(match name {
        "SessionStart" => HookKind::SessionStart,
        "SessionEnd" => HookKind::SessionEnd,
        "Setup" => HookKind::Setup,
        "InstructionsLoaded" => HookKind::Instructions,
        "UserPromptSubmit" => HookKind::Prompt,
        "UserPromptExpansion" => HookKind::PromptExpansion,
        "PreToolUse" => HookKind::ToolBefore,
        "PermissionRequest" => HookKind::Permission,
        "PermissionDenied" => HookKind::PermissionDenied,
        "PostToolUse" => HookKind::ToolAfter,
        "PostToolUseFailure" => HookKind::ToolFailed,
        "PostToolBatch" => HookKind::ToolBatch,
        "Notification" => HookKind::Notification,
        "MessageDisplay" => HookKind::Message,
        "SubagentStart" => HookKind::SubagentStart,
        "SubagentStop" => HookKind::SubagentEnd,
        "Stop" => HookKind::TurnEnd,
        "StopFailure" => HookKind::TurnFailed,
        "PreCompact" => HookKind::CompactBefore,
        "PostCompact" => HookKind::CompactAfter,
        "PreModelSwitch" => HookKind::ModelSwitchBefore,
        "PostModelSwitch" => HookKind::ModelSwitchAfter,
        "TaskCreated" => HookKind::TaskCreated,
        "TaskCompleted" => HookKind::TaskCompleted,
        "TeammateIdle" => HookKind::TeammateIdle,
        "Elicitation" => HookKind::Elicitation,
        "ElicitationResult" => HookKind::ElicitationResult,
        "ConfigChange" => HookKind::ConfigChange,
        "CwdChanged" => HookKind::CwdChanged,
        "FileChanged" => HookKind::FileChanged,
        "DirectoryAdded" => HookKind::DirectoryAdded,
        "WorktreeCreate" => HookKind::WorktreeCreate,
        "WorktreeRemove" => HookKind::WorktreeRemove,
        _ => return None,
    })
}

/// Reads its payload.
pub(crate) fn read(mut event: HookEvent, mut fields: Fields) -> HookEvent {
    event.kind = super::kind(&event.agent, &event.name);
    common(&mut event, &mut fields);
    event.prompt_id = fields.word("prompt_id");
    event.parent_session_id = fields.word("parent_session_id");
    event.parent_tool_use_id = fields.word("parent_tool_use_id");
    if event.model.is_none() && event.kind == HookKind::ModelSwitchAfter {
        event.model = fields.word("to_model");
    }
    event.message = match event.kind {
        HookKind::Message => fields.text("delta"),
        HookKind::CompactAfter => fields.text("compact_summary"),
        HookKind::PermissionDenied => fields.text("reason"),
        _ => fields.text_of(&["message", "last_assistant_message"]),
    };
    event.error = fields.text("error").or_else(|| failed(&event));
    event.exit_code = event.error.as_deref().and_then(exit_code);
    event.with_rest(fields)
}

/// What Claude Code and those that copy it have in common.
pub(super) fn common(event: &mut HookEvent, fields: &mut Fields) {
    // The name was read before; a payload that disagrees with what the command line said keeps its own.
    if fields.peek("hook_event_name").and_then(|name| name.as_str()) == Some(event.name.as_str()) {
        let _taken = fields.text("hook_event_name");
    }
    event.session_id = fields.word("session_id");
    event.transcript_path = fields.word("transcript_path");
    event.cwd = fields.word("cwd");
    event.permission_mode = fields.word("permission_mode");
    event.model = fields.word("model");
    event.agent_id = fields.word("agent_id");
    event.agent_type = fields.word("agent_type");
    event.tool_name = fields.word("tool_name");
    event.tool_use_id = fields.word("tool_use_id");
    event.tool_input = fields.json("tool_input");
    event.tool_response = fields.json("tool_response");
    event.duration_ms = fields.count("duration_ms");
    event.prompt = fields.text("prompt");
}

/// What went wrong with a call that is told of as finished: to hooks an administrator installed every call that failed
/// is told of twice, and only the words of its result say that it did.
fn failed(event: &HookEvent) -> Option<String> {
    let result = event.tool_response.as_ref().filter(|_| event.kind == HookKind::ToolAfter)?;
    result.as_str()?.strip_prefix("Error: ").map(str::to_owned)
}

/// How a command ended, which is said only in the first line of the error.
fn exit_code(error: &str) -> Option<i64> {
    error.lines().next()?.strip_prefix("Exit code ")?.trim().parse().ok()
}
