//! Who runs belljar: root, an ordinary user, or an ordinary user to whom control groups were delegated.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use super::own;
use crate::workbench::place::place;

/// The ordinary user when the tests run as root.
const UID: u32 = 1000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Caller {
    Root,
    User,
    Delegated,
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl Caller {
    /// Fails with the remedy when these tests cannot be run by this caller.
    pub(super) fn check(self) {
        match self {
            Self::Root => assert!(is_root(), "this test is about root: run the tests as root (sudo -E)"),
            Self::Delegated => assert!(
                is_root(),
                "this test delegates control groups to a user, which takes root: run the tests as root (sudo -E)"
            ),
            Self::User => {}
        }
        for program in ["prlimit", "setpriv", "script", "python3", "git"] {
            let found = ["/usr/local/bin", "/usr/bin", "/bin"]
                .iter()
                .any(|dir| Path::new(dir).join(program).exists());
            assert!(found, "{program} is missing: apt-get install util-linux bsdutils python3 git");
        }
    }

    /// The caller's user id.
    pub(crate) fn uid(self) -> u32 {
        match self {
            Self::Root => 0,
            Self::User | Self::Delegated if is_root() => UID,
            Self::User | Self::Delegated => rustix::process::geteuid().as_raw(),
        }
    }

    /// Whether memory, processors and freezing are controlled.
    pub(crate) fn has_control_groups(self) -> bool {
        self != Self::User
    }

    pub(crate) fn give(self, path: &Path) {
        if is_root() {
            own(path, self.uid());
        }
    }

    /// Words that make the next program run as this caller.
    pub(super) fn switch(self) -> Vec<String> {
        if self == Self::Root || !is_root() {
            return Vec::new();
        }
        let uid = UID.to_string();
        ["setpriv", "--reuid", &uid, "--regid", &uid, "--clear-groups"].map(str::to_owned).into()
    }

    /// The program under test, where the caller may read it.
    pub(super) fn program(self, dir: &Path) -> PathBuf {
        let built = PathBuf::from(env!("CARGO_BIN_EXE_belljar"));
        if self == Self::Root || !is_root() {
            return built;
        }
        let visible = dir.join("belljar");
        place(&built, &visible);
        visible
    }
}

/// Control groups given to the ordinary user, one in every hierarchy; removed on drop.
pub(super) struct Delegation {
    /// What is removed in the end.
    groups: Vec<PathBuf>,
    /// Where the caller starts.
    seats: Vec<PathBuf>,
}

const CONTROLLERS: [&str; 5] = ["memory", "cpu", "cpuacct", "pids", "freezer"];

impl Delegation {
    pub(super) fn new(mark: u64) -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let hierarchies: Vec<_> = mounts.lines().filter_map(hierarchy).collect();
        let name = format!("e2e-{mark}");
        let v1: Vec<_> = hierarchies.iter().filter(|(_, controllers)| !controllers.is_empty()).collect();
        let mut made = Self { groups: Vec::new(), seats: Vec::new() };
        if v1.is_empty() {
            let (root, _) = hierarchies
                .first()
                .expect("no control groups are mounted: mount -t cgroup2 none /sys/fs/cgroup");
            for controller in ["memory", "cpu", "pids"] {
                fs::write(root.join("cgroup.subtree_control"), format!("+{controller}")).unwrap();
            }
            made.delegate(root.join(name));
            // Version 2 has no processes in groups that have children.
            let seat = made.groups[0].join("caller");
            made.delegate(seat);
            made.seats = vec![made.groups[1].clone()];
        } else {
            v1.iter().for_each(|(root, _)| made.delegate(root.join(&name)));
            made.seats = made.groups.clone();
        }
        made
    }

    fn delegate(&mut self, group: PathBuf) {
        fs::create_dir(&group).unwrap_or_else(|error| panic!("make {}: {error}", group.display()));
        own(&group, UID);
        for file in ["cgroup.procs", "tasks", "cgroup.subtree_control", "cgroup.threads"] {
            let path = group.join(file);
            if path.exists() {
                own(&path, UID);
            }
        }
        self.groups.push(group);
    }

    /// Words that start the next program inside.
    pub(super) fn enter(&self) -> Vec<String> {
        let join = "while [ \"$1\" != -- ]; do echo 0 > \"$1/cgroup.procs\" || exit 125; shift; done; shift; exec \"$@\"";
        let seats = self.seats.iter().map(|seat| seat.to_str().unwrap().to_owned());
        ["sh", "-c", join, "sh"]
            .map(str::to_owned)
            .into_iter()
            .chain(seats)
            .chain(["--".to_owned()])
            .collect()
    }
}

impl Drop for Delegation {
    fn drop(&mut self) {
        for group in self.groups.iter().rev() {
            // A group whose last process died a moment ago is still busy.
            for _attempt in 0..500 {
                if fs::remove_dir(group).is_ok() || !group.exists() {
                    break;
                }
                thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

/// The mount point of a hierarchy and those of its controllers that matter; none for version 2.
fn hierarchy(line: &str) -> Option<(PathBuf, Vec<&str>)> {
    let (left, right) = line.split_once(" - ")?;
    let kind = right.split(' ').next()?;
    let controllers =
        right.rsplit(' ').next()?.split(',').filter(|name| CONTROLLERS.contains(name)).collect::<Vec<_>>();
    let point = PathBuf::from(left.split(' ').nth(4)?);
    match kind {
        "cgroup2" => Some((point, Vec::new())),
        "cgroup" if !controllers.is_empty() => Some((point, controllers)),
        _ => None,
    }
}
