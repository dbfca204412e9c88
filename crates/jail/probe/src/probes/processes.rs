//! The host's processes: not traced, not read, not signalled.

use std::path::PathBuf;

use super::Probe;
use super::tools::{alone, holds};
use crate::context::{Context, Secret};
use crate::report::{Attempt, Verdict};
use crate::sys::{Arg, Errno, call, call_fd};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("27-ptrace-host", "host processes cannot be traced or read", trace_canary),
    Probe::new("28-signal-host", "host processes cannot be signalled", signal_canary),
];

/// Attaches without stopping the target; the kernel detaches when the child that did it ends.
pub(super) fn trace(pid: i32) -> Vec<Attempt> {
    let target = i64::from(pid);
    vec![
        alone("ptrace", || {
            const PTRACE_SEIZE: i64 = 0x4206;
            judge(call(libc::SYS_ptrace, [Arg::Int(PTRACE_SEIZE), Arg::Int(target), Arg::Null, Arg::Null]))
        }),
        alone("pidfd_getfd", || {
            let process = call_fd(libc::SYS_pidfd_open, [Arg::Int(target), Arg::Int(0)]);
            let process = process.map_err(|errno| format!("pidfd_open: {errno}"))?;
            let process = Arg::Int(std::os::fd::AsRawFd::as_raw_fd(&process).into());
            judge(call(libc::SYS_pidfd_getfd, [process, Arg::Int(0), Arg::Int(0)]))
        }),
        // One byte at an address nobody maps: EFAULT comes after the check of rights.
        alone("process_vm_readv", || {
            let mut byte = [0_u8; 1];
            let local = [byte.as_mut_ptr().expose_provenance(), 1].map(usize::to_ne_bytes).concat();
            let remote = [4096_usize, 1].map(usize::to_ne_bytes).concat();
            let (local, remote) = (Arg::Bytes(&local), Arg::Bytes(&remote));
            let one = || Arg::Int(1);
            match call(
                libc::SYS_process_vm_readv,
                [Arg::Int(target), local, one(), remote, one(), Arg::Int(0)],
            ) {
                Err(Errno(libc::EFAULT)) => Ok("allowed".into()),
                other => judge(other),
            }
        }),
        Attempt::judge(
            "open memory",
            std::fs::OpenOptions::new()
                .read(true)
                .write(true)
                .open(format!("/proc/{pid}/mem"))
                .map_err(Errno::from),
        ),
    ]
}

fn trace_canary(context: &Context) -> Verdict {
    unless_stranger(context).unwrap_or_else(|| Verdict::of(trace(context.canary_pid)))
}

fn signal_canary(context: &Context) -> Verdict {
    let pid = i64::from(context.canary_pid);
    unless_stranger(context).unwrap_or_else(|| {
        let by_group = call(libc::SYS_kill, [Arg::Int(-pid), Arg::Int(0)]);
        Verdict::of(vec![
            Attempt::judge("kill", call(libc::SYS_kill, [Arg::Int(pid), Arg::Int(0)])),
            Attempt::judge("kill group", by_group),
        ])
    })
}

/// The canary's number may belong to a process of our own in here; then the canary is out of reach.
fn unless_stranger(context: &Context) -> Option<Verdict> {
    let pid = context.canary_pid;
    let command = PathBuf::from(format!("/proc/{pid}/cmdline"));
    let stranger = holds(&command, &context.secret(Secret::Argument)) == Ok(false);
    stranger.then(|| Verdict::contained(format!("process {pid} here is not the host's")))
}

fn judge(result: Result<i64, Errno>) -> Result<String, String> {
    result.map(|_| "worked".to_owned()).map_err(|errno| errno.to_string())
}
