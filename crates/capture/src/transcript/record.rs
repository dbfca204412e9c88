//! What one line of a transcript says.

use serde_json::Value;

use crate::cost::{Request, Source, Tokens};

/// A fact from a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptFact {
    /// A message of the model with what it used. The same message comes again as it grows; the last one counts.
    Usage(UsageRecord),
    /// The model called a tool.
    ToolUse {
        /// The call.
        tool_use_id: String,
        /// The tool.
        tool_name: String,
        /// The message it was called in.
        message_id: Option<String>,
        /// The session.
        session_id: String,
        /// The subagent, if it was one.
        agent_id: Option<String>,
    },
    /// A tool answered.
    ToolResult {
        /// The call.
        tool_use_id: String,
        /// Whether it failed.
        is_error: bool,
        /// The session.
        session_id: String,
        /// The subagent that had called it.
        agent_id: Option<String>,
        /// The subagent that this call started.
        started: Option<String>,
    },
}

/// A message's usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRecord {
    /// The session whose file it is in.
    pub session_id: String,
    /// The subagent, if it was one.
    pub agent_id: Option<String>,
    /// The message.
    pub message_id: String,
    /// The request it answers.
    pub request_id: Option<String>,
    /// The model.
    pub model: String,
    /// What it used.
    pub tokens: Tokens,
    /// When, as written.
    pub timestamp: Option<String>,
}

impl UsageRecord {
    /// As the ledger of costs hears it.
    pub fn request(&self) -> Request {
        Request {
            source: Source::Transcript,
            session_id: self.session_id.clone(),
            agent_id: self.agent_id.clone(),
            request_id: self.request_id.clone(),
            message_id: Some(self.message_id.clone()),
            model: self.model.clone(),
            tokens: self.tokens,
            cost: None,
        }
    }
}

/// Reads one line; `agent` is the file's subagent where the line does not say.
pub(super) fn facts(line: &Value, agent: Option<&str>, facts: &mut Vec<TranscriptFact>) {
    let session_id = text(line, "sessionId").unwrap_or_default();
    let agent_id = text(line, "agentId").or_else(|| agent.map(str::to_owned));
    let Some(message) = line.get("message") else { return };
    if text(line, "type").as_deref() == Some("assistant") {
        facts.extend(usage(line, message, &session_id, agent_id.as_ref()).map(TranscriptFact::Usage));
    }
    for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
        match text(block, "type").as_deref() {
            Some("tool_use") => facts.extend(text(block, "id").map(|tool_use_id| TranscriptFact::ToolUse {
                tool_use_id,
                tool_name: text(block, "name").unwrap_or_default(),
                message_id: text(message, "id"),
                session_id: session_id.clone(),
                agent_id: agent_id.clone(),
            })),
            Some("tool_result") => {
                facts.extend(text(block, "tool_use_id").map(|tool_use_id| TranscriptFact::ToolResult {
                    tool_use_id,
                    is_error: block.get("is_error").and_then(Value::as_bool).unwrap_or_default(),
                    session_id: session_id.clone(),
                    agent_id: agent_id.clone(),
                    // The usage beside it is the subagent's last request alone, and is in its own file as well.
                    started: line.get("toolUseResult").and_then(|result| text(result, "agentId")),
                }));
            }
            _ => {}
        }
    }
}

fn usage(line: &Value, message: &Value, session: &str, agent: Option<&String>) -> Option<UsageRecord> {
    let usage = message.get("usage")?;
    let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
    let split =
        |name: &str| usage.get("cache_creation").and_then(|split| split.get(name)).and_then(Value::as_u64);
    let written = count("cache_creation_input_tokens");
    let for_an_hour = split("ephemeral_1h_input_tokens").unwrap_or_default();
    Some(UsageRecord {
        session_id: session.to_owned(),
        agent_id: agent.cloned(),
        message_id: text(message, "id")?,
        request_id: text(line, "requestId"),
        model: text(message, "model").unwrap_or_default(),
        tokens: Tokens {
            input: count("input_tokens"),
            output: count("output_tokens"),
            cache_read: count("cache_read_input_tokens"),
            cache_write_5m: split("ephemeral_5m_input_tokens")
                .unwrap_or_default()
                .max(written.saturating_sub(for_an_hour)),
            cache_write_1h: for_an_hour,
        },
        timestamp: text(line, "timestamp"),
    })
}

pub(super) fn text(holder: &Value, name: &str) -> Option<String> {
    holder.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}
