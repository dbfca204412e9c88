//! The terminal: nothing can be typed into it from inside (CVE-2017-5226).

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use super::Probe;
use super::tools::alone;
use crate::context::Context;
use crate::report::{Attempt, Verdict};
use crate::sys::{Arg, call};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("37-tiocsti", "nothing can be typed into the host's terminal", type_into_terminal),
    Probe::new(
        "70-tiocsti-high-bits",
        "a filter on terminal requests sees all their bits",
        type_with_high_bits,
    ),
];

fn type_into_terminal(_: &Context) -> Verdict {
    let mut attempts = on_every_terminal("TIOCSTI", libc::TIOCSTI.cast_signed(), b" ");
    // Subcommand 6 reads the shift state; the ones that paste would need no more right than this one.
    attempts.extend(on_every_terminal("TIOCLINUX", libc::TIOCLINUX.cast_signed(), &[6]));
    Verdict::of(attempts)
}

/// The kernel cuts the request to 32 bits; a filter that compares 64 sees another number (CVE-2019-10063).
fn type_with_high_bits(_: &Context) -> Verdict {
    let request = libc::TIOCSTI.cast_signed();
    let mut attempts = on_every_terminal("TIOCSTI + 2^32", request | (1 << 32), b" ");
    attempts.extend(on_every_terminal("TIOCSTI + all high bits", request | (-1 << 32), b" "));
    Verdict::of(attempts)
}

fn on_every_terminal(what: &str, request: i64, argument: &[u8]) -> Vec<Attempt> {
    let own = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open("/dev/tty");
    let mut terminals = vec![0, 1, 2];
    terminals.extend(own.as_ref().map(AsRawFd::as_raw_fd));
    let attempts = terminals.iter().map(|fd| {
        let name = if *fd > 2 { "/dev/tty".to_owned() } else { format!("descriptor {fd}") };
        alone(&format!("{what} on {name}"), || {
            let made =
                call(libc::SYS_ioctl, [Arg::Int((*fd).into()), Arg::Int(request), Arg::Bytes(argument)]);
            made.map(|_| "worked".to_owned()).map_err(|errno| errno.to_string())
        })
    });
    attempts.collect()
}
