//! What `/proc` gives away or lets one change: other processes, kernel knobs, kernel memory.

use std::fs;
use std::path::{Path, PathBuf};

use super::Probe;
use super::tools::{files_below, find_in, holds, open_for_write, read_one_byte, visible_pids};
use crate::context::{Context, Secret};
use crate::report::{Attempt, Verdict};
use crate::sys::{Arg, Errno, call};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("05-proc-root-walk", "no process's root leads out", walk_process_roots),
    Probe::new("06-proc-environ", "the environment of host processes cannot be read", read_environments),
    Probe::new("07-host-pids-visible", "host processes cannot be seen", look_for_host_processes),
    Probe::new("08-core-pattern", "the core dump helper cannot be set", open_core_pattern),
    Probe::new("09-sysrq", "the magic key cannot be pressed", open_sysrq),
    Probe::new("10-kernel-memory", "kernel and physical memory cannot be read", read_kernel_memory),
    Probe::new("12-kallsyms", "kernel addresses stay hidden", read_kernel_addresses),
    Probe::new("54-core-dump-pipe", "a crash writes no core and starts no host helper", dump_core),
    Probe::new("76-proc-sys-write", "no sysctl opens for writing", open_sysctls),
];

fn walk_process_roots(context: &Context) -> Verdict {
    let inside = context.canary_file.strip_prefix("/").unwrap_or(&context.canary_file);
    let secret = context.secret(Secret::File);
    let mut roots: Vec<PathBuf> = ["self/root", "thread-self/root", "self/task/../root"]
        .iter()
        .map(|name| Path::new("/proc").join(name))
        .collect();
    for pid in visible_pids() {
        roots.push(format!("/proc/{pid}/root").into());
        roots.push(format!("/proc/{pid}/cwd/{}", "../".repeat(40)).into());
    }
    Verdict::of(roots.iter().map(|root| find_in(&root.join(inside), &secret)).collect())
}

fn read_environments(context: &Context) -> Verdict {
    scan_processes("environ", &context.secret(Secret::ProcessEnvironment))
}

fn look_for_host_processes(context: &Context) -> Verdict {
    scan_processes("cmdline", &context.secret(Secret::Argument))
}

fn scan_processes(file: &str, secret: &str) -> Verdict {
    let pids = visible_pids();
    for pid in &pids {
        let path = PathBuf::from(format!("/proc/{pid}/{file}"));
        if holds(&path, secret) == Ok(true) {
            return Verdict::escaped(format!("{} is the host's canary", path.display()));
        }
    }
    Verdict::contained(format!("{} processes seen, none of the host", pids.len()))
}

fn open_core_pattern(_: &Context) -> Verdict {
    let knobs = ["core_pattern", "modprobe", "hotplug", "poweroff_cmd", "usermodehelper/bset"];
    let paths = knobs.iter().map(|knob| Path::new("/proc/sys/kernel").join(knob));
    Verdict::of(paths.map(|path| open_for_write(&path)).collect())
}

fn open_sysrq(_: &Context) -> Verdict {
    let paths = ["/proc/sysrq-trigger", "/proc/sys/kernel/sysrq"];
    Verdict::of(paths.iter().map(|path| open_for_write(Path::new(path))).collect())
}

fn read_kernel_memory(_: &Context) -> Verdict {
    let paths = ["/proc/kcore", "/proc/vmcore", "/proc/kpagecount", "/dev/mem", "/dev/kmem", "/dev/port"];
    Verdict::of(paths.iter().map(|path| read_one_byte(Path::new(path))).collect())
}

fn read_kernel_addresses(_: &Context) -> Verdict {
    let mut attempts = Vec::new();
    for file in ["/proc/kallsyms", "/proc/modules", "/proc/timer_list"] {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                attempts.push(Attempt::stopped(format!("read {file}: {}", Errno::of(&error))));
                continue;
            }
        };
        // A hidden address is printed as zeroes; a real one lies in the upper half.
        let words = text.split_whitespace().map(|word| word.trim_start_matches("0x"));
        let shown = words.into_iter().any(|word| word.len() == 16 && word.starts_with("ffff"));
        attempts.push(match shown {
            true => Attempt::through(format!("{file} shows kernel addresses")),
            false => Attempt::stopped(format!("{file} shows no kernel address")),
        });
    }
    Verdict::of(attempts)
}

fn dump_core(_: &Context) -> Verdict {
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let mut old = [0; 16];
    let resource = Arg::Int(libc::RLIMIT_CORE.into());
    if let Err(errno) = call(libc::SYS_prlimit64, [Arg::Int(0), resource, Arg::Null, Arg::Into(&mut old)]) {
        return Verdict::unknown(format!("prlimit: {errno}"));
    }
    let [_soft @ .., h0, h1, h2, h3, h4, h5, h6, h7] = old;
    // The soft limit may be raised to the hard one, so only the hard one binds.
    let hard = u64::from_ne_bytes([h0, h1, h2, h3, h4, h5, h6, h7]);
    let detail = format!("hard RLIMIT_CORE is {hard}, core_pattern {:?}", pattern.trim());
    Verdict { contained: hard == 0, detail }
}

fn open_sysctls(_: &Context) -> Verdict {
    let files = files_below(Path::new("/proc/sys"), 20_000);
    let open: Vec<Attempt> =
        files.iter().map(|file| open_for_write(file)).filter(Attempt::is_through).collect();
    if open.is_empty() {
        return Verdict::contained(format!("{} sysctls tried", files.len()));
    }
    Verdict::of(open)
}
