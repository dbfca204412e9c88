//! Which promises hold on this host, and by what. Written into every record, so that nobody has to guess later.

use belljar_domain::{Limits, NetworkMode, SandboxSpec};
use belljar_jail::cgroup::Controller;
use belljar_ports::Level;

use super::facts::HostFacts;

/// Lists every promise of a sandbox with these facts.
pub(super) fn of(facts: &HostFacts, spec: &SandboxSpec) -> Vec<Level> {
    let identity =
        if facts.root { "own range of user ids" } else { "the caller's own user id, in a user namespace" };
    let filesystem = "private mount namespace, copy-on-write workspace, masked /proc";
    let network = match spec.network {
        NetworkMode::None | NetworkMode::Allowlist => level("network", true, "empty network namespace"),
        NetworkMode::Open => level("network", false, "asked for: the host's network"),
    };
    let landlock = match facts.landlock {
        0 | 1 => level("landlock", false, "this kernel has no usable Landlock (needs 5.19)"),
        version => level("landlock", true, &format!("ABI {version}")),
    };
    let mut all = vec![
        level("filesystem", true, filesystem),
        level("identity", true, identity),
        network,
        level("seccomp", true, "system-call filter"),
        landlock,
    ];
    all.extend(limits(facts, &spec.limits));
    all
}

fn limits(facts: &HostFacts, limits: &Limits) -> Vec<Level> {
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    vec![
        controlled(facts, Controller::Memory, "memory", "only per process (RLIMIT_DATA)"),
        controlled(facts, Controller::Cpu, "cpus", "not throttled"),
        match facts.controls(Controller::Pids) {
            true => level("pids", true, "control group"),
            false => level("pids", true, "RLIMIT_NPROC of the sandbox's user namespace"),
        },
        level("disk", true, facts.disk.describe()),
        level("inodes", true, facts.disk.describe()),
        match hard {
            Some(hard) if hard < limits.open_files => {
                level("open_files", true, &format!("RLIMIT_NOFILE, the host's own {hard}"))
            }
            Some(_) | None => level("open_files", true, "RLIMIT_NOFILE"),
        },
    ]
}

fn controlled(facts: &HostFacts, controller: Controller, promise: &str, otherwise: &str) -> Level {
    if facts.controls(controller) {
        return level(promise, true, "control group");
    }
    level(
        promise,
        false,
        &format!("{otherwise}: no control group is delegated to this user, see `belljar doctor`"),
    )
}

fn level(promise: &str, enforced: bool, by: &str) -> Level {
    Level { promise: promise.to_owned(), enforced, by: by.to_owned() }
}
