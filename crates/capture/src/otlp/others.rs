//! Events of Codex and Gemini CLI as the facts Claude Code's are read into.
//!
//! Owns: their attributes' names, and what their counts hold: both count cached tokens within the input; Codex counts its
//! reasoning within the output, Gemini its thoughts beside it. Neither says what a request cost.
//! Refuses: everything else they tell, which is kept as it came.

use crate::cost::Tokens;

use super::{
    attributes::Attributes,
    claude::{ApiError, ApiRequest, Context, Event, Fact, ToolDecision, ToolResult},
    signals::LogRecord,
};

/// The event in a log record, if one of them sent it and it is known.
pub(super) fn event(record: &LogRecord) -> Option<Event> {
    let said = &record.attributes;
    let name = said.text("event.name").or(record.event_name.as_deref())?;
    let (vendor, fact) = match name.split_once('.')? {
        ("codex", name) => ("codex", codex(name, said)?),
        ("gemini_cli", name) => ("gemini", gemini(name, said)?),
        _ => return None,
    };
    let context = Context {
        session_id: said.owned("session.id").or_else(|| said.owned("conversation.id")),
        prompt_id: said.owned("prompt_id"),
        time_unix_nano: record.time_unix_nano,
        ..Context::default()
    };
    Some(Event { vendor, context, fact })
}

fn codex(name: &str, said: &Attributes) -> Option<Fact> {
    let count = |name| said.count(name).unwrap_or_default();
    Some(match name {
        "sse_event" if said.text("event.kind") == Some("response.completed") => {
            let cached = count("cached_token_count");
            Fact::ApiRequest(ApiRequest {
                tokens: Tokens {
                    input: count("input_token_count").saturating_sub(cached),
                    output: count("output_token_count"),
                    cache_read: cached,
                    ..Tokens::default()
                },
                ..request(said)
            })
        }
        "sse_event" if said.text("event.kind") == Some("response.failed") => {
            Fact::ApiError(failure(said, "error.message"))
        }
        "api_request" if said.owned("error.message").is_some() => {
            Fact::ApiError(failure(said, "error.message"))
        }
        "tool_result" => Fact::ToolResult(ToolResult {
            tool_use_id: said.owned("call_id"),
            result_bytes: said.text("output").map(|output| output.len() as u64),
            ..result(said, "tool_name")
        }),
        "tool_decision" => Fact::ToolDecision(ToolDecision {
            tool_name: said.owned("tool_name").unwrap_or_default(),
            tool_use_id: said.owned("call_id"),
            decision: decision(said)?,
            source: said.owned("source"),
        }),
        "user_prompt" => prompt(said),
        _ => return None,
    })
}

fn gemini(name: &str, said: &Attributes) -> Option<Fact> {
    let count = |name| said.count(name).unwrap_or_default();
    Some(match name {
        "api_response" => {
            let cached = count("cached_content_token_count");
            let asked = count("input_token_count").saturating_sub(cached);
            Fact::ApiRequest(ApiRequest {
                tokens: Tokens {
                    input: asked.saturating_add(count("tool_token_count")),
                    output: count("output_token_count").saturating_add(count("thoughts_token_count")),
                    cache_read: cached,
                    ..Tokens::default()
                },
                ..request(said)
            })
        }
        "api_error" => Fact::ApiError(failure(said, "error")),
        "tool_call" => Fact::ToolResult(ToolResult {
            error: said.owned("error").or_else(|| said.owned("error_type")),
            result_bytes: said.count("content_length"),
            decision: decision(said),
            ..result(said, "function_name")
        }),
        "user_prompt" => prompt(said),
        _ => return None,
    })
}

fn request(said: &Attributes) -> ApiRequest {
    ApiRequest {
        model: said.owned("model").or_else(|| said.owned("slug")).unwrap_or_default(),
        request_id: None,
        tokens: Tokens::default(),
        cost_usd_micros: None,
        duration_ms: said.count("duration_ms"),
        query_source: said.owned("role"),
    }
}

fn failure(said: &Attributes, error: &str) -> ApiError {
    let status = |name| said.owned(name).or_else(|| said.count(name).map(|code| code.to_string()));
    ApiError {
        model: said.owned("model"),
        status: status("http.response.status_code").or_else(|| status("status_code")),
        error: said.owned(error).or_else(|| said.owned("error_type")),
        attempt: said.count("attempt"),
        duration_ms: said.count("duration_ms"),
    }
}

fn result(said: &Attributes, tool: &str) -> ToolResult {
    ToolResult {
        tool_name: said.owned(tool).unwrap_or_default(),
        tool_use_id: None,
        success: said.flag("success"),
        duration_ms: said.count("duration_ms"),
        result_bytes: None,
        error: None,
        decision: None,
    }
}

/// What was decided, in Claude Code's words: `approved_for_session`, `auto_accept` and their like are one thing.
fn decision(said: &Attributes) -> Option<String> {
    let word = match said.text("decision")? {
        "denied" | "abort" | "reject" | "timed_out" => "reject",
        word if word.starts_with("approved") => "accept",
        "accept" | "auto_accept" | "modify" => "accept",
        _ => return None,
    };
    Some(word.to_owned())
}

fn prompt(said: &Attributes) -> Fact {
    Fact::UserPrompt { length: said.count("prompt_length"), text: said.owned("prompt") }
}
