//! From what is asked for and what the host is to a plan: a pure step between two sets of facts, so that it can be
//! printed (`belljar run --plan`) and compared in tests.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use belljar_domain::{MountMode, NetworkMode, Profile, SandboxId, SandboxSpec};
use belljar_jail::{
    Prelude,
    cgroup::{Controller, Group},
    disk::{self, DiskKind},
    landlock,
    plan::{Access, Disk, IdMap, Identity, Life, Lockdown, Network, Plan, Rlimit, Step},
    seccomp,
};
use belljar_ports::SandboxError;

use super::{environment, facts::HostFacts, network_files, quotas, toolchain, workspace};

/// What a template contributes, once resolved.
#[derive(Debug, Clone, Default)]
pub(super) struct Roots {
    /// Host directories that make up the root, topmost first; empty for the `host` template.
    pub layers: Vec<PathBuf>,
    /// Snapshot directories to start from, newest first.
    pub snapshots: Vec<PathBuf>,
    /// Environment the template asks for.
    pub env: BTreeMap<String, String>,
    /// Where the template's commands start.
    pub workdir: Option<String>,
    /// The directory lent as `/etc` with the `host` template.
    pub etc: Option<PathBuf>,
}

/// A plan with what belongs to it on the host's side.
#[derive(Debug)]
pub(super) struct Blueprint {
    /// The plan itself.
    pub plan: Plan,
    /// The control group to make.
    pub group: Group,
    /// Environment of every command.
    pub env: BTreeMap<String, String>,
    /// Where commands start.
    pub cwd: String,
    /// The sandbox user's home inside.
    pub home: PathBuf,
}

/// How many ids a sandbox has as root.
pub(super) const ID_COUNT: u32 = 65_536;

/// What the keeper must know to make the namespaces.
pub(super) fn prelude(facts: &HostFacts, spec: &SandboxSpec, base: u32) -> Prelude {
    let map = if facts.root {
        IdMap::Range { base, count: ID_COUNT }
    } else {
        IdMap::Single { uid: facts.uid, gid: facts.gid }
    };
    let network = match spec.network {
        NetworkMode::Open => Network::Host,
        NetworkMode::None | NetworkMode::Allowlist => Network::Loopback,
    };
    Prelude { map, network }
}

/// Draws the plan. `base` is the first host id of the sandbox's own range, used as root only.
///
/// # Errors
/// When the workspace or a mount cannot be shown, or the network mode is not to be had.
pub(super) fn draw(
    facts: &HostFacts,
    id: SandboxId,
    spec: &SandboxSpec,
    roots: &Roots,
    state_dir: &Path,
    base: u32,
) -> Result<Blueprint, SandboxError> {
    let user = User::of(facts, spec);
    let group = Group::named(&facts.cgroups, &format!("belljar-{id}"));
    let sketch = Sketch { facts, spec, roots, user: &user, state_dir };
    let id_text = id.to_string();
    let env = if roots.layers.is_empty() {
        environment::for_host(facts, &user.name, &id_text)
    } else {
        environment::for_template(facts, &user.name, &user.home, &id_text, &roots.env)
    };
    let steps = sketch.steps()?;
    let Prelude { map, network } = prelude(facts, spec, base);
    let plan = Plan {
        hostname: format!("sandbox-{}", id.short()),
        identity: Identity { uid: user.uid, gid: user.gid, map },
        network,
        stage: stage(state_dir),
        disk: match facts.disk {
            DiskKind::Image => Disk::Passed,
            DiskKind::Tmpfs => Disk::Tmpfs { size: spec.limits.disk.as_bytes(), inodes: spec.limits.inodes },
        },
        lockdown: Lockdown {
            rlimits: sketch.rlimits(),
            quotas: quotas::for_sandbox(),
            landlock: landlock::rules(facts.landlock, &sketch.writable()),
            seccomp: seccomp::compile(),
        },
        life: Life {
            ttl_ms: spec.clocks.ttl.as_millis(),
            idle_ms: spec.clocks.idle.as_millis(),
            cgroup_dirs: group.dirs().iter().map(|dir| text(dir)).collect(),
            thaw: group.thaw().map(|(file, word)| (text(&file), word)),
            state_dir: text(state_dir),
            disk_in_memory: facts.disk == DiskKind::Tmpfs,
            spare_disk: (facts.disk == DiskKind::Image).then(|| spare_disk(state_dir, spec)),
        },
        cgroups: u32::try_from(group.dirs().len()).unwrap_or(0),
        steps,
    };
    let cwd = spec.workspace.as_ref().map(|path| text(path.as_path()));
    let cwd = cwd.or_else(|| roots.workdir.clone()).unwrap_or_else(|| text(&user.home));
    let mut env = env;
    env.extend(spec.env.iter().map(|(name, value)| (name.clone(), value.clone())));
    Ok(Blueprint { plan, group, env, cwd, home: user.home })
}

/// Any directory that is there for all sandboxes alike, so that a part of the root can be built before there is one.
fn stage(state_dir: &Path) -> String {
    text(&super::making(state_dir.ancestors().nth(2).unwrap_or(state_dir)))
}

fn spare_disk(state_dir: &Path, spec: &SandboxSpec) -> (String, String) {
    let cache = state_dir.ancestors().nth(2).unwrap_or(state_dir).join("cache");
    (text(&disk::blank(&cache, &spec.limits)), text(&disk::spare(&cache, &spec.limits)))
}

/// Who the sandbox's user is: the owner of the workspace when root runs belljar, else the caller.
pub(super) struct User {
    uid: u32,
    gid: u32,
    name: String,
    home: PathBuf,
}

impl User {
    pub(super) fn of(facts: &HostFacts, spec: &SandboxSpec) -> Self {
        let caller =
            || Self { uid: facts.uid, gid: facts.gid, name: facts.user.clone(), home: facts.home.clone() };
        let Some(workspace) = spec.workspace.as_ref().filter(|_| facts.root) else { return caller() };
        match super::facts::owner(workspace.as_path()) {
            Ok((uid, gid)) if uid != facts.uid && uid < ID_COUNT && gid < ID_COUNT => {
                let (name, home) =
                    super::facts::account(uid).unwrap_or_else(|| (uid.to_string(), facts.home.clone()));
                Self { uid, gid, name, home }
            }
            Ok(_) | Err(_) => caller(),
        }
    }
}

/// The files of `/etc` that are written for this user and network.
pub(super) fn written_files(spec: &SandboxSpec, user: &User, host: bool) -> Vec<Step> {
    let account =
        network_files::Account { name: &user.name, id: (user.uid, user.gid), home: &user.home, host };
    let mut steps = network_files::steps(spec.network, &account);
    let asked = spec.etc.iter().map(|(name, text)| (format!("/etc/{name}"), text.clone()));
    steps.extend(asked.map(|(at, text)| Step::File { at, text }));
    steps
}

struct Sketch<'a> {
    facts: &'a HostFacts,
    spec: &'a SandboxSpec,
    roots: &'a Roots,
    user: &'a User,
    state_dir: &'a Path,
}

/// Files of `/proc` that tell about the host or act on it.
const MASKED: [&str; 13] = [
    "/proc/acpi",
    "/proc/asound",
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/key-users",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/latency_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/sysrq-trigger",
    "/proc/timer_list",
    "/proc/timer_stats",
];
const FROZEN: [&str; 4] = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys"];
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
const DEVICE_LINKS: [(&str, &str); 5] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/ptmx", "pts/ptmx"),
];
/// Shared memory is memory: small, and counted against the memory limit.
const SHM_BYTES: u64 = 64 << 20;

impl Sketch<'_> {
    fn steps(&self) -> Result<Vec<Step>, SandboxError> {
        let mut steps = self.root();
        match &self.roots.etc {
            Some(etc) => {
                steps.push(Step::Bind { from: text(etc), at: "/etc".to_owned(), access: Access::Read });
            }
            None => steps.extend(written_files(self.spec, self.user, self.roots.layers.is_empty())),
        }
        steps.extend(devices());
        steps.push(Step::Proc);
        steps.extend(MASKED.map(|at| Step::Mask { at: at.to_owned() }));
        steps.extend(FROZEN.map(|at| Step::Freeze { at: at.to_owned() }));
        if self.roots.layers.is_empty() {
            steps.push(self.private("/tmp", "tmp", 0o1777));
            steps.push(Step::Link { at: "/var/tmp".to_owned(), to: "../tmp".to_owned() });
            steps.push(self.private(&text(&self.user.home), "home", 0o700));
            steps.extend(toolchain::home_steps(&self.facts.home, self.spec.network));
        }
        if let Some(path) = &self.spec.workspace {
            workspace::check(path.as_path(), &self.user.home)?;
            steps.push(self.cow(vec![text(path.as_path())], &text(path.as_path()), workspace::PART));
            // Whatever belljar keeps inside the workspace is not the sandbox's to see.
            if let Some(home) = self.state_dir.ancestors().nth(2)
                && home.starts_with(path.as_path())
            {
                steps.push(Step::Mask { at: text(home) });
            }
        }
        for mount in &self.spec.mounts {
            steps.push(Step::Bind {
                from: text(mount.host.as_path()),
                at: text(mount.sandbox.as_path()),
                access: match mount.mode {
                    MountMode::Ro => Access::Read,
                    MountMode::Rw => Access::Write,
                },
            });
        }
        if self.roots.layers.is_empty() {
            steps.push(Step::Freeze { at: "/".to_owned() });
        }
        Ok(steps)
    }

    fn root(&self) -> Vec<Step> {
        if self.roots.layers.is_empty() {
            let mut steps = vec![Step::Skeleton];
            steps.extend(toolchain::steps(self.spec.profile));
            steps.push(Step::Dir { at: "/sys".to_owned(), mode: 0o555 });
            steps.push(Step::Tmpfs { at: "/run".to_owned(), size: 16 << 20, inodes: 1024, mode: 0o1777 });
            return steps;
        }
        let mut lowers: Vec<_> =
            self.roots.snapshots.iter().map(|dir| dir.join("root")).filter(|d| d.is_dir()).collect();
        lowers.extend(self.roots.layers.iter().cloned());
        vec![Step::Layers { lowers: lowers.iter().map(|dir| text(dir)).collect() }]
    }

    /// An empty private directory, or what a snapshot left of it.
    fn private(&self, at: &str, name: &str, mode: u32) -> Step {
        match self.cow(Vec::new(), at, name) {
            Step::Cow { lowers, .. } if lowers.is_empty() => {
                Step::Private { at: at.to_owned(), name: name.to_owned(), mode }
            }
            cow => cow,
        }
    }

    fn cow(&self, below: Vec<String>, at: &str, name: &str) -> Step {
        let snapshots = self.roots.snapshots.iter().map(|dir| dir.join(name)).filter(|dir| dir.is_dir());
        let lowers = snapshots.map(|dir| text(&dir)).chain(below).collect();
        Step::Cow { lowers, at: at.to_owned(), name: name.to_owned() }
    }

    fn rlimits(&self) -> Vec<Rlimit> {
        let limits = &self.spec.limits;
        let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
        let open_files = hard.map_or(limits.open_files, |hard| limits.open_files.min(hard));
        let mut all = vec![
            Rlimit { resource: RLIMIT_NOFILE, limit: open_files },
            // A core dump may be piped to a program of the host's.
            Rlimit { resource: RLIMIT_CORE, limit: 0 },
        ];
        if !self.facts.controls(Controller::Pids) {
            all.push(Rlimit { resource: RLIMIT_NPROC, limit: u64::from(limits.pids) });
        }
        if !self.facts.controls(Controller::Memory) {
            all.push(Rlimit { resource: RLIMIT_DATA, limit: limits.memory.as_bytes() });
        }
        all
    }

    /// Paths inside that can be written, for Landlock.
    fn writable(&self) -> Vec<String> {
        if !self.roots.layers.is_empty() || self.spec.profile == Profile::Permissive {
            return vec!["/".to_owned()];
        }
        let fixed = ["/tmp", "/run", "/dev/shm"].map(str::to_owned);
        let mut all: Vec<_> = fixed.into_iter().chain([text(&self.user.home)]).collect();
        all.extend(self.spec.workspace.iter().map(|path| text(path.as_path())));
        let lent = self.spec.mounts.iter().filter(|mount| mount.mode == MountMode::Rw);
        all.extend(lent.map(|mount| text(mount.sandbox.as_path())));
        all
    }
}

// The kernel's numbers, the same on x86-64 and arm64.
const RLIMIT_DATA: u32 = 2;
const RLIMIT_CORE: u32 = 4;
const RLIMIT_NPROC: u32 = 6;
const RLIMIT_NOFILE: u32 = 7;

fn devices() -> Vec<Step> {
    let mut steps = vec![Step::Tmpfs { at: "/dev".to_owned(), size: 1 << 16, inodes: 64, mode: 0o755 }];
    steps.extend(DEVICES.map(|at| Step::Device { at: at.to_owned() }));
    steps.extend(DEVICE_LINKS.map(|(at, to)| Step::Link { at: at.to_owned(), to: to.to_owned() }));
    steps.push(Step::Terminals);
    steps.push(Step::Tmpfs { at: "/dev/shm".to_owned(), size: SHM_BYTES, inodes: 4096, mode: 0o1777 });
    steps
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
