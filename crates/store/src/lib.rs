//! Where belljar keeps what happened: the ledger, rows about what exists now, logs, measurements, artifacts.
//!
//! Owns: the store in SQLite, and what makes a ledger one whichever database holds it. Refuses: to know what the rows
//! mean, and to be written by two processes at once.
#![forbid(unsafe_code)]

mod artifacts;
mod config;
mod daybook;
mod export;
mod ledger;
mod queue;
mod sqlite;

pub use config::StoreConfig;
pub use sqlite::{SqliteLens, SqliteStore};
