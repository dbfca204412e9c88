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

use crate::{agent::Agent, hook::HookEvent};

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
}

impl Answer {
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

/// The reply to a hook in its vendor's own form.
#[must_use]
pub fn reply(event: &HookEvent, answer: Option<&Answer>) -> Reply {
    let said = answer.and_then(|answer| match event.agent {
        Agent::ClaudeCode => claude_code::reply(event, answer),
        Agent::Codex => codex::reply(event, answer),
        Agent::Gemini => gemini::reply(event, answer),
        Agent::Cursor => cursor::reply(event, answer),
        // Our own plugin reads it.
        Agent::OpenCode => Some(Reply::json(&json!({"decision": answer.verdict, "reason": answer.reason()}))),
        Agent::Unknown(_) => by_exit_code(event, answer),
    });
    said.unwrap_or_else(|| Reply::nothing(&event.agent))
}

/// For a program of which only the shape of its payload is known.
fn by_exit_code(event: &HookEvent, answer: &Answer) -> Option<Reply> {
    (event.kind.is_guard() && answer.verdict == Verdict::Deny).then(|| Reply::refusal(answer.reason()))
}

/// Whether the turn goes on only because a hook said so before: saying so again could go on for ever.
fn was_sent_on(event: &HookEvent) -> bool {
    event.rest.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false)
}
