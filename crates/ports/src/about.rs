//! What is known about sandboxes, snapshots and templates.

use std::{path::PathBuf, time::SystemTime};

use belljar_domain::{ExitReport, Isolation, KillCause, SandboxId, SandboxSpec, SandboxState, SnapshotId};
use serde::{Deserialize, Serialize};

/// How well one promise is kept on this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// Which promise: `memory`, `disk`, `filesystem` …
    pub promise: String,
    /// Whether it holds.
    pub enforced: bool,
    /// By what, or why not.
    pub by: String,
}

/// What is known about a sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SandboxInfo {
    /// Its identity.
    pub id: SandboxId,
    /// Its name for people: `sandbox_<agent>_<id>`.
    pub name: String,
    /// Where it is in its life.
    pub state: SandboxState,
    /// Which provider made it.
    pub provider: String,
    /// What stands between it and the host.
    pub isolation: Isolation,
    /// What was asked for.
    pub spec: SandboxSpec,
    /// When it was made.
    pub created: SystemTime,
    /// When it ended, if it has.
    pub ended: Option<SystemTime>,
    /// What killed it, if something did.
    pub cause: Option<KillCause>,
    /// The command it was made for, if any.
    pub command: Vec<String>,
    /// How that command ended.
    pub report: Option<ExitReport>,
    /// Which promises hold, and by what.
    pub levels: Vec<Level>,
    /// Its directory on the host.
    pub dir: PathBuf,
}

/// What is known about a snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotInfo {
    /// Its identity.
    pub id: SnapshotId,
    /// A name for people.
    pub name: Option<String>,
    /// Which sandbox it was taken of.
    pub of: SandboxId,
    /// When.
    pub created: SystemTime,
    /// Bytes on disk.
    pub bytes: u64,
}

/// What is known about a template with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateInfo {
    /// Its name.
    pub name: String,
    /// Where it came from.
    pub source: PathBuf,
    /// Bytes on disk; nothing for a directory that is used where it is.
    pub bytes: Option<u64>,
}
