//! Kernel objects that are counted per user rather than per control group: how many of them a sandbox may have.
//!
//! What a user namespace holds is charged to its owner too, so a sandbox without limits of its own could take the last
//! file watcher from the person who started it. It gets a share; and it gets no namespaces, which the filter of system
//! calls refuses as well.

use std::{fs, path::Path};

use belljar_jail::plan::Quota;

/// Where the kernel keeps these limits, one file each.
const LIMITS: &str = "/proc/sys/user";

/// Not for a sandbox.
const NONE: [&str; 10] = [
    "max_cgroup_namespaces",
    "max_fanotify_groups",
    "max_fanotify_marks",
    "max_ipc_namespaces",
    "max_mnt_namespaces",
    "max_net_namespaces",
    "max_pid_namespaces",
    "max_time_namespaces",
    "max_user_namespaces",
    "max_uts_namespaces",
];

/// Shared with the owner.
const SHARED: [&str; 2] = ["max_inotify_instances", "max_inotify_watches"];

/// Which part of what its owner has a sandbox may use.
const SHARE: u64 = 4;

/// The quotas of a sandbox on this host.
pub(super) fn for_sandbox() -> Vec<Quota> {
    from(|name| fs::read_to_string(Path::new(LIMITS).join(name)).ok()?.trim().parse().ok())
}

fn from(owned: impl Fn(&str) -> Option<u64>) -> Vec<Quota> {
    let quota = |name: &str, limit| Quota { name: name.to_owned(), limit };
    let none = NONE.into_iter().map(|name| quota(name, 0));
    let shared = SHARED.into_iter().filter_map(|name| Some(quota(name, (owned(name)? / SHARE).max(1))));
    none.chain(shared).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_has_a_share_of_watchers_and_no_namespaces() {
        let quotas = from(|name| (name == "max_inotify_instances").then_some(128));
        let limit_of = |name: &str| quotas.iter().find(|quota| quota.name == name).map(|quota| quota.limit);
        assert_eq!(limit_of("max_inotify_instances"), Some(32));
        assert_eq!(limit_of("max_inotify_watches"), None, "this kernel does not count them");
        assert_eq!(limit_of("max_user_namespaces"), Some(0));
        assert_eq!(from(|_| Some(1)).last().map(|quota| quota.limit), Some(1), "a share is never nothing");
    }
}
