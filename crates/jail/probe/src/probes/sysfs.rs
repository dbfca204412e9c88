//! `/sys` and the cgroup file system: no knob of the host or of the sandbox's own limits can be turned.

use std::path::{Path, PathBuf};

use super::Probe;
use super::mounts::in_private_mounts;
use super::tools::{c_path, files_below, open_for_write};
use crate::context::Context;
use crate::report::{Attempt, Verdict};
use crate::sys::{Arg, call};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("13-sysfs-write", "the host's device events start no helper of ours", open_event_helpers),
    Probe::new("14-release-agent", "no cgroup runs a program on the host", open_release_agent),
    Probe::new("15-cgroup-self-limits", "the sandbox cannot change its own limits", open_own_limits),
    Probe::new("77-sys-write", "nothing under /sys opens for writing", open_everything),
];

fn open_event_helpers(_: &Context) -> Verdict {
    let knobs =
        ["kernel/uevent_helper", "kernel/uevent_seqnum", "kernel/profiling", "kernel/kexec_crash_size"];
    let more = ["power/state", "module/kernel/parameters/panic", "kernel/debug/tracing/trace_marker"];
    let paths = knobs.iter().chain(&more).map(|knob| Path::new("/sys").join(knob));
    Verdict::of(paths.map(|path| open_for_write(&path)).collect())
}

/// Looks for a `release_agent` in what is mounted, then in a version 1 hierarchy it mounts itself, also from a
/// user namespace of its own (CVE-2022-0492).
fn open_release_agent(_: &Context) -> Verdict {
    let mut attempts: Vec<Attempt> = files_below(Path::new("/sys/fs/cgroup"), 20_000)
        .iter()
        .filter(|file| file.ends_with("release_agent"))
        .map(|file| open_for_write(file))
        .collect();
    for controller in [c"memory", c"rdma", c"pids", c"freezer", c"devices"] {
        let what = format!("cgroup v1 {}", controller.to_string_lossy());
        attempts.push(in_private_mounts(&what, |target| {
            let place = c_path(target);
            let flags = Arg::Int(0);
            let mounted = call(
                libc::SYS_mount,
                [Arg::Text(c"cgroup"), Arg::Text(&place), Arg::Text(c"cgroup"), flags, Arg::Text(controller)],
            );
            mounted.map_err(|errno| format!("mount: {errno}"))?;
            let attempt = open_for_write(&target.join("release_agent"));
            if attempt.is_through() {
                Ok("release_agent opens".into())
            } else {
                Err("release_agent is closed".into())
            }
        }));
    }
    Verdict::of(attempts)
}

fn open_own_limits(_: &Context) -> Verdict {
    let names = [
        "memory.max",
        "memory.limit_in_bytes",
        "pids.max",
        "cpu.max",
        "cpu.cfs_quota_us",
        "cgroup.procs",
        "cgroup.freeze",
        "cgroup.subtree_control",
        "tasks",
    ];
    let limit = |file: &&PathBuf| names.iter().any(|name| file.ends_with(name));
    let files = files_below(Path::new("/sys/fs/cgroup"), 20_000);
    Verdict::of(files.iter().filter(limit).map(|file| open_for_write(file)).collect())
}

fn open_everything(_: &Context) -> Verdict {
    let files = files_below(Path::new("/sys"), 60_000);
    let open: Vec<Attempt> =
        files.iter().map(|file| open_for_write(file)).filter(Attempt::is_through).collect();
    if open.is_empty() {
        return Verdict::contained(format!("{} files tried", files.len()));
    }
    Verdict::of(open)
}
