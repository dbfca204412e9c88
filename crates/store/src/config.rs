//! How much a store keeps, and for how long.

use std::time::Duration;

const DAY: Duration = Duration::from_hours(24);
const MIB: u64 = 1024 * 1024;

/// The bounds of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreConfig {
    /// How long what belongs to the audit is kept, whatever room it takes.
    pub audit: Duration,
    /// How long other events, logs and artifacts are kept.
    pub events: Duration,
    /// How long measurements are kept one by one.
    pub samples: Duration,
    /// How long their summaries are kept.
    pub rollups: Duration,
    /// Bytes of the database beyond which more is removed than what is past its time.
    pub database_bytes: u64,
    /// Bytes kept of one stream of one execution.
    pub log_bytes: u64,
    /// Bytes of one artifact.
    pub artifact_bytes: u64,
    /// Bytes of all artifacts.
    pub artifacts_bytes: u64,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            audit: DAY * 90,
            events: DAY * 30,
            samples: DAY * 7,
            rollups: DAY * 90,
            database_bytes: 1000 * MIB,
            log_bytes: 10 * MIB,
            artifact_bytes: 256 * MIB,
            artifacts_bytes: 10 * 1024 * MIB,
        }
    }
}
