//! Namespaces: all seven are the sandbox's own, none can be made, none of the host's joined.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use super::Probe;
use super::tools::{alone, namespaces_of};
use crate::context::Context;
use crate::report::{Attempt, Verdict};
use crate::sys::call::effective_uid;
use crate::sys::fork::{clone_and_leave, clone3_and_leave};
use crate::sys::{Arg, Errno, call};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("19-nested-userns", "no user namespace can be made inside", unshare_user),
    Probe::new("29-namespaces", "no namespace is shared with the host", compare_with_host),
    Probe::new("30-setns-pid1", "the namespaces of process 1 cannot be joined", join_init),
    Probe::new("67-clone3-userns", "no user namespace can be made by clone3", clone3_user),
    Probe::new("68-clone-userns", "no user namespace can be made by clone", clone_user),
    Probe::new("69-setns-self", "setns is closed", join_self),
    Probe::new("88-root-is-nobody", "root inside is not root outside", compare_with_root),
];

fn unshare_user(_: &Context) -> Verdict {
    let flags = [("user", libc::CLONE_NEWUSER), ("user and mount", libc::CLONE_NEWUSER | libc::CLONE_NEWNS)];
    let attempts = flags.iter().map(|(name, flags)| {
        alone(&format!("unshare {name}"), || answer(call(libc::SYS_unshare, [Arg::Int((*flags).into())])))
    });
    Verdict::of(attempts.collect())
}

fn clone3_user(_: &Context) -> Verdict {
    let flags = u64::from(libc::CLONE_NEWUSER.unsigned_abs());
    Verdict::of(vec![alone("clone3", || answer(clone3_and_leave(flags)))])
}

fn clone_user(_: &Context) -> Verdict {
    Verdict::of(vec![alone("clone", || answer(clone_and_leave(libc::CLONE_NEWUSER.into())))])
}

fn compare_with_host(context: &Context) -> Verdict {
    let own = namespaces_of("self");
    if own.is_empty() {
        return Verdict::unknown("/proc/self/ns cannot be read");
    }
    let shared: Vec<&str> = own
        .iter()
        .filter(|(name, number)| context.namespaces.get(*name) == Some(number))
        .map(|(name, _)| name.as_str())
        .collect();
    match shared.as_slice() {
        [] => Verdict::contained(format!("{} namespaces, all its own", own.len())),
        shared => Verdict::escaped(format!("shared with the host: {}", shared.join(", "))),
    }
}

/// Joining the namespace one is in already is no escape, so only those that differ count.
fn join_init(_: &Context) -> Verdict {
    let own = namespaces_of("self");
    let init = namespaces_of("1");
    if init.is_empty() {
        return Verdict::contained("/proc/1/ns cannot be read");
    }
    let others = init.iter().filter(|(name, number)| own.get(*name) != Some(number));
    let attempts: Vec<Attempt> = others.map(|(name, _)| join("1", name)).collect();
    if attempts.is_empty() {
        return Verdict::contained("process 1 is in our own namespaces");
    }
    Verdict::of(attempts)
}

fn join_self(_: &Context) -> Verdict {
    Verdict::of(namespaces_of("self").keys().map(|name| join("self", name)).collect())
}

fn join(process: &str, name: &str) -> Attempt {
    let path = format!("/proc/{process}/ns/{name}");
    alone(&format!("setns {path}"), || {
        let file = File::open(&path).map_err(|error| format!("open: {}", Errno::of(&error)))?;
        answer(call(libc::SYS_setns, [Arg::Int(file.as_raw_fd().into()), Arg::Int(0)]))
    })
}

/// Files of `/proc` belong to the host's root. Seen from inside, they carry our own id only if we are that root;
/// an id map alone would not tell, because namespaces may be nested.
fn compare_with_root(_: &Context) -> Verdict {
    let uid = effective_uid();
    let Some(root) = ["/proc/version", "/proc/uptime"].iter().find_map(|file| fs::metadata(file).ok()) else {
        return Verdict::unknown("no file of the host's root to compare with");
    };
    // An id without a mapping is shown as this one.
    const NOBODY: u32 = 65534;
    match root.uid() == uid && uid != NOBODY {
        true => Verdict::escaped(format!("uid {uid} is the host's root")),
        false => Verdict::contained(format!("uid {uid}, while the host's root is {} here", root.uid())),
    }
}

fn answer(result: Result<i64, Errno>) -> Result<String, String> {
    result.map(|_| "worked".to_owned()).map_err(|errno| errno.to_string())
}
