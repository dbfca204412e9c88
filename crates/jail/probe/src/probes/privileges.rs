//! Privileges: none held, none to be gained by running a program.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use super::Probe;
use super::tools::{c_path, files_below, own_status};
use crate::context::Context;
use crate::report::{Attempt, Verdict};
use crate::supervise::SCRATCH;
use crate::sys::{Arg, call, call_fd};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("23-setuid", "set-uid programs give nothing", look_for_setuid),
    Probe::new("24-no-new-privs", "no program run inside can gain privileges", read_no_new_privs),
    Probe::new("25-capabilities", "no capability is held", read_capabilities),
    Probe::new("26-seccomp", "system calls are filtered", read_seccomp),
    Probe::new(
        "63-loader-and-interp",
        "(informational) a program can be run without a name",
        run_without_name,
    ),
    Probe::new("80-setuid-made-inside", "a set-uid program made inside gives nothing", make_setuid),
];

fn gains_privileges() -> bool {
    own_status("NoNewPrivs").as_deref() != Some("1")
}

fn look_for_setuid(_: &Context) -> Verdict {
    if !gains_privileges() {
        return Verdict::contained("no_new_privs is set");
    }
    let folders = ["/usr/bin", "/usr/sbin", "/usr/lib/openssh", "/usr/lib/dbus-1.0", "/usr/libexec", "/bin"];
    let files = folders.iter().flat_map(|folder| files_below(Path::new(folder), 20_000));
    let setuid = files.filter(|file| {
        fs::symlink_metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o4000 != 0)
    });
    let effective = setuid.filter(|file| !is_nosuid(file));
    Verdict::of(effective.map(|file| Attempt::through(file.display().to_string())).collect())
}

fn read_no_new_privs(_: &Context) -> Verdict {
    match own_status("NoNewPrivs") {
        Some(value) => Verdict { contained: value == "1", detail: format!("NoNewPrivs: {value}") },
        None => Verdict::unknown("/proc/self/status cannot be read"),
    }
}

fn read_capabilities(_: &Context) -> Verdict {
    let sets = ["CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd"];
    let attempts = sets.iter().map(|set| match own_status(set) {
        Some(bits) if bits.chars().all(|digit| digit == '0') => Attempt::stopped(format!("{set} is empty")),
        Some(bits) => Attempt::through(format!("{set} {bits}")),
        None => Attempt::through(format!("{set} cannot be read")),
    });
    Verdict::of(attempts.collect())
}

fn read_seccomp(_: &Context) -> Verdict {
    match own_status("Seccomp") {
        Some(mode) => Verdict { contained: mode == "2", detail: format!("Seccomp: {mode}") },
        None => Verdict::unknown("/proc/self/status cannot be read"),
    }
}

/// Deciding by a program's name is no control: it can be run from memory or by the loader. This probe only says
/// so; it can never fail.
fn run_without_name(_: &Context) -> Verdict {
    let memory = call_fd(libc::SYS_memfd_create, [Arg::Text(c"probe"), Arg::Int(0)]);
    let copied = memory.map_err(|errno| errno.to_string()).and_then(|fd| {
        let own = fs::read("/proc/self/exe").map_err(|error| error.to_string())?;
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&fd));
        fs::write(&path, own).map_err(|error| error.to_string())?;
        Command::new(&path).arg("whoami").status().map_err(|error| error.to_string())
    });
    Verdict::contained(match copied {
        Ok(_) => "a program runs from memory; judge what is done, not by which name".to_owned(),
        Err(error) => format!("a program does not run from memory: {error}"),
    })
}

/// Copies itself, sets the set-uid bit, and runs the copy.
fn make_setuid(context: &Context) -> Verdict {
    let mut attempts = Vec::new();
    for place in context.writable_places() {
        let file = place.join(format!("{SCRATCH}-setuid"));
        if fs::copy("/proc/self/exe", &file).is_err() {
            continue;
        }
        attempts.push(run_as_setuid(&file));
        _ = fs::remove_file(&file);
    }
    Verdict::of(attempts)
}

fn run_as_setuid(file: &Path) -> Attempt {
    let shown = file.display();
    if fs::set_permissions(file, fs::Permissions::from_mode(0o6755)).is_err() {
        return Attempt::stopped(format!("{shown}: the bit cannot be set"));
    }
    let kept = fs::metadata(file).is_ok_and(|metadata| metadata.mode() & 0o4000 != 0);
    let changed = Command::new(file).arg("whoami").status().is_ok_and(|status| status.code() == Some(1));
    if changed {
        return Attempt::through(format!("{shown} ran as another user"));
    }
    match kept && gains_privileges() && !is_nosuid(file) {
        true => Attempt::through(format!("{shown} would run as its owner for others")),
        false => Attempt::stopped(format!("{shown}: no effect")),
    }
}

fn is_nosuid(file: &Path) -> bool {
    const ST_NOSUID: i64 = 2;
    // struct statfs on 64-bit Linux: f_flags is the eleventh word (f_fsid counts as one).
    let mut buffer = [0; 120];
    let known = call(libc::SYS_statfs, [Arg::Text(&c_path(file)), Arg::Into(&mut buffer)]).is_ok();
    let flags =
        buffer.chunks_exact(8).nth(10).and_then(|word| word.try_into().ok()).map_or(0, i64::from_ne_bytes);
    known && flags & ST_NOSUID != 0
}
