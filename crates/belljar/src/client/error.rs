//! Why a server could not be asked, or would not.

use std::io;

use serde::Deserialize;

/// Why a call to a server failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// The address is none.
    #[error("BELLJAR_URL `{0}` is no address; write http://HOST:PORT")]
    Address(String),
    /// It is not there, or went away.
    #[error("could not {doing} the server at {at}")]
    Lost {
        /// The step under way, as a verb.
        doing: &'static str,
        /// Where it is.
        at: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// What it says is not what belljar's server says.
    #[error("the server's answer makes no sense: {0}")]
    Nonsense(String),
    /// It says no.
    #[error("{}", .0.detail)]
    Refused(Box<Problem>),
}

/// What went wrong, as the server tells it.
#[derive(Debug, Deserialize)]
pub(crate) struct Problem {
    /// What exactly.
    pub(crate) detail: String,
    /// The code programs go by.
    pub(crate) code: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// What a shell would exit with, where a command could not be started.
    pub(crate) exit_code: Option<u8>,
    /// Where a person's answer will be, where one is asked first.
    pub(crate) approval: Option<String>,
    /// How much of its input a command took.
    pub(crate) taken: Option<usize>,
}

impl Problem {
    /// The same after a person said no.
    pub(super) fn answered(self, reason: &str) -> Self {
        let code = "PERMISSION_DENIED".to_owned();
        Self { detail: reason.to_owned(), code, hint: None, approval: None, ..self }
    }
}

impl ClientError {
    /// What a person can do about it, if anything is known.
    pub(crate) fn hint(&self) -> Option<&str> {
        match self {
            Self::Refused(problem) => problem.hint.as_deref(),
            Self::Lost { .. } => Some("is it running? `belljar serve` starts one"),
            Self::Address(_) | Self::Nonsense(_) => None,
        }
    }

    /// The server's word for it.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(problem) => Some(&problem.code),
            Self::Lost { .. } | Self::Address(_) | Self::Nonsense(_) => None,
        }
    }

    /// What to exit with, if the server says so.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        match self {
            Self::Refused(problem) => problem.exit_code,
            Self::Lost { .. } | Self::Address(_) | Self::Nonsense(_) => None,
        }
    }

    /// Says whether it may pass: the server is gone, or about to go.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Lost { .. }) || self.code() == Some("UNAVAILABLE")
    }

    /// Says whether there is no such thing.
    pub(crate) fn is_unknown(&self) -> bool {
        self.code().is_some_and(|code| code.ends_with("_NOT_FOUND"))
    }
}
