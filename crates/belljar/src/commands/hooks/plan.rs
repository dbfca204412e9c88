//! What installing or uninstalling would do to one file: its text before and after, decided before anything is written.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use belljar_capture::Agent;
use serde_json::{Value, json};
use similar::TextDiff;

use super::{
    backup::Backup,
    document::Node,
    edit,
    place::{Places, Scope},
    plugin,
    registration::{Calling, events},
};

/// The change of one file; no text is no file.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) agent: Agent,
    pub(super) scope: Scope,
    pub(super) path: PathBuf,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) state: &'static str,
    /// How many hooks are installed afterwards, or are taken out.
    pub(super) hooks: usize,
}

impl Plan {
    pub(super) fn install(places: &Places, agent: &Agent, scope: Scope, calling: &Calling) -> Result<Self> {
        let path = places.file(agent, scope)?;
        let wrong = || format!("`{}`", path.display());
        let before = read(&path)?;
        if *agent == Agent::Codex {
            only_one(&path)?;
        }
        let after = wanted(agent, scope, calling, before.as_deref()).with_context(wrong)?;
        let state = match &before {
            Some(before) if *before == after => "unchanged",
            Some(before) if has_ours(agent, before) => "updated",
            Some(_) | None => "installed",
        };
        let hooks = events(agent).len();
        Ok(Self { agent: agent.clone(), scope, path, before, after: Some(after), state, hooks })
    }

    pub(super) fn uninstall(
        places: &Places,
        agent: &Agent,
        scope: Scope,
        calling: &Calling,
        home: &Path,
    ) -> Result<Self> {
        let path = places.file(agent, scope)?;
        let wrong = || format!("`{}`", path.display());
        let before = read(&path)?;
        let backup = Backup::of(home, &path).read()?;
        let (after, hooks) = match before.as_deref() {
            None => (None, 0),
            Some(text) if *agent == Agent::OpenCode => match plugin::is_ours(text) {
                true => (None, events(agent).len()),
                false => (before.clone(), 0),
            },
            Some(text) => without(agent, scope, calling, text, backup.as_deref()).with_context(wrong)?,
        };
        let state = if hooks > 0 { "removed" } else { "absent" };
        Ok(Self { agent: agent.clone(), scope, path, before, after, state, hooks })
    }

    pub(super) fn changes(&self) -> bool {
        self.before != self.after
    }

    /// The change as a patch.
    pub(super) fn diff(&self) -> String {
        let name = |text: &Option<String>| match text {
            Some(_) => self.path.display().to_string(),
            None => "/dev/null".to_owned(),
        };
        let (before, after) = (self.before.as_deref().unwrap_or(""), self.after.as_deref().unwrap_or(""));
        let diff = TextDiff::from_lines(before, after);
        diff.unified_diff().header(&name(&self.before), &name(&self.after)).to_string()
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "agent": self.agent, "scope": self.scope.as_str(), "path": self.path, "state": self.state,
            "hooks": self.hooks,
        })
    }
}

/// Whether an agent reads settings with comments in them; others would go by none of them.
fn reads_comments(agent: &Agent) -> bool {
    *agent == Agent::Gemini
}

/// The text of a file with our hooks in it.
fn wanted(agent: &Agent, scope: Scope, calling: &Calling, before: Option<&str>) -> Result<String> {
    if *agent == Agent::OpenCode {
        plugin::check(before)?;
        return Ok(plugin::text(calling));
    }
    let text = before.unwrap_or("");
    let there = Node::parse(text, reads_comments(agent))?;
    let mut root = there.clone();
    edit::add(&mut root, agent, calling, scope)?;
    // What says the same already keeps its look.
    if root == there { Ok(text.to_owned()) } else { root.print(text, reads_comments(agent)) }
}

/// The text of a file without our hooks, and how many there were: as it was before we came, if nobody else changed it.
fn without(
    agent: &Agent,
    scope: Scope,
    calling: &Calling,
    text: &str,
    backup: Option<&str>,
) -> Result<(Option<String>, usize)> {
    let there = Node::parse(text, reads_comments(agent))?;
    let mut root = there.clone();
    let hooks = edit::remove(&mut root)?;
    if hooks == 0 {
        return Ok((Some(text.to_owned()), 0));
    }
    if let Some(backup) = backup {
        let was = Node::parse(backup, reads_comments(agent))?;
        let mut installed = was.clone();
        let is_ours_alone = edit::add(&mut installed, agent, calling, scope).is_ok() && installed == there;
        if was == root || is_ours_alone {
            return Ok((Some(backup.to_owned()), hooks));
        }
    }
    let made_by_us = [Node::Object(Vec::new()), Node::from(json!({"version": 1}))];
    if backup.is_none() && made_by_us.contains(&root) {
        return Ok((None, hooks));
    }
    Ok((Some(root.print(text, reads_comments(agent))?), hooks))
}

pub(super) fn has_ours(agent: &Agent, text: &str) -> bool {
    match agent {
        Agent::OpenCode => plugin::is_ours(text),
        _ => Node::parse(text, true).is_ok_and(|root| edit::installed(&root) > 0),
    }
}

pub(super) fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("read `{}`", path.display())),
    }
}

/// Codex reads hooks from one of two files; with both it would read neither as meant.
fn only_one(path: &Path) -> Result<()> {
    let config = path.with_file_name("config.toml");
    let text = read(&config)?.unwrap_or_default();
    if text
        .lines()
        .any(|line| line.trim_start().starts_with("[hooks") || line.trim_start().starts_with("[[hooks"))
    {
        bail!(
            "`{}` has hooks already, and Codex reads one place only; move them to hooks.json first",
            config.display()
        );
    }
    Ok(())
}
