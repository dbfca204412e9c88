//! The kernel, safely: thin typed calls, descriptors that close themselves, nothing that decides.

mod file;
mod mount;
mod process;
mod socket;

pub(crate) use file::*;
pub(crate) use mount::*;
pub(crate) use process::*;
pub(crate) use socket::*;

use alloc::{borrow::ToOwned, string::String, vec::Vec};
use core::ffi::c_void;

/// The kernel's error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

/// What a call answers.
pub(crate) type Sys<T> = Result<T, Errno>;

pub(crate) const ENOENT: Errno = Errno(2);
pub(crate) const EINTR: Errno = Errno(4);
pub(crate) const EAGAIN: Errno = Errno(11);
pub(crate) const EACCES: Errno = Errno(13);
pub(crate) const EEXIST: Errno = Errno(17);
pub(crate) const ENOTDIR: Errno = Errno(20);
pub(crate) const EISDIR: Errno = Errno(21);
pub(crate) const EINVAL: Errno = Errno(22);
pub(crate) const ENOTEMPTY: Errno = Errno(39);

/// A descriptor that closes itself.
#[derive(Debug)]
pub(crate) struct Fd(pub(crate) i32);

impl Drop for Fd {
    fn drop(&mut self) {
        close(self.0);
    }
}

/// A path or string for the kernel: NUL-terminated.
#[derive(Debug, Clone)]
pub(crate) struct CText(Vec<u8>);

impl CText {
    pub(crate) fn new(text: &str) -> Self {
        Self::from_bytes(text.as_bytes())
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut owned = Vec::with_capacity(bytes.len() + 1);
        owned.extend(bytes.iter().take_while(|byte| **byte != 0));
        owned.push(0);
        Self(owned)
    }

    pub(crate) fn addr(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

/// Writes a number in decimal.
pub(crate) fn decimal(mut number: u64) -> String {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        let digit = u8::try_from(number % 10).unwrap_or(0);
        if let Some(slot) = digits.get_mut(at) {
            *slot = b'0' + digit;
        }
        number /= 10;
        if number == 0 {
            break;
        }
    }
    digits.get(at..).and_then(|tail| core::str::from_utf8(tail).ok()).unwrap_or("0").to_owned()
}

/// Puts texts together; `format!` would bring the whole formatting machinery into a program of a few pages.
pub(crate) fn join(parts: &[&str]) -> String {
    let mut all = String::new();
    for part in parts {
        all.push_str(part);
    }
    all
}

/// Enters the kernel.
///
/// # Safety
/// Every argument that the call reads or writes as memory must be valid for it while the call lasts.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn call(number: u32, args: [usize; 6]) -> Sys<usize> {
    let [a, b, c, d, e, f] = args;
    let answer: isize;
    // SAFETY: the x86-64 syscall convention: number in rax, arguments as below, rcx and r11 overwritten; the caller
    // vouches for the memory behind the arguments.
    unsafe {
        core::arch::asm!("syscall", inlateout("rax") number as usize => answer, in("rdi") a, in("rsi") b, in("rdx") c,
            in("r10") d, in("r8") e, in("r9") f, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    answered(answer)
}

/// Enters the kernel.
///
/// # Safety
/// Every argument that the call reads or writes as memory must be valid for it while the call lasts.
#[cfg(target_arch = "aarch64")]
pub(crate) unsafe fn call(number: u32, args: [usize; 6]) -> Sys<usize> {
    let [a, b, c, d, e, f] = args;
    let answer: isize;
    // SAFETY: the arm64 syscall convention: number in x8, arguments in x0 to x5, answer in x0; the caller vouches for
    // the memory behind the arguments.
    unsafe {
        core::arch::asm!("svc 0", in("x8") number as usize, inlateout("x0") a => answer, in("x1") b, in("x2") c,
            in("x3") d, in("x4") e, in("x5") f, options(nostack));
    }
    answered(answer)
}

/// Clones a process that goes on in `entry`, on another stack.
///
/// # Safety
/// `top` must be the aligned end of a stack that is the new process's alone, `argument` what `entry` takes it for, and the
/// flags such that sharing memory is sound: the new process has its own, or this one waits for it (`CLONE_VFORK`).
#[cfg(target_arch = "x86_64")]
unsafe fn clone_onto(flags: usize, top: usize, entry: process::Entry, argument: *mut c_void) -> Sys<usize> {
    let answer: isize;
    // SAFETY: clone's convention on x86-64: flags, stack, two tid pointers and tls, which the flags do not ask for. The new
    // process has our registers but for rax and rsp, touches nothing of our stack, and never leaves `entry`.
    unsafe {
        core::arch::asm!(
            "syscall", "test rax, rax", "jnz 2f", "xor ebp, ebp", "mov rdi, r13", "call r12", "ud2", "2:",
            inlateout("rax") linux_raw_sys::general::__NR_clone as usize => answer, in("rdi") flags, in("rsi") top,
            in("rdx") 0, in("r10") 0, in("r8") 0, in("r12") entry, in("r13") argument,
            lateout("rcx") _, lateout("r11") _);
    }
    answered(answer)
}

/// Clones a process that goes on in `entry`, on another stack.
///
/// # Safety
/// `top` must be the aligned end of a stack that is the new process's alone, `argument` what `entry` takes it for, and the
/// flags such that sharing memory is sound: the new process has its own, or this one waits for it (`CLONE_VFORK`).
#[cfg(target_arch = "aarch64")]
unsafe fn clone_onto(flags: usize, top: usize, entry: process::Entry, argument: *mut c_void) -> Sys<usize> {
    let answer: isize;
    // SAFETY: clone's convention on arm64: flags, stack, a tid pointer, tls and another tid pointer, which the flags do not
    // ask for. The new process has our registers but for x0 and sp, touches nothing of our stack, and never leaves `entry`.
    unsafe {
        core::arch::asm!(
            "svc 0", "cbnz x0, 2f", "mov x29, xzr", "mov x30, xzr", "mov x0, x21", "blr x20", "brk #1", "2:",
            in("x8") linux_raw_sys::general::__NR_clone as usize, inlateout("x0") flags => answer, in("x1") top,
            in("x2") 0, in("x3") 0, in("x4") 0, in("x20") entry, in("x21") argument);
    }
    answered(answer)
}

fn answered(answer: isize) -> Sys<usize> {
    match usize::try_from(answer) {
        Ok(value) => Ok(value),
        Err(_) => Err(Errno(i32::try_from(-answer).unwrap_or(EINVAL.0))),
    }
}

/// Enters the kernel with arguments that are plain numbers, which no call can misuse as memory of ours.
pub(crate) fn plain(number: u32, args: [usize; 4]) -> Sys<usize> {
    let [a, b, c, d] = args;
    // SAFETY: only calls whose arguments are numbers or descriptors come here; none is read or written as memory.
    unsafe { call(number, [a, b, c, d, 0, 0]) }
}

/// A descriptor or other signed number as a register.
#[expect(clippy::cast_sign_loss, reason = "the kernel takes the register's bits")]
pub(crate) const fn reg(number: i32) -> usize {
    number as isize as usize
}

pub(crate) fn to_fd(answer: usize) -> Fd {
    Fd(i32::try_from(answer).unwrap_or(-1))
}
