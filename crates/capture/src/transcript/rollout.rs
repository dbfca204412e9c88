//! Codex's transcripts, which it calls rollouts: what was used so far stands beside what the last request used.
//!
//! Owns: whose tokens are whose. A request has no name there, but the sum of all so far is one: told again, as Codex does
//! whenever its limits change, it is the same request. A session that was forked begins with a copy of another's lines, all
//! written in one moment, which were paid for there.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{TranscriptFact, UsageRecord, text};
use crate::cost::Tokens;

/// Calls that may wait for their request to be over.
const MOST: usize = 256;

/// What is known from the lines before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rollout {
    session: String,
    model: String,
    /// When it was made as a copy, to the second.
    copied: Option<String>,
    /// Calls of the request that is not over.
    open: Vec<(String, String)>,
}

impl Rollout {
    /// Reads one line, if it is one of Codex's.
    pub(super) fn read(&mut self, line: &Value, facts: &mut Vec<TranscriptFact>) -> bool {
        let (Some(sort), Some(payload)) = (text(line, "type"), line.get("payload")) else { return false };
        match sort.as_str() {
            // That of the session a copy was made of may follow.
            "session_meta" if self.session.is_empty() => {
                self.session = text(payload, "id").unwrap_or_default();
                let is_copy = text(payload, "forked_from_id").is_some();
                self.copied = second(line).filter(|_| is_copy).map(str::to_owned);
            }
            "turn_context" => self.model = text(payload, "model").unwrap_or_default(),
            "event_msg" if text(payload, "type").as_deref() == Some("token_count") => {
                self.counted(line, payload, facts);
            }
            "response_item" if !self.is_copied(line) => self.item(payload, facts),
            _ => {}
        }
        true
    }

    fn counted(&mut self, line: &Value, payload: &Value, facts: &mut Vec<TranscriptFact>) {
        let used = |whose: &str| payload.pointer(&format!("/info/{whose}"));
        let (Some(last), Some(all)) = (used("last_token_usage"), used("total_token_usage")) else { return };
        let count = |of: &Value, name: &str| of.get(name).and_then(Value::as_u64).unwrap_or_default();
        if self.is_copied(line) {
            return;
        }
        let message_id = format!("{}/{}", self.session, count(all, "total_tokens"));
        let cached = count(last, "cached_input_tokens");
        facts.push(TranscriptFact::Usage(UsageRecord {
            session_id: self.session.clone(),
            agent_id: None,
            message_id: message_id.clone(),
            request_id: None,
            model: self.model.clone(),
            tokens: Tokens {
                input: count(last, "input_tokens").saturating_sub(cached),
                output: count(last, "output_tokens"),
                cache_read: cached,
                ..Tokens::default()
            },
            timestamp: text(line, "timestamp"),
        }));
        facts.extend(self.open.drain(..).map(|(tool_use_id, tool_name)| TranscriptFact::ToolUse {
            tool_use_id,
            tool_name,
            message_id: Some(message_id.clone()),
            session_id: self.session.clone(),
            agent_id: None,
        }));
    }

    fn item(&mut self, payload: &Value, facts: &mut Vec<TranscriptFact>) {
        let Some(call) = text(payload, "call_id") else { return };
        match text(payload, "type").as_deref() {
            Some("function_call" | "custom_tool_call") if self.open.len() < MOST => {
                self.open.push((call, text(payload, "name").unwrap_or_default()));
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                facts.push(TranscriptFact::ToolResult {
                    tool_use_id: call,
                    is_error: has_failed(payload.get("output")),
                    session_id: self.session.clone(),
                    agent_id: None,
                    started: None,
                });
            }
            _ => {}
        }
    }

    fn is_copied(&self, line: &Value) -> bool {
        self.copied.is_some() && self.copied.as_deref() == second(line)
    }
}

/// When a line was written, to the second.
fn second(line: &Value) -> Option<&str> {
    line.get("timestamp")?.as_str()?.get(..19)
}

/// What a tool gave back is text, or JSON in a text, or an object; what ended well says so or nothing.
fn has_failed(output: Option<&Value>) -> bool {
    let told = match output {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or(Value::Null),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    let code = told.pointer("/metadata/exit_code").or_else(|| told.get("exit_code")).and_then(Value::as_i64);
    code.is_some_and(|code| code != 0) || told.get("success").and_then(Value::as_bool) == Some(false)
}
