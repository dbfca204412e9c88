//! What tools answer with.

use std::collections::BTreeMap;

use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Created {
    /// Whether it is ready and everything asked of its start went well.
    pub(super) success: bool,
    pub(super) sandbox_id: String,
    /// The id by which E2B's clients know it.
    pub(super) e2b_sandbox_id: String,
    pub(super) name: String,
    pub(super) template: String,
    pub(super) status: String,
    /// The names of the variables that were set.
    pub(super) env_vars_configured: Vec<String>,
    pub(super) packages_to_install: Vec<String>,
    /// How many seconds it may live.
    pub(super) timeout: u64,
    pub(super) metadata: Value,
    /// Where it is over HTTP, if it is served.
    pub(super) url: Option<String>,
    pub(super) created_at: String,
    /// What was run at the start, and how that went.
    pub(super) setup: Vec<Step>,
}

/// One command run on behalf of a tool.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Step {
    pub(super) command: String,
    pub(super) exit_code: u8,
    pub(super) output: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Executed {
    pub(super) execution_id: String,
    /// What it wrote to standard output.
    pub(super) output: String,
    /// What it wrote to standard error.
    pub(super) error: String,
    pub(super) exit_code: u8,
    /// completed, failed, timeout or killed.
    pub(super) status: String,
    /// What killed it, if something did.
    pub(super) cause: Option<String>,
    /// Seconds.
    pub(super) execution_time: f64,
    /// The most memory the sandbox ever used, in bytes.
    pub(super) memory_used: Option<u64>,
    /// Processor seconds the sandbox has used.
    pub(super) cpu_time: Option<f64>,
    /// Whether part of the output is left out.
    pub(super) truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Configured {
    /// Whether everything went well.
    pub(super) success: bool,
    pub(super) sandbox_id: String,
    /// The names of the variables that were set.
    pub(super) env_vars_configured: Vec<String>,
    /// What was run, and how that went.
    pub(super) setup: Vec<Step>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Sandbox {
    pub(super) sandbox_id: String,
    pub(super) name: String,
    pub(super) template: String,
    /// running, paused, stopped, failed or destroyed.
    pub(super) status: String,
    pub(super) created_at: String,
    pub(super) last_activity: String,
    pub(super) expires_at: Option<String>,
    pub(super) ended_at: Option<String>,
    /// Why it was ended, if it was.
    pub(super) cause: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) metadata: Value,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Status {
    #[serde(flatten)]
    pub(super) sandbox: Sandbox,
    pub(super) network: String,
    pub(super) isolation: String,
    /// Bytes now, and the most there may be.
    pub(super) memory_used: Option<u64>,
    pub(super) memory_limit: u64,
    /// Bytes on its disk, and the most there may be.
    pub(super) disk_used: Option<u64>,
    pub(super) disk_limit: u64,
    /// Processor seconds used so far.
    pub(super) cpu_time: Option<f64>,
    pub(super) processes: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listed {
    pub(super) sandboxes: Vec<Sandbox>,
    pub(super) count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Ended {
    pub(super) success: bool,
    pub(super) sandbox_id: String,
    pub(super) status: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Logged {
    pub(super) sandbox_id: String,
    /// Oldest first.
    pub(super) logs: Vec<String>,
    pub(super) count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Written {
    pub(super) success: bool,
    pub(super) sandbox_id: String,
    pub(super) path: String,
    /// Bytes.
    pub(super) size: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Read {
    pub(super) path: String,
    /// Text, or base64 where the bytes are no text.
    pub(super) content: String,
    /// text or base64.
    pub(super) encoding: String,
    /// Bytes of the whole file.
    pub(super) size: u64,
    /// Where to read on, if there is more.
    pub(super) next_offset: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Files {
    pub(super) path: String,
    pub(super) files: Vec<File>,
    /// Whether there are more than are shown.
    pub(super) truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct File {
    pub(super) path: String,
    /// file, directory, symlink or other.
    pub(super) kind: String,
    pub(super) size: u64,
    /// Permission bits, in octal.
    pub(super) mode: String,
    pub(super) modified_at: String,
    /// Where a link points.
    pub(super) target: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Diff {
    pub(super) sandbox_id: String,
    /// A summary, file by file.
    pub(super) summary: String,
    /// The changes as a patch for `git apply`.
    pub(super) patch: String,
    /// Whether part of the patch is left out.
    pub(super) truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Snapshotted {
    /// A template for `sandbox_create`.
    pub(super) snapshot_id: String,
    pub(super) sandbox_id: String,
    pub(super) name: Option<String>,
    /// Bytes on disk.
    pub(super) size: u64,
    pub(super) created_at: String,
}
