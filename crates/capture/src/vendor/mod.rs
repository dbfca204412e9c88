//! The vendors, one module each: what they call things, and where in a payload those are.

pub(crate) mod claude_code;
pub(crate) mod codex;
pub(crate) mod cursor;
pub(crate) mod gemini;
pub(crate) mod opencode;

use crate::{agent::Agent, fields::Fields, hook::HookEvent, kind::HookKind};

/// Reads a payload the way its vendor writes it.
pub(crate) fn read(agent: Agent, name: String, fields: Fields) -> HookEvent {
    let event = HookEvent::bare(agent, HookKind::Other(String::new()), name);
    match event.agent {
        Agent::ClaudeCode | Agent::Unknown(_) => claude_code::read(event, fields),
        Agent::Codex => codex::read(event, fields),
        Agent::Gemini => gemini::read(event, fields),
        Agent::Cursor => cursor::read(event, fields),
        Agent::OpenCode => opencode::read(event, fields),
    }
}

/// What an event is about, by its vendor's name for it.
pub(crate) fn kind(agent: &Agent, name: &str) -> HookKind {
    let known = match agent {
        Agent::ClaudeCode | Agent::Unknown(_) => claude_code::kind(name),
        Agent::Codex => codex::kind(name),
        Agent::Gemini => gemini::kind(name),
        Agent::Cursor => cursor::kind(name),
        Agent::OpenCode => opencode::kind(name),
    };
    known.unwrap_or_else(|| HookKind::Other(name.chars().take(128).collect()))
}
