//! One sandbox as the command line knows it, whoever told.

use std::{
    path::PathBuf,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use belljar_domain::{
    ByteSize, Clocks, Cpus, ExitReport, Isolation, KillCause, Limits, SandboxId, SandboxSpec, SandboxState,
    Span, Timestamp,
};
use belljar_engine::service::SandboxView;
use belljar_ports::{Level, SandboxInfo, store::SandboxRow};
use serde_json::{Value, json};

use crate::{client, output::timestamp};

/// What is known about a sandbox.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) id: SandboxId,
    pub(crate) name: String,
    pub(crate) state: SandboxState,
    pub(crate) provider: String,
    pub(crate) isolation: Isolation,
    /// What was asked for. Of another machine's sandbox, mounts and environment are not told.
    pub(crate) spec: SandboxSpec,
    pub(crate) created: SystemTime,
    pub(crate) ended: Option<SystemTime>,
    pub(crate) cause: Option<KillCause>,
    pub(crate) command: Vec<String>,
    pub(crate) report: Option<ExitReport>,
    pub(crate) levels: Vec<Level>,
    /// Its directory, while there is one on this machine.
    pub(crate) dir: Option<PathBuf>,
    /// What only a server keeps.
    pub(crate) kept: Option<Kept>,
}

/// What a server knows beyond the provider.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) last_activity: SystemTime,
    pub(crate) expires: Option<SystemTime>,
    pub(crate) metadata: Value,
}

impl Seen {
    /// Takes over what a server knows beyond the provider.
    pub(super) fn learn(&mut self, known: Self) {
        self.name = known.name;
        self.kept = known.kept;
    }

    /// One the last server wrote down; `None` if another belljar wrote it so that it cannot be read.
    pub(super) fn from_row(row: &SandboxRow) -> Option<Self> {
        let view: SandboxView = serde_json::from_value(row.record.clone()).ok()?;
        Some(Self {
            id: view.id,
            name: view.name,
            state: view.state,
            provider: view.provider,
            isolation: view.isolation,
            spec: view.spec,
            created: moment(view.created),
            ended: view.ended.map(moment),
            cause: view.cause,
            command: Vec::new(),
            report: None,
            levels: view.levels,
            dir: None,
            kept: Some(Kept {
                last_activity: moment(view.last_activity),
                expires: view.expires.map(moment),
                metadata: view.metadata,
            }),
        })
    }

    /// Whether nothing of it is left.
    pub(crate) fn is_gone(&self) -> bool {
        self.state == SandboxState::Destroyed
    }

    /// How long it has lived, or did.
    pub(crate) fn age(&self) -> Duration {
        let until = self.ended.unwrap_or_else(SystemTime::now);
        until.duration_since(self.created).unwrap_or_default()
    }

    /// Its state, with the cause of its end.
    pub(crate) fn fate(&self) -> String {
        match self.cause {
            Some(cause) => format!("{} ({cause})", self.state),
            None => self.state.to_string(),
        }
    }

    /// It as JSON. Values of its environment may be secrets and are not shown.
    pub(crate) fn json(&self) -> Value {
        let mut spec = serde_json::to_value(&self.spec).unwrap_or_default();
        if let Some(spec) = spec.as_object_mut() {
            spec.insert("env".to_owned(), json!(self.spec.env.keys().collect::<Vec<_>>()));
        }
        json!({
            "id": self.id,
            "name": self.name,
            "state": self.state,
            "status": self.state.status(),
            "provider": self.provider,
            "isolation": self.isolation,
            "spec": spec,
            "created": timestamp(self.created),
            "ended": self.ended.map(timestamp),
            "cause": self.cause,
            "command": self.command,
            "report": self.report,
            "levels": self.levels,
            "dir": self.dir,
        })
    }
}

impl From<SandboxInfo> for Seen {
    fn from(info: SandboxInfo) -> Self {
        Self {
            id: info.id,
            name: info.name,
            state: info.state,
            provider: info.provider,
            isolation: info.isolation,
            spec: info.spec,
            created: info.created,
            ended: info.ended,
            cause: info.cause,
            command: info.command,
            report: info.report,
            levels: info.levels,
            dir: Some(info.dir),
            kept: None,
        }
    }
}

impl From<client::Sandbox> for Seen {
    fn from(sandbox: client::Sandbox) -> Self {
        let limits = &sandbox.limits;
        let spec = SandboxSpec {
            template: sandbox.template.parse().unwrap_or_default(),
            workspace: sandbox.workspace.as_ref().and_then(|path| path.parse().ok()),
            profile: sandbox.profile,
            network: sandbox.network,
            limits: Limits {
                memory: ByteSize::bytes(limits.memory_bytes),
                cpus: Cpus::milli(thousandths(limits.cpus)),
                disk: ByteSize::bytes(limits.disk_bytes),
                inodes: limits.inodes,
                pids: limits.pids,
                open_files: limits.open_files,
            },
            clocks: Clocks {
                exec_timeout: Span::seconds(sandbox.exec_timeout_seconds),
                ttl: Span::seconds(sandbox.ttl_seconds),
                idle: Span::seconds(sandbox.idle_seconds),
            },
            agent: sandbox.agent,
            labels: sandbox.labels,
            ..SandboxSpec::default()
        };
        Self {
            id: sandbox.id,
            name: sandbox.name,
            state: sandbox.state,
            provider: sandbox.provider,
            isolation: sandbox.isolation,
            spec,
            created: moment(sandbox.created_at),
            ended: sandbox.ended_at.map(moment),
            cause: sandbox.cause,
            command: Vec::new(),
            report: None,
            levels: sandbox.levels,
            dir: None,
            kept: Some(Kept {
                last_activity: moment(sandbox.last_activity),
                expires: sandbox.expires_at.map(moment),
                metadata: sandbox.metadata,
            }),
        }
    }
}

pub(super) fn moment(time: Timestamp) -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(0))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float becomes the nearest whole number of its range"
)]
fn thousandths(cores: f64) -> u32 {
    (cores * 1000.0).round() as u32
}
