//! Sandboxes: what is asked for, and what they are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// How tight a sandbox is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Read-only root; workspace, home and `/tmp` are writable.
    Strict,
    /// The whole root is writable, copy-on-write.
    Permissive,
}

/// What network a sandbox sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Its own loopback and nothing else.
    None,
    /// Only listed hosts, through belljar's proxy.
    Allowlist,
    /// The host's network.
    Open,
}

/// Limits that differ from the server's defaults.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitsRequest {
    /// Memory, swap excluded.
    #[schema(minimum = 4_194_304, maximum = 1_099_511_627_776_u64)]
    pub memory_bytes: Option<u64>,
    /// Cores; more is throttled, never killed.
    #[schema(minimum = 0.01, maximum = 1000)]
    pub cpus: Option<f64>,
    /// Bytes it may write to its private disk.
    #[schema(minimum = 1_048_576, maximum = 17_592_186_044_416_u64)]
    pub disk_bytes: Option<u64>,
    /// Files and directories it may create there.
    #[schema(minimum = 64, maximum = 4_294_967_295_u64)]
    pub inodes: Option<u64>,
    /// Processes and threads at one time.
    #[schema(minimum = 4, maximum = 4_194_304)]
    pub pids: Option<u32>,
    /// Open files per process.
    #[schema(minimum = 16, maximum = 1_048_576)]
    pub open_files: Option<u64>,
}

/// Whether the sandbox may write to the host through a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum MountMode {
    /// Look, do not touch.
    Ro,
    /// Writes go straight to the host.
    Rw,
}

/// A path of the server's host, lent to a sandbox.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Mount {
    /// What is lent.
    #[schema(max_length = 4096)]
    pub host: String,
    /// Where it appears.
    #[schema(max_length = 4096)]
    pub sandbox: String,
    /// What the sandbox may do with it.
    pub mode: MountMode,
}

/// A sandbox to be made. What is left out comes from the server's configuration.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"template": "host", "ttl_seconds": 600, "labels": {"task": "demo"}}))]
pub struct CreateSandbox {
    /// Its name for people.
    #[schema(min_length = 1, max_length = 128)]
    pub name: Option<String>,
    /// What it starts from: `host`, an imported name, or a snapshot `snp_…`.
    #[schema(max_length = 4096)]
    pub template: Option<String>,
    /// A directory of the server's host, shown copy-on-write at its own path.
    #[schema(max_length = 4096)]
    pub workspace: Option<String>,
    /// How tight it is.
    pub profile: Option<Profile>,
    /// What network it sees.
    pub network: Option<Network>,
    /// Limits that differ.
    #[serde(default)]
    pub limits: LimitsRequest,
    /// How long it may live.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub ttl_seconds: Option<u64>,
    /// How long it may live without a command.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub idle_seconds: Option<u64>,
    /// How long a command may take unless it says otherwise.
    #[schema(minimum = 1, maximum = 604_800)]
    pub exec_timeout_seconds: Option<u64>,
    /// Paths of the server's host to lend.
    #[schema(max_items = 64)]
    #[serde(default)]
    pub mounts: Vec<Mount>,
    /// Environment of every command.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The agent it belongs to.
    #[schema(min_length = 1, max_length = 128)]
    pub agent: Option<String>,
    /// Tags to find it by; their names have neither `=` nor `,`.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Anything else to be kept with it.
    #[schema(value_type = Object)]
    pub metadata: Option<serde_json::Map<String, Value>>,
    /// Puts the hooks of agents into it, for whoever listens there, as `belljar run --observe` does. For `host` alone.
    #[serde(default)]
    pub observe: bool,
}

/// What to change about a sandbox.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"labels": {"task": "other", "old": null}}))]
pub struct PatchSandbox {
    /// Tags to set; null takes one away.
    #[serde(default)]
    pub labels: BTreeMap<String, Option<String>>,
    /// Replaces what is kept with it.
    #[schema(value_type = Object)]
    pub metadata: Option<serde_json::Map<String, Value>>,
}

/// More time for a sandbox.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"ttl_seconds": 600}))]
pub struct ExtendRequest {
    /// How long it may live from now.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub ttl_seconds: u64,
}

/// The coarse state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum SandboxStatus {
    /// Not ready yet.
    Creating,
    /// Ready.
    Running,
    /// Frozen.
    Paused,
    /// Over, however it ended.
    Terminated,
}

/// The exact state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SandboxState {
    /// Being built.
    Creating,
    /// Ready for commands.
    Running,
    /// Frozen; nothing in it runs.
    Paused,
    /// Being ended.
    Stopping,
    /// Ended; its changes can still be read.
    Stopped,
    /// Nothing of it is left.
    Destroyed,
    /// It broke.
    Failed,
}

/// How well one promise is kept on this host.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Level {
    /// Which promise.
    pub promise: String,
    /// Whether it holds.
    pub enforced: bool,
    /// By what, or why not.
    pub by: String,
}

/// What a sandbox may use.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Limits {
    /// Memory, swap excluded.
    pub memory_bytes: u64,
    /// Cores.
    pub cpus: f64,
    /// Bytes on its private disk.
    pub disk_bytes: u64,
    /// Files and directories there.
    pub inodes: u64,
    /// Processes and threads at one time.
    pub pids: u32,
    /// Open files per process.
    pub open_files: u64,
}

/// A sandbox.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Sandbox {
    /// Its identity.
    #[schema(pattern = "^sbx_[0-9a-f]{32}$")]
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The coarse state.
    pub status: SandboxStatus,
    /// The exact state.
    pub state: SandboxState,
    /// Whose it is.
    pub project_id: String,
    /// Who made it.
    pub provider: String,
    /// What the provider calls it.
    pub provider_ref: String,
    /// The same, for programs written for E2B.
    pub e2b_sandbox_id: String,
    /// What it was made from.
    pub template: String,
    /// What stands between it and the host.
    pub isolation: String,
    /// How tight it is.
    pub profile: Profile,
    /// What network it sees.
    pub network: Network,
    /// The directory of the server's host it sees copy-on-write.
    pub workspace: Option<String>,
    /// The agent it belongs to.
    pub agent: Option<String>,
    /// Tags.
    pub labels: BTreeMap<String, String>,
    /// What is kept with it.
    #[schema(value_type = Object, nullable)]
    pub metadata: Value,
    /// What it may use.
    pub limits: Limits,
    /// How long it may live in all.
    pub ttl_seconds: u64,
    /// How long it may live without a command.
    pub idle_seconds: u64,
    /// How long a command may take unless it says otherwise.
    pub exec_timeout_seconds: u64,
    /// Which promises hold, and by what.
    pub levels: Vec<Level>,
    /// When it was made.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When something was last done with it.
    #[schema(format = DateTime)]
    pub last_activity: String,
    /// When its time is over.
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// When it ended.
    #[schema(format = DateTime)]
    pub ended_at: Option<String>,
    /// Why it was ended, if it was.
    pub cause: Option<String>,
}

/// A port something in a sandbox listens on.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Port {
    /// Its number.
    pub port: u16,
    /// The address it is bound to.
    pub address: String,
    /// Where a browser on this machine sees it.
    pub url: String,
}
