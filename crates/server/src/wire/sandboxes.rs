//! Sandboxes and what belongs to them, as they travel.

use belljar_api as api;
use belljar_domain::{Isolation, NetworkMode, Profile, SandboxState, Status, TemplateRef, Usage};
use belljar_engine::service::{FileKind, FileView, ListeningPort, SandboxView};
use belljar_ports::{
    Level, TemplateInfo,
    store::{Artifact, SnapshotRow, UsagePoint},
};

pub(crate) fn sandbox(view: SandboxView) -> api::Sandbox {
    let (spec, id) = (view.spec, view.id.to_string());
    api::Sandbox {
        name: view.name,
        status: status(view.state.status()),
        state: state(view.state),
        project_id: view.project.to_string(),
        provider: view.provider,
        provider_ref: id.clone(),
        e2b_sandbox_id: id.clone(),
        id,
        template: spec.template.to_string(),
        isolation: isolation(view.isolation).to_owned(),
        profile: profile(spec.profile),
        network: network(spec.network),
        workspace: spec.workspace.map(|path| path.to_string()),
        agent: spec.agent,
        labels: spec.labels,
        metadata: view.metadata,
        limits: api::Limits {
            memory_bytes: spec.limits.memory.as_bytes(),
            cpus: f64::from(spec.limits.cpus.as_milli()) / 1000.0,
            disk_bytes: spec.limits.disk.as_bytes(),
            inodes: spec.limits.inodes,
            pids: spec.limits.pids,
            open_files: spec.limits.open_files,
        },
        ttl_seconds: spec.clocks.ttl.as_millis() / 1000,
        idle_seconds: spec.clocks.idle.as_millis() / 1000,
        exec_timeout_seconds: spec.clocks.exec_timeout.as_millis() / 1000,
        levels: view.levels.into_iter().map(level).collect(),
        created_at: view.created.to_string(),
        last_activity: view.last_activity.to_string(),
        expires_at: view.expires.map(|time| time.to_string()),
        ended_at: view.ended.map(|time| time.to_string()),
        cause: view.cause.map(|cause| cause.to_string()),
    }
}

/// How a sandbox is doing; `trouble` is what measuring it said.
pub(crate) fn health(view: SandboxView, trouble: Option<String>) -> api::SandboxHealth {
    let runs = view.state == SandboxState::Running;
    let reason = if runs { trouble } else { Some(format!("it is {}", view.state)) };
    api::SandboxHealth {
        id: view.id.to_string(),
        healthy: reason.is_none(),
        state: state(view.state),
        reason,
        degraded: view.levels.into_iter().filter(|level| !level.enforced).map(level).collect(),
    }
}

fn level(level: Level) -> api::Level {
    api::Level { promise: level.promise, enforced: level.enforced, by: level.by }
}

const fn status(status: Status) -> api::SandboxStatus {
    match status {
        Status::Creating => api::SandboxStatus::Creating,
        Status::Running => api::SandboxStatus::Running,
        Status::Paused => api::SandboxStatus::Paused,
        Status::Terminated => api::SandboxStatus::Terminated,
    }
}

const fn state(state: SandboxState) -> api::SandboxState {
    match state {
        SandboxState::Creating => api::SandboxState::Creating,
        SandboxState::Running => api::SandboxState::Running,
        SandboxState::Paused => api::SandboxState::Paused,
        SandboxState::Stopping => api::SandboxState::Stopping,
        SandboxState::Stopped => api::SandboxState::Stopped,
        SandboxState::Destroyed => api::SandboxState::Destroyed,
        SandboxState::Failed => api::SandboxState::Failed,
    }
}

const fn isolation(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::Container => "container",
        Isolation::Namespaces => "namespaces",
        Isolation::Gvisor => "gvisor",
        Isolation::Vm => "vm",
    }
}

const fn profile(profile: Profile) -> api::Profile {
    match profile {
        Profile::Strict => api::Profile::Strict,
        Profile::Permissive => api::Profile::Permissive,
    }
}

const fn network(network: NetworkMode) -> api::Network {
    match network {
        NetworkMode::None => api::Network::None,
        NetworkMode::Allowlist => api::Network::Allowlist,
        NetworkMode::Open => api::Network::Open,
    }
}

pub(crate) const fn usage(usage: &Usage) -> api::Usage {
    api::Usage {
        cpu_micros: usage.cpu_micros,
        throttled_micros: usage.throttled_micros,
        memory_bytes: usage.memory_bytes,
        memory_peak_bytes: usage.memory_peak_bytes,
        pids: usage.pids,
        disk_bytes: usage.disk_bytes,
        inodes: usage.inodes,
        net_rx_bytes: usage.net_rx_bytes,
        net_tx_bytes: usage.net_tx_bytes,
        oom_kills: usage.oom_kills,
        forks_refused: usage.forks_refused,
    }
}

pub(crate) fn point(point: UsagePoint) -> api::UsagePoint {
    api::UsagePoint {
        time: point.time.to_string(),
        samples: point.samples,
        cpu_micros: point.cpu_micros,
        memory_bytes: point.memory_bytes,
        memory_max_bytes: point.memory_max_bytes,
        disk_bytes: point.disk_bytes,
        net_rx_bytes: point.net_rx_bytes,
        net_tx_bytes: point.net_tx_bytes,
        pids: point.pids,
    }
}

/// A port, and where a browser on this machine sees it when the server listens on `listen`.
pub(crate) fn port(port: ListeningPort, id: belljar_domain::SandboxId, listen: u16) -> api::Port {
    let url = format!("http://{}-{id}.localhost:{listen}/", port.port);
    api::Port { port: port.port, address: port.address, url }
}

pub(crate) fn snapshot(row: SnapshotRow) -> api::Snapshot {
    api::Snapshot {
        id: row.id.to_string(),
        sandbox_id: row.sandbox.to_string(),
        project_id: row.project.to_string(),
        name: row.name,
        created_at: row.created.to_string(),
        bytes: row.bytes,
    }
}

pub(crate) fn template(info: TemplateInfo) -> api::Template {
    let source = info.source.display().to_string();
    api::Template { name: info.name, aliases: Vec::new(), source, bytes: info.bytes }
}

/// What there is to start from: this machine under every name that was not given to something else, then what was imported.
pub(crate) fn templates(imported: Vec<TemplateInfo>) -> Vec<api::Template> {
    let free = |name: &&&str| !imported.iter().any(|template| template.name == **name);
    let names: Vec<_> = TemplateRef::host_names().iter().filter(free).copied().collect();
    let mut names = names.into_iter().map(str::to_owned);
    let host = names.next().map(|name| api::Template {
        name,
        aliases: names.collect(),
        source: "/".to_owned(),
        bytes: None,
    });
    host.into_iter().chain(imported.into_iter().map(template)).collect()
}

pub(crate) fn artifact(artifact: Artifact) -> api::Artifact {
    let about = artifact.about;
    api::Artifact {
        digest: artifact.digest.to_string(),
        bytes: artifact.bytes,
        name: about.name,
        media_type: about.media_type,
        project_id: about.project.to_string(),
        sandbox_id: about.sandbox.map(|id| id.to_string()),
        execution_id: about.execution.map(|id| id.to_string()),
        run_id: about.run.map(|id| id.to_string()),
        created_at: about.created.to_string(),
    }
}

pub(crate) fn file(view: FileView) -> api::File {
    api::File {
        path: view.path,
        name: view.name,
        kind: match view.kind {
            FileKind::File => api::FileKind::File,
            FileKind::Directory => api::FileKind::Directory,
            FileKind::Symlink => api::FileKind::Symlink,
            FileKind::Other => api::FileKind::Other,
        },
        size: view.size,
        mode: format!("{:04o}", view.mode & 0o7777),
        uid: view.uid,
        gid: view.gid,
        modified_at: view.modified.to_string(),
        target: view.target,
    }
}
