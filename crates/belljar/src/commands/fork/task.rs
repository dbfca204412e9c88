//! Task files: a run written down, to be asked for again by anybody.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use super::table::SandboxTable;

/// `belljar.task.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TaskFile {
    /// What the task is called.
    pub(super) name: Option<String>,
    prompt: Option<String>,
    prompt_file: Option<String>,
    pub(super) command: Option<Line>,
    pub(super) attempts: Option<usize>,
    pub(super) max_forks: Option<usize>,
    pub(super) agents: Vec<Agent>,
    pub(super) vary: Variation,
    pub(super) setup: Option<String>,
    pub(super) build: Option<String>,
    pub(super) check: Option<String>,
    pub(super) lint: Option<String>,
    pub(super) judge: Option<String>,
    pub(super) timeout: Option<String>,
    pub(super) check_timeout: Option<String>,
    pub(super) jobs: Option<usize>,
    pub(super) keep: bool,
    pub(super) observe: Option<bool>,
    pub(super) budget_usd: Option<f64>,
    pub(super) artifacts: Vec<String>,
    pub(super) protected: Vec<String>,
    pub(super) subjects: Vec<String>,
    pub(super) weights: BTreeMap<String, f64>,
    pub(super) waive: Vec<String>,
    pub(super) webhook: Option<String>,
    pub(super) sandbox: SandboxTable,
}

/// The file of `--agents`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AgentFile {
    pub(super) agents: Vec<Agent>,
    pub(super) vary: Variation,
}

/// Who makes an attempt.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Agent {
    pub(super) name: Option<String>,
    pub(super) command: Option<Line>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
}

/// What differs from attempt to attempt.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Variation {
    pub(super) models: Vec<String>,
    pub(super) hints: Vec<String>,
}

impl Variation {
    pub(super) const fn is_empty(&self) -> bool {
        self.models.is_empty() && self.hints.is_empty()
    }
}

/// A command: words, or a line for the shell.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    Words(Vec<String>),
    Shell(String),
}

impl Line {
    pub(super) fn argv(self) -> Vec<String> {
        match self {
            Self::Words(words) => words,
            Self::Shell(line) => vec!["sh".to_owned(), "-c".to_owned(), line],
        }
    }
}

impl TaskFile {
    pub(super) fn read(path: &Path) -> Result<Self> {
        parse(path)
    }

    /// The prompt it holds or names; a file it names lies beside it.
    pub(super) fn prompt(&self, own: Option<&Path>) -> Result<String> {
        match (&self.prompt, &self.prompt_file) {
            (Some(_), Some(_)) => {
                bail!("the task file has `prompt` and `prompt_file`; one of them is enough")
            }
            (Some(text), None) => Ok(text.clone()),
            (None, Some(name)) => {
                let path = own.and_then(Path::parent).unwrap_or(Path::new("")).join(name);
                fs::read_to_string(&path).with_context(|| format!("read the prompt `{}`", path.display()))
            }
            (None, None) => Ok(String::new()),
        }
    }
}

impl AgentFile {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file: Self = parse(path)?;
        if file.agents.is_empty() && file.vary.is_empty() {
            bail!("`{}` names no agents; write `[[agents]]` with a name and a command", path.display());
        }
        Ok(file)
    }
}

fn parse<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("read `{}`", path.display()))?;
    toml::from_str(&text).with_context(|| format!("understand `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_file_says_what_the_flags_can() {
        let task: TaskFile = toml::from_str(
            r#"
            name = "mend"
            prompt = "make it pass"
            command = "claude -p \"$TASK_PROMPT\""
            attempts = 5
            check = "cargo test"
            timeout = "15m"
            budget_usd = 2.5
            webhook = "https://example.org/done"
            [weights]
            tests = 60
            [[agents]]
            name = "codex"
            command = ["codex", "exec", "go"]
            "#,
        )
        .unwrap();
        assert_eq!(task.prompt(None).unwrap(), "make it pass");
        assert_eq!(task.agents[0].command.clone().unwrap().argv(), ["codex", "exec", "go"]);
        assert_eq!((task.attempts, task.weights["tests"]), (Some(5), 60.0));
    }

    #[test]
    fn what_is_misspelt_is_told() {
        let error = toml::from_str::<TaskFile>("chek = \"cargo test\"").unwrap_err().to_string();
        assert!(error.contains("chek") && error.contains("check"), "{error}");
    }
}
