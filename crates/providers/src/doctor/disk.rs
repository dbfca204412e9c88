//! The private disk: an image on a loop device where that works, memory otherwise.

use std::{fs, path::Path};

use belljar_domain::Limits;
use belljar_jail::{
    Remedy,
    disk::{self, DiskError, DiskKind, ImageAccess},
};

use super::{
    check::{Check, Status, Weight},
    distribution::Distribution,
};

const AREA: &str = "disk";

pub(super) fn checks(home: &Path, kind: DiskKind, root: bool, distribution: &Distribution) -> Vec<Check> {
    vec![formatter(distribution, root), image(home, kind, root)]
}

fn formatter(distribution: &Distribution, root: bool) -> Check {
    let name = "mke2fs";
    match disk::mke2fs() {
        Some(path) => Check::ok(AREA, name, Weight::Wanted, path.display().to_string()),
        None if !root => Check::ok(AREA, name, Weight::Wanted, "not installed; used by root only"),
        None => {
            let found = "not installed: disks of sandboxes are memory instead of images";
            Check::failed(AREA, name, Weight::Wanted, Status::Degraded, found)
                .with(Remedy::run("install it", [distribution.install("e2fsprogs")]))
        }
    }
}

/// Formats a disk of a sandbox's size and mounts it nowhere.
fn image(home: &Path, kind: DiskKind, root: bool) -> Check {
    let name = "disk-image";
    if kind == DiskKind::Tmpfs && !root {
        let found = "root only; here disks are tmpfs: hard limits, counted against memory";
        return Check::ok(AREA, name, Weight::Wanted, found);
    }
    if kind == DiskKind::Tmpfs {
        let what = if Path::new("/dev/loop-control").exists() { "mke2fs" } else { "/dev/loop-control" };
        let found = format!("{what} is missing: disks are tmpfs, hard limits but counted against memory");
        let remedy = (what != "mke2fs").then(loop_devices);
        return Check::failed(AREA, name, Weight::Wanted, Status::Degraded, found).with(remedy);
    }
    match try_image(home) {
        Ok(()) => {
            Check::ok(AREA, name, Weight::Wanted, "an ext4 image was made and mounted on a loop device")
        }
        // The provider has chosen images: a sandbox would fail at the same step.
        Err(error) => {
            let source =
                std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
            Check::failed(AREA, name, Weight::Needed, Status::Missing, format!("{error}{source}"))
                .with(loop_devices())
        }
    }
}

fn try_image(home: &Path) -> Result<(), DiskError> {
    let cache = home.join("cache");
    let path = cache.join(format!("doctor-{}.ext4", std::process::id()));
    let tried = disk::make_image(&cache, &path, &Limits::default())
        .and_then(|()| disk::mount_image(&path, ImageAccess::Write).map(drop));
    // Never made, or no longer needed.
    let _gone = fs::remove_file(&path);
    tried
}

fn loop_devices() -> Remedy {
    Remedy::run(
        "loop devices are needed; load their module, or give them to the outer container \
         (`--device /dev/loop-control`, and /dev/loop* with `--privileged`)",
        ["sudo modprobe loop"],
    )
}
