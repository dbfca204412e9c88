//! Which hooks an agent is given, and what an entry looks like in its settings.
//!
//! Refuses: events that would replace what the agent does (a worktree), or start a process for every piece of a reply
//! from a model.

use belljar_capture::{Agent, HookKind, Peek};
use serde_json::{Value, json};

use super::place::Scope;

/// How long an agent waits for the hook, in seconds. The hook itself gives up before.
const GUARD: u64 = 10;
const OBSERVER: u64 = 5;
/// How long a call may wait for a person, and how much longer the agent waits for the hook: one that gave up first would go
/// on without the answer.
const PERSON: u64 = 600;
const MARGIN: u64 = 30;

/// How an agent is to call belljar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Calling {
    /// The program.
    pub(super) program: String,
    /// Words that say where belljar's home and server are, so that nothing in the agent's environment can say otherwise.
    pub(super) pinned: Vec<String>,
}

impl Calling {
    /// Belljar wherever the environment says it is: what a sandbox's own hooks go by.
    pub(super) fn anywhere(program: &str) -> Self {
        Self { program: program.to_owned(), pinned: Vec::new() }
    }
}

const CLAUDE_CODE: [&str; 32] = [
    "SessionStart",
    "SessionEnd",
    "Setup",
    "InstructionsLoaded",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "MessageDisplay",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "WorktreeRemove",
];
const CODEX: [&str; 12] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "Interrupt",
];
const GEMINI: [&str; 8] = [
    "SessionStart",
    "SessionEnd",
    "BeforeAgent",
    "AfterAgent",
    "BeforeTool",
    "AfterTool",
    "PreCompress",
    "Notification",
];
/// The general events alone: those about one sort of tool would tell every call twice.
const CURSOR: [&str; 11] = [
    "sessionStart",
    "sessionEnd",
    "beforeSubmitPrompt",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "subagentStart",
    "subagentStop",
    "preCompact",
    "afterAgentResponse",
    "stop",
];
const OPENCODE: [&str; 10] = [
    "session.created",
    "session.deleted",
    "chat.message",
    "message.updated",
    "tool.execute.before",
    "tool.execute.after",
    "permission.ask",
    "session.compacted",
    "session.idle",
    "session.error",
];

/// The events an agent is given hooks for.
pub(super) fn events(agent: &Agent) -> &'static [&'static str] {
    match agent {
        Agent::ClaudeCode | Agent::Unknown(_) => &CLAUDE_CODE,
        Agent::Codex => &CODEX,
        Agent::Gemini => &GEMINI,
        Agent::Cursor => &CURSOR,
        Agent::OpenCode => &OPENCODE,
    }
}

/// What stands in the list of an event: a group of hooks, or with Cursor the hook itself.
pub(super) fn entry(agent: &Agent, event: &str, calling: &Calling, scope: Scope) -> Value {
    let Calling { program, pinned } = calling;
    let kind = Peek::kind(agent, event);
    let is_guard = kind.is_guard();
    let is_call = matches!(kind, HookKind::ToolBefore | HookKind::Permission);
    let timeout = match (is_call, is_guard) {
        (true, _) => PERSON + MARGIN,
        (false, true) => GUARD,
        (false, false) => OBSERVER,
    };
    let wait = PERSON.to_string();
    let mut words = vec!["hook", "--agent", agent.as_str()];
    if is_call {
        words.extend(["--wait", &wait]);
    }
    words.extend(pinned.iter().map(String::as_str));
    let line: Vec<String> = [program.as_str()].iter().chain(&words).map(|word| quoted(word)).collect();
    let line = line.join(" ");
    // Only what an administrator installed may stop an agent when belljar is gone.
    let must_run = is_guard && scope == Scope::Managed;
    match agent {
        Agent::Gemini => json!({"hooks": [{
            "name": "belljar", "type": "command", "command": line, "timeout": timeout * 1000,
        }]}),
        Agent::Cursor if must_run => json!({"command": line, "timeout": timeout, "failClosed": true}),
        Agent::Cursor => json!({"command": line, "timeout": timeout}),
        Agent::Codex => {
            json!({"hooks": [{"type": "command", "command": line, "timeout": codex(event, timeout)}]})
        }
        Agent::ClaudeCode | Agent::OpenCode | Agent::Unknown(_) => {
            let mut hook = json!({
                "type": "command", "command": program, "args": words, "timeout": timeout,
            });
            if let Some(hook) = hook.as_object_mut().filter(|_| must_run) {
                hook.insert("onFailure".to_owned(), json!("block"));
            }
            match event {
                // Here a matcher is the list of files to watch: the ones secrets are kept in.
                "FileChanged" => json!({"matcher": ".env|.envrc", "hooks": [hook]}),
                _ => json!({"hooks": [hook]}),
            }
        }
    }
}

/// The end of a session gets three seconds there, whatever one asks for.
fn codex(event: &str, timeout: u64) -> u64 {
    if event == "SessionEnd" { 3 } else { timeout }
}

/// A path as a shell reads it.
fn quoted(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+:".contains(c));
    if is_plain { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_a_kind_and_none_takes_the_agents_place() {
        for agent in Agent::KNOWN {
            for event in events(&agent) {
                let kind = Peek::kind(&agent, event);
                assert!(!matches!(kind, belljar_capture::HookKind::Other(_)), "{agent} {event}");
                assert!(kind != belljar_capture::HookKind::WorktreeCreate);
            }
        }
    }

    #[test]
    fn only_managed_guards_stop_an_agent_without_belljar() {
        let failing = |event: &str, scope: Scope| {
            let calling = Calling::anywhere("/bin/belljar");
            entry(&Agent::ClaudeCode, event, &calling, scope)["hooks"][0]["onFailure"] == "block"
        };
        assert!(failing("PreToolUse", Scope::Managed) && failing("ConfigChange", Scope::Managed));
        assert!(!failing("PostToolUse", Scope::Managed) && !failing("PreToolUse", Scope::User));
    }

    #[test]
    fn a_path_with_spaces_is_one_word() {
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
        assert_eq!(quoted("/usr/bin/belljar"), "/usr/bin/belljar");
    }
}
