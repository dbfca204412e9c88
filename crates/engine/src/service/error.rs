//! Why a use case was refused or failed, with a code that never changes.

use belljar_domain::{ApprovalId, ExecutionId, SandboxId, Timestamp};
use belljar_ports::{SandboxError, store::StoreError};

/// Why a request was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// There is no such sandbox, or it is somebody else's.
    #[error("there is no sandbox {0}")]
    NoSandbox(SandboxId),
    /// There is no such execution, or it is somebody else's.
    #[error("there is no execution {0}")]
    NoExecution(ExecutionId),
    /// There is no such thing.
    #[error("there is no {0}")]
    NotFound(String),
    /// The sandbox is in no state for that.
    #[error("sandbox {id} is {state}; {hint}")]
    NotRunning {
        /// Which sandbox.
        id: SandboxId,
        /// What it is instead.
        state: String,
        /// What to do.
        hint: String,
    },
    /// The execution is over.
    #[error("execution {0} is over")]
    Over(ExecutionId),
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// The command could not be started.
    #[error("{what}")]
    Command {
        /// Why, and what to do.
        what: String,
        /// What a shell would exit with.
        exit_code: u8,
    },
    /// The command does not read what it was sent.
    #[error("the command does not read its input; it took {taken} of {all} bytes")]
    Unread {
        /// How much it has of it.
        taken: usize,
        /// How much it was sent.
        all: usize,
    },
    /// This host or provider cannot do it.
    #[error("{0}")]
    Unsupported(String),
    /// It would be more than is allowed, and waiting did not help.
    #[error("{0}")]
    Quota(String),
    /// It is not theirs to do.
    #[error("{0}")]
    Denied(String),
    /// The gate did not let it through.
    #[error("denied{}: {reason}", .rule.as_ref().map(|rule| format!(" by the rule `{rule}`")).unwrap_or_default())]
    Refused {
        /// Why, in words for the model and the user.
        reason: String,
        /// The rule that says so.
        rule: Option<String>,
    },
    /// A person is asked first.
    #[error("a person is asked first: {reason}; {id} waits until {expires}")]
    ApprovalRequired {
        /// Where the answer will be.
        id: ApprovalId,
        /// Why they are asked.
        reason: String,
        /// When no answer becomes a no.
        expires: Timestamp,
    },
    /// It cannot be paid for.
    #[error("{reason}")]
    Budget {
        /// The budget that has no room.
        budget: String,
        /// Why, in words for the model and the user.
        reason: String,
        /// Seconds until it begins anew, or somebody may have raised it.
        retry_after: u64,
    },
    /// Something is in its way.
    #[error("{0}")]
    Conflict(String),
    /// It is larger than allowed.
    #[error("{0}")]
    TooLarge(String),
    /// The records are behind the ledger.
    #[error("the index is still being made, {0} events to go; try again in a moment")]
    Behind(u64),
    /// The server is shutting down.
    #[error("the server is shutting down; try again in a moment")]
    Closing,
    /// The store failed.
    #[error("could not keep a record")]
    Store(#[source] StoreError),
    /// The provider failed.
    #[error("{what}")]
    Provider {
        /// What was being done, and what to do.
        what: String,
        /// Why it failed.
        #[source]
        source: SandboxError,
    },
}

impl ServiceError {
    /// Sorts out what the kernel said about a path or port of the sandbox.
    fn of_file(what: &str, errno: i32) -> Self {
        use std::io::ErrorKind;
        let error = std::io::Error::from_raw_os_error(errno);
        let said = format!("`{what}`: {error}");
        match error.kind() {
            ErrorKind::NotFound => Self::NotFound(format!("`{what}` in the sandbox")),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Self::Denied(said),
            ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty | ErrorKind::ResourceBusy => {
                Self::Conflict(said)
            }
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::TooLarge(said)
            }
            ErrorKind::ConnectionRefused => Self::Conflict(format!("nothing listens on port {what}")),
            _ => Self::Invalid(said),
        }
    }

    /// The code programs go by.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoSandbox(_) => "SANDBOX_NOT_FOUND",
            Self::NoExecution(_) => "EXECUTION_NOT_FOUND",
            Self::NotFound(_) => "NOT_FOUND",
            Self::NotRunning { .. } => "SANDBOX_NOT_RUNNING",
            Self::Over(_) => "EXECUTION_OVER",
            Self::Invalid(_) => "INVALID_REQUEST",
            Self::Command { .. } => "EXECUTION_ERROR",
            Self::Unsupported(_) => "UNSUPPORTED",
            Self::Quota(_) => "QUOTA_EXCEEDED",
            Self::Budget { .. } => "BUDGET_EXCEEDED",
            Self::Denied(_) | Self::Refused { .. } => "PERMISSION_DENIED",
            Self::ApprovalRequired { .. } => "APPROVAL_REQUIRED",
            Self::Conflict(_) | Self::Unread { .. } => "CONFLICT",
            Self::TooLarge(_) => "TOO_LARGE",
            Self::Behind(_) => "NOT_READY",
            Self::Closing => "UNAVAILABLE",
            Self::Store(_) => "STORE_ERROR",
            Self::Provider { .. } => "SANDBOX_ERROR",
        }
    }
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Closed => Self::Closing,
            StoreError::Invalid(what) => Self::Invalid(what),
            error @ (StoreError::TooLarge { .. } | StoreError::Event(_)) => Self::TooLarge(error.to_string()),
            StoreError::Unknown(what) => Self::NotFound(what),
            error @ (StoreError::KeyReused(_)
            | StoreError::KeyTaken(_)
            | StoreError::Duplicate(_)
            | StoreError::Stale(_)) => Self::Conflict(error.to_string()),
            error => Self::Store(error),
        }
    }
}

impl From<SandboxError> for ServiceError {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::Unknown(id) => Self::NoSandbox(id),
            SandboxError::Over(id) => Self::NotRunning {
                id,
                state: "over".to_owned(),
                hint: "make a new one with POST /api/v1/sandboxes".to_owned(),
            },
            SandboxError::State { id, state, hint } => {
                Self::NotRunning { id, state: state.to_string(), hint: hint.to_owned() }
            }
            SandboxError::Unsupported { what, hint } => Self::Unsupported(format!("{what}; {hint}")),
            error @ SandboxError::InUse { .. } => Self::Conflict(error.to_string()),
            SandboxError::Invalid(what) => Self::Invalid(what),
            SandboxError::File { what, errno } => Self::of_file(&what, errno),
            SandboxError::Command { what, hint, exit_code } => {
                Self::Command { what: with_hint(what, hint.as_deref()), exit_code }
            }
            error @ SandboxError::Provider { .. } => {
                Self::Provider { what: with_hint(error.to_string(), error.hint()), source: error }
            }
        }
    }
}

fn with_hint(what: String, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{what}; {hint}"),
        None => what,
    }
}
