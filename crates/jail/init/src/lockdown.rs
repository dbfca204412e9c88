//! Giving up every power, in the one order that works: what needs privilege first, the filter last.

use belljar_init::{
    plan::{IdMap, Identity, Landlock, Network, Plan, Quota},
    wire::Stage,
};

use crate::{
    At, Broken,
    sys::{self, EINVAL, ENOENT, Fd, HERE, O_PATH, O_WRONLY},
};

const PR_SET_DUMPABLE: u32 = 4;
const PR_SET_PDEATHSIG: u32 = 1;
const PR_SET_KEEPCAPS: u32 = 8;
const PR_CAPBSET_DROP: u32 = 24;
const PR_SET_NO_NEW_PRIVS: u32 = 38;
const PR_CAP_AMBIENT: u32 = 47;
const PR_CAP_AMBIENT_CLEAR_ALL: usize = 4;
const LAST_CAPABILITY: usize = 63;

const CAP_KILL: u64 = 1 << 5;
const CAP_SETGID: u64 = 1 << 6;
const CAP_SETUID: u64 = 1 << 7;

/// Makes the caller the sandbox's user in a namespace made without privilege.
pub(crate) fn map_self(identity: &Identity) -> Result<(), Broken> {
    let IdMap::Single { uid, gid } = identity.map else { return Ok(()) };
    let line = |inside: u32, outside: u32| {
        sys::join(&[&sys::decimal(u64::from(inside)), " ", &sys::decimal(u64::from(outside)), " 1\n"])
    };
    // Without this an unprivileged process may not map groups: it could drop one that denies it something.
    sys::put("/proc/self/setgroups", "deny").at(Stage::IdMap, "setgroups")?;
    sys::put("/proc/self/uid_map", &line(identity.uid, uid)).at(Stage::IdMap, "uid_map")?;
    sys::put("/proc/self/gid_map", &line(identity.gid, gid)).at(Stage::IdMap, "gid_map")
}

/// Gives up everything but what PID 1 needs to start commands as the sandbox's users.
pub(crate) fn apply(plan: &Plan, userns: Option<&Fd>, proc: Option<Fd>) -> Result<(), Broken> {
    sys::setsid();
    sys::sethostname(&plan.hostname).at(Stage::Hostname, &plan.hostname)?;
    if plan.network == Network::Loopback {
        sys::loopback_up().at(Stage::Loopback, "lo")?;
    }
    // Also without a group of its own: the path of its group tells how the host is run.
    match sys::unshare(sys::NEWCGROUP) {
        // A kernel without control groups.
        Err(EINVAL) if plan.cgroups == 0 => {}
        other => other.at(Stage::Cgroup, "namespace")?,
    }
    // Kernels built without keyrings have no keys to hide.
    match sys::join_new_keyring() {
        Err(error) if error.0 == 38 => {}
        other => other.at(Stage::Keyring, "session keyring")?,
    }
    let kept = take_identity(&plan.identity, userns, || set_quotas(&plan.lockdown.quotas, proc))?;
    for limit in &plan.lockdown.rlimits {
        sys::set_rlimit(limit.resource, limit.limit)
            .at(Stage::Rlimit, &sys::decimal(u64::from(limit.resource)))?;
    }
    drop_capabilities(kept).at(Stage::Capabilities, "")?;
    sys::prctl(PR_SET_NO_NEW_PRIVS, 1).at(Stage::Capabilities, "no_new_privs")?;
    if let Some(landlock) = &plan.lockdown.landlock {
        restrict_files(landlock)?;
    }
    // After the last change of credentials, which would clear both: die with the keeper, be nobody's to trace.
    sys::prctl(PR_SET_PDEATHSIG, sys::reg(sys::SIGKILL)).at(Stage::Identity, "parent death signal")?;
    sys::prctl(PR_SET_DUMPABLE, 0).at(Stage::Identity, "dumpable")?;
    sys::install_seccomp(&plan.lockdown.seccomp).at(Stage::Seccomp, "")
}

/// Becomes the sandbox's user; the answer is the capabilities PID 1 keeps over the sandbox's own ids. `as_root` is done
/// in the sandbox's user namespace while this process has every power there.
fn take_identity(
    identity: &Identity,
    userns: Option<&Fd>,
    as_root: impl FnOnce() -> Result<(), Broken>,
) -> Result<u64, Broken> {
    let Some(userns) = userns else { return as_root().map(|()| 0) };
    sys::setns(userns).at(Stage::UserNamespace, "enter")?;
    as_root()?;
    sys::prctl(PR_SET_KEEPCAPS, 1).at(Stage::Identity, "keep capabilities")?;
    sys::set_groups(&[]).at(Stage::Identity, "groups")?;
    sys::become_user(identity.uid, identity.gid).at(Stage::Identity, "user")?;
    Ok(CAP_KILL | CAP_SETGID | CAP_SETUID)
}

/// Lowers what users of this namespace may have. The kernel charges the objects of a namespace to its owner as well,
/// so without this a sandbox uses up what belongs to whoever started it.
fn set_quotas(quotas: &[Quota], proc: Option<Fd>) -> Result<(), Broken> {
    let Some(proc) = proc else { return Ok(()) };
    for Quota { name, limit } in quotas {
        match sys::open(proc.0, &sys::join(&["sys/user/", name]), O_WRONLY, 0) {
            Err(ENOENT) => {}
            Err(error) => return Err(error).at(Stage::Quota, name),
            Ok(file) => {
                sys::write(file.0, sys::decimal(*limit).as_bytes()).at(Stage::Quota, name)?;
            }
        }
    }
    Ok(())
}

/// Empties the bounding set, so that no program started here can ever gain what is dropped, then keeps `bits`.
fn drop_capabilities(bits: u64) -> sys::Sys<()> {
    for capability in 0..=LAST_CAPABILITY {
        // Beyond the kernel's last capability it answers EINVAL.
        if sys::prctl(PR_CAPBSET_DROP, capability).is_err() {
            break;
        }
    }
    let _old_kernels = sys::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
    sys::set_capabilities(bits)
}

fn restrict_files(landlock: &Landlock) -> Result<(), Broken> {
    let ruleset = sys::landlock_ruleset(landlock.handled, landlock.scoped).at(Stage::Landlock, "ruleset")?;
    for rule in &landlock.rules {
        if let Ok(below) = sys::open(HERE, &rule.at, O_PATH, 0) {
            sys::landlock_allow(&ruleset, &below, rule.allow).at(Stage::Landlock, &rule.at)?;
        }
    }
    sys::landlock_enforce(&ruleset).at(Stage::Landlock, "enforce")
}
