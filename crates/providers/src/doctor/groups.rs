//! Control groups: which controller comes from where, whether this user may use it, and how that could be had.

use belljar_domain::Limits;
use belljar_jail::{
    Remedy,
    cgroup::{Controller, Hierarchy, Layout, Place, Survey, Version},
    probe::{Prober, try_group},
};

use super::{
    check::{Check, Status, Weight},
    delegate,
};

const AREA: &str = "control groups";

pub(super) fn checks(prober: &Prober, hierarchy: &Hierarchy, uid: u32) -> Vec<Check> {
    let survey = Survey::take();
    let remedy = || remedy(&survey, uid);
    let mut all = vec![trial(prober, hierarchy, &survey).with_if_bad(remedy)];
    all.extend(survey.places.iter().map(|place| controller(place, hierarchy).with_if_bad(remedy)));
    all
}

/// Makes a group with a sandbox's limits, puts a process in it, freezes and thaws it.
fn trial(prober: &Prober, hierarchy: &Hierarchy, survey: &Survey) -> Check {
    let (name, layout) = ("cgroups", describe(survey.layout));
    if hierarchy.seats.is_empty() {
        let found = format!("{layout}; none is delegated to this user");
        return Check::failed(AREA, name, Weight::Wanted, Status::Degraded, found);
    }
    match try_group(prober, hierarchy, &Limits::default()) {
        Ok(trial) => {
            let freezing = if trial.froze { "frozen and thawed" } else { "not frozen" };
            let found = format!("{layout}; a group was made, limited, joined, {freezing}");
            Check::ok(AREA, name, Weight::Wanted, found)
        }
        // A sandbox would fail at the same step.
        Err(error) => {
            Check::failed(AREA, name, Weight::Needed, Status::Missing, format!("{layout}; {}", chain(&error)))
        }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {}", chain(source)))
}

const fn describe(layout: Layout) -> &'static str {
    match layout {
        Layout::None => "none mounted",
        Layout::V1 => "version 1",
        Layout::V2 => "version 2",
        Layout::Hybrid => "hybrid",
    }
}

fn controller(place: &Place, hierarchy: &Hierarchy) -> Check {
    let (name, loses) = match place.controller {
        Controller::Memory => ("cgroup-memory", "memory is limited per process only"),
        Controller::Cpu => ("cgroup-cpu", "processor time is not throttled"),
        Controller::CpuAccount => ("cgroup-cpuacct", "processor time is not measured"),
        Controller::Pids => ("cgroup-pids", "processes are limited by RLIMIT_NPROC alone"),
        Controller::Freezer => ("freezer", "sandboxes cannot be paused"),
    };
    let seat = hierarchy.seats.iter().find(|seat| seat.controllers.contains(&place.controller));
    match (seat, &place.mount) {
        (Some(seat), _) => {
            let found = format!("{}, groups are made in {}", version(seat.version), seat.dir.display());
            Check::ok(AREA, name, Weight::Wanted, found)
        }
        (None, Some((offered, mount))) => {
            let found = format!("{} at {}, not delegated: {loses}", version(*offered), mount.display());
            Check::failed(AREA, name, Weight::Wanted, Status::Degraded, found)
        }
        (None, None) => {
            Check::failed(AREA, name, Weight::Wanted, Status::Degraded, format!("not on this host: {loses}"))
        }
    }
}

const fn version(version: Version) -> &'static str {
    match version {
        Version::V1 => "version 1",
        Version::V2 => "version 2",
    }
}

fn remedy(survey: &Survey, uid: u32) -> Remedy {
    if uid == 0 {
        return Remedy::run(
            "mount control groups, or start the outer container with its own",
            ["docker run --cgroupns=private --privileged …"],
        );
    }
    let advice = match (survey.layout, survey.systemd) {
        (Layout::None, _) => {
            return Remedy::say("this host has no control groups mounted; its administrator can");
        }
        (Layout::V2, true) => {
            "run belljar in a scope of your own; the drop-in, once and as root, adds the processor limit"
        }
        (Layout::V1 | Layout::V2 | Layout::Hybrid, _) => {
            "let root give this user a group per controller and move this shell into it (until reboot)"
        }
    };
    Remedy::run(advice, delegate::commands(survey, uid))
}

impl Check {
    fn with_if_bad(self, remedy: impl FnOnce() -> Remedy) -> Self {
        if self.status == Status::Ok { self } else { self.with(remedy()) }
    }
}
