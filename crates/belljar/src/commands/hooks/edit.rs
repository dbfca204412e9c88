//! Putting our entries into an agent's settings and taking them out again, with everything else left where it is.

use std::{env, path::Path};

use anyhow::{Context as _, Result, bail};
use belljar_capture::Agent;
use serde_json::json;

use super::{
    document::Node,
    place::Scope,
    registration::{Calling, entry, events},
};

/// Adds what is missing and replaces what is outdated; what is right already is not touched.
pub(super) fn add(root: &mut Node, agent: &Agent, calling: &Calling, scope: Scope) -> Result<()> {
    if *agent == Agent::Cursor {
        root.at("version", Node::from(json!(1)))?;
    }
    let wanted: Vec<(&str, Node)> =
        events(agent).iter().map(|event| (*event, entry(agent, event, calling, scope).into())).collect();
    let hooks = root.at("hooks", Node::Object(Vec::new()))?;
    let pairs = hooks.pairs_mut().context("`hooks` is not an object; mend it first, nothing was changed")?;
    // Events that are no longer asked for.
    for (event, list) in pairs.iter_mut().filter(|(event, _)| !wanted.iter().any(|(name, _)| name == event)) {
        strip_list(list).with_context(|| format!("in `hooks.{event}`"))?;
    }
    for (event, node) in wanted {
        let list = hooks.at(event, Node::List(Vec::new()))?;
        let Some(items) = list.items_mut() else {
            bail!("`hooks.{event}` is not a list; mend it first, nothing was changed");
        };
        let ours = items.iter().filter(|item| count(item) > 0).count();
        if ours == 1 && items.contains(&node) {
            continue;
        }
        strip_list(list)?;
        list.items_mut().context("a list stays one")?.push(node);
    }
    Ok(())
}

/// Removes every entry of ours, and what is empty only because of that.
pub(super) fn remove(root: &mut Node) -> Result<usize> {
    let before = installed(root);
    let Some(pairs) = root.pairs_mut() else { return Ok(0) };
    let Some((_, hooks)) = pairs.iter_mut().find(|(name, _)| name == "hooks") else { return Ok(0) };
    let Some(lists) = hooks.pairs_mut() else { return Ok(0) };
    let mut emptied = Vec::new();
    for (event, list) in lists.iter_mut() {
        if strip_list(list)? > 0 && list.items().is_empty() {
            emptied.push(event.clone());
        }
    }
    lists.retain(|(event, _)| !emptied.contains(event));
    if lists.is_empty() && !emptied.is_empty() {
        pairs.retain(|(name, _)| name != "hooks");
    }
    Ok(before)
}

/// How many entries of ours there are.
pub(super) fn installed(root: &Node) -> usize {
    let Some(Node::Object(lists)) = root.get("hooks") else { return 0 };
    lists.iter().flat_map(|(_, list)| list.items()).map(count).sum()
}

/// How many hooks of ours are in a group, or whether an entry is one.
fn count(item: &Node) -> usize {
    match item.get("hooks") {
        Some(group) => group.items().iter().filter(|hook| is_ours(hook)).count(),
        None => usize::from(is_ours(item)),
    }
}

/// Takes ours out of the list of an event; says how many.
fn strip_list(list: &mut Node) -> Result<usize> {
    let Some(items) = list.items_mut() else { return Ok(0) };
    let found = items.iter().map(count).sum();
    let mut kept = Vec::with_capacity(items.len());
    for mut item in items.drain(..) {
        if count(&item) == 0 {
            kept.push(item);
        } else if item.get("hooks").is_some() {
            let hooks = item.at("hooks", Node::List(Vec::new()))?;
            let inner = hooks.items_mut().context("a list of hooks stays one")?;
            inner.retain(|hook| !is_ours(hook));
            // A group that others share stays for them.
            if !inner.is_empty() {
                kept.push(item);
            }
        }
    }
    *items = kept;
    Ok(found)
}

/// Whether a hook runs `belljar hook`, wherever belljar was when it was installed, and whatever it was called: by its name,
/// or because it is this program.
fn is_ours(hook: &Node) -> bool {
    let Some(command) = hook.get("command").and_then(Node::text) else { return false };
    let is_belljar = |path: &str| {
        let path = Path::new(path.trim_matches('\''));
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.contains("belljar")) || env::current_exe().is_ok_and(|own| own == path)
    };
    match hook.get("args") {
        Some(args) => is_belljar(command) && args.items().first().and_then(Node::text) == Some("hook"),
        None => command.split_once(" hook --agent ").is_some_and(|(program, _)| is_belljar(program)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEIRS: &str = r#"{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "lint"
          }
        ]
      }
    ],
    "Stop": []
  },
  "env": {}
}
"#;

    fn added(text: &str, agent: &Agent) -> Node {
        let mut root = Node::parse(text, false).unwrap();
        add(&mut root, agent, &Calling::anywhere("/usr/bin/belljar"), Scope::User).unwrap();
        root
    }

    #[test]
    fn what_was_added_is_removed_and_nothing_else() {
        for agent in [Agent::ClaudeCode, Agent::Codex, Agent::Gemini, Agent::Cursor] {
            let mut root = added(THEIRS, &agent);
            assert_eq!(installed(&root), events(&agent).len(), "{agent}");
            assert_eq!(remove(&mut root).unwrap(), events(&agent).len(), "{agent}");
            let left = root.print(THEIRS, false).unwrap();
            // An empty list of the user's own is the one thing that cannot be told from ours.
            assert!(left.contains("\"command\": \"lint\"") && left.contains("\"model\": \"opus\""), "{left}");
            assert_eq!(installed(&root), 0);
        }
    }

    #[test]
    fn adding_twice_is_adding_once_and_a_belljar_that_moved_is_replaced() {
        for agent in [Agent::ClaudeCode, Agent::Codex, Agent::Gemini, Agent::Cursor] {
            let once = added(THEIRS, &agent);
            let mut twice = once.clone();
            add(&mut twice, &agent, &Calling::anywhere("/usr/bin/belljar"), Scope::User).unwrap();
            assert_eq!(once, twice);
            add(&mut twice, &agent, &Calling::anywhere("/opt/my tools/belljar"), Scope::User).unwrap();
            assert_eq!(installed(&twice), events(&agent).len());
            assert!(!twice.print("", false).unwrap().contains("/usr/bin/belljar"));
        }
    }

    #[test]
    fn a_group_shared_with_others_stays_for_them() {
        let text = r#"{"hooks": {"Stop": [{"hooks": [
            {"type": "command", "command": "/x/belljar", "args": ["hook"]}, {"type": "command", "command": "bell"}]}]}}"#;
        let mut root = Node::parse(text, false).unwrap();
        assert_eq!(remove(&mut root).unwrap(), 1);
        let left =
            Node::from(json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bell"}]}]}}));
        assert_eq!(serde_json::to_value(&root).unwrap(), serde_json::to_value(&left).unwrap());
    }

    #[test]
    fn hooks_of_another_shape_are_not_touched() {
        for text in [r#"{"hooks": []}"#, r#"{"hooks": {"Stop": {}}}"#, r#"{"hooks": 7}"#] {
            let mut root = Node::parse(text, false).unwrap();
            assert!(
                add(&mut root, &Agent::ClaudeCode, &Calling::anywhere("/usr/bin/belljar"), Scope::User)
                    .is_err(),
                "{text}"
            );
        }
    }
}
