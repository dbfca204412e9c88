//! Where each controller lives on this host, usable or not: what has to be known to say how it could be had.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{
    Controller, Version,
    hierarchy::{v1_mounts, v2_mount},
};

/// How the host arranges its controllers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// No control groups are mounted.
    None,
    /// One hierarchy per controller.
    V1,
    /// One hierarchy for all.
    V2,
    /// Both, with the controllers on version 1.
    Hybrid,
}

/// Where one controller is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Which.
    pub controller: Controller,
    /// By which interface it is offered, and where that is mounted; `None` if the host does not offer it.
    pub mount: Option<(Version, PathBuf)>,
}

/// Every controller's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// How they are arranged.
    pub layout: Layout,
    /// One for each controller belljar uses.
    pub places: Vec<Place>,
    /// Whether systemd hands out the groups.
    pub systemd: bool,
}

impl Survey {
    /// Looks at this host's mounts.
    #[must_use]
    pub fn take() -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let offered = |mount: &Path| fs::read_to_string(mount.join("cgroup.controllers")).unwrap_or_default();
        let systemd = Path::new("/run/systemd/system").exists();
        Self { systemd, ..Self::from_facts(&mounts, offered) }
    }

    fn from_facts(mounts: &str, offered: impl Fn(&Path) -> String) -> Self {
        let (first, second) = (v1_mounts(mounts), v2_mount(mounts));
        let v1 = |controller: Controller| {
            let found = first.iter().find(|(_, names)| names.contains(&controller.name()));
            found.map(|(mount, _)| (Version::V1, mount.clone()))
        };
        let v2 = |controller: Controller| {
            let mount = second.clone()?;
            let name = match controller {
                // Built in, whatever the list says.
                Controller::Freezer => return Some((Version::V2, mount)),
                Controller::CpuAccount => Controller::Cpu.name(),
                Controller::Memory | Controller::Cpu | Controller::Pids => controller.name(),
            };
            offered(&mount).split_whitespace().any(|word| word == name).then_some((Version::V2, mount))
        };
        let place = |controller| Place { controller, mount: v1(controller).or_else(|| v2(controller)) };
        let places: Vec<_> = Controller::ALL.into_iter().map(place).collect();
        let on_first = places.iter().any(|place| matches!(place.mount, Some((Version::V1, _))));
        let layout = match (on_first, second.is_some()) {
            (true, true) => Layout::Hybrid,
            (true, false) => Layout::V1,
            (false, true) => Layout::V2,
            (false, false) => Layout::None,
        };
        Self { layout, places, systemd: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_on_version_1_is_not_looked_for_on_version_2() {
        let mounts = "\
31 30 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
33 30 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
";
        let survey = Survey::from_facts(mounts, |_| "cpu memory".to_owned());
        let at =
            |wanted| survey.places.iter().find(|place| place.controller == wanted).unwrap().mount.clone();
        assert_eq!(survey.layout, Layout::Hybrid);
        assert_eq!(at(Controller::Cpu), Some((Version::V1, PathBuf::from("/sys/fs/cgroup/cpu,cpuacct"))));
        assert_eq!(at(Controller::Memory), Some((Version::V2, PathBuf::from("/sys/fs/cgroup/unified"))));
        assert_eq!(at(Controller::Pids), None);
        assert!(at(Controller::Freezer).is_some());
    }

    #[test]
    fn a_host_without_groups_says_so() {
        assert_eq!(Survey::from_facts("", |_| String::new()).layout, Layout::None);
    }
}
