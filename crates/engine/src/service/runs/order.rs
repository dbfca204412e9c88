//! What is asked of a run.

use std::collections::BTreeMap;

use belljar_domain::{HostPath, RunId, Span, Usd};
use belljar_quality::contest::Rules;
use serde::{Deserialize, Serialize};

use super::super::{CreateSandbox, Result, ServiceError, courier::checked};

/// The most attempts unless more are asked for by name, and the most at all.
pub const USUAL: usize = 10;
const MOST: usize = 100;
/// How many attempts work at one time unless asked otherwise.
pub(super) const ABREAST: usize = 10;
/// The most bytes of a prompt: what fits into one variable of an environment.
const PROMPT: usize = 128 * 1024 - 64;
/// The most bytes of a task's name and of a command of the judge.
const TASK: usize = 256;
const COMMAND: usize = 64 * 1024;
const PATTERNS: usize = 64;

/// One task for several sandboxes.
#[derive(Debug, Clone, Default)]
pub struct NewRun {
    /// The identity it is to have, for whoever may have to ask again.
    pub id: Option<RunId>,
    /// What whoever asks calls the task; the run's own id when left out.
    pub task: Option<String>,
    /// What is to be done, for `TASK_PROMPT`.
    pub prompt: String,
    /// Who tries: one for each attempt.
    pub entrants: Vec<Entrant>,
    /// How many attempts there may be; [`USUAL`] when left out.
    pub max_forks: Option<usize>,
    /// What every sandbox of the run is like; its workspace is what is worked on.
    pub shape: CreateSandbox,
    /// By what the attempts are judged.
    pub trial: Trial,
    /// Files that are worked on whatever they are called, as patterns: tests, or scripts the check runs.
    pub subjects: Vec<String>,
    /// How long an attempt's command may take.
    pub timeout: Option<Span>,
    /// How many attempts work at one time.
    pub concurrency: Option<usize>,
    /// Whether nobody listens to the agents, so that nobody knows what they are at and what they cost.
    pub unobserved: bool,
    /// Whether the attempts' sandboxes stay.
    pub keep: bool,
    /// Whether the attempts' sandboxes go on living afterwards, so that people can look at what they serve.
    pub keep_alive: bool,
    /// A shell command that serves it, started in each of them then.
    pub preview: Option<String>,
    /// What all attempts together may cost.
    pub budget: Option<Usd>,
    /// Files to keep of each attempt, as patterns.
    pub artifacts: Vec<String>,
}

/// Who makes an attempt, and with what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entrant {
    /// Its name for people.
    #[serde(default)]
    pub name: Option<String>,
    /// The command.
    pub command: Vec<String>,
    /// What it has that others have not.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// By what attempts are judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// A shell command that makes the base ready for everybody, such as `npm ci`.
    #[serde(default)]
    pub setup: Option<String>,
    /// A shell command that builds.
    #[serde(default)]
    pub build: Option<String>,
    /// The shell command that must succeed.
    #[serde(default)]
    pub check: Option<String>,
    /// A shell command that complains about code.
    #[serde(default)]
    pub lint: Option<String>,
    /// A shell command that compares two attempts where the scores do not tell.
    #[serde(default)]
    pub judge: Option<String>,
    /// Who is told how it ended.
    #[serde(default)]
    pub webhook: Option<String>,
    /// How long each of them may take.
    pub patience: Span,
    /// Paths no attempt may touch, as patterns.
    #[serde(default)]
    pub protected: Vec<String>,
    /// Weights, and which gates hold.
    #[serde(default)]
    pub rules: Rules,
}

impl Default for Trial {
    fn default() -> Self {
        Self {
            setup: None,
            build: None,
            check: None,
            lint: None,
            judge: None,
            webhook: None,
            patience: Span::millis(300_000),
            protected: Vec::new(),
            rules: Rules::default(),
        }
    }
}

impl NewRun {
    /// Refuses what makes no sense, before anything is made.
    pub(super) fn check(&self) -> Result<&HostPath> {
        let invalid = |what: String| Err(ServiceError::Invalid(what));
        let most = self.max_forks.unwrap_or(USUAL);
        if most > MOST {
            return invalid(format!("a run has at most {MOST} attempts; {most} were allowed"));
        }
        if self.entrants.is_empty() || self.entrants.len() > most {
            return invalid(format!(
                "a run has 1 to {most} attempts, not {}; more than {USUAL} have to be allowed with max_forks",
                self.entrants.len()
            ));
        }
        if let Some(place) = self.entrants.iter().position(|entrant| entrant.command.is_empty()) {
            return invalid(format!("attempt {place} has no command"));
        }
        if self.prompt.len() > PROMPT {
            return invalid(format!(
                "the prompt has {} bytes, and an environment takes {PROMPT}; put it into a file of the workspace and say where",
                self.prompt.len()
            ));
        }
        if self.task.as_ref().is_some_and(|task| task.is_empty() || task.len() > TASK) {
            return invalid(format!("a task's name has 1 to {TASK} bytes"));
        }
        if self.concurrency == Some(0) {
            return invalid("at least one attempt has to work at a time".to_owned());
        }
        if self.preview.as_ref().is_some_and(|preview| preview.trim().is_empty() || preview.len() > COMMAND) {
            return invalid(format!("the preview's command is empty or has more than {COMMAND} bytes"));
        }
        self.trial.check().map_err(ServiceError::Invalid)?;
        if self.subjects.len() > PATTERNS {
            return invalid(format!("at most {PATTERNS} patterns of subjects"));
        }
        if self.artifacts.len() > PATTERNS {
            return invalid(format!("at most {PATTERNS} patterns of artifacts"));
        }
        self.shape.workspace.as_ref().ok_or_else(|| {
            ServiceError::Invalid("a run needs a workspace: the directory the attempts work on".to_owned())
        })
    }
}

impl Trial {
    fn check(&self) -> std::result::Result<(), String> {
        let commands = [&self.setup, &self.build, &self.check, &self.lint, &self.judge];
        if commands.into_iter().flatten().any(|command| command.trim().is_empty() || command.len() > COMMAND)
        {
            return Err(format!("a command of the run is empty or has more than {COMMAND} bytes"));
        }
        if let Some(url) = &self.webhook {
            checked(url).map_err(|error| format!("the webhook: {error}"))?;
        }
        if self.protected.len() > PATTERNS {
            return Err(format!("at most {PATTERNS} patterns of protected paths"));
        }
        self.rules.check()
    }
}
