//! What a person does to a sandbox: by the server where one is up, so that it is recorded who did it; else directly.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use belljar_domain::{KillCause, SandboxId, SandboxSpec, SandboxState, SnapshotId, Span, TemplateRef};
use belljar_ports::{Keep, Sandbox, SandboxError, SandboxProvider as _, SnapshotInfo};
use serde_json::{Value, json};

use super::{Sandboxes, Seen, seen::moment};
use crate::{
    client::Snapshot,
    context::{new_sandbox_id, new_snapshot_id},
};

/// How long the end of a sandbox is waited for, and how often to look.
const BURIAL: Duration = Duration::from_secs(10);
const BREATH: Duration = Duration::from_millis(2);

/// A port something in a sandbox listens on.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) port: u16,
    pub(crate) address: String,
    /// Where a browser sees it, if a server shows it.
    pub(crate) url: Option<String>,
}

impl Sandboxes {
    /// Freezes every process of a sandbox; the answer is its new state.
    pub(crate) fn pause(&self, id: SandboxId) -> Result<SandboxState> {
        if let Some(server) = &self.server {
            return Ok(server.pause(id)?);
        }
        let sandbox = self.own(id)?;
        sandbox.pause()?;
        Ok(sandbox.info().state)
    }

    /// Thaws a paused sandbox; the answer is its new state.
    pub(crate) fn resume(&self, id: SandboxId) -> Result<SandboxState> {
        if let Some(server) = &self.server {
            return Ok(server.resume(id)?);
        }
        let sandbox = self.own(id)?;
        sandbox.resume()?;
        Ok(sandbox.info().state)
    }

    /// Gives a sandbox this long to live from now.
    pub(crate) fn extend(&self, id: SandboxId, ttl: Span) -> Result<()> {
        match &self.server {
            Some(server) => Ok(server.extend(id, ttl)?),
            None => Ok(self.own(id)?.extend(ttl)?),
        }
    }

    /// Ends a sandbox. What it changed in a workspace is kept, one without leaves nothing. Answers whether it was there.
    pub(crate) fn end(&self, seen: &Seen) -> Result<bool> {
        let Some(server) = &self.server else { return self.stop_here(seen.id) };
        let ended = if seen.spec.workspace.is_some() { server.stop(seen.id) } else { server.delete(seen.id) };
        match ended {
            Ok(()) => {
                self.see_gone(seen.id)?;
                Ok(true)
            }
            // One that ended before the server came is the provider's alone.
            Err(error) if error.is_unknown() && !self.is_remote() => self.stop_here(seen.id),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until a sandbox of this home is over: the server answers as soon as that is certain.
    fn see_gone(&self, id: SandboxId) -> Result<()> {
        let deadline = Instant::now() + BURIAL;
        while Instant::now() < deadline
            && self.handle(id)?.is_some_and(|sandbox| sandbox.info().state.is_live())
        {
            thread::sleep(BREATH);
        }
        Ok(())
    }

    fn stop_here(&self, id: SandboxId) -> Result<bool> {
        match self.handle(id)? {
            Some(sandbox) => Ok(sandbox.stop(Some(KillCause::Killswitch)).map(|()| true)?),
            // It ended and was removed since it was listed.
            None => Ok(false),
        }
    }

    /// The ports something in a sandbox listens on.
    pub(crate) fn ports(&self, id: SandboxId) -> Result<Vec<Listening>> {
        if let Some(server) = &self.server {
            let found = server.ports(id)?.into_iter();
            let shown = found.map(|at| Listening { port: at.port, address: at.address, url: Some(at.url) });
            return Ok(shown.collect());
        }
        let found = self.own(id)?.listening()?;
        let shown =
            found.iter().map(|at| Listening { port: at.port(), address: at.ip().to_string(), url: None });
        Ok(shown.collect())
    }

    /// Freezes a sandbox's files as something others can start from.
    pub(crate) fn snapshot(&self, seen: &Seen, name: Option<&str>) -> Result<SnapshotInfo> {
        match &self.server {
            // The server keeps no handle of what is over; its files are there all the same.
            Some(server) if self.is_remote() || seen.state.is_live() => {
                taken(server.snapshot(seen.id, name)?)
            }
            Some(_) | None => Ok(self.own(seen.id)?.snapshot(new_snapshot_id(), name)?),
        }
    }

    /// Snapshots, oldest first.
    pub(crate) fn snapshots(&self) -> Result<Vec<SnapshotInfo>> {
        match (&self.provider, &self.server) {
            (Some(provider), _) => Ok(provider.snapshots()?),
            (None, Some(server)) => server.snapshots()?.into_iter().rev().map(taken).collect(),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// Removes a snapshot.
    pub(crate) fn remove_snapshot(&self, id: SnapshotId) -> Result<()> {
        match (&self.provider, &self.server) {
            (provider, Some(server)) => match (server.delete_snapshot(&id.to_string()), provider) {
                // One that was taken without a server is the provider's alone.
                (Err(error), Some(provider)) if error.is_unknown() => Ok(provider.remove_snapshot(id)?),
                (done, _) => Ok(done?),
            },
            (Some(provider), None) => Ok(provider.remove_snapshot(id)?),
            (None, None) => Ok(()),
        }
    }

    /// Starts a sandbox from a snapshot, as the one was that it was taken of, and leaves it running.
    pub(crate) fn restore(&self, id: SnapshotId) -> Result<SandboxId> {
        let spec = match &self.provider {
            Some(provider) => Some(provider.snapshot_spec(id)?),
            None => None,
        };
        match (&self.provider, &self.server) {
            (_, Some(server)) => {
                let order = spec.map_or_else(
                    || json!({ "template": id }),
                    |spec| order(&SandboxSpec { template: TemplateRef::Snapshot(id), ..spec }),
                );
                Ok(server.create(&order)?.id)
            }
            (Some(provider), None) => {
                let template = TemplateRef::Snapshot(id);
                let spec = SandboxSpec { template, ..spec.unwrap_or_default() };
                Ok(provider.create(new_sandbox_id(), &spec, Keep::Alive)?.info().id)
            }
            (None, None) => anyhow::bail!("there is no place to start it"),
        }
    }

    /// The handle of a sandbox of this home that must be there.
    pub(crate) fn own(&self, id: SandboxId) -> Result<Box<dyn Sandbox>> {
        self.handle(id)?.ok_or_else(|| SandboxError::Unknown(id).into())
    }
}

fn taken(snapshot: Snapshot) -> Result<SnapshotInfo> {
    Ok(SnapshotInfo {
        id: snapshot.id.parse().context("read the snapshot's id")?,
        name: snapshot.name,
        of: snapshot.sandbox_id,
        created: moment(snapshot.created_at),
        bytes: snapshot.bytes,
    })
}

/// What to ask the server for.
pub(crate) fn order(spec: &SandboxSpec) -> Value {
    let limits = &spec.limits;
    // No limit of time is the server's own.
    let seconds = |span: Span| Some(span.as_millis().div_ceil(1000)).filter(|seconds| *seconds > 0);
    json!({
        "template": spec.template,
        "workspace": spec.workspace,
        "profile": spec.profile,
        "network": spec.network,
        "limits": {
            "memory_bytes": limits.memory.as_bytes(),
            "cpus": f64::from(limits.cpus.as_milli()) / 1000.0,
            "disk_bytes": limits.disk.as_bytes(),
            "inodes": limits.inodes,
            "pids": limits.pids,
            "open_files": limits.open_files,
        },
        "ttl_seconds": seconds(spec.clocks.ttl),
        "idle_seconds": seconds(spec.clocks.idle),
        "exec_timeout_seconds": seconds(spec.clocks.exec_timeout),
        "mounts": spec.mounts,
        "env": spec.env,
        "agent": spec.agent,
        "labels": spec.labels,
    })
}
