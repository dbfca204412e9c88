//! The locks a sandbox is closed with, and the kernel's hypervisor, which would be a thicker wall.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
};

use belljar_init::wire::{Failure, Stage};
use rustix::thread::{UnshareFlags, set_no_new_privs};

use super::{
    namespaces,
    step::{At, without_effect},
};
use crate::{landlock as rules, seccomp as filter};

/// Installs the very filter sandboxes get, and asks for something it refuses.
pub(super) fn seccomp() -> Result<String, Failure> {
    let program = filter::compile();
    let instructions: Vec<libc::sock_filter> = program.chunks_exact(8).filter_map(instruction).collect();
    set_no_new_privs(true).at(Stage::Seccomp, "no_new_privs")?;
    install(&instructions).at(Stage::Seccomp, "")?;
    let status = fs::read_to_string("/proc/self/status").at(Stage::Seccomp, "/proc/self/status")?;
    let filtered =
        status.lines().any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2"));
    if !filtered || namespaces::unshare(UnshareFlags::NEWUSER, "user").is_ok() {
        return Err(without_effect(Stage::Seccomp, ""));
    }
    Ok(format!("the filter of {} rules was installed and refuses", filter::RULES.len()))
}

fn instruction(bytes: &[u8]) -> Option<libc::sock_filter> {
    let [c0, c1, jt, jf, k0, k1, k2, k3] = bytes.try_into().ok()?;
    Some(libc::sock_filter {
        code: u16::from_ne_bytes([c0, c1]),
        jt,
        jf,
        k: u32::from_ne_bytes([k0, k1, k2, k3]),
    })
}

fn install(instructions: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(instructions.len())
            .map_err(|_long| io::Error::from(io::ErrorKind::InvalidInput))?,
        filter: instructions.as_ptr().cast_mut(),
    };
    // SAFETY: seccomp reads a sock_fprog and the `len` instructions it points to, and writes to neither; `program` and
    // the slice it was made from outlive the call.
    let code =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Locks itself in with no rule at all, and tries a door.
pub(super) fn landlock() -> Result<String, Failure> {
    let abi = rules::abi();
    let Some(wanted) = rules::rules(abi, &[]) else {
        return Err(Failure { stage: Stage::Landlock, errno: libc::EOPNOTSUPP, about: format!("ABI {abi}") });
    };
    set_no_new_privs(true).at(Stage::Landlock, "no_new_privs")?;
    let ruleset = ruleset(wanted.handled).at(Stage::Landlock, "ruleset")?;
    enforce(&ruleset).at(Stage::Landlock, "enforce")?;
    match File::open("/dev/null") {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Ok(format!("ABI {abi}, enforced on a process without rights"))
        }
        Ok(_) | Err(_) => Err(without_effect(Stage::Landlock, "enforce")),
    }
}

fn ruleset(handled: u64) -> io::Result<OwnedFd> {
    // SAFETY: landlock_create_ruleset reads the given number of bytes of a landlock_ruleset_attr, whose first and here
    // only member is the 64-bit `handled`, alive until it returns.
    let code = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, &raw const handled, size_of::<u64>(), 0_u32)
    };
    let fd = i32::try_from(code).ok().filter(|fd| *fd >= 0).ok_or_else(io::Error::last_os_error)?;
    // SAFETY: from_raw_fd wants a descriptor nobody else owns; the kernel has just made this one for this call.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn enforce(ruleset: &OwnedFd) -> io::Result<()> {
    // SAFETY: landlock_restrict_self takes a descriptor, borrowed from its owner, and flags; it touches no memory.
    let code = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) };
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Asks the hypervisor for its version.
pub(super) fn kvm() -> Result<String, Failure> {
    const GET_API_VERSION: libc::Ioctl = 0xAE00;
    let device = OpenOptions::new().read(true).write(true).open("/dev/kvm").at(Stage::Device, "/dev/kvm")?;
    // SAFETY: KVM_GET_API_VERSION takes no argument but 0 and touches no memory; `device` is open until it returns.
    let version = unsafe { libc::ioctl(device.as_raw_fd(), GET_API_VERSION, 0) };
    match version {
        1.. => Ok(format!("API version {version}")),
        _ => Err(io::Error::last_os_error()).at(Stage::Device, "/dev/kvm"),
    }
}
