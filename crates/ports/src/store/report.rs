//! What a store says about itself and sums up: integrity, statistics, summaries of agents, health.

use std::{collections::BTreeMap, time::Duration};

use belljar_domain::{Digest, Timestamp};
use serde::{Deserialize, Serialize};

/// The end of the ledger. Noted elsewhere, it proves later that nothing up to it was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The place of the last event; 0 when there is none.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

/// What verifying the ledger found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Events whose hash was computed again.
    pub events: u64,
    /// Events that retention removed, vouched for by checkpoints.
    pub pruned: u64,
    /// The end of the ledger.
    pub head: Head,
    /// Whether the key was at hand. Without it only the hashes are checked, and whoever can rewrite the whole
    /// database can make those fit.
    pub keyed: bool,
    /// The first thing that is wrong.
    pub finding: Option<Finding>,
}

/// A place where the ledger was tampered with or damaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The place.
    pub seq: u64,
    /// What is wrong there.
    pub what: Tampering,
}

/// What can be wrong with the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "tampering")]
pub enum Tampering {
    /// A column of the event does not match its hash.
    Changed,
    /// Events from this place up to `last` are gone.
    Dropped {
        /// The last that is gone.
        last: u64,
    },
    /// The event is whole and at another place than it was written.
    Reordered,
    /// The event was never appended here: it is beyond the head, or does not follow what is before it.
    Inserted,
    /// Events from this place to the end are gone.
    MissingTail {
        /// The last the ledger had.
        last: u64,
    },
    /// The checkpoint that stands for removed events was not made by this ledger.
    ForgedCheckpoint,
    /// The head was not made by this ledger.
    ForgedHead,
    /// The ledger does not contain the head that was noted elsewhere.
    Replaced,
}

/// What is in a store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stats {
    /// Events in the ledger.
    pub events: u64,
    /// Bytes of the database.
    pub bytes: u64,
    /// Bytes of artifacts.
    pub artifact_bytes: u64,
    /// Events by kind.
    pub by_kind: BTreeMap<String, u64>,
    /// Events by type of operation.
    pub by_operation: BTreeMap<String, u64>,
    /// Events by how they ended.
    pub by_status: BTreeMap<String, u64>,
    /// Events by how they were judged.
    pub by_decision: BTreeMap<String, u64>,
    /// Events by agent, those with the most events alone when there are very many.
    pub by_agent: BTreeMap<String, u64>,
    /// Events by the role of the agent.
    pub by_role: BTreeMap<String, u64>,
    /// When the oldest event was taken.
    pub oldest: Option<Timestamp>,
    /// When the newest event was taken.
    pub newest: Option<Timestamp>,
}

/// What one agent did in a stretch of time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentSummary {
    /// Which agent.
    pub agent: String,
    /// Events in all.
    pub events: u64,
    /// By type of operation.
    pub by_operation: BTreeMap<String, u64>,
    /// By how they ended.
    pub by_status: BTreeMap<String, u64>,
    /// Operations that say how long they took.
    pub timed: u64,
    /// How long those took together.
    pub duration_ms: u64,
    /// The longest of them.
    pub longest_ms: u64,
    /// Events with an error.
    pub errors: u64,
    /// What they cost, in millionths of a dollar.
    pub cost_micros: u64,
    /// Tokens used.
    pub tokens: u64,
    /// Sandboxes it had.
    pub sandboxes: u64,
    /// Processor use on average, in thousandths of one core.
    pub cpu_milli: Option<u64>,
    /// Memory on average.
    pub memory_bytes: Option<u64>,
    /// The most memory any of its sandboxes had.
    pub memory_max_bytes: Option<u64>,
}

/// What retention removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pruned {
    /// Events.
    pub events: u64,
    /// Pieces of logs.
    pub logs: u64,
    /// Measurements, summed up or past their time.
    pub samples: u64,
    /// Artifacts nothing pointed to.
    pub artifacts: u64,
    /// Idempotency keys and deliveries past their time.
    pub others: u64,
    /// Bytes of the database in use afterwards.
    pub bytes: u64,
}

/// How the writer is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreHealth {
    /// Batches that wait.
    pub queued: u64,
    /// Bytes that wait.
    pub queued_bytes: u64,
    /// How long the oldest of them has waited.
    pub lag: Duration,
    /// Commits so far.
    pub commits: u64,
    /// Commits that failed.
    pub failures: u64,
    /// How long the last commit took, to the disk.
    pub last_commit: Duration,
    /// Events in the ledger that are durable.
    pub last_seq: u64,
    /// Pieces of logs that are not searchable yet.
    pub unindexed: u64,
}
