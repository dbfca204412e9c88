//! The kernel: its age, and every feature a sandbox is made of, tried by really using it.

use belljar_jail::{
    Remedy,
    probe::{Probe, ProbeError, Prober},
};

use super::check::{Check, Status, Weight};

const AREA: &str = "kernel";

/// What each feature is called, and what hangs on it.
const FEATURES: [(Probe, &str, Weight); 9] = [
    (Probe::UserNamespace, "user-namespace", Weight::Needed),
    (Probe::MountNamespace, "mount-namespace", Weight::Needed),
    (Probe::NetworkNamespace, "network-namespace", Weight::Needed),
    (Probe::PidNamespace, "pid-namespace", Weight::Needed),
    (Probe::Proc, "proc", Weight::Needed),
    (Probe::Overlay, "overlay", Weight::Needed),
    (Probe::IdMappedMount, "idmapped-mounts", Weight::Wanted),
    (Probe::Seccomp, "seccomp", Weight::Needed),
    (Probe::Landlock, "landlock", Weight::Wanted),
];

/// `mount_setattr` came with it.
const MINIMUM: (u32, u32) = (5, 12);
/// Landlock that allows renames, and overlays over id-mapped layers.
const RECOMMENDED: (u32, u32) = (5, 19);

pub(super) fn checks(prober: &Prober, root: bool) -> Vec<Check> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut all = vec![version(&release)];
    for (probe, name, weight) in FEATURES {
        all.push(match (probe, root) {
            (Probe::IdMappedMount, false) => Check::ok(
                AREA,
                name,
                weight,
                "used by root only; without it files of other users are read-only",
            ),
            _ => feature(prober, probe, name, weight),
        });
    }
    all
}

fn version(release: &str) -> Check {
    let (name, needs) = ("version", "needs Linux 5.12, better 5.19");
    match number(release) {
        Some(found) if found >= RECOMMENDED => {
            Check::ok(AREA, name, Weight::Needed, format!("Linux {release}"))
        }
        Some(found) if found >= MINIMUM => {
            Check::failed(AREA, name, Weight::Wanted, Status::Degraded, format!("Linux {release}: {needs}"))
                .with(Remedy::say(
                    "install a kernel of 5.19 or newer for Landlock and overlays over mapped owners",
                ))
        }
        Some(_) | None => {
            Check::failed(AREA, name, Weight::Needed, Status::Missing, format!("Linux {release}: {needs}"))
                .with(Remedy::say("install a kernel of 5.19 or newer"))
        }
    }
}

fn number(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn feature(prober: &Prober, probe: Probe, name: &'static str, weight: Weight) -> Check {
    match prober.ask(probe) {
        Ok(found) => Check::ok(AREA, name, weight, found),
        Err(error) => {
            let status = if weight == Weight::Needed { Status::Missing } else { Status::Degraded };
            Check::failed(AREA, name, weight, status, error.to_string()).with(remedy(probe, &error))
        }
    }
}

fn remedy(probe: Probe, error: &ProbeError) -> Option<Remedy> {
    let known = match error {
        ProbeError::Refused(refused) => refused.remedy(),
        ProbeError::Start(_) | ProbeError::Silent => None,
    };
    let otherwise = match probe {
        Probe::Landlock => {
            "use a kernel of 5.19 or newer with landlock in its `lsm=` list (CONFIG_LSM or the boot command line)"
        }
        Probe::IdMappedMount => {
            "keep projects on ext4, xfs, btrfs or tmpfs: other file systems cannot show files with other owners"
        }
        Probe::Seccomp => {
            "use a kernel with CONFIG_SECCOMP_FILTER, or an outer container that allows seccomp(2)"
        }
        _ => "run `belljar run --plan -- true` and report what it prints with this error",
    };
    known.or_else(|| Some(Remedy::say(otherwise)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_judged_by_what_came_with_it() {
        for (release, status) in [
            ("6.18.44-fc-v445", Status::Ok),
            ("5.19.0", Status::Ok),
            ("5.15.0-1042-azure", Status::Degraded),
            ("5.12", Status::Degraded),
            ("5.10.0-28-amd64", Status::Missing),
            ("4.18.0-513.el8", Status::Missing),
            ("strange", Status::Missing),
        ] {
            assert_eq!(version(release).status, status, "{release}");
        }
    }
}
