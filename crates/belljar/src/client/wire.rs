//! What a server answers, as far as the command line reads it. A newer server may say more.

use std::collections::BTreeMap;

use belljar_domain::{
    EventId, Isolation, KillCause, NetworkMode, Profile, SandboxId, SandboxState, Timestamp, Usage,
};
use belljar_ports::Level;
use serde::Deserialize;
use serde_json::Value;

/// One page of a list.
#[derive(Debug, Deserialize)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Sandbox {
    pub(crate) id: SandboxId,
    pub(crate) name: String,
    pub(crate) state: SandboxState,
    pub(crate) provider: String,
    pub(crate) template: String,
    pub(crate) isolation: Isolation,
    pub(crate) profile: Profile,
    pub(crate) network: NetworkMode,
    pub(crate) workspace: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) metadata: Value,
    pub(crate) limits: Limits,
    pub(crate) ttl_seconds: u64,
    pub(crate) idle_seconds: u64,
    pub(crate) exec_timeout_seconds: u64,
    pub(crate) levels: Vec<Level>,
    pub(crate) created_at: Timestamp,
    pub(crate) last_activity: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) cause: Option<KillCause>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Limits {
    pub(crate) memory_bytes: u64,
    pub(crate) cpus: f64,
    pub(crate) disk_bytes: u64,
    pub(crate) inodes: u64,
    pub(crate) pids: u32,
    pub(crate) open_files: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) id: String,
    pub(crate) sandbox_id: SandboxId,
    pub(crate) name: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) bytes: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Port {
    pub(crate) port: u16,
    pub(crate) address: String,
    pub(crate) url: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Execution {
    pub(crate) status: String,
    pub(crate) command: Vec<String>,
}

/// How a command ended.
#[derive(Debug, Deserialize)]
pub(crate) struct Exit {
    pub(crate) exit_code: Option<u8>,
    pub(crate) signal: Option<u8>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) truncated: bool,
    pub(crate) cause: Option<KillCause>,
    pub(crate) reached: Vec<KillCause>,
    pub(crate) usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct LogPage {
    pub(crate) items: Vec<LogPiece>,
    pub(crate) next_cursor: Option<String>,
    pub(crate) complete: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct LogPiece {
    pub(crate) seq: u64,
    pub(crate) execution_id: Option<String>,
    pub(crate) stream: String,
    pub(crate) time: Timestamp,
    pub(crate) text: String,
}

/// One thing that happened.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Event {
    pub(crate) seq: u64,
    pub(crate) id: EventId,
    pub(crate) kind: String,
    pub(crate) time: Timestamp,
    pub(crate) agent_id: Option<String>,
    pub(crate) sandbox_id: Option<String>,
    pub(crate) execution_id: Option<String>,
    pub(crate) operation: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) duration_ms: Option<u64>,
    #[serde(default)]
    pub(crate) payload: Value,
}

/// The same, out of the ledger.
impl From<belljar_domain::Event> for Event {
    fn from(event: belljar_domain::Event) -> Self {
        let what = event.what;
        Self {
            seq: event.seq,
            id: what.id,
            kind: what.kind.into(),
            time: what.time,
            agent_id: what.actor.id,
            sandbox_id: what.sandbox.map(|id| id.to_string()),
            execution_id: what.execution.map(|id| id.to_string()),
            operation: what.operation,
            target: what.target,
            reason: what.reason,
            status: what.status.map(|status| status.to_string()),
            error: what.error,
            duration_ms: what.duration_ms,
            payload: what.payload,
        }
    }
}
