//! The sandbox's own process 1: its memory, descriptors, environment and program are closed to the rest.
//!
//! Whoever owns process 1 owns what it holds: a root it has not left, a socket to the supervisor, the program
//! the host will run next time (CVE-2019-5736).

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::Probe;
use super::processes::trace;
use super::tools::{find_in, namespaces_of};
use crate::context::{Context, Secret};
use crate::report::{Attempt, Verdict};
use crate::sys::{Arg, Errno, call};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("71-init-memory", "process 1 cannot be traced, read or written", trace_init),
    Probe::new("72-init-environ", "process 1 carries no secret in its environment", read_init_environment),
    Probe::new("73-init-descriptors", "process 1's descriptors cannot be opened", open_init_descriptors),
    Probe::new("74-init-exe-write", "process 1's program cannot be written", write_init_program),
    Probe::new("75-init-survives", "process 1 cannot be killed from inside", kill_init),
    Probe::new("91-init-root", "process 1 has the same root and namespaces as the rest", compare_with_init),
];

fn trace_init(_: &Context) -> Verdict {
    Verdict::of(trace(1))
}

fn read_init_environment(context: &Context) -> Verdict {
    Verdict::of(vec![find_in(Path::new("/proc/1/environ"), &context.secret(Secret::Environment))])
}

/// Opens what process 1 holds through `/proc/1/fd`. Pipes, sockets and null devices lead nowhere.
fn open_init_descriptors(_: &Context) -> Verdict {
    let folder = match fs::read_dir("/proc/1/fd") {
        Ok(folder) => folder,
        Err(error) => return Verdict::contained(format!("list: {}", Errno::of(&error))),
    };
    let mut attempts = Vec::new();
    for link in folder.flatten().map(|entry| entry.path()) {
        let target = fs::read_link(&link).unwrap_or_default();
        let harmless = ["/dev/null", "pipe:", "socket:", "/dev/pts", "/dev/tty"];
        if harmless.iter().any(|name| target.to_string_lossy().starts_with(name)) {
            continue;
        }
        let opened =
            OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(&link);
        attempts.push(Attempt::judge(&format!("open {}", target.display()), opened.map_err(Errno::from)));
    }
    Verdict::of(attempts)
}

/// A program that runs cannot be opened for writing (ETXTBSY), but who gets that answer only has to wait.
fn write_init_program(_: &Context) -> Verdict {
    let program = Path::new("/proc/1/exe");
    let mut attempts = vec![judge_write("/proc/1/exe", program)];
    // The way of the exploit: hold it by O_PATH, then open it again through our own descriptor.
    if let Ok(held) = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(program) {
        let again = format!("/proc/self/fd/{}", held.as_raw_fd());
        attempts.push(judge_write("/proc/1/exe by descriptor", Path::new(&again)));
    }
    Verdict::of(attempts)
}

fn judge_write(what: &str, path: &Path) -> Attempt {
    match OpenOptions::new().write(true).open(path).map_err(Errno::from) {
        Ok(_) => Attempt::through(format!("{what}: opens for writing")),
        Err(Errno(libc::ETXTBSY)) => Attempt::through(format!("{what}: writable once it ends")),
        Err(errno) => Attempt::stopped(format!("{what}: {errno}")),
    }
}

/// In a pid namespace of its own, process 1 gets no signal it did not ask for (`pid_namespaces(7)`). Without one it
/// is the host's, and is left alone.
fn kill_init(context: &Context) -> Verdict {
    if namespaces_of("self").get("pid") == context.namespaces.get("pid") {
        return Verdict::escaped("process 1 is the host's");
    }
    for signal in [libc::SIGKILL, libc::SIGSTOP] {
        _ = call(libc::SYS_kill, [Arg::Int(1), Arg::Int(signal.into())]);
    }
    // Were it dead, so would be this process: the kernel ends the namespace with it.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let status = fs::read_to_string("/proc/1/status").unwrap_or_default();
    let stopped = status.lines().any(|line| line.starts_with("State:") && line.contains("stopped"));
    Verdict { contained: !stopped, detail: "SIGKILL and SIGSTOP sent, still here".to_owned() }
}

fn compare_with_init(_: &Context) -> Verdict {
    let (own, init) = (namespaces_of("self"), namespaces_of("1"));
    let mut attempts: Vec<Attempt> = init
        .iter()
        .filter(|(name, number)| own.get(*name) != Some(number))
        .map(|(name, _)| Attempt::through(format!("process 1 has another {name} namespace, and shows it")))
        .collect();
    let place = |path| File::open(path).and_then(|root| root.metadata()).map(|data| (data.dev(), data.ino()));
    match (place("/"), place("/proc/1/root/")) {
        (Ok(own), Ok(other)) if own != other => {
            attempts.push(Attempt::through("process 1's root is another"));
        }
        (_, Ok(_)) => attempts.push(Attempt::stopped("process 1's root is ours")),
        (_, Err(error)) => attempts.push(Attempt::stopped(format!("open its root: {}", Errno::of(&error)))),
    }
    Verdict::of(attempts)
}
