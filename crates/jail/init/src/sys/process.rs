//! Processes, namespaces, privileges.

use alloc::vec::Vec;
use core::{ffi::c_void, mem::MaybeUninit};

use linux_raw_sys::general as k;

use super::{CText, EINTR, Fd, Sys, call, plain, reg, to_fd};

pub(crate) const NEWNS: u64 = k::CLONE_NEWNS as u64;
pub(crate) const NEWUSER: u64 = k::CLONE_NEWUSER as u64;
pub(crate) const NEWPID: u64 = k::CLONE_NEWPID as u64;
pub(crate) const NEWNET: u64 = k::CLONE_NEWNET as u64;
pub(crate) const NEWIPC: u64 = k::CLONE_NEWIPC as u64;
pub(crate) const NEWUTS: u64 = k::CLONE_NEWUTS as u64;
pub(crate) const NEWCGROUP: u64 = k::CLONE_NEWCGROUP as u64;

pub(crate) const SIGINT: i32 = 2;
pub(crate) const SIGKILL: i32 = 9;
pub(crate) const SIGPIPE: i32 = 13;
pub(crate) const SIGTERM: i32 = 15;
pub(crate) const SIGCHLD: i32 = 17;
pub(crate) const SIGCONT: i32 = 18;
pub(crate) const SIGSTOP: i32 = 19;
pub(crate) const SIGHUP: i32 = 1;

pub(crate) fn exit(code: i32) -> ! {
    loop {
        let _never = plain(k::__NR_exit_group, [reg(code), 0, 0, 0]);
    }
}

/// Where a fork finds itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Child,
    Parent(i32),
}

/// Forks, into new namespaces if flags say so.
pub(crate) fn fork(namespaces: u64) -> Sys<Side> {
    let flags = usize::try_from(namespaces).unwrap_or(0) | reg(SIGCHLD);
    // SAFETY: clone without CLONE_VM copies the address space, so a zero stack (go on with the copy of ours) is sound,
    // as are null tid and tls pointers, which the flags do not ask for.
    let pid = unsafe { call(k::__NR_clone, [flags, 0, 0, 0, 0, 0]) }?;
    Ok(if pid == 0 { Side::Child } else { Side::Parent(i32::try_from(pid).unwrap_or(0)) })
}

/// What a lent memory's borrower begins with; it does not return.
pub(super) type Entry = extern "C" fn(*mut c_void) -> !;

/// Room for the calls a borrower makes before it executes another program. They do not recurse.
const STACK: usize = 32 * 1024;

struct Loan<'a, T> {
    value: &'a mut T,
    borrower: fn(&mut T) -> !,
}

/// Starts a process that uses our memory, on a stack of its own, until it executes another program or ends; only then do
/// we go on. Nothing is copied, and what it leaves in `value` is what it has to say.
pub(crate) fn lend<T>(value: &mut T, borrower: fn(&mut T) -> !) -> Sys<i32> {
    const FLAGS: usize = (k::CLONE_VM | k::CLONE_VFORK) as usize | reg(SIGCHLD);
    let mut stack = [MaybeUninit::<u8>::uninit(); STACK];
    let top = stack.as_mut_ptr_range().end as usize & !15;
    let mut loan = Loan { value, borrower };
    // SAFETY: `top` is the aligned end of a stack nobody else uses; `enter` takes its argument for the `Loan` it is; and
    // with CLONE_VFORK we touch neither before the new process has given our memory back.
    let pid = unsafe { super::clone_onto(FLAGS, top, enter::<T>, (&raw mut loan).cast()) }?;
    Ok(i32::try_from(pid).unwrap_or(0))
}

extern "C" fn enter<T>(loan: *mut c_void) -> ! {
    // SAFETY: `lend`, the only one who starts this, hands over a `Loan` that is valid and ours until we are done with it.
    let loan = unsafe { &mut *loan.cast::<Loan<'_, T>>() };
    (loan.borrower)(loan.value)
}

pub(crate) fn getpid() -> i32 {
    plain(k::__NR_getpid, [0; 4]).ok().and_then(|pid| i32::try_from(pid).ok()).unwrap_or(0)
}

pub(crate) fn kill(pid: i32, signal: i32) {
    let _gone = plain(k::__NR_kill, [reg(pid), reg(signal), 0, 0]);
}

pub(crate) fn pidfd(pid: i32) -> Sys<Fd> {
    plain(k::__NR_pidfd_open, [reg(pid), 0, 0, 0]).map(to_fd)
}

/// A child that ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) pid: i32,
    pub(crate) status: i32,
    pub(crate) max_rss_kib: u64,
    pub(crate) cpu_micros: u64,
}

impl Ended {
    /// Says whether a signal ended it.
    pub(crate) const fn was_killed(&self) -> bool {
        self.status & 0x7f != 0
    }
}

/// Collects one child (`-1`: any). `None` when none has ended and `wait` is off, or there is none.
pub(crate) fn reap(pid: i32, wait: bool) -> Option<Ended> {
    const WNOHANG: usize = 1;
    let mut status = 0_i32;
    // Layout of struct rusage: user time, system time (seconds, microseconds), then maxrss and thirteen more longs.
    let mut usage = [0_i64; 18];
    loop {
        let flags = if wait { 0 } else { WNOHANG };
        let args = [reg(pid), &raw mut status as usize, flags, usage.as_mut_ptr() as usize, 0, 0];
        // SAFETY: wait4 writes an int and a struct rusage (18 longs); `status` and `usage` are these and outlive the call.
        match unsafe { call(k::__NR_wait4, args) } {
            Err(EINTR) => {}
            Err(_) | Ok(0) => return None,
            Ok(pid) => {
                let [us, uu, ss, su, rss, ..] = usage;
                let micros =
                    us.saturating_add(ss).saturating_mul(1_000_000).saturating_add(uu).saturating_add(su);
                return Some(Ended {
                    pid: i32::try_from(pid).unwrap_or(0),
                    status,
                    max_rss_kib: u64::try_from(rss).unwrap_or(0),
                    cpu_micros: u64::try_from(micros).unwrap_or(0),
                });
            }
        }
    }
}

pub(crate) fn unshare(flags: u64) -> Sys<()> {
    plain(k::__NR_unshare, [usize::try_from(flags).unwrap_or(0), 0, 0, 0]).map(drop)
}

pub(crate) fn setns(namespace: &Fd) -> Sys<()> {
    plain(k::__NR_setns, [reg(namespace.0), 0, 0, 0]).map(drop)
}

pub(crate) fn setsid() {
    let _leader = plain(k::__NR_setsid, [0; 4]);
}

pub(crate) fn pause() -> ! {
    loop {
        let _interrupted = plain(k::__NR_ppoll, [0; 4]);
    }
}

pub(crate) fn sethostname(name: &str) -> Sys<()> {
    // SAFETY: sethostname reads `len` bytes at the pointer: exactly the text.
    unsafe { call(k::__NR_sethostname, [name.as_ptr() as usize, name.len(), 0, 0, 0, 0]) }.map(drop)
}

/// Belongs to these groups and no other.
pub(crate) fn set_groups(groups: &[u32]) -> Sys<()> {
    // SAFETY: setgroups reads `len` 32-bit ids at the pointer: exactly the slice.
    unsafe { call(k::__NR_setgroups, [groups.len(), groups.as_ptr() as usize, 0, 0, 0, 0]) }.map(drop)
}

/// The same, unless this user namespace lets nobody change groups, as one made without privilege does not.
pub(crate) fn set_groups_if_allowed(groups: &[u32]) -> Sys<()> {
    match set_groups(groups) {
        Err(error) if may_change_groups() => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn may_change_groups() -> bool {
    let Ok(file) = super::open(super::HERE, "/proc/self/setgroups", super::O_RDONLY, 0) else { return true };
    super::read_file(&file, 64).is_ok_and(|text| text.starts_with(b"allow"))
}

/// Becomes another user for good: group, then user.
pub(crate) fn become_user(uid: u32, gid: u32) -> Sys<()> {
    let (uid, gid) = (uid as usize, gid as usize);
    plain(k::__NR_setresgid, [gid, gid, gid, 0])?;
    plain(k::__NR_setresuid, [uid, uid, uid, 0]).map(drop)
}

pub(crate) fn set_rlimit(resource: u32, limit: u64) -> Sys<()> {
    let pair = [limit, limit];
    let args = [0, resource as usize, pair.as_ptr() as usize, 0, 0, 0];
    // SAFETY: prlimit64 reads a struct rlimit64 (two u64) at the third argument and is given no place to write.
    unsafe { call(k::__NR_prlimit64, args) }.map(drop)
}

/// `prctl` with numeric arguments only.
pub(crate) fn prctl(option: u32, value: usize) -> Sys<usize> {
    plain(k::__NR_prctl, [option as usize, value, 0, 0])
}

/// Replaces the capability sets by the given bits (effective and permitted alike, nothing inheritable).
pub(crate) fn set_capabilities(bits: u64) -> Sys<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let (low, high) =
        (u32::try_from(bits & 0xffff_ffff).unwrap_or(0), u32::try_from(bits >> 32).unwrap_or(0));
    let sets = [low, low, 0, high, high, 0];
    // SAFETY: capset reads a header (version, pid) and, for version 3, two sets of three u32: `header` and `sets`.
    unsafe { call(k::__NR_capset, [header.as_ptr() as usize, sets.as_ptr() as usize, 0, 0, 0, 0]) }.map(drop)
}

/// A session keyring of our own, so that the caller's keys are out of reach.
pub(crate) fn join_new_keyring() -> Sys<()> {
    const JOIN_SESSION_KEYRING: usize = 1;
    plain(k::__NR_keyctl, [JOIN_SESSION_KEYRING, 0, 0, 0]).map(drop)
}

/// Installs a seccomp program given as its raw instructions.
pub(crate) fn install_seccomp(program: &[u8]) -> Sys<()> {
    #[repr(C)]
    struct Program {
        len: u16,
        filter: usize,
    }
    const SET_MODE_FILTER: usize = 1;
    // The kernel wants the instructions aligned to four bytes; a byte slice need not be.
    let words: Vec<u32> =
        program.chunks_exact(4).map(|c| c.try_into().map_or(0, u32::from_ne_bytes)).collect();
    let header =
        Program { len: u16::try_from(words.len() / 2).unwrap_or(0), filter: words.as_ptr() as usize };
    // SAFETY: seccomp reads a sock_fprog whose filter points to `len` 8-byte instructions; both live until it returns.
    unsafe { call(k::__NR_seccomp, [SET_MODE_FILTER, 0, &raw const header as usize, 0, 0, 0]) }.map(drop)
}

pub(crate) fn landlock_ruleset(handled_fs: u64, scoped: u64) -> Sys<Fd> {
    let attr = [handled_fs, 0, scoped];
    // Kernels before scopes (ABI 6) refuse a longer structure whose tail is not zero; a shorter one is always fine.
    let size = if scoped == 0 { 8 } else { 24 };
    // SAFETY: landlock_create_ruleset reads `size` bytes of landlock_ruleset_attr (fs, net, scoped): within `attr`.
    unsafe { call(k::__NR_landlock_create_ruleset, [attr.as_ptr() as usize, size, 0, 0, 0, 0]) }.map(to_fd)
}

pub(crate) fn landlock_allow(ruleset: &Fd, below: &Fd, rights: u64) -> Sys<()> {
    const RULE_PATH_BENEATH: usize = 1;
    let [r0, r1, r2, r3, r4, r5, r6, r7] = rights.to_ne_bytes();
    let [f0, f1, f2, f3] = below.0.to_ne_bytes();
    // struct landlock_path_beneath_attr is packed: rights, then the descriptor.
    let attr = [r0, r1, r2, r3, r4, r5, r6, r7, f0, f1, f2, f3];
    let args = [reg(ruleset.0), RULE_PATH_BENEATH, attr.as_ptr() as usize, 0, 0, 0];
    // SAFETY: landlock_add_rule reads the 12 bytes of a packed landlock_path_beneath_attr: exactly `attr`.
    unsafe { call(k::__NR_landlock_add_rule, args) }.map(drop)
}

pub(crate) fn landlock_enforce(ruleset: &Fd) -> Sys<()> {
    plain(k::__NR_landlock_restrict_self, [reg(ruleset.0), 0, 0, 0]).map(drop)
}

/// Runs a program in place of this one. Returns only on failure.
pub(crate) fn exec(path: &str, argv: &[CText], env: &[CText]) -> super::Errno {
    let path = CText::new(path);
    let list = |texts: &[CText]| texts.iter().map(CText::addr).chain([0]).collect::<Vec<usize>>();
    let (argv, env) = (list(argv), list(env));
    let args = [path.addr(), argv.as_ptr() as usize, env.as_ptr() as usize, 0, 0, 0];
    // SAFETY: execve reads a NUL-terminated path and two null-terminated lists of such texts; all live until it
    // returns, which it does only on failure.
    match unsafe { call(k::__NR_execve, args) } {
        Err(error) => error,
        Ok(_) => super::EINVAL,
    }
}
