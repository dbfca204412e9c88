//! What all attempts start from: one snapshot of the workspace, made ready once.
//!
//! Owns: the sandbox it is taken of, and git in a linked worktree. Refuses: to copy the workspace; it lies below the
//! snapshot, as it lies below every sandbox.

use std::collections::BTreeMap;

use belljar_domain::{
    EventKind, HostPath, Limits, LimitsPatch, Mount, MountMode, RunState, SandboxId, SandboxPath,
    SandboxSpec, TemplateRef,
};
use belljar_ports::store::Batch;
use serde_json::json;

use super::{
    super::{CreateSandbox, Service, ServiceError, StartExecution, now},
    live::{For, Halt, LiveRun},
    record::Run,
    shell,
};

/// The labels by which a run's sandboxes are found again.
pub(super) const RUN: &str = "belljar.run";
pub(super) const ROLE: &str = "belljar.role";
pub(super) const FORK: &str = "belljar.fork";

/// A linked worktree's repository lies elsewhere and is lent read-only, so the sandbox gets one of its own that borrows
/// its objects. Nothing of it ever leaves the sandbox.
const PRIVATE_REPOSITORY: &str = r#"set -e
common=$1
index=$(git rev-parse --path-format=absolute --git-path index)
head=$(git rev-parse --verify --quiet HEAD || true)
branch=$(git symbolic-ref --quiet HEAD || true)
cp "$index" .git-index 2>/dev/null || true
rm -f .git
git init --quiet .
printf '%s\n' "$common/objects" > .git/objects/info/alternates
cp "$common/packed-refs" .git/packed-refs 2>/dev/null || true
cp -R "$common/refs/." .git/refs/
mv .git-index .git/index 2>/dev/null || true
if [ -n "$branch" ]; then git symbolic-ref HEAD "$branch"
elif [ -n "$head" ]; then git update-ref --no-deref HEAD "$head"; fi"#;

impl Service {
    /// Makes the snapshot the attempts start from.
    pub(super) fn lay_ground(&self, run: &LiveRun) -> Result<(), Halt> {
        let (who, view) = (run.who(), run.view());
        let made = self.create(&who, self.sandbox_order(run, &view, "base", None)?)?;
        let taken = self.ready(run, &view, made.id).and_then(|()| {
            let name = format!("run {}", view.id.short());
            self.snapshot(&who, made.id, Some(&name)).map_err(Halt::from)
        });
        let removed = self.delete(&who, made.id);
        let taken = taken?;
        removed?;
        let mut event = self.event(&who, EventKind::RunStarted);
        event.run = Some(view.id);
        event.payload = json!({
            "by": who.name, "task_id": view.task, "attempts": view.attempts.len(), "snapshot": taken.id,
        });
        let batch = Batch::of_events(vec![event]);
        let told = run.change_with(&self.0.recorder, batch, |run| {
            run.snapshot = Some(taken.id);
            run.ready = Some(now());
            run.state = RunState::Running;
        });
        told.wait().map_err(ServiceError::from)?;
        Ok(())
    }

    fn ready(&self, run: &LiveRun, view: &Run, id: SandboxId) -> Result<(), Halt> {
        let who = run.who();
        let linked = view.ground.repository.as_ref().and_then(|repository| repository.linked_to.as_ref());
        if let Some(common) = linked {
            let argv = ["sh", "-c", PRIVATE_REPOSITORY, "sh", &common.to_string_lossy()];
            let order = StartExecution {
                argv: argv.map(str::to_owned).to_vec(),
                env: shell::quiet_git(),
                ..StartExecution::default()
            };
            // Without git inside, nobody misses it.
            self.run(&who, id, order)?;
        }
        let trial = &run.given(For::Trial)?.trial;
        let Some(setup) = &trial.setup else { return Ok(()) };
        let done = self.see_through(run, id, shell::order(setup, trial.patience))?;
        if done.report.is_success() {
            return Ok(());
        }
        // What is said about it is kept, so it is said as it is kept.
        let setup = view.trial.setup.as_deref().unwrap_or_default();
        Err(ServiceError::Invalid(format!(
            "the setup command `{setup}` ended with exit code {}: {}",
            done.report.exit_code(),
            done.tail()
        ))
        .into())
    }

    /// A sandbox of a run, as it is asked for.
    pub(super) fn sandbox_order(
        &self,
        run: &LiveRun,
        view: &Run,
        role: &str,
        fork: Option<u32>,
    ) -> Result<CreateSandbox, Halt> {
        let mut order = match (run.shape(), view.snapshot) {
            (Some(shape), _) => shape.clone(),
            // After a crash the provider still knows what the snapshot's sandbox was like, secrets included.
            (None, Some(snapshot)) => {
                restored(self.0.provider.snapshot_spec(snapshot).map_err(ServiceError::from)?)
            }
            (None, None) => {
                let why = "the server ended before the run had begun; ask for it again";
                return Err(ServiceError::Conflict(why.to_owned()).into());
            }
        };
        // Programs of another system's template may not be able to run ours; what they export is heard all the same.
        let own = order.template.as_ref().unwrap_or(&self.0.settings.defaults.template);
        order.observed = view.observed && fork.is_some() && *own == TemplateRef::Host;
        if let Some(snapshot) = view.snapshot {
            order.template = Some(TemplateRef::Snapshot(snapshot));
        }
        order.workspace = Some(view.shape.workspace.clone());
        order.ttl = Some(view.shape.ttl);
        let label = |fork: u32| format!("best-of-n-{}-fork-{fork}", view.task);
        order.name = Some(fork.map_or_else(|| format!("best-of-n-{}-{role}", view.task), label));
        order.labels.insert(RUN.to_owned(), view.id.to_string());
        order.labels.insert(ROLE.to_owned(), role.to_owned());
        order.env.extend(variables(view));
        if let Some(fork) = fork {
            order.labels.insert(FORK.to_owned(), fork.to_string());
            order.env.insert("FORK_ID".to_owned(), fork.to_string());
        }
        if let Some(common) =
            view.ground.repository.as_ref().and_then(|repository| repository.linked_to.as_ref())
        {
            order.mounts.extend(lent(common));
        }
        Ok(order)
    }
}

/// What every command of a run finds in its environment.
fn variables(view: &Run) -> BTreeMap<String, String> {
    let all = [
        ("TASK_ID", view.task.clone()),
        ("BELLJAR_RUN", view.id.to_string()),
        ("BELLJAR_PROJECT", view.project.to_string()),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn lent(path: &std::path::Path) -> Option<Mount> {
    let sandbox = SandboxPath::new(path.to_str()?).ok()?;
    Some(Mount { host: HostPath::new(path).ok()?, sandbox, mode: MountMode::Ro })
}

fn restored(spec: SandboxSpec) -> CreateSandbox {
    CreateSandbox {
        template: Some(spec.template),
        workspace: spec.workspace,
        profile: Some(spec.profile),
        network: Some(spec.network),
        limits: patch(&spec.limits),
        ttl: Some(spec.clocks.ttl),
        idle: Some(spec.clocks.idle),
        exec_timeout: Some(spec.clocks.exec_timeout),
        mounts: spec.mounts,
        env: spec.env,
        agent: spec.agent,
        ..CreateSandbox::default()
    }
}

const fn patch(limits: &Limits) -> LimitsPatch {
    LimitsPatch {
        memory: Some(limits.memory),
        cpus: Some(limits.cpus),
        disk: Some(limits.disk),
        inodes: Some(limits.inodes),
        pids: Some(limits.pids),
        open_files: Some(limits.open_files),
    }
}
