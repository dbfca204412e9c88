//! Why a store could not do what it was asked.

use std::{error::Error as StdError, path::PathBuf};

use belljar_domain::{ApprovalId, EventId, EventTooLarge};

/// Why a store operation failed. A batch that failed left nothing behind.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process writes to it.
    #[error("the store at {} is in use by {}", at.display(), holder(*.by))]
    Locked {
        /// Where it is.
        at: PathBuf,
        /// The other process, if it said who it is.
        by: Option<u32>,
    },
    /// It was written by a newer belljar.
    #[error("the store has schema {found}, this belljar knows {known}; use a newer belljar, or another home")]
    Newer {
        /// The schema found.
        found: u32,
        /// The newest schema known.
        known: u32,
    },
    /// The ledger's key is not the one that sealed it.
    #[error("the ledger's key {} is missing, damaged or not the one that sealed the ledger; restore both together", .0.display())]
    Key(PathBuf),
    /// It was opened for reading.
    #[error("the store is open for reading only")]
    ReadOnly,
    /// It is closed, or its writer ended.
    #[error("the store is closed")]
    Closed,
    /// An event does not fit.
    #[error(transparent)]
    Event(#[from] EventTooLarge),
    /// Something else does not fit.
    #[error("{what}: {found} is more than the {limit} allowed")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// How much there was.
        found: u64,
        /// How much may be.
        limit: u64,
    },
    /// An event with this id is in the ledger already.
    #[error("event {0} is in the ledger already")]
    Duplicate(EventId),
    /// An idempotency key was used for another request.
    #[error("the idempotency key `{0}` was used for a different request")]
    KeyReused(String),
    /// An idempotency key is claimed already, by the same request.
    #[error("the idempotency key `{0}` is claimed already")]
    KeyTaken(String),
    /// An approval stands elsewhere by now, or another one waits for the same call.
    #[error("the approval {0} has changed meanwhile")]
    Stale(ApprovalId),
    /// There is no such thing.
    #[error("there is no {0}")]
    Unknown(String),
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// Something that was told, or kept before, cannot be kept or read; trying again would not help.
    #[error("could not {doing}, and never can")]
    Unfit {
        /// The step under way, as a verb phrase.
        doing: &'static str,
        /// What about it.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The database or the disk failed.
    #[error("could not {doing}")]
    Backend {
        /// The step under way, as a verb phrase.
        doing: &'static str,
        /// What it said.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl StoreError {
    /// Wraps a failure of a step.
    pub fn backend(doing: &'static str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Backend { doing, source: source.into() }
    }
}

fn holder(by: Option<u32>) -> String {
    by.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}
