//! Why something about a sandbox failed.

use std::error::Error as StdError;

use belljar_domain::{SandboxId, SandboxState};

/// Why a sandbox operation failed.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// There is no such sandbox.
    #[error("there is no sandbox {0}; `belljar list --all` shows what there is")]
    Unknown(SandboxId),
    /// It is over.
    #[error("sandbox {0} is over")]
    Over(SandboxId),
    /// It is in the wrong state for this.
    #[error("sandbox {id} is {state}; {hint}")]
    State {
        /// Which.
        id: SandboxId,
        /// Its state.
        state: SandboxState,
        /// What to do.
        hint: &'static str,
    },
    /// The provider cannot do this here.
    #[error("{what}; {hint}")]
    Unsupported {
        /// What it cannot do.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// Something stands on it.
    #[error("{what} is in use by {}; discard that first", listed(.by))]
    InUse {
        /// What cannot go.
        what: String,
        /// The sandboxes and snapshots that stand on it.
        by: Vec<String>,
    },
    /// A path or a port inside could not be used.
    #[error("{what}: {}", std::io::Error::from_raw_os_error(*errno))]
    File {
        /// What it was.
        what: String,
        /// What the sandbox's kernel said.
        errno: i32,
    },
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// A command could not be started.
    #[error("{what}")]
    Command {
        /// What went wrong, whole.
        what: String,
        /// Whether the program was not found (127) or could not be run (126).
        exit_code: u8,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The provider failed.
    #[error("could not {doing}")]
    Provider {
        /// The step under way, as a verb phrase.
        doing: &'static str,
        /// What a person can do about it.
        hint: Option<String>,
        /// What it said.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl SandboxError {
    /// Wraps a failure of a step.
    pub fn provider(doing: &'static str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Provider { doing, hint: None, source: source.into() }
    }

    /// What a person can do about it, if anything is known.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Command { hint, .. } | Self::Provider { hint, .. } => hint.as_deref(),
            Self::Unknown(_)
            | Self::Over(_)
            | Self::State { .. }
            | Self::Unsupported { .. }
            | Self::InUse { .. }
            | Self::File { .. }
            | Self::Invalid(_) => None,
        }
    }
}

/// The first few, and how many more.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if let Some(more) = names.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
