//! Gemini: before and after instead of pre and post, a time in every payload, no id for a call.

use belljar_domain::{Timestamp, Tokens};
use serde_json::Value;

use super::claude_code;
use crate::{
    fields::Fields,
    hook::{HookEvent, ModelUse},
    kind::HookKind,
};

/// The names nobody else uses.
const OWN: [&str; 8] = [
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "BeforeTool",
    "AfterTool",
    "PreCompress",
];

/// Whether a name is Gemini's alone.
pub(crate) fn is_own(name: &str) -> bool {
    OWN.contains(&name)
}

/// What its events are about.
pub(crate) fn kind(name: &str) -> Option<HookKind> {
    Some(match name {
        "SessionStart" => HookKind::SessionStart,
        "SessionEnd" => HookKind::SessionEnd,
        "BeforeAgent" => HookKind::Prompt,
        "AfterAgent" => HookKind::TurnEnd,
        "BeforeModel" => HookKind::ModelBefore,
        "AfterModel" => HookKind::ModelAfter,
        "BeforeToolSelection" => HookKind::ToolSelection,
        "BeforeTool" => HookKind::ToolBefore,
        "AfterTool" => HookKind::ToolAfter,
        "PreCompress" => HookKind::CompactBefore,
        "Notification" => HookKind::Notification,
        _ => return None,
    })
}

/// Reads its payload.
pub(crate) fn read(mut event: HookEvent, mut fields: Fields) -> HookEvent {
    event.kind = super::kind(&event.agent, &event.name);
    claude_code::common(&mut event, &mut fields);
    event.message = fields.text_of(&["message", "prompt_response"]);
    if let Some(text) = fields.text("timestamp") {
        match text.parse::<Timestamp>() {
            Ok(time) => event.client_time = Some(time),
            Err(error) => fields.note("$.timestamp".to_owned(), error.to_string()),
        }
    }
    if event.model.is_none() {
        let model = fields.peek("llm_request").and_then(|request| request.get("model"));
        event.model = model.and_then(Value::as_str).map(str::to_owned);
    }
    if event.kind == HookKind::ModelAfter {
        event.usage = fields.peek("llm_response").and_then(usage);
    }
    // A tool that failed says so inside of what it gave back.
    if let Some(error) =
        event.tool_response.as_ref().and_then(|response| response.get("error")).and_then(said)
    {
        event.error = Some(error);
        event.kind = HookKind::ToolFailed;
    }
    // The only sign that a person is being asked.
    if fields.peek("notification_type").and_then(Value::as_str) == Some("ToolPermission") {
        event.kind = HookKind::Permission;
    }
    event.with_rest(fields)
}

/// What an answer used, told with its last piece. The cache is counted within the prompt, thoughts beside the answer.
fn usage(response: &Value) -> Option<ModelUse> {
    let used = response.get("usageMetadata")?;
    let is_whole = response.pointer("/candidates/0/finishReason").is_some_and(|reason| !reason.is_null());
    let count = |name: &str| used.get(name).and_then(Value::as_u64).unwrap_or_default();
    let cached = count("cachedContentTokenCount");
    let prompt = count("promptTokenCount").saturating_sub(cached);
    let answer = match used.get("candidatesTokenCount").and_then(Value::as_u64) {
        Some(written) => written.saturating_add(count("thoughtsTokenCount")),
        // Without its parts, what is not the prompt's is the answer's.
        None => count("totalTokenCount").saturating_sub(count("promptTokenCount")),
    };
    is_whole.then(|| ModelUse {
        tokens: Tokens {
            input: prompt.saturating_add(count("toolUsePromptTokenCount")),
            output: answer,
            cache_read: cached,
            ..Tokens::default()
        },
        cost_micros: None,
        message_id: response.get("responseId").and_then(Value::as_str).map(str::to_owned),
    })
}

fn said(error: &Value) -> Option<String> {
    match error {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => Some(text.clone()),
        other => Some(
            other.get("message").and_then(Value::as_str).map_or_else(|| other.to_string(), str::to_owned),
        ),
    }
}
