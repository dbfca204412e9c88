//! What an attempt left: its changes with both sides, a patch, files somebody wants kept, what it cost.

use std::path::Path;

use belljar_domain::{Digest, ExecutionId, SandboxId, Span, Usd};
use belljar_ports::{
    Changes,
    lens::{CallFilter, SessionFilter},
    store::NewArtifact,
};

use super::{
    super::{Result, Service, ServiceError, now},
    attempt::with,
    glob::matches,
    live::{For, Halt, LiveRun},
    record::{Attempt, Phase, Run},
    shell,
};
use crate::changes::{Bundle, Look, RenderError};

/// The most files kept of an attempt besides its changes.
const MOST: usize = 1000;
/// The most changed paths of a running attempt that are looked at.
const GAUGED: usize = 500;

impl Service {
    /// Reads what an attempt changed, and lets its sandbox go.
    pub(super) fn collect(&self, run: &LiveRun, view: &Run, attempt: &Attempt) {
        let (who, fork) = (run.who(), attempt.fork);
        let read = attempt.sandbox.ok_or_else(|| ServiceError::NotFound("sandbox of the attempt".to_owned()));
        let read = read.and_then(|id| self.read_changes(run, view, attempt, id));
        run.hear_out(fork);
        // What it costs is known once the records have caught up; if that takes too long, it costs what is known.
        let _caught_up = self.lens();
        let cost = attempt.sandbox.and_then(|id| self.cost_of(view, id)).or(attempt.cost);
        let done = run.change(&self.0.recorder, |run| {
            with(run, fork, |one| {
                one.phase = Phase::Waiting;
                one.cost = cost;
                match read {
                    Ok(read) => {
                        one.extent = Some(read.bundle.extent());
                        one.bundle = Some(read.digest);
                        one.patch = Some(read.patch);
                    }
                    Err(error) => one.activity = Some(format!("its changes could not be read: {error}")),
                }
            });
        });
        // Unwritten, the next service reads them again.
        let _later = done.wait();
        let Some(id) = attempt.sandbox else { return };
        // What cannot be ended now has a clock.
        let _later = match (view.keep_alive, view.keep) {
            (true, _) => {
                self.show_off(run, fork, id);
                Ok(())
            }
            (false, true) => self.stop(&who, id).map(drop).map_err(drop),
            (false, false) => self.delete(&who, id).map_err(drop),
        };
    }

    /// Has an attempt serve what it made, as long as its sandbox lives, and says so.
    fn show_off(&self, run: &LiveRun, fork: u32, id: SandboxId) {
        let (preview, unserved) = match self.serve(run, id) {
            Ok(None) => return,
            Ok(started) => (started, None),
            Err(Halt::Broken(error)) => (None, Some(error.to_string())),
            // The next service carries on, or nobody looks any more.
            Err(Halt::Closing | Halt::Stopped) => return,
        };
        let said = run.change(&self.0.recorder, |run| {
            with(run, fork, |one| (one.preview, one.unserved) = (preview, unserved));
        });
        // It serves all the same.
        let _unwritten = said.wait();
    }

    fn serve(&self, run: &LiveRun, id: SandboxId) -> std::result::Result<Option<ExecutionId>, Halt> {
        let Some(preview) = &run.given(For::Trial)?.preview else { return Ok(None) };
        // It goes on until the sandbox's own clock ends it.
        Ok(Some(self.start(&run.who(), id, shell::order(preview, Span::millis(0)))?.id))
    }

    fn read_changes(&self, run: &LiveRun, view: &Run, attempt: &Attempt, id: SandboxId) -> Result<Read> {
        let changes = self.changes(&run.who(), id)?;
        let workspace = view.shape.workspace.as_path();
        let paths: Vec<&Path> = changes.changes.iter().map(|change| change.path.as_path()).collect();
        let omissions = view.ground.omissions(workspace, &paths);
        let bundle = Bundle::gather(&changes, &|path| omissions.of(path)).map_err(|error| unread(&error))?;
        let mut patch = Vec::new();
        bundle.patch(&mut patch, Look::Patch).map_err(|error| unread(&error))?;
        let json = serde_json::to_vec(&bundle).unwrap_or_default();
        let digest = self.keep_artifact(view, attempt, "changes.json", "application/json", &json)?;
        let patch = self.keep_artifact(view, attempt, "changes.patch", "text/x-diff", &patch)?;
        self.keep_wanted(view, attempt, &changes)?;
        Ok(Read { bundle, digest, patch })
    }

    /// Keeps what somebody asked for by a pattern: of what the attempt wrote, ignored files included.
    fn keep_wanted(&self, view: &Run, attempt: &Attempt, changes: &Changes) -> Result<()> {
        let wanted = changes.changes.iter().filter(|change| {
            let is_file = change.after.as_ref().is_some_and(belljar_domain::Entry::is_file);
            let path = change.path.to_string_lossy();
            is_file && view.artifacts.iter().any(|pattern| matches(pattern, &path))
        });
        for change in wanted.take(MOST) {
            let Ok(mut content) = changes.files.open(&change.path) else { continue };
            let about = about(view, attempt, &change.path.to_string_lossy(), "application/octet-stream");
            self.store().put_artifact(&about, &mut content)?;
        }
        Ok(())
    }

    fn keep_artifact(
        &self,
        view: &Run,
        attempt: &Attempt,
        name: &str,
        media_type: &str,
        mut content: &[u8],
    ) -> Result<Digest> {
        let name = format!("{}/{name}", attempt.fork);
        Ok(self.store().put_artifact(&about(view, attempt, &name, media_type), &mut content)?.digest)
    }

    /// What an attempt changed, both sides of it.
    pub(super) fn bundle_of(&self, attempt: &Attempt) -> Result<Option<Bundle>> {
        let Some(digest) = attempt.bundle else { return Ok(None) };
        let content = self.store().open_artifact(digest, 0)?;
        serde_json::from_reader(content).map(Some).map_err(|error| {
            ServiceError::Conflict(format!("the changes of attempt {} cannot be read: {error}", attempt.fork))
        })
    }

    /// Shows what an attempt is at and what it has cost, as far as its agent tells.
    pub(super) fn observe(&self, run: &LiveRun, view: &Run, attempt: &Attempt) {
        let Some(sandbox) = attempt.sandbox else { return };
        let filter = CallFilter { sandbox: Some(sandbox), open: Some(true), ..CallFilter::default() };
        let open = self.0.eye.lens.calls(&filter, u64::MAX, 1).unwrap_or_default().pop();
        let activity = open.and_then(|call| {
            let tool = call.known.tool?;
            Some(call.known.target.map_or_else(|| tool.clone(), |target| format!("{tool}: {target}")))
        });
        let cost = self.cost_of(view, sandbox);
        run.show(|run| {
            with(run, attempt.fork, |one| {
                one.activity = activity;
                one.cost = cost.or(one.cost);
            });
        });
    }

    /// Shows how much an attempt has changed so far, unless that is so much that looking would be in its way.
    pub(super) fn gauge(&self, run: &LiveRun, view: &Run, attempt: &Attempt) {
        let Some(id) = attempt.sandbox else { return };
        let Ok(changes) = self.changes(&run.who(), id) else { return };
        if changes.changes.len() > GAUGED {
            return;
        }
        let paths: Vec<&Path> = changes.changes.iter().map(|change| change.path.as_path()).collect();
        let omissions = view.ground.omissions(view.shape.workspace.as_path(), &paths);
        let Ok(bundle) = Bundle::gather(&changes, &|path| omissions.of(path)) else { return };
        run.show(|run| with(run, attempt.fork, |one| one.extent = Some(bundle.extent())));
    }

    /// What agents in a sandbox spent; nothing if none told.
    fn cost_of(&self, view: &Run, sandbox: SandboxId) -> Option<Usd> {
        let filter = SessionFilter {
            project: Some(view.project.clone()),
            sandbox: Some(sandbox),
            ..SessionFilter::default()
        };
        let sessions = self.0.eye.lens.sessions(&filter, u64::MAX, belljar_ports::store::PAGE_LIMIT).ok()?;
        sessions.iter().map(|session| session.spent.cost).reduce(Usd::plus)
    }
}

struct Read {
    bundle: Bundle,
    digest: Digest,
    patch: Digest,
}

fn about(view: &Run, attempt: &Attempt, name: &str, media_type: &str) -> NewArtifact {
    NewArtifact {
        project: view.project.clone(),
        sandbox: attempt.sandbox,
        execution: attempt.execution,
        run: Some(view.id),
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        created: now(),
    }
}

fn unread(error: &RenderError) -> ServiceError {
    let why = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
    ServiceError::Conflict(format!("{error}{why}"))
}
