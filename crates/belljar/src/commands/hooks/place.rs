//! Where each agent reads its settings.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use belljar_capture::Agent;

/// For whom hooks are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    User,
    Project,
    Local,
    Managed,
}

impl Scope {
    pub(super) const ALL: [Self; 4] = [Self::User, Self::Project, Self::Local, Self::Managed];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Managed => "managed",
        }
    }
}

/// The directories settings are below.
#[derive(Debug, Clone)]
pub(super) struct Places {
    env: BTreeMap<String, String>,
    project: PathBuf,
    /// What stands before `/etc`.
    root: PathBuf,
}

impl Places {
    pub(super) fn new(env: &BTreeMap<String, String>, root: Option<PathBuf>) -> Result<Self> {
        let project = std::env::current_dir().context("find the current directory")?;
        Ok(Self { env: env.clone(), project, root: root.unwrap_or_else(|| PathBuf::from("/")) })
    }

    /// The file an agent reads for a scope.
    pub(super) fn file(&self, agent: &Agent, scope: Scope) -> Result<PathBuf> {
        let below_user = |name: &str| Ok::<_, anyhow::Error>(self.user()?.join(name));
        Ok(match (agent, scope) {
            (Agent::ClaudeCode, Scope::User) => {
                self.or("CLAUDE_CONFIG_DIR", ".claude")?.join("settings.json")
            }
            (Agent::ClaudeCode, Scope::Project) => self.project.join(".claude/settings.json"),
            (Agent::ClaudeCode, Scope::Local) => self.project.join(".claude/settings.local.json"),
            // A file of our own beside the administrator's.
            (Agent::ClaudeCode, Scope::Managed) => {
                self.root.join("etc/claude-code/managed-settings.d/50-belljar.json")
            }
            (Agent::Codex, Scope::User) => self.or("CODEX_HOME", ".codex")?.join("hooks.json"),
            (Agent::Codex, Scope::Project) => self.project.join(".codex/hooks.json"),
            (Agent::Gemini, Scope::User) => below_user(".gemini/settings.json")?,
            (Agent::Gemini, Scope::Project) => self.project.join(".gemini/settings.json"),
            (Agent::Gemini, Scope::Managed) => self.root.join("etc/gemini-cli/settings.json"),
            (Agent::Cursor, Scope::User) => below_user(".cursor/hooks.json")?,
            (Agent::Cursor, Scope::Project) => self.project.join(".cursor/hooks.json"),
            (Agent::Cursor, Scope::Managed) => self.root.join("etc/cursor/hooks.json"),
            (Agent::OpenCode, Scope::User) => {
                self.or("XDG_CONFIG_HOME", ".config")?.join("opencode/plugins/belljar.js")
            }
            (Agent::OpenCode, Scope::Project) => self.project.join(".opencode/plugins/belljar.js"),
            (Agent::Unknown(name), _) => {
                bail!("there is no agent `{name}`; it is one of claude-code codex gemini cursor opencode")
            }
            (agent, scope) => bail!("{agent} has no {} settings that belljar can write", scope.as_str()),
        })
    }

    /// The agents that were used on this machine; Claude Code if none was.
    pub(super) fn found(&self) -> Vec<Agent> {
        let is_there = |agent: &Agent| {
            let file = self.file(agent, Scope::User).ok();
            let dir = match agent {
                Agent::OpenCode => file.as_deref().and_then(|file| file.parent()?.parent()),
                _ => file.as_deref().and_then(|file| file.parent()),
            };
            dir.is_some_and(Path::is_dir)
        };
        let found: Vec<Agent> = Agent::KNOWN.into_iter().filter(is_there).collect();
        if found.is_empty() { vec![Agent::ClaudeCode] } else { found }
    }

    fn user(&self) -> Result<PathBuf> {
        let home = self.env.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        home.context("HOME is not set, so the agent's settings cannot be found")
    }

    fn or(&self, variable: &str, name: &str) -> Result<PathBuf> {
        let set = self.env.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        set.map_or_else(|| Ok(self.user()?.join(name)), Ok)
    }
}
