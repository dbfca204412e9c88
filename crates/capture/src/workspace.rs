//! The directory a session is about, as each agent's contract gives it.
//!
//! Owns: which variable or field says so. Refuses: the directory a hook is fired in; that follows every `cd` of the agent,
//! and whoever may choose it would choose what they may change.

use serde_json::Value;

use crate::{agent::Agent, hook::HookEvent};

/// The variables an agent gives its hooks, the surest first.
fn variables(agent: &Agent) -> &'static [&'static str] {
    match agent {
        Agent::Gemini => &["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
        // Cursor runs hooks written for Claude Code too, and gives them what those read.
        Agent::ClaudeCode | Agent::Cursor => &["CLAUDE_PROJECT_DIR"],
        _ => &[],
    }
}

impl HookEvent {
    /// The directory its session is about, where the agent says so: by a field of the hook, or by a variable. Of several,
    /// the one it is in.
    #[must_use]
    pub fn workspace(&self, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
        let roots = self.rest.get("workspace_roots").and_then(Value::as_array).into_iter().flatten();
        let roots: Vec<&str> = roots.filter_map(Value::as_str).filter(|root| is_whole(root)).collect();
        let holds = |root: &&&str| self.cwd.as_deref().is_some_and(|cwd| is_within(cwd, root));
        let root = roots.iter().find(holds).or_else(|| roots.first());
        let named = || variables(&self.agent).iter().find_map(|name| variable(name));
        root.map(|root| (*root).to_owned()).or_else(named).filter(|path| is_whole(path))
    }
}

fn is_whole(path: &str) -> bool {
    path.starts_with('/')
}

fn is_within(path: &str, root: &str) -> bool {
    path.strip_prefix(root.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(agent: Agent, payload: &str, variables: &[(&str, &str)]) -> Option<String> {
        let hook = HookEvent::read(Some(agent), None, payload.as_bytes()).unwrap();
        let found = |name: &str| variables.iter().find(|(known, _)| *known == name);
        hook.workspace(|name| found(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn each_agent_says_in_its_own_way_what_a_session_is_about() {
        let claude = ("CLAUDE_PROJECT_DIR", "/w");
        let moved = r#"{"hook_event_name":"PreToolUse","cwd":"/"}"#;
        assert_eq!(workspace(Agent::ClaudeCode, moved, &[claude]).as_deref(), Some("/w"));
        assert_eq!(workspace(Agent::ClaudeCode, moved, &[]), None);
        assert_eq!(workspace(Agent::Codex, moved, &[claude]), None);
        let gemini = r#"{"hook_event_name":"BeforeTool","cwd":"/"}"#;
        let both = [claude, ("GEMINI_PROJECT_DIR", "/g")];
        assert_eq!(workspace(Agent::Gemini, gemini, &both).as_deref(), Some("/g"));
        assert_eq!(workspace(Agent::ClaudeCode, moved, &[("CLAUDE_PROJECT_DIR", ".")]), None);
    }

    #[test]
    fn of_several_roots_the_one_it_is_in_counts() {
        let cursor = |cwd: &str| {
            let payload = format!(
                r#"{{"hook_event_name":"preToolUse","cwd":"{cwd}","workspace_roots":["/a","/b/","relative"]}}"#
            );
            workspace(Agent::Cursor, &payload, &[("CLAUDE_PROJECT_DIR", "/c")])
        };
        assert_eq!(cursor("/b/src").as_deref(), Some("/b/"));
        assert_eq!(cursor("/bb").as_deref(), Some("/a"));
        assert_eq!(cursor("/").as_deref(), Some("/a"));
    }
}
