//! `belljar hooks list`: which events an agent is given hooks for, what each is for, and which of them may hold it up.

use std::process::ExitCode;

use anyhow::Result;
use belljar_capture::{Agent, HookKind, Peek};
use serde_json::{Value, json};

use super::{
    place::{Places, Scope},
    registration::{Calling, entry, events},
};
use crate::{
    args::Trial,
    context::Context,
    output::{print_json, print_table},
};

/// One hook of an agent.
struct Hook {
    agent: Agent,
    event: &'static str,
    kind: HookKind,
    /// Seconds the agent waits for it; a plugin within the agent has no clock.
    timeout: Option<u64>,
    matcher: Option<String>,
}

pub(super) fn list(context: &Context, args: &Trial) -> Result<ExitCode> {
    let found = || Places::new(&context.env, None).map(|places| places.found());
    let agents = args.agents().map_or_else(found, Ok)?;
    let hooks: Vec<Hook> =
        agents.iter().flat_map(|agent| events(agent).iter().map(|event| Hook::of(agent, event))).collect();
    if context.json {
        print_json(&json!({ "hooks": hooks.iter().map(Hook::json).collect::<Vec<_>>() }))?;
    } else {
        let rows: Vec<_> = hooks.iter().map(Hook::row).collect();
        print_table(&["AGENT", "EVENT", "CATEGORY", "BLOCKS", "TIMEOUT", "ONLY FOR", "WHEN"], &rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Hook {
    fn of(agent: &Agent, event: &'static str) -> Self {
        let written = entry(agent, event, &Calling::anywhere("belljar"), Scope::User);
        let hook = written.pointer("/hooks/0").unwrap_or(&written);
        let timeout = hook.get("timeout").and_then(Value::as_u64).filter(|_| *agent != Agent::OpenCode);
        let unit = if *agent == Agent::Gemini { 1000 } else { 1 };
        Self {
            agent: agent.clone(),
            event,
            kind: Peek::kind(agent, event),
            timeout: timeout.map(|timeout| timeout / unit),
            matcher: written.get("matcher").and_then(Value::as_str).map(str::to_owned),
        }
    }

    fn row(&self) -> Vec<String> {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        vec![
            self.agent.to_string(),
            self.event.to_owned(),
            category(&self.kind).to_owned(),
            if self.kind.is_guard() { "yes" } else { "-" }.to_owned(),
            or_none(self.timeout.map(|timeout| format!("{timeout}s"))),
            or_none(self.matcher.clone()),
            when(&self.kind).to_owned(),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "agent": self.agent, "event": self.event, "kind": self.kind, "category": category(&self.kind),
            "blocking": self.kind.is_guard(), "timeout_s": self.timeout, "matcher": self.matcher, "when": when(&self.kind),
        })
    }
}

/// What belljar does with it: lets or denies, tells agents' work apart, keeps what is remembered true, acts afterwards, or
/// writes down.
const fn category(kind: &HookKind) -> &'static str {
    match kind {
        HookKind::ToolBefore
        | HookKind::Permission
        | HookKind::PermissionDenied
        | HookKind::Prompt
        | HookKind::PromptExpansion
        | HookKind::ConfigChange
        | HookKind::ModelSwitchBefore => "security",
        HookKind::SubagentStart
        | HookKind::SubagentEnd
        | HookKind::TaskCreated
        | HookKind::TaskCompleted
        | HookKind::TeammateIdle
        | HookKind::WorktreeCreate
        | HookKind::WorktreeRemove => "coordination",
        HookKind::Instructions | HookKind::CompactBefore | HookKind::CompactAfter => "memory",
        HookKind::TurnEnd | HookKind::TurnFailed | HookKind::SessionEnd | HookKind::Notification => {
            "automation"
        }
        _ => "observability",
    }
}

const fn when(kind: &HookKind) -> &'static str {
    match kind {
        HookKind::SessionStart => "a session begins or goes on",
        HookKind::SessionEnd => "a session ends: its transcript is archived",
        HookKind::Setup => "a project is prepared",
        HookKind::Instructions => "a file of instructions is read",
        HookKind::Prompt => "a prompt is about to be taken up",
        HookKind::PromptExpansion => "a command in a prompt is about to be spelled out",
        HookKind::ToolBefore => "a tool is about to run: identity, rules, budget, approval",
        HookKind::ToolAfter => "a tool ran: its outcome, what it cost",
        HookKind::ToolFailed => "a tool failed",
        HookKind::ToolBatch => "all calls of one reply are done: the transcript is read",
        HookKind::Permission => "a person would be asked: so are those who watch",
        HookKind::PermissionDenied => "the agent's own rules denied a call",
        HookKind::Notification => "the agent wants attention",
        HookKind::Message | HookKind::ModelAfter => "an answer is shown, or what it used is known",
        HookKind::TurnEnd => "a turn is over: notices and commands of [stop]",
        HookKind::TurnFailed => "a turn broke off",
        HookKind::SubagentStart => "a subagent begins",
        HookKind::SubagentEnd => "a subagent is done: its transcript is read",
        HookKind::CompactBefore => "the conversation is about to be shortened",
        HookKind::CompactAfter => "the conversation was shortened",
        HookKind::ModelSwitchBefore => "another model is about to take over",
        HookKind::ModelSwitchAfter => "another model took over",
        HookKind::ModelBefore | HookKind::ToolSelection => "a model is about to be asked",
        HookKind::TaskCreated => "a task is put on the list",
        HookKind::TaskCompleted => "a task is ticked off",
        HookKind::TeammateIdle => "a teammate has nothing to do",
        HookKind::Elicitation => "a tool's server asks the user something",
        HookKind::ElicitationResult => "the user answered a tool's server",
        HookKind::ConfigChange => "settings are about to change",
        HookKind::CwdChanged => "the session is in another directory",
        HookKind::FileChanged => "a file with secrets changed",
        HookKind::DirectoryAdded => "another directory is open to the session",
        HookKind::WorktreeCreate => "a worktree is wanted",
        HookKind::WorktreeRemove => "a worktree is removed",
        HookKind::Other(_) => "the agent says so",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_says_what_it_is_for_and_how_long_it_may_take() {
        for agent in Agent::KNOWN {
            for event in events(&agent) {
                let hook = Hook::of(&agent, event);
                assert!(!matches!(hook.kind, HookKind::Other(_)), "{agent} {event}");
                assert_eq!(hook.timeout.is_none(), agent == Agent::OpenCode, "{agent} {event}");
                assert!(hook.timeout.is_none_or(|seconds| (1..=630).contains(&seconds)), "{agent} {event}");
            }
        }
        let guard = Hook::of(&Agent::Gemini, "BeforeTool");
        assert_eq!(
            (category(&guard.kind), guard.timeout, guard.kind.is_guard()),
            ("security", Some(630), true)
        );
        assert_eq!(Hook::of(&Agent::ClaudeCode, "FileChanged").matcher.as_deref(), Some(".env|.envrc"));
    }
}
