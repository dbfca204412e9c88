//! Making a sandbox: every step can fail, and a failed or killed maker leaves nothing that the next one does not remove.

use std::{
    fs,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    thread,
    time::SystemTime,
};

use belljar_domain::{Limits, NetworkMode, SandboxId, SandboxSpec, TemplateRef};
use belljar_jail::{
    Doors, LaunchError, Launching,
    cgroup::Group,
    disk::{self, DiskError, DiskKind, ImageAccess},
};
use belljar_ports::{Keep, SandboxError};

use super::{
    bed::{Bed, ReadyGroup},
    blueprint::{self, Blueprint, Roots},
    changes, etc,
    facts::HostFacts,
    handle::ProcessSandbox,
    levels,
    marker::Marker,
    record::{Process, Record},
    sandboxes, snapshot, sweep, templates,
};
use crate::template::TemplateStore;

/// Name of the disk image in a sandbox's directory.
pub(super) const IMAGE: &str = "disk.ext4";

/// What is to be made.
#[derive(Clone, Copy)]
pub(super) struct Order<'a> {
    pub(super) home: &'a Path,
    pub(super) facts: &'a HostFacts,
    pub(super) id: SandboxId,
    pub(super) spec: &'a SandboxSpec,
    pub(super) keep: Keep,
}

pub(super) fn create(order: Order<'_>, bed: Option<Bed>) -> Result<ProcessSandbox, SandboxError> {
    let Order { home, facts, id, spec, .. } = order;
    refuse_unsupported(spec)?;
    let mut bed = bed.filter(|bed| bed.suits(facts, spec));
    let nest = bed.as_mut().and_then(|bed| bed.nest.as_mut()?.become_sandbox(id));
    let (draft, doors) = match nest {
        Some((dir, marker, doors)) => (Draft { dir, marker }, Some(doors)),
        None => (Draft::begin(home, id)?, None),
    };
    let made = thread::scope(|scope| {
        let ready = bed.as_mut().and_then(|bed| bed.take_disk(spec));
        // First what takes longest: the disk, needed last, and the keeper, who makes the namespaces meanwhile.
        let disk = match ready.and_then(|ready| ready.place(&draft.dir.join(IMAGE)).ok()) {
            Some(mounted) => Disk::Mounted(mounted),
            None if facts.disk == DiskKind::Image => {
                Disk::Underway(scope.spawn(|| make_disk(home, &draft.dir, spec)))
            }
            None => Disk::InMemory,
        };
        let bed = bed.map_or_else(|| Bed::make(facts, id, spec), Ok)?;
        sweep::half_made(home, &facts.cgroups, Some(id))?;
        let roots = resolve(home, facts, spec)?;
        let drawn = draw(order, &roots, &draft.dir, &bed)?;
        if bed.cradle.suits(&drawn.plan) {
            return build(order, &roots, bed, &drawn, doors, disk);
        }
        // The host has changed since it was made, or something else is asked for.
        let bed = Bed::make(facts, id, spec)?;
        let drawn = draw(order, &roots, &draft.dir, &bed)?;
        build(order, &roots, bed, &drawn, doors, disk)
    });
    match made {
        Ok(sandbox) => {
            draft.finish();
            Ok(sandbox)
        }
        Err(error) => {
            draft.abandon();
            Err(error)
        }
    }
}

fn refuse_unsupported(spec: &SandboxSpec) -> Result<(), SandboxError> {
    match spec.network {
        NetworkMode::None | NetworkMode::Open => Ok(()),
        NetworkMode::Allowlist => Err(SandboxError::Unsupported {
            what: "the network mode `allowlist` is not there yet: it comes with belljar's egress proxy"
                .to_owned(),
            hint: "use --net none, or --net open if the command may reach everything this host can"
                .to_owned(),
        }),
    }
}

/// Finds what a template is made of.
pub(super) fn resolve(home: &Path, facts: &HostFacts, spec: &SandboxSpec) -> Result<Roots, SandboxError> {
    let roots = resolve_template(home, spec)?;
    if !roots.layers.is_empty() {
        return Ok(roots);
    }
    let written = blueprint::written_files(spec, &blueprint::User::of(facts, spec), true);
    let etc = etc::prepare(&home.join("cache"), &written);
    Ok(Roots {
        etc: Some(etc.map_err(|e| SandboxError::provider("put together the sandbox's /etc", e))?),
        ..roots
    })
}

fn resolve_template(home: &Path, spec: &SandboxSpec) -> Result<Roots, SandboxError> {
    let store =
        || TemplateStore::open(home).map_err(|e| SandboxError::provider("open the template store", e));
    let template = match &spec.template {
        TemplateRef::Host => return Ok(Roots::default()),
        TemplateRef::Snapshot(id) => return snapshot::roots(home, *id),
        TemplateRef::Path(path) => store()?.resolve(path).map_err(templates::refused)?,
        TemplateRef::Named(name) => match store()?.by_name(name) {
            Ok(template) => template,
            Err(_) if TemplateRef::is_host_alias(name) => return Ok(Roots::default()),
            Err(error) => return Err(templates::refused(error)),
        },
    };
    Ok(Roots {
        layers: vec![template.root],
        snapshots: Vec::new(),
        env: template.env,
        workdir: template.workdir.filter(|dir| dir.starts_with('/')),
        etc: None,
    })
}

fn draw(order: Order<'_>, roots: &Roots, dir: &Path, bed: &Bed) -> Result<Blueprint, SandboxError> {
    blueprint::draw(order.facts, order.id, order.spec, roots, dir, bed.base.unwrap_or(0))
}

fn build(
    order: Order<'_>,
    roots: &Roots,
    bed: Bed,
    blueprint: &Blueprint,
    doors: Option<Doors>,
    disk: Disk<'_>,
) -> Result<ProcessSandbox, SandboxError> {
    let Order { home, facts, id, spec, keep } = order;
    let Bed { base, held, cradle, group, nest, .. } = bed;
    let entrances = join(&blueprint.group, &spec.limits, group)?;
    let record = |(keeper, init)| Record {
        id,
        spec: spec.clone(),
        created: SystemTime::now(),
        command: Vec::new(),
        keeper: Process::of(keeper),
        init: Process::of(init),
        disk: facts.disk,
        id_base: base,
        user: (blueprint.plan.identity.uid, blueprint.plan.identity.gid),
        home: blueprint.home.clone(),
        cwd: blueprint.cwd.clone(),
        env: blueprint.env.clone(),
        group: blueprint.group.clone(),
        levels: levels::of(facts, spec),
        layers: roots.layers.clone(),
        snapshots: roots.snapshots.clone(),
        ended: None,
        report: None,
    };
    cradle
        .launch(blueprint.plan.clone(), doors, &entrances, &held)
        .map_err(start_error)
        .and_then(|launching| {
            // Nothing has its name any more. It goes while the root is being built.
            drop(nest);
            follow(home, launching, disk, record, keep)
        })
        .inspect_err(|_| blueprint.group.remove())
}

type DiskJob<'scope> = thread::ScopedJoinHandle<'scope, Result<OwnedFd, DiskError>>;

/// Where the private disk comes from.
enum Disk<'scope> {
    /// It was ready.
    Mounted(OwnedFd),
    /// It is being made.
    Underway(DiskJob<'scope>),
    /// The sandbox makes its own.
    InMemory,
}

/// Hands the disk over when it is ready, and writes the record while the root is being built.
fn follow(
    home: &Path,
    mut launching: Launching,
    disk: Disk<'_>,
    record: impl FnOnce((u32, u32)) -> Record,
    keep: Keep,
) -> Result<ProcessSandbox, SandboxError> {
    if let Disk::Mounted(disk) = &disk {
        // A builder that is gone says why when it is asked for.
        let _gone = launching.give_disk(disk);
    }
    let record = record(launching.born().map_err(start_error)?);
    match disk {
        // The builder may be waiting for it already.
        Disk::Underway(job) if job.is_finished() => {
            hand_over(&launching, job)?;
            record.save(home)?;
        }
        Disk::Underway(job) => {
            record.save(home)?;
            hand_over(&launching, job)?;
        }
        Disk::Mounted(_) | Disk::InMemory => record.save(home)?,
    }
    let launched = launching.ready().map_err(start_error)?;
    ProcessSandbox::launched(home, record, launched, keep)
}

fn hand_over(launching: &Launching, job: DiskJob<'_>) -> Result<(), SandboxError> {
    let made =
        job.join().map_err(|_panicked| SandboxError::Invalid("the disk's maker panicked".to_owned()))?;
    let disk = made.map_err(|e| SandboxError::provider("make the private disk", e))?;
    // A builder that is gone says why when it is asked for.
    let _gone = launching.give_disk(&disk);
    Ok(())
}

/// Has a control group; the answer is what it is joined by.
fn join(group: &Group, limits: &Limits, ready: Option<ReadyGroup>) -> Result<Vec<OwnedFd>, SandboxError> {
    if let Some(doors) = ready.and_then(|ready| ready.become_group(group, limits)) {
        return Ok(doors);
    }
    group.create(limits).map_err(|e| SandboxError::provider("make the control group", e))?;
    let doors = group.doors().map_err(|e| SandboxError::provider("open the control group", e));
    doors.inspect_err(|_| group.remove())
}

fn make_disk(home: &Path, dir: &Path, spec: &SandboxSpec) -> Result<OwnedFd, DiskError> {
    let image = dir.join(IMAGE);
    let cache = home.join("cache");
    if let Some(taken) = disk::take_spare(&cache, &image, &spec.limits) {
        return Ok(taken);
    }
    disk::make_image(&cache, &image, &spec.limits)?;
    disk::mount_image(&image, ImageAccess::Write)
}

pub(super) fn start_error(error: LaunchError) -> SandboxError {
    let hint = match &error {
        LaunchError::Start(start) => start.remedy().map(|remedy| remedy.to_string()),
        LaunchError::Host { .. } | LaunchError::Silent => None,
    };
    SandboxError::Provider { doing: "start the sandbox", hint, source: error.into() }
}

/// A sandbox being made, and the marker that says so.
struct Draft {
    dir: PathBuf,
    marker: Marker,
}

impl Draft {
    fn begin(home: &Path, id: SandboxId) -> Result<Self, SandboxError> {
        let failed = |e| SandboxError::provider("make the sandbox's directory", e);
        let marker = Marker::set(home, &id.to_string())?;
        let dir = sandboxes(home).join(id.to_string());
        fs::create_dir(&dir).map_err(failed)?;
        rustix::fs::chmod(&dir, rustix::fs::Mode::from_raw_mode(0o700)).map_err(|e| failed(e.into()))?;
        Ok(Self { dir, marker })
    }

    fn finish(self) {
        self.marker.remove();
    }

    fn abandon(self) {
        // The keeper may be writing down the same end.
        let _already = changes::remove_tree(&self.dir);
        self.marker.remove();
    }
}
