//! The commands by which an ordinary user gets control groups of their own.
//!
//! A user needs a directory to make groups in, and the right to move processes from where they are to there: so the
//! shell moves in too. Only what moving takes is handed over; the limits of the group itself stay root's.

use std::{collections::BTreeSet, path::Path};

use belljar_jail::cgroup::{Layout, Survey, Version};

/// Lines for the shell of the calling user.
#[must_use]
pub fn commands_for_caller() -> Vec<String> {
    commands(&Survey::take(), rustix::process::getuid().as_raw())
}

/// Lines for the shell that will start belljar.
pub(super) fn commands(survey: &Survey, uid: u32) -> Vec<String> {
    let mounts = |wanted: Version| -> BTreeSet<&Path> {
        let found = survey.places.iter().filter_map(|place| place.mount.as_ref());
        found.filter(|(version, _)| *version == wanted).map(|(_, mount)| mount.as_path()).collect()
    };
    match (survey.layout, survey.systemd) {
        (Layout::None, _) => Vec::new(),
        (Layout::V2, true) => scope(uid),
        (Layout::V1 | Layout::Hybrid, _) => first(&mounts(Version::V1), uid),
        (Layout::V2, false) => mounts(Version::V2).into_iter().flat_map(|mount| second(mount, uid)).collect(),
    }
}

/// systemd hands the user's own manager a group; a login session is outside of it, a scope is inside.
fn scope(uid: u32) -> Vec<String> {
    let lines = [
        "systemd-run --user --scope -p Delegate=yes belljar run -- COMMAND",
        "sudo mkdir -p /etc/systemd/system/user@.service.d",
        "printf '[Service]\\nDelegate=cpu memory pids\\n' | \\\n  \
         sudo tee /etc/systemd/system/user@.service.d/belljar.conf",
        "sudo systemctl daemon-reload",
    ];
    let mut all: Vec<_> = lines.map(str::to_owned).to_vec();
    all.push(format!(
        "sudo systemctl restart user@{uid}.service  # ends this user's services; or log in anew"
    ));
    all
}

/// One group per hierarchy.
fn first(mounts: &BTreeSet<&Path>, uid: u32) -> Vec<String> {
    let mut all = vec!["for controller in \\".to_owned()];
    all.extend(mounts.iter().map(|mount| format!("  {} \\", mount.display())));
    all.extend([
        "; do".to_owned(),
        format!("  group=$controller/belljar-{uid}"),
        "  sudo mkdir -p $group".to_owned(),
        format!("  sudo chown {uid} $group $group/cgroup.procs $group/tasks"),
        "  echo $$ | sudo tee $group/cgroup.procs".to_owned(),
        "done".to_owned(),
    ]);
    vec![all.join("\n")]
}

/// A group whose processes sit in a leaf, because a group that hands controllers down may hold none itself.
fn second(mount: &Path, uid: u32) -> Vec<String> {
    let top = mount.display();
    vec![
        format!("group={top}/belljar-{uid}"),
        format!("echo '+memory +cpu +pids' | sudo tee {top}/cgroup.subtree_control"),
        "sudo mkdir -p $group/shell".to_owned(),
        format!("sudo chown {uid} $group $group/cgroup.procs $group/cgroup.subtree_control"),
        format!("sudo chown {uid} $group/shell $group/shell/cgroup.procs"),
        "echo $$ | sudo tee $group/shell/cgroup.procs".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use belljar_jail::cgroup::{Controller, Place};

    use super::*;

    fn survey(layout: Layout, systemd: bool, mount: (Version, &str)) -> Survey {
        let mount = Some((mount.0, PathBuf::from(mount.1)));
        let place = |controller| Place { controller, mount: mount.clone() };
        Survey { layout, systemd, places: vec![place(Controller::Cpu), place(Controller::CpuAccount)] }
    }

    #[test]
    fn a_hierarchy_of_two_controllers_is_named_once() {
        let text = commands(&survey(Layout::V1, false, (Version::V1, "/c/cpu,cpuacct")), 1000).join("\n");
        assert_eq!(text.matches("/c/cpu,cpuacct").count(), 1, "{text}");
        assert!(text.contains("$controller/belljar-1000") && text.contains("echo $$"), "{text}");
    }

    #[test]
    fn systemd_is_asked_where_it_rules() {
        let with = commands(&survey(Layout::V2, true, (Version::V2, "/c")), 1000).join("\n");
        assert!(with.contains("systemd-run --user --scope -p Delegate=yes"), "{with}");
        assert!(with.contains("Delegate=cpu memory pids") && with.contains("user@1000.service"), "{with}");
        let without = commands(&survey(Layout::V2, false, (Version::V2, "/c")), 1000).join("\n");
        assert!(
            without.contains("group=/c/belljar-1000") && without.contains("$group/shell/cgroup.procs"),
            "{without}"
        );
    }
}
