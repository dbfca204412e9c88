//! Where on this host groups can be made, for each controller.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};

/// What a group can control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Controller {
    /// Memory limit and out-of-memory counters.
    Memory,
    /// Processor throttling.
    Cpu,
    /// Processor time used (version 1 keeps it apart).
    CpuAccount,
    /// Number of processes.
    Pids,
    /// Freezing. Version 2 has it built in.
    Freezer,
}

impl Controller {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::Memory, Self::Cpu, Self::CpuAccount, Self::Pids, Self::Freezer];

    /// The kernel's name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::CpuAccount => "cpuacct",
            Self::Pids => "pids",
            Self::Freezer => "freezer",
        }
    }
}

/// Which of the kernel's two interfaces a directory speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// One hierarchy per controller.
    V1,
    /// One hierarchy for all.
    V2,
}

/// A directory below which groups can be made, and for what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The directory.
    pub dir: PathBuf,
    /// Its interface.
    pub version: Version,
    /// What it controls.
    pub controllers: Vec<Controller>,
}

/// Every usable seat on this host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hierarchy {
    /// The seats; no controller appears twice.
    pub seats: Vec<Seat>,
}

impl Hierarchy {
    /// Looks at this process's mounts and groups.
    #[must_use]
    pub fn discover() -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let root = rustix::process::geteuid().is_root();
        Self::from_facts(&mounts, &own, |dir, version| usable(dir, version, root))
    }

    /// Says whether a controller can be used.
    #[must_use]
    pub fn has(&self, controller: Controller) -> bool {
        self.seats.iter().any(|seat| seat.controllers.contains(&controller))
    }

    /// Says whether groups made here can be given another name: version 1 does that.
    #[must_use]
    pub fn renames(&self) -> bool {
        !self.seats.is_empty() && self.seats.iter().all(|seat| seat.version == Version::V1)
    }

    /// Chooses seats from the text of `mountinfo` and `cgroup`. `usable` answers which controllers groups made in a
    /// directory would have, `None` if none can be made.
    fn from_facts(
        mounts: &str,
        own: &str,
        usable: impl Fn(&Path, Version) -> Option<Vec<Controller>>,
    ) -> Self {
        let mut seats: Vec<Seat> = Vec::new();
        for (mount, names) in v1_mounts(mounts) {
            let wanted: Vec<_> = Controller::ALL.into_iter().filter(|c| names.contains(&c.name())).collect();
            if wanted.is_empty()
                || seats.iter().any(|seat| wanted.iter().any(|c| seat.controllers.contains(c)))
            {
                continue;
            }
            let candidates = candidates(&mount, own, |line| {
                let mut fields = line.splitn(3, ':');
                let list = fields.nth(1)?;
                names.iter().any(|name| list.split(',').any(|l| l == *name)).then(|| fields.next()).flatten()
            });
            if let Some(dir) = candidates.into_iter().find(|dir| usable(dir, Version::V1).is_some()) {
                seats.push(Seat { dir, version: Version::V1, controllers: wanted });
            }
        }
        if let Some(mount) = v2_mount(mounts) {
            let candidates = candidates(&mount, own, |line| line.strip_prefix("0::"));
            let found = candidates.into_iter().find_map(|dir| usable(&dir, Version::V2).map(|c| (dir, c)));
            if let Some((dir, mut controllers)) = found {
                controllers.retain(|c| !seats.iter().any(|seat| seat.controllers.contains(c)));
                if !controllers.is_empty() {
                    seats.push(Seat { dir, version: Version::V2, controllers });
                }
            }
        }
        Self { seats }
    }
}

/// The mount's root first (root may use it), then the group this process is in and those above it.
fn candidates<'a>(mount: &Path, own: &'a str, path_of: impl Fn(&'a str) -> Option<&'a str>) -> Vec<PathBuf> {
    let mut all = vec![mount.to_path_buf()];
    if let Some(path) = own.lines().find_map(path_of) {
        let here = mount.join(path.trim_start_matches('/'));
        all.extend(
            here.ancestors().take_while(|dir| *dir != mount && dir.starts_with(mount)).map(PathBuf::from),
        );
    }
    all
}

fn fields(line: &str) -> Option<(PathBuf, &str, &str)> {
    let (left, right) = line.split_once(" - ")?;
    let point = left.split(' ').nth(4)?;
    let mut rest = right.split(' ');
    let kind = rest.next()?;
    Some((PathBuf::from(point), kind, rest.nth(1)?))
}

pub(super) fn v1_mounts(mounts: &str) -> Vec<(PathBuf, Vec<&str>)> {
    let found = mounts.lines().filter_map(fields).filter(|(_, kind, _)| *kind == "cgroup");
    found.map(|(point, _, options)| (point, options.split(',').collect())).collect()
}

pub(super) fn v2_mount(mounts: &str) -> Option<PathBuf> {
    mounts.lines().filter_map(fields).find(|(_, kind, _)| *kind == "cgroup2").map(|(point, _, _)| point)
}

/// Asks the real host what groups made in a directory would control.
fn usable(dir: &Path, version: Version, root: bool) -> Option<Vec<Controller>> {
    access(dir, Access::WRITE_OK | Access::EXEC_OK).ok()?;
    match version {
        Version::V1 => {
            // Joining a group takes the right to write its `cgroup.procs`, which the maker has; nothing more to ask.
            Some(Vec::new())
        }
        Version::V2 => {
            let offered = fs::read_to_string(dir.join("cgroup.controllers")).ok()?;
            let control = dir.join("cgroup.subtree_control");
            let has = |name: &str| offered.split_whitespace().any(|c| c == name);
            let mut controllers = vec![Controller::Freezer];
            for controller in [Controller::Memory, Controller::Cpu, Controller::Pids] {
                if has(controller.name()) && enable(&control, controller.name()) {
                    controllers.push(controller);
                }
            }
            if controllers.contains(&Controller::Cpu) {
                controllers.push(Controller::CpuAccount);
            }
            // An unprivileged process may leave its group only for one below a directory it owns too.
            (root || controllers.len() > 1).then_some(controllers)
        }
    }
}

fn enable(control: &Path, name: &str) -> bool {
    let enabled = |text: &str| text.split_whitespace().any(|c| c == name);
    fs::read_to_string(control).is_ok_and(|text| enabled(&text))
        || fs::write(control, format!("+{name}")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
30 1 0:25 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
31 30 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
32 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 30 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
";

    #[test]
    fn a_hybrid_host_gives_each_controller_one_seat() {
        let found = Hierarchy::from_facts(HYBRID, "0::/\n4:memory:/\n", |_, version| match version {
            Version::V1 => Some(Vec::new()),
            Version::V2 => Some(vec![Controller::Freezer, Controller::Memory, Controller::Pids]),
        });
        let seats: Vec<_> =
            found.seats.iter().map(|s| (s.dir.to_str().unwrap(), s.controllers.as_slice())).collect();
        assert_eq!(
            seats,
            [
                ("/sys/fs/cgroup/cpu,cpuacct", [Controller::Cpu, Controller::CpuAccount].as_slice()),
                ("/sys/fs/cgroup/memory", &[Controller::Memory]),
                ("/sys/fs/cgroup/unified", &[Controller::Freezer, Controller::Pids]),
            ]
        );
    }

    #[test]
    fn an_ordinary_user_gets_the_nearest_delegated_group() {
        let mounts = "33 30 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let own = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope\n";
        let found = Hierarchy::from_facts(mounts, own, |dir, _| {
            dir.ends_with("app.slice").then(|| vec![Controller::Freezer, Controller::Memory])
        });
        assert!(found.seats[0].dir.ends_with("user@1000.service/app.slice"));
        assert!(found.has(Controller::Memory) && !found.has(Controller::Cpu));
    }

    #[test]
    fn nothing_writable_means_nothing_promised() {
        assert_eq!(Hierarchy::from_facts(HYBRID, "", |_, _| None), Hierarchy::default());
    }
}
