//! What a launcher inherits from its caller: a terminal, a session keyring with a secret, an open descriptor.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::{null, null_mut};

use super::{Arg, Errno, call};

/// A pseudo terminal: the host's terminal, as a launcher sees it.
#[derive(Debug)]
pub struct Terminal {
    _master: OwnedFd,
    slave: OwnedFd,
}

impl Terminal {
    /// Opens a new terminal in raw mode, so that each byte put into its input counts at once.
    pub fn open() -> io::Result<Self> {
        let (mut master, mut slave) = (-1, -1);
        // SAFETY: openpty(3) writes two descriptors through its first two arguments, which point at ints of
        // ours; a null name, mode and size are allowed and mean "none wanted".
        let result = unsafe { libc::openpty(&raw mut master, &raw mut slave, null_mut(), null(), null()) };
        if result == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: openpty has just made `master` and nobody else knows it.
        let master = unsafe { OwnedFd::from_raw_fd(master) };
        // SAFETY: openpty has just made `slave` and nobody else knows it.
        let slave = unsafe { OwnedFd::from_raw_fd(slave) };
        // SAFETY: an all-zero termios is a valid value of that plain C struct; raw input needs no flag set.
        let raw: libc::termios = unsafe { std::mem::zeroed() };
        // SAFETY: tcsetattr(3) reads one termios through its last argument, which points at `raw`.
        unsafe { libc::tcsetattr(slave.as_raw_fd(), libc::TCSANOW, &raw const raw) };
        for fd in [&master, &slave] {
            let close = Arg::Int(libc::FD_CLOEXEC.into());
            call(libc::SYS_fcntl, [Arg::Int(fd.as_raw_fd().into()), Arg::Int(libc::F_SETFD.into()), close])
                .map_err(|errno| io::Error::from_raw_os_error(errno.0))?;
        }
        Ok(Self { _master: master, slave })
    }

    /// How many bytes wait in the input of the terminal. Nobody types here, so each was put there by a probe.
    #[must_use]
    pub fn waiting_input(&self) -> i32 {
        let mut count = [0; 4];
        let fd = Arg::Int(self.slave.as_raw_fd().into());
        match call(libc::SYS_ioctl, [fd, Arg::Int(libc::FIONREAD.cast_signed()), Arg::Into(&mut count)]) {
            Ok(_) => i32::from_ne_bytes(count),
            Err(_gone) => 0,
        }
    }

    /// The side a program reads from.
    pub fn input(&self) -> io::Result<OwnedFd> {
        self.slave.try_clone()
    }
}

/// What the launched program finds in its hands.
#[derive(Debug)]
pub struct Inheritance {
    /// A file left open without close-on-exec.
    pub leaked: File,
    /// The name of a key in the session keyring.
    pub key: &'static CStr,
    /// The secret in that key.
    pub secret: Vec<u8>,
}

/// Makes `command` start as the leader of a session on the terminal at its standard input, with `inheritance`.
pub fn inherit(command: &mut Command, inheritance: Inheritance) {
    // SAFETY: pre_exec runs between fork and exec, where only async-signal-safe calls may be made: `hand_over`
    // makes plain system calls and neither allocates nor takes a lock.
    unsafe { command.pre_exec(move || hand_over(&inheritance)) };
}

fn hand_over(inheritance: &Inheritance) -> io::Result<()> {
    let leaked: RawFd = inheritance.leaked.as_raw_fd();
    let steps = || -> Result<(), Errno> {
        call(libc::SYS_setsid, [])?;
        call(libc::SYS_ioctl, [Arg::Int(0), Arg::Int(libc::TIOCSCTTY.cast_signed()), Arg::Int(0)])?;
        call(libc::SYS_fcntl, [Arg::Int(leaked.into()), Arg::Int(libc::F_SETFD.into()), Arg::Int(0)])?;
        const JOIN_SESSION_KEYRING: i64 = 1;
        call(libc::SYS_keyctl, [Arg::Int(JOIN_SESSION_KEYRING), Arg::Null])?;
        let length = i64::try_from(inheritance.secret.len()).unwrap_or(0);
        const SESSION_KEYRING: i64 = -3;
        let (kind, name) = (Arg::Text(c"user"), Arg::Text(inheritance.key));
        let payload = Arg::Bytes(&inheritance.secret);
        call(libc::SYS_add_key, [kind, name, payload, Arg::Int(length), Arg::Int(SESSION_KEYRING)])?;
        Ok(())
    };
    steps().map_err(|errno| io::Error::from_raw_os_error(errno.0))
}
