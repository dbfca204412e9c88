//! The kernel's surface: calls an agent has no use for cannot be reached.
//!
//! Reached is not exploited: these probes show that the code behind a call runs, which is where exploits start.

use std::path::Path;

use super::Probe;
use super::tools::{alone, open_for_write, reach, read_one_byte};
use crate::context::Context;
use crate::report::{Attempt, Verdict};
use crate::sys::{Arg, call};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("11-dmesg", "the kernel log cannot be read", read_log),
    Probe::new("45-userfaultfd", "userfaultfd is closed", open_userfaultfd),
    Probe::new("46-bpf", "bpf is closed", load_bpf),
    Probe::new("47-perf", "perf_event_open is closed", open_perf),
    Probe::new("49-kernel-module", "no kernel module can be loaded", load_module),
    Probe::new("50-kexec-reboot", "the host cannot be rebooted", reboot),
    Probe::new("51-clock", "the clock cannot be set", set_clock),
    Probe::new("52-open-by-handle", "no file can be opened by handle", open_by_handle),
    Probe::new("53-realtime-sched", "no process can outrank the host's", outrank),
    Probe::new("55-odd-syscalls", "calls no agent needs are closed", call_odd_ones),
    Probe::new("79-personality", "address randomisation cannot be turned off", fix_addresses),
];

fn read_log(_: &Context) -> Verdict {
    let mut buffer = [0; 64];
    const READ_ALL: i64 = 3;
    Verdict::of(vec![
        Attempt::judge(
            "syslog",
            call(libc::SYS_syslog, [Arg::Int(READ_ALL), Arg::Into(&mut buffer), Arg::Int(64)]),
        ),
        read_one_byte(Path::new("/dev/kmsg")),
        read_one_byte(Path::new("/proc/kmsg")),
    ])
}

fn open_userfaultfd(_: &Context) -> Verdict {
    const USER_MODE_ONLY: i64 = 1;
    Verdict::of(vec![
        reach("userfaultfd", libc::SYS_userfaultfd, [Arg::Int(USER_MODE_ONLY)]),
        open_for_write(Path::new("/dev/userfaultfd")),
    ])
}

fn load_bpf(_: &Context) -> Verdict {
    // BPF_MAP_CREATE of an array of one number.
    let mut attributes = [0; 72];
    for (word, value) in attributes.chunks_exact_mut(4).zip([2_u32, 4, 4, 1]) {
        word.copy_from_slice(&value.to_ne_bytes());
    }
    Verdict::of(vec![reach("bpf", libc::SYS_bpf, [Arg::Int(0), Arg::Bytes(&attributes), Arg::Int(72)])])
}

fn open_perf(_: &Context) -> Verdict {
    // A software event (type 1), its own size, the processor clock (0), user mode only (exclude_kernel, _hv).
    let mut attributes = [0; 64];
    for (word, value) in attributes.chunks_exact_mut(8).zip([(64_u64 << 32) | 1, 0, 0, 0, 0, 0b11_00000]) {
        word.copy_from_slice(&value.to_ne_bytes());
    }
    let numbers = [0, -1, -1, 0].map(Arg::Int);
    let [pid, cpu, group, flags] = numbers;
    Verdict::of(vec![reach("perf_event_open", libc::SYS_perf_event_open, {
        [Arg::Bytes(&attributes), pid, cpu, group, flags]
    })])
}

fn load_module(_: &Context) -> Verdict {
    let name = || Arg::Text(c"belljar_probe_no_such_module");
    Verdict::of(vec![
        reach("init_module", libc::SYS_init_module, [Arg::Null, Arg::Int(0), Arg::Text(c"")]),
        reach("finit_module", libc::SYS_finit_module, [Arg::Int(-1), Arg::Text(c""), Arg::Int(0)]),
        reach("delete_module", libc::SYS_delete_module, [name(), Arg::Int(libc::O_NONBLOCK.into())]),
    ])
}

/// Every request is malformed: who has the right is told EINVAL, who has not EPERM.
fn reboot(_: &Context) -> Verdict {
    let flags = Arg::Int(0xffff);
    Verdict::of(vec![
        reach("reboot", libc::SYS_reboot, [Arg::Int(0), Arg::Int(0), Arg::Int(0), Arg::Null]),
        reach("kexec_load", libc::SYS_kexec_load, [Arg::Int(0), Arg::Int(1 << 20), Arg::Null, flags]),
        reach("kexec_file_load", libc::SYS_kexec_file_load, {
            [Arg::Int(-1), Arg::Int(-1), Arg::Int(0), Arg::Null, Arg::Int(0xffff)]
        }),
    ])
}

/// A tick of zero is refused as malformed, but only after the right has been checked.
fn set_clock(_: &Context) -> Verdict {
    const ADJ_TICK: u32 = 0x4000;
    let mut request = [0; 208];
    for (word, value) in request.chunks_exact_mut(4).zip([ADJ_TICK]) {
        word.copy_from_slice(&value.to_ne_bytes());
    }
    let mut same = request;
    Verdict::of(vec![
        reach("adjtimex", libc::SYS_adjtimex, [Arg::Into(&mut request)]),
        reach("clock_adjtime", libc::SYS_clock_adjtime, [Arg::Int(0), Arg::Into(&mut same)]),
    ])
}

fn open_by_handle(_: &Context) -> Verdict {
    // struct file_handle: size, type, then room for 120 bytes.
    let mut handle = [0; 128];
    if let Some(size) = handle.first_mut() {
        *size = 120;
    }
    let mut mount = [0; 8];
    let here = || Arg::Int(libc::AT_FDCWD.into());
    let root = Arg::Text(c"/");
    let named = [here(), root, Arg::Into(&mut handle), Arg::Into(&mut mount), Arg::Int(0)];
    if let Err(errno) = call(libc::SYS_name_to_handle_at, named) {
        // Without the true handle, try the one shocker used: inode 2 of an ext4 disk.
        let guess = [8_u8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0];
        let opened = [here(), Arg::Bytes(&guess), Arg::Int(0)];
        let attempt = reach("open_by_handle_at", libc::SYS_open_by_handle_at, opened);
        return Verdict::of(vec![Attempt::stopped(format!("name_to_handle_at: {errno}")), attempt]);
    }
    let opened = [here(), Arg::Bytes(&handle), Arg::Int(0)];
    Verdict::of(vec![reach("open_by_handle_at", libc::SYS_open_by_handle_at, opened)])
}

fn outrank(_: &Context) -> Verdict {
    let one = 1_i32.to_ne_bytes();
    let policies = [("SCHED_FIFO", libc::SCHED_FIFO), ("SCHED_RR", libc::SCHED_RR)];
    let mut attempts: Vec<Attempt> = policies
        .iter()
        .map(|(name, policy)| {
            let ask = [Arg::Int(0), Arg::Int((*policy).into()), Arg::Bytes(&one)];
            reach(name, libc::SYS_sched_setscheduler, ask)
        })
        .collect();
    attempts.push(reach("nice -5", libc::SYS_setpriority, [Arg::Int(0), Arg::Int(0), Arg::Int(-5)]));
    Verdict::of(attempts)
}

/// Each with arguments that can do nothing, also for root.
fn call_odd_ones(_: &Context) -> Verdict {
    let none = || Arg::Null;
    let bad = || Arg::Int(-1);
    let me = || Arg::Int(crate::sys::call::own_pid());
    Verdict::of(vec![
        reach("kcmp", libc::SYS_kcmp, [me(), me(), Arg::Int(0), Arg::Int(0), Arg::Int(0)]),
        reach("memfd_secret", libc::SYS_memfd_secret, [Arg::Int(0)]),
        reach("quotactl", libc::SYS_quotactl, [bad(), none(), Arg::Int(0), none()]),
        reach("fanotify_init", libc::SYS_fanotify_init, [Arg::Int(0), Arg::Int(0)]),
        reach("move_pages", libc::SYS_move_pages, [me(), Arg::Int(0), none(), none(), none(), bad()]),
        reach("migrate_pages", libc::SYS_migrate_pages, [me(), Arg::Int(1 << 20), none(), none()]),
        reach("mbind", libc::SYS_mbind, [none(), Arg::Int(0), bad(), none(), Arg::Int(0), bad()]),
        reach("set_mempolicy", libc::SYS_set_mempolicy, [bad(), none(), Arg::Int(0)]),
        reach("lookup_dcookie", libc::SYS_lookup_dcookie, [Arg::Int(0), none(), Arg::Int(0)]),
        reach("acct", libc::SYS_acct, [Arg::Text(c"/no/such/file")]),
        reach("swapon", libc::SYS_swapon, [Arg::Text(c"/no/such/file"), Arg::Int(0)]),
        reach("swapoff", libc::SYS_swapoff, [Arg::Text(c"/no/such/file")]),
        reach("add_key", libc::SYS_add_key, [none(), none(), none(), Arg::Int(0), bad()]),
        reach("request_key", libc::SYS_request_key, [none(), none(), none(), bad()]),
    ])
}

fn fix_addresses(_: &Context) -> Verdict {
    const READ_IMPLIES_EXEC: i64 = 0x040_0000;
    let flags = [("ADDR_NO_RANDOMIZE", 0x004_0000), ("READ_IMPLIES_EXEC", READ_IMPLIES_EXEC)];
    let attempts = flags.iter().map(|(name, flag)| {
        alone(&format!("personality {name}"), || match call(libc::SYS_personality, [Arg::Int(*flag)]) {
            Ok(_) => Ok("worked".into()),
            Err(errno) => Err(errno.to_string()),
        })
    });
    Verdict::of(attempts.collect())
}
