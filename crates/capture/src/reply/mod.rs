//! From an answer to what a vendor reads: bytes on standard output, words on standard error, 0 or 2.
//!
//! Owns: which events can be answered, and how. Refuses: any other exit code, and output where none is read: an
//! observer's hook prints nothing.

mod claude_code;
mod codex;
mod cursor;
mod gemini;

use belljar_domain::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{agent::Agent, hook::HookEvent, kind::HookKind};

/// The exit code that blocks, for every vendor.
const BLOCK: u8 = 2;
/// What is said where no reason was given; some vendors ignore a refusal without one.
const NO_REASON: &str = "denied by belljar";

/// What is to be told to an agent that asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Yes, no, or let a person say.
    #[serde(rename = "decision")]
    pub verdict: Verdict,
    /// Why, in words for the model and the user.
    #[serde(default)]
    pub reason: String,
    /// What the tool is to be given instead, whole, where a person changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Value>,
    /// Whether the agent is to stop altogether, where it can be told so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
    /// Whether the question is put off until the session goes on, where an agent can do that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub defer: bool,
}

impl Answer {
    /// A verdict and its reason, and nothing else.
    #[must_use]
    pub fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { verdict, reason: reason.into(), updated_input: None, stop: false, defer: false }
    }

    /// A no that says what a person would have instead, for an agent that cannot be given it.
    fn rewritten(input: &Value) -> Reply {
        let reason = format!("a person changed this call; make it with this input instead: {input}");
        Reply::refusal(&reason)
    }

    /// The reason, or words that stand for one.
    #[must_use]
    pub fn reason(&self) -> &str {
        let said = self.reason.trim();
        if said.is_empty() { NO_REASON } else { said }
    }
}

/// How the hook command ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// For standard output.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
    /// 0, or 2 to block.
    pub exit: u8,
}

impl Reply {
    /// Nothing to say.
    #[must_use]
    pub fn silence() -> Self {
        Self::default()
    }

    /// Blocks by the exit code, which every vendor understands.
    #[must_use]
    pub fn refusal(reason: &str) -> Self {
        Self { stderr: reason.to_owned(), exit: BLOCK, ..Self::default() }
    }

    pub(crate) fn json(value: &Value) -> Self {
        Self { stdout: value.to_string(), ..Self::default() }
    }

    /// Nothing to say, to this agent: one of them wants to hear so.
    #[must_use]
    pub fn nothing(agent: &Agent) -> Self {
        match agent {
            Agent::Cursor => Self::json(&json!({})),
            _ => Self::silence(),
        }
    }
}

/// Whether a person can be asked by the agent itself in the place of this hook's answer. Where not, a question that nobody
/// answers has to be a no.
#[must_use]
pub fn can_ask(event: &HookEvent) -> bool {
    match event.agent {
        Agent::ClaudeCode => matches!(event.name.as_str(), "PreToolUse" | "PermissionRequest"),
        Agent::Codex => event.name == "PermissionRequest",
        Agent::Cursor => event.kind == HookKind::ToolBefore,
        Agent::OpenCode => event.kind == HookKind::Permission,
        Agent::Gemini | Agent::Unknown(_) => false,
    }
}

/// Whether the agent can put a question off and end, to ask it again when the session goes on: nobody sits before it.
#[must_use]
pub fn can_defer(event: &HookEvent) -> bool {
    event.agent == Agent::ClaudeCode && event.name == "PreToolUse"
}

/// The reply to a hook in its vendor's own form.
#[must_use]
pub fn reply(event: &HookEvent, answer: Option<&Answer>) -> Reply {
    let said = answer.and_then(|answer| match event.agent {
        Agent::ClaudeCode => claude_code::reply(event, answer),
        Agent::Codex => codex::reply(event, answer),
        Agent::Gemini => gemini::reply(event, answer),
        Agent::Cursor => cursor::reply(event, answer),
        // Our own plugin reads it.
        Agent::OpenCode => {
            let mut said = json!({"decision": answer.verdict, "reason": answer.reason()});
            put(&mut said, "input", answer.updated_input.as_ref());
            Some(Reply::json(&said))
        }
        Agent::Unknown(_) => by_exit_code(event, answer),
    });
    said.unwrap_or_else(|| Reply::nothing(&event.agent))
}

/// Puts a field into an object, if there is something to put there.
fn put(object: &mut Value, name: &str, value: Option<&Value>) {
    if let (Value::Object(fields), Some(value)) = (object, value) {
        fields.insert(name.to_owned(), value.clone());
    }
}

/// For a program of which only the shape of its payload is known.
fn by_exit_code(event: &HookEvent, answer: &Answer) -> Option<Reply> {
    match &answer.updated_input {
        Some(input) if event.kind.is_guard() => Some(Answer::rewritten(input)),
        _ => (event.kind.is_guard() && answer.verdict == Verdict::Deny)
            .then(|| Reply::refusal(answer.reason())),
    }
}

/// Whether the turn goes on only because a hook said so before: saying so again could go on for ever.
fn was_sent_on(event: &HookEvent) -> bool {
    event.rest.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false)
}
