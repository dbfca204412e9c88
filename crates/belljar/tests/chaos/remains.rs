//! What is left over: on disk beyond what the store knows, and of the kernel's own things.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    POOL,
    http::Http,
    traces::{self, Process, Watch},
    truth::ids,
    until,
};

/// What a home has when nothing is in it; directories are looked at one by one.
const OWN: [&str; 19] = [
    "admin.key",
    "artifacts",
    "belljar.db",
    "cache",
    "daybook",
    "eye.db",
    "eye.db-shm",
    "eye.db-wal",
    "fingerprint.key",
    "ledger.key",
    "making",
    "nonces",
    "pass.key",
    "policy.json",
    "sandboxes",
    "search.db",
    "snapshots",
    "store.lock",
    "watch.key",
];

fn names(dir: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Everything on disk is something the server knows of, while it runs.
pub(crate) fn check_known(http: &Http, home: &Path) {
    let listed: BTreeSet<String> = ids(http, "/api/v1/snapshots?limit=1000").into_iter().collect();
    until("every snapshot on disk is listed, and every one listed is there", || {
        names(&home.join("snapshots")) == listed
    });
    let mut alive = BTreeSet::new();
    for state in ["creating", "running", "paused", "stopping", "stopped", "failed"] {
        alive.extend(ids(http, &format!("/api/v1/sandboxes?state={state}&limit=1000")));
    }
    until("every directory is that of a sandbox which is listed, or kept ready", || {
        names(&home.join("sandboxes")).difference(&alive).count() <= POOL
    });
    let known: BTreeSet<String> = digests(http);
    until("every artifact on disk is listed, and every one listed is there", || {
        stored(&home.join("artifacts")) == known
    });
}

fn digests(http: &Http) -> BTreeSet<String> {
    let (_, page) = http.ask("GET", "/api/v1/artifacts?limit=1000", None).unwrap();
    let items = page["items"].as_array().unwrap_or_else(|| panic!("{page}"));
    items.iter().map(|item| item["digest"].as_str().unwrap().to_owned()).collect()
}

/// What lies in the folder of artifacts, by the digest its place says.
fn stored(root: &Path) -> BTreeSet<String> {
    let inside = |folder: String| {
        let files =
            if root.join(&folder).is_dir() { names(&root.join(&folder)) } else { [String::new()].into() };
        files.into_iter().map(move |name| format!("{folder}{name}")).collect::<Vec<_>>()
    };
    names(root).into_iter().flat_map(inside).collect()
}

/// With the last server gone in an orderly way, so is everything else.
pub(crate) fn check_gone(home: &Path, watch: &Watch, networks: &BTreeSet<PathBuf>) {
    let mut left = Vec::new();
    until("no process, control group, loop device, mount or network namespace is left", || {
        left = watch.live_traces(home);
        left.extend(holders(networks));
        let gone = left.is_empty();
        if !gone {
            println!("still there: {left:?}");
        }
        gone
    });
    for dir in ["sandboxes", "making", "snapshots"] {
        assert_eq!(names(&home.join(dir)), BTreeSet::new(), "in {dir}");
    }
    let drafts = traces::drafts(home);
    assert!(drafts.is_empty(), "half-written files are left: {drafts:?}");
    let known = OWN.map(str::to_owned).into();
    let strange: Vec<_> = names(home).difference(&known).cloned().collect();
    assert!(strange.is_empty(), "what is this: {strange:?}");
    let journals: Vec<_> = runtime_dirs(home);
    assert!(journals.is_empty(), "journals are left: {journals:?}");
}

/// Where journals of this home would be.
fn runtime_dirs(home: &Path) -> Vec<PathBuf> {
    let bases = ["/run/belljar", "/dev/shm/belljar-0"];
    let dirs = bases.iter().flat_map(|base| fs::read_dir(base).into_iter().flatten().flatten());
    let is_ours =
        |dir: &PathBuf| fs::read_to_string(dir.join("home")).is_ok_and(|owner| Path::new(&owner) == home);
    dirs.map(|entry| entry.path()).filter(is_ours).collect()
}

/// Network namespaces that processes with a mark are in, apart from this test's own.
pub(crate) fn networks(watch: &Watch) -> BTreeSet<PathBuf> {
    let own = fs::read_link("/proc/self/ns/net").unwrap();
    let of = |process: &Process| fs::read_link(format!("/proc/{}/ns/net", process.pid)).ok();
    watch.processes().iter().filter_map(of).filter(|network| *network != own).collect()
}

/// Who on this host still is in one of these namespaces, or holds it open or mounted.
fn holders(networks: &BTreeSet<PathBuf>) -> Vec<String> {
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let fds = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        let links = fds.map(|fd| fd.path()).chain([process.path().join("ns/net")]);
        let held = links.filter(|link| fs::read_link(link).is_ok_and(|to| networks.contains(&to)));
        found.extend(held.map(|link| link.display().to_string()));
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let name = |network: &PathBuf| network.to_string_lossy().into_owned();
    let names: Vec<_> = networks.iter().map(name).collect();
    let mounted = mounts.lines().filter(|line| names.iter().any(|name| line.contains(name)));
    found.extend(mounted.map(str::to_owned));
    found
}
