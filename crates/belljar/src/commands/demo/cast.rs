//! Who plays, and what they are to do: one file of `cast/` each.
//!
//! Owns: the form of a script. Refuses: outcomes; what a command prints and what a guard says is never written here, it
//! happens.

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// The scripts, in the order their agents come on.
const SCRIPTS: [&str; 10] = [
    include_str!("cast/fern.toml"),
    include_str!("cast/sorrel.toml"),
    include_str!("cast/moss.toml"),
    include_str!("cast/larch.toml"),
    include_str!("cast/juniper.toml"),
    include_str!("cast/cedar.toml"),
    include_str!("cast/clover.toml"),
    include_str!("cast/alder.toml"),
    include_str!("cast/ivy.toml"),
    include_str!("cast/tansy.toml"),
];

/// One agent and what it is to do.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) vendor: Vendor,
    pub(super) model: String,
    /// What it is in the registry.
    pub(super) role: String,
    #[serde(default)]
    pub(super) place: Place,
    #[serde(rename = "turn")]
    pub(super) turns: Vec<Turn>,
}

/// The program an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Vendor {
    ClaudeCode,
    Codex,
    Gemini,
    Cursor,
}

/// Where it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Place {
    /// Sealed.
    #[default]
    Sandbox,
    /// As its user's own program, guarded by hooks alone.
    Host,
}

/// A prompt and what follows from it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Turn {
    pub(super) prompt: String,
    pub(super) steps: Vec<Step>,
}

/// One thing an agent does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Step {
    /// Says something to its user.
    Say(String),
    /// Runs a line in the shell.
    Run(String),
    /// Wants to run one that must be refused. Whatever is answered, it is never run.
    Perilous(String),
    /// Reads a file.
    Read(String),
    /// Looks for text.
    Search { pattern: String, path: String },
    /// Writes a file.
    Write { file: String, text: String },
    /// Changes a file.
    Edit { file: String, old: String, new: String },
    /// Has others work for it, at the same time.
    Agents(Vec<Helper>),
    /// Shortens what it remembers.
    Compact(String),
}

/// An agent that works for another.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Helper {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) task: String,
    pub(super) steps: Vec<Step>,
}

/// Everybody.
pub(super) fn everybody() -> Result<Vec<Part>> {
    SCRIPTS
        .iter()
        .map(|script| toml::from_str(script).context("read a script of the demonstration"))
        .collect()
}

/// One by name.
pub(super) fn part(name: &str) -> Result<Part> {
    let found = everybody()?.into_iter().find(|part| part.name == name);
    found.with_context(|| format!("nobody in the demonstration is called `{name}`"))
}

impl Vendor {
    /// The name hooks go by.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_script_can_be_read_and_has_a_name_of_its_own() {
        let all = everybody().unwrap();
        let names: BTreeSet<&str> = all.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names.len(), SCRIPTS.len());
        assert!(all.iter().all(|part| part.turns.iter().all(|turn| !turn.steps.is_empty())));
        assert!(part("nobody").is_err());
    }

    #[test]
    fn on_the_host_nothing_is_deleted_but_in_words() {
        let all = everybody().unwrap();
        let on_host = all.iter().filter(|part| part.place == Place::Host);
        for step in on_host.flat_map(|part| &part.turns).flat_map(|turn| &turn.steps) {
            if let Step::Run(line) = step {
                assert!(!line.contains("rm ") && !line.contains('>'), "{line}");
            }
            assert!(!matches!(step, Step::Write { .. } | Step::Edit { .. } | Step::Agents(_)), "{step:?}");
        }
    }
}
