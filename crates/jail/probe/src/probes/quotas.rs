//! Kernel objects counted per user: a sandbox must not use up what the host's user needs.
//!
//! The kernel charges inotify instances and epoll watches to the user of this namespace and to the owner of every
//! namespace on the way out, so a sandbox takes them from whoever made it, unless its own namespace is given a
//! lower limit (`/proc/sys/user`).

use std::os::fd::{AsRawFd, OwnedFd};

use super::Probe;
use super::resources::raise_to_hard_limit;
use crate::context::Context;
use crate::report::Verdict;
use crate::sys::{Arg, Errno, call, call_fd};

pub(super) const PROBES: &[Probe] = &[
    Probe::bomb(
        "86-inotify-exhaustion",
        "most inotify instances are left to the host's user",
        use_up_inotify,
    ),
    Probe::bomb("87-epoll-exhaustion", "most epoll watches are left to the host's user", use_up_epoll),
];

/// The most instances made.
const MOST: usize = 2048;

/// The most watches made.
const MOST_WATCHES: u64 = 20_000;

fn use_up_inotify(context: &Context) -> Verdict {
    raise_to_hard_limit();
    let owned = context.host_quotas.inotify_instances;
    let mut held = Vec::new();
    let end = loop {
        if held.len() >= MOST {
            break "no end".to_owned();
        }
        match call_fd(libc::SYS_inotify_init1, [Arg::Int(0)]) {
            Ok(instance) => held.push(instance),
            Err(errno) => break errno.to_string(),
        }
    };
    judge("inotify instances", u64::try_from(held.len()).unwrap_or(u64::MAX), owned, &end)
}

fn use_up_epoll(context: &Context) -> Verdict {
    raise_to_hard_limit();
    let owned = context.host_quotas.epoll_watches;
    let event = || call_fd(libc::SYS_eventfd2, [Arg::Int(0), Arg::Int(0)]).ok();
    let events: Vec<OwnedFd> = (0..500).map_while(|_| event()).collect();
    let mut polls = Vec::new();
    let mut watches = 0;
    let end = loop {
        if watches >= MOST_WATCHES {
            break "no end".to_owned();
        }
        match watch_all(&events) {
            Ok((poll, count)) => {
                watches += count;
                polls.push(poll);
            }
            Err(errno) => break errno.to_string(),
        }
    };
    judge("epoll watches", watches, owned, &end)
}

/// A new epoll instance that watches every one of `events`.
fn watch_all(events: &[OwnedFd]) -> Result<(OwnedFd, u64), Errno> {
    let poll = call_fd(libc::SYS_epoll_create1, [Arg::Int(0)])?;
    let interest = [0; 12];
    let mut count = 0;
    for event in events {
        let add = Arg::Int(libc::EPOLL_CTL_ADD.into());
        let (poll, event) = (Arg::Int(poll.as_raw_fd().into()), Arg::Int(event.as_raw_fd().into()));
        call(libc::SYS_epoll_ctl, [poll, add, event, Arg::Bytes(&interest)])?;
        count += 1;
    }
    Ok((poll, count))
}

/// A sandbox may have a share of what its owner has, not most of it.
fn judge(what: &str, taken: u64, owned: u64, end: &str) -> Verdict {
    Verdict {
        contained: taken <= owned / 2,
        detail: format!("{taken} {what} of the {owned} of a host user, then {end}"),
    }
}
