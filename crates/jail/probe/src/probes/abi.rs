//! Other doors to the same kernel: `io_uring`, x32 numbers and 32-bit calls pass the same filter or none.

use super::Probe;
use super::tools::{alone, reach};
use crate::context::Context;
use crate::report::Verdict;
use crate::sys::abi::{X32, call_32bit};
use crate::sys::{Arg, Errno, call};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("48-io-uring", "io_uring is closed", set_up_ring),
    Probe::new("64-io-uring-others", "io_uring is closed by its other numbers too", enter_ring),
    Probe::new("65-x32-abi", "x32 system calls are closed", call_x32),
    Probe::new("66-int80-abi", "32-bit system calls are closed", call_by_interrupt),
];

/// Work handed to a ring is done by the kernel, past the filter on system calls.
fn set_up_ring(_: &Context) -> Verdict {
    let mut parameters = [0; 120];
    let made = [Arg::Int(1), Arg::Into(&mut parameters)];
    Verdict::of(vec![reach("io_uring_setup", libc::SYS_io_uring_setup, made)])
}

fn enter_ring(_: &Context) -> Verdict {
    let zero = || Arg::Int(0);
    let mut parameters = [0; 120];
    Verdict::of(vec![
        reach("io_uring_enter", libc::SYS_io_uring_enter, [Arg::Int(-1), zero(), zero(), zero(), Arg::Null]),
        reach("io_uring_register", libc::SYS_io_uring_register, [Arg::Int(-1), zero(), Arg::Null, zero()]),
        reach(
            "io_uring_setup by x32",
            libc::SYS_io_uring_setup | X32,
            [Arg::Int(1), Arg::Into(&mut parameters)],
        ),
        by_interrupt("io_uring_setup by int 0x80", 425, 1),
    ])
}

fn call_x32(_: &Context) -> Verdict {
    let numbers =
        [("getpid", libc::SYS_getpid), ("unshare", libc::SYS_unshare), ("keyctl", libc::SYS_keyctl)];
    let attempts = numbers.iter().map(|(name, number)| {
        alone(&format!("x32 {name}"), || match call(number | X32, [Arg::Int(0)]) {
            Ok(_) => Ok("worked".into()),
            Err(errno) if errno.refuses() => Err(errno.to_string()),
            Err(errno) => Ok(format!("reached ({errno})")),
        })
    });
    Verdict::of(attempts.collect())
}

/// 310 is `unshare` for 32-bit programs and `process_vm_readv` for the rest; 20 is `getpid` and `writev`.
fn call_by_interrupt(_: &Context) -> Verdict {
    Verdict::of(vec![
        by_interrupt("getpid by int 0x80", 20, 0),
        by_interrupt("unshare by int 0x80", 310, libc::CLONE_NEWUSER),
    ])
}

/// A kernel without 32-bit calls answers the interrupt with SIGSEGV: there is no door.
fn by_interrupt(what: &str, number: i32, argument: i32) -> crate::report::Attempt {
    use crate::report::Attempt;
    use crate::sys::fork::{Outcome, in_child};

    let outcome = in_child(super::tools::MOMENT, || match call_32bit(number, argument) {
        Some(answer) => answer.to_string(),
        None => "absent".to_owned(),
    });
    let answer = match &outcome {
        Ok(Outcome::Said(text)) => text.parse::<i32>().ok(),
        Ok(Outcome::Killed(signal)) => return Attempt::stopped(format!("{what}: signal {signal}")),
        Ok(_) | Err(_) => return Attempt::through(format!("{what}: no answer, {outcome:?}")),
    };
    match answer {
        None => Attempt::stopped(format!("{what}: no such door")),
        Some(answer) if answer < 0 && Errno(-answer).refuses() => {
            Attempt::stopped(format!("{what}: {}", Errno(-answer)))
        }
        Some(answer) if answer < 0 => Attempt::through(format!("{what}: reached ({})", Errno(-answer))),
        Some(_) => Attempt::through(format!("{what}: worked")),
    }
}
