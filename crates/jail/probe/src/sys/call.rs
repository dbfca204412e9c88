//! One way to make any system call by number, with arguments that stay borrowed for its length.

use std::ffi::CStr;
use std::os::fd::{FromRawFd, OwnedFd};

use super::Errno;

/// An argument of a system call.
#[derive(Debug)]
pub enum Arg<'a> {
    /// A plain number: a flag, a length, a descriptor.
    Int(i64),
    /// A null pointer.
    Null,
    /// A string the kernel reads.
    Text(&'a CStr),
    /// Memory the kernel reads.
    Bytes(&'a [u8]),
    /// Memory the kernel may write.
    Into(&'a mut [u8]),
}

impl Arg<'_> {
    fn word(&mut self) -> libc::c_long {
        let address = match self {
            Self::Int(number) => return *number,
            Self::Null => 0,
            Self::Text(text) => text.as_ptr().expose_provenance(),
            Self::Bytes(bytes) => bytes.as_ptr().expose_provenance(),
            Self::Into(bytes) => bytes.as_mut_ptr().expose_provenance(),
        };
        // Addresses of user space fit: the top bit belongs to the kernel.
        address.cast_signed() as libc::c_long
    }
}

/// Makes system call `number`.
///
/// Meant for calls that touch only the memory they are handed. Those that change the address space or return
/// twice (mmap, fork, clone) have wrappers of their own in this module's siblings.
pub fn call<const N: usize>(number: libc::c_long, mut args: [Arg<'_>; N]) -> Result<i64, Errno> {
    let mut words = [0; 6];
    for (word, arg) in words.iter_mut().zip(args.iter_mut()) {
        *word = arg.word();
    }
    let [a, b, c, d, e, f] = words;
    // SAFETY: syscall(2) takes up to six words; every pointer among them comes from a borrow in `args`, which
    // outlives the call, and the caller passes the length of that same borrow where the call wants one.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result == -1 { Err(Errno::last()) } else { Ok(result) }
}

/// Makes a system call that answers with a new descriptor, and owns it.
pub fn call_fd<const N: usize>(number: libc::c_long, args: [Arg<'_>; N]) -> Result<OwnedFd, Errno> {
    let fd = call(number, args)?;
    let fd = i32::try_from(fd).map_err(|_too_large| Errno(libc::EOVERFLOW))?;
    // SAFETY: the kernel has just made `fd` for this call and nobody else knows it, so it is ours to close.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The effective user id.
#[must_use]
pub fn effective_uid() -> u32 {
    call(libc::SYS_geteuid, []).ok().and_then(|uid| u32::try_from(uid).ok()).unwrap_or(u32::MAX)
}

/// The process id of the caller, in its own pid namespace.
#[must_use]
pub fn own_pid() -> i64 {
    call(libc::SYS_getpid, []).unwrap_or(0)
}

/// The open descriptors of this process from 3 up, found without `/proc`, lowest first.
#[must_use]
pub fn open_descriptors() -> Vec<i64> {
    (3..1024)
        .filter(|fd| call(libc::SYS_fcntl, [Arg::Int(*fd), Arg::Int(libc::F_GETFD.into())]).is_ok())
        .collect()
}
