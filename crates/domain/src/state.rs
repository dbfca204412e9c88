//! The life of a sandbox: `creating → running ⇄ paused → stopping → stopped → destroyed`; `failed` from any.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a sandbox is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxState {
    /// Being built.
    Creating,
    /// Ready for executions.
    Running,
    /// Frozen; nothing in it runs.
    Paused,
    /// Being ended.
    Stopping,
    /// Ended; its changes can still be read.
    Stopped,
    /// Nothing of it is left.
    Destroyed,
    /// It broke; the report says how.
    Failed,
}

/// The coarse state shown to those who do not care for the details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Not ready yet.
    Creating,
    /// Ready.
    Running,
    /// Frozen.
    Paused,
    /// Over, however it ended.
    Terminated,
}

/// A step the life of a sandbox does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sandbox that is {from} cannot become {to}")]
pub struct TransitionError {
    from: SandboxState,
    to: SandboxState,
}

impl SandboxState {
    /// Every state, in the order of life.
    pub const ALL: [Self; 7] = [
        Self::Creating,
        Self::Running,
        Self::Paused,
        Self::Stopping,
        Self::Stopped,
        Self::Destroyed,
        Self::Failed,
    ];

    /// Takes one step.
    ///
    /// # Errors
    /// When the step does not exist.
    pub fn to(self, next: Self) -> Result<Self, TransitionError> {
        use SandboxState::{Creating, Destroyed, Failed, Paused, Running, Stopped, Stopping};
        let allowed = match (self, next) {
            (Destroyed, _) => false,
            (Creating | Paused, Running)
            | (Running, Paused)
            | (Creating | Running | Paused | Failed, Stopping)
            | (Stopping, Stopped)
            | (Stopped | Failed, Destroyed)
            | (Creating | Running | Paused | Stopping | Stopped, Failed) => true,
            (_, Creating | Running | Paused | Stopping | Stopped | Destroyed | Failed) => false,
        };
        if allowed { Ok(next) } else { Err(TransitionError { from: self, to: next }) }
    }

    /// Says whether processes of the sandbox may exist.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Creating | Self::Running | Self::Paused | Self::Stopping)
    }

    /// Returns the coarse state.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::Creating => Status::Creating,
            Self::Running => Status::Running,
            Self::Paused => Status::Paused,
            Self::Stopping | Self::Stopped | Self::Destroyed | Self::Failed => Status::Terminated,
        }
    }
}

impl fmt::Display for SandboxState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Creating => "creating",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Destroyed => "destroyed",
            Self::Failed => "failed",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_comes_back_from_destroyed() {
        for next in SandboxState::ALL {
            assert!(SandboxState::Destroyed.to(next).is_err());
        }
    }

    #[test]
    fn every_live_state_can_fail_and_only_running_pauses() {
        for state in SandboxState::ALL {
            if state.is_live() {
                assert_eq!(state.to(SandboxState::Failed), Ok(SandboxState::Failed));
            }
            assert_eq!(state.to(SandboxState::Paused).is_ok(), state == SandboxState::Running);
        }
    }
}
