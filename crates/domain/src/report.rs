//! How an execution ended, and why it was killed if it was.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Span, Usage};

/// Exit code of `belljar run` when the clock ended the command.
pub const EXIT_TIMEOUT: u8 = 124;
/// Exit code of `belljar run` when belljar itself failed.
pub const EXIT_BELLJAR_FAILED: u8 = 125;
/// Exit code of `belljar run` when the guardian denied the command.
pub const EXIT_DENIED: u8 = 126;
/// Exit code of `belljar run` when a limit or a person killed the command.
pub const EXIT_KILLED: u8 = 137;

/// What made belljar or the kernel end a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KillCause {
    /// The memory limit; the kernel killed.
    Oom,
    /// The disk or inode limit.
    Disk,
    /// The process limit.
    Pids,
    /// The execution's own clock.
    Timeout,
    /// Nothing ran for too long.
    Idle,
    /// The sandbox's life was over.
    Ttl,
    /// A person or a rule said stop.
    Killswitch,
}

impl KillCause {
    /// Returns the process exit code that tells a script this cause.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Timeout | Self::Ttl => EXIT_TIMEOUT,
            Self::Oom | Self::Disk | Self::Pids | Self::Idle | Self::Killswitch => EXIT_KILLED,
        }
    }
}

impl fmt::Display for KillCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Oom => "oom",
            Self::Disk => "disk",
            Self::Pids => "pids",
            Self::Timeout => "timeout",
            Self::Idle => "idle",
            Self::Ttl => "ttl",
            Self::Killswitch => "killswitch",
        })
    }
}

/// How the process itself ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It called `exit`.
    Code(u8),
    /// A signal ended it.
    Signal(u8),
}

/// Everything known about an execution once it is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExitReport {
    /// How the process ended.
    pub outcome: Outcome,
    /// Why it was killed, if belljar or a limit did it.
    pub cause: Option<KillCause>,
    /// Limits that were reached without killing, such as refused forks or a full disk.
    pub reached: Vec<KillCause>,
    /// Wall time.
    pub duration: Span,
    /// What the sandbox had used by then.
    pub usage: Usage,
}

impl ExitReport {
    /// Returns the exit code for scripts: the command's own, or one that names the cause.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match (self.cause, self.outcome) {
            (Some(cause), _) => cause.exit_code(),
            (None, Outcome::Code(code)) => code,
            (None, Outcome::Signal(signal)) => 128_u8.saturating_add(signal),
        }
    }

    /// Says whether the command did what it was asked to.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        self.exit_code() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcome: Outcome, cause: Option<KillCause>) -> ExitReport {
        ExitReport { outcome, cause, reached: Vec::new(), duration: Span::millis(1), usage: Usage::default() }
    }

    #[test]
    fn exit_codes_name_the_cause() {
        assert_eq!(report(Outcome::Code(3), None).exit_code(), 3);
        assert_eq!(report(Outcome::Signal(15), None).exit_code(), 143);
        assert_eq!(report(Outcome::Signal(9), Some(KillCause::Oom)).exit_code(), 137);
        assert_eq!(report(Outcome::Signal(9), Some(KillCause::Timeout)).exit_code(), 124);
        assert_eq!(report(Outcome::Code(0), Some(KillCause::Pids)).exit_code(), 137);
    }
}
