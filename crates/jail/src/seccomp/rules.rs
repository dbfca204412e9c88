//! Every system call a sandbox is refused, and why. What is not named here is allowed; what the table has never heard
//! of (a newer kernel's calls, another architecture's) is answered as if it did not exist.

/// What the filter answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// "Not permitted": programs know to do without.
    Forbid,
    /// "No such call": programs fall back to an older one, whose arguments can be inspected.
    Absent,
    /// Allowed unless the flags in the given argument make a namespace.
    UnlessNamespace {
        /// Which argument holds the flags.
        arg: u8,
    },
    /// Allowed for local, internet and route-netlink sockets.
    OnlyCommonSockets,
    /// Allowed unless the request types into a terminal or takes over a console.
    UnlessTerminalAttack,
    /// Allowed for the ordinary execution domains.
    OnlyOrdinaryPersonality,
    /// Allowed unless the given argument has the set-user-id or set-group-id bit.
    UnlessSetId {
        /// Which argument holds the mode.
        arg: u8,
    },
    /// As `UnlessSetId`, when the flags in `flags` create a file.
    UnlessCreatesSetId {
        /// Which argument holds the open flags.
        flags: u8,
        /// Which argument holds the mode.
        mode: u8,
    },
}

/// One refused or conditional call.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The kernel's number on this architecture.
    pub number: i64,
    /// What the filter answers.
    pub answer: Answer,
    /// Why.
    pub reason: &'static str,
}

const fn rule(number: i64, answer: Answer, reason: &'static str) -> Rule {
    Rule { number, answer, reason }
}

use Answer::{
    Absent, Forbid, OnlyCommonSockets, OnlyOrdinaryPersonality, UnlessCreatesSetId, UnlessNamespace,
    UnlessSetId, UnlessTerminalAttack,
};

const MOUNTS: &str = "changes what is mounted where, on which every other promise rests";
const CLOCK: &str = "sets the whole machine's clock";
const MODULES: &str = "loads code into the kernel";
const KEYS: &str = "keyrings belong to the user, not to the sandbox";
const NUMA: &str = "places memory on the whole machine's nodes, and of other processes";
const URING: &str = "performs calls behind this filter's back";
const HANDLES: &str = "opens files by number instead of by path, past every mount";
const SETID: &str = "a set-id file in a lent directory would run with its owner's rights on the host";

/// The table.
pub const RULES: &[Rule] = &[
    rule(libc::SYS_mount, Forbid, MOUNTS),
    rule(libc::SYS_umount2, Forbid, MOUNTS),
    rule(libc::SYS_pivot_root, Forbid, MOUNTS),
    rule(libc::SYS_chroot, Forbid, MOUNTS),
    rule(libc::SYS_fsopen, Forbid, MOUNTS),
    rule(libc::SYS_fsconfig, Forbid, MOUNTS),
    rule(libc::SYS_fsmount, Forbid, MOUNTS),
    rule(libc::SYS_fspick, Forbid, MOUNTS),
    rule(libc::SYS_open_tree, Forbid, MOUNTS),
    rule(libc::SYS_move_mount, Forbid, MOUNTS),
    rule(libc::SYS_mount_setattr, Forbid, MOUNTS),
    rule(SYS_STATMOUNT, Forbid, "shows the host's mount table"),
    rule(SYS_LISTMOUNT, Forbid, "shows the host's mount table"),
    rule(SYS_OPEN_TREE_ATTR, Forbid, MOUNTS),
    rule(libc::SYS_swapon, Forbid, "the machine's swap"),
    rule(libc::SYS_swapoff, Forbid, "the machine's swap"),
    rule(libc::SYS_reboot, Forbid, "reboots the machine"),
    rule(libc::SYS_kexec_load, Forbid, MODULES),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_kexec_file_load, Forbid, MODULES),
    rule(libc::SYS_init_module, Forbid, MODULES),
    rule(libc::SYS_finit_module, Forbid, MODULES),
    rule(libc::SYS_delete_module, Forbid, MODULES),
    rule(libc::SYS_settimeofday, Forbid, CLOCK),
    rule(libc::SYS_clock_settime, Forbid, CLOCK),
    rule(libc::SYS_clock_adjtime, Forbid, CLOCK),
    rule(libc::SYS_adjtimex, Forbid, CLOCK),
    rule(libc::SYS_sethostname, Forbid, "the name is fixed by the plan"),
    rule(libc::SYS_setdomainname, Forbid, "the name is fixed by the plan"),
    rule(libc::SYS_syslog, Forbid, "the kernel's log tells addresses and other tenants' doings"),
    rule(libc::SYS_acct, Forbid, "process accounting of the whole machine"),
    rule(libc::SYS_quotactl, Forbid, "disk quotas of the whole machine"),
    rule(SYS_QUOTACTL_FD, Forbid, "disk quotas of the whole machine"),
    rule(libc::SYS_vhangup, Forbid, "hangs up the terminal"),
    rule(libc::SYS_keyctl, Forbid, KEYS),
    rule(libc::SYS_add_key, Forbid, KEYS),
    rule(libc::SYS_request_key, Forbid, KEYS),
    rule(libc::SYS_bpf, Forbid, "runs programs in the kernel"),
    rule(libc::SYS_perf_event_open, Forbid, "a large attack surface, and a side channel"),
    rule(
        libc::SYS_userfaultfd,
        Forbid,
        "lets user space stop the kernel at will: an exploit's favourite tool",
    ),
    rule(libc::SYS_io_uring_setup, Absent, URING),
    rule(libc::SYS_io_uring_enter, Absent, URING),
    rule(libc::SYS_io_uring_register, Absent, URING),
    rule(libc::SYS_open_by_handle_at, Forbid, HANDLES),
    rule(libc::SYS_name_to_handle_at, Forbid, HANDLES),
    rule(libc::SYS_fanotify_init, Forbid, "watches whole file systems"),
    rule(libc::SYS_fanotify_mark, Forbid, "watches whole file systems"),
    rule(libc::SYS_lookup_dcookie, Forbid, "profiling of the whole machine"),
    rule(libc::SYS_nfsservctl, Forbid, "a dead interface of the kernel's file server"),
    rule(libc::SYS_move_pages, Forbid, NUMA),
    rule(libc::SYS_migrate_pages, Forbid, NUMA),
    rule(libc::SYS_mbind, Forbid, NUMA),
    rule(libc::SYS_set_mempolicy, Forbid, NUMA),
    rule(libc::SYS_get_mempolicy, Forbid, NUMA),
    rule(SYS_SET_MEMPOLICY_HOME_NODE, Forbid, NUMA),
    rule(libc::SYS_kcmp, Forbid, "compares kernel pointers of processes"),
    rule(libc::SYS_pidfd_getfd, Forbid, "takes open files out of other processes"),
    rule(SYS_PROCESS_MADVISE, Forbid, "changes other processes' memory"),
    rule(SYS_MEMFD_SECRET, Forbid, "memory that even the host cannot inspect"),
    rule(SYS_CACHESTAT, Forbid, "shows what others have read: a side channel"),
    rule(libc::SYS_setns, Forbid, "enters other namespaces"),
    rule(
        libc::SYS_unshare,
        UnlessNamespace { arg: 0 },
        "a new user namespace opens most kernel attack surface",
    ),
    rule(
        libc::SYS_clone,
        UnlessNamespace { arg: 0 },
        "a new user namespace opens most kernel attack surface",
    ),
    rule(
        SYS_CLONE3,
        Absent,
        "its flags are behind a pointer; libc falls back to clone, whose flags are checked",
    ),
    rule(
        SYS_OPENAT2,
        Absent,
        "its mode is behind a pointer; programs fall back to openat, whose mode is checked",
    ),
    rule(
        libc::SYS_socket,
        OnlyCommonSockets,
        "vsock reaches the hypervisor, packet and alg sockets the kernel's depths",
    ),
    rule(
        libc::SYS_ioctl,
        UnlessTerminalAttack,
        "TIOCSTI types into the terminal of whoever watches (CVE-2017-5226)",
    ),
    rule(libc::SYS_personality, OnlyOrdinaryPersonality, "turning off address randomisation helps exploits"),
    rule(libc::SYS_fchmod, UnlessSetId { arg: 1 }, SETID),
    rule(libc::SYS_fchmodat, UnlessSetId { arg: 2 }, SETID),
    rule(SYS_FCHMODAT2, UnlessSetId { arg: 2 }, SETID),
    rule(libc::SYS_mknodat, UnlessSetId { arg: 2 }, SETID),
    rule(libc::SYS_openat, UnlessCreatesSetId { flags: 2, mode: 3 }, SETID),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_chmod, UnlessSetId { arg: 1 }, SETID),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_mknod, UnlessSetId { arg: 1 }, SETID),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_creat, UnlessSetId { arg: 1 }, SETID),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_open, UnlessCreatesSetId { flags: 1, mode: 2 }, SETID),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_iopl, Forbid, "talks to hardware"),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_ioperm, Forbid, "talks to hardware"),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_modify_ldt, Forbid, "a source of kernel bugs that only emulators need"),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_uselib, Forbid, "a dead interface"),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_ustat, Forbid, "a dead interface"),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_sysfs, Forbid, "a dead interface"),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS__sysctl, Forbid, "kernel settings"),
];

/// The last call this table was written against; anything newer does not exist for a sandbox.
pub(super) const LAST_KNOWN: u32 = 470;

// Numbers that are the same on every architecture and missing from, or conditional in, the libc crate.
const SYS_CLONE3: i64 = 435;
const SYS_OPENAT2: i64 = 437;
const SYS_PROCESS_MADVISE: i64 = 440;
const SYS_QUOTACTL_FD: i64 = 443;
const SYS_MEMFD_SECRET: i64 = 447;
const SYS_SET_MEMPOLICY_HOME_NODE: i64 = 450;
const SYS_CACHESTAT: i64 = 451;
const SYS_FCHMODAT2: i64 = 452;
const SYS_STATMOUNT: i64 = 457;
const SYS_LISTMOUNT: i64 = 458;
const SYS_OPEN_TREE_ATTR: i64 = 467;
