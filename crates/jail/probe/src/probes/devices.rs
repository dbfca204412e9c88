//! Devices: only the harmless few, none of the host's disks, none made by hand.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::Probe;
use super::tools::{c_path, files_below, read_one_byte};
use crate::context::Context;
use crate::report::{Attempt, Verdict};
use crate::supervise::SCRATCH;
use crate::sys::{Arg, call};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("20-mknod-block", "no device node can be made", make_nodes),
    Probe::new("21-block-devices", "the host's disks cannot be opened", open_disks),
    Probe::new("22-dev-minimal", "/dev holds only harmless nodes", list_devices),
];

/// What every program may expect in `/dev`.
const HARMLESS: &[&str] = &[
    "null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "mqueue", "fd", "stdin",
    "stdout", "stderr", "console", "core",
];

fn make_nodes(context: &Context) -> Verdict {
    let mut attempts = Vec::new();
    // A disk and physical memory. Major and minor are small, so the old packing of dev_t holds.
    let kinds = [("disk", libc::S_IFBLK, 8 << 8), ("memory", libc::S_IFCHR, (1 << 8) | 1)];
    for place in context.writable_places() {
        for (name, kind, device) in kinds {
            let node = place.join(format!("{SCRATCH}-{name}"));
            let mode = Arg::Int((kind | 0o600).into());
            let made = call(libc::SYS_mknod, [Arg::Text(&c_path(&node)), mode, Arg::Int(device)]);
            attempts.push(Attempt::judge(&format!("mknod {name} in {}", place.display()), made));
            _ = fs::remove_file(&node);
        }
    }
    Verdict::of(attempts)
}

fn open_disks(_: &Context) -> Verdict {
    let is_disk =
        |path: &&PathBuf| fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device());
    let found = files_below(Path::new("/dev"), 10_000);
    Verdict::of(found.iter().filter(is_disk).map(|disk| read_one_byte(disk)).collect())
}

fn list_devices(_: &Context) -> Verdict {
    let mut odd: Vec<String> = fs::read_dir("/dev")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !HARMLESS.contains(&name.as_str()) && !name.starts_with(SCRATCH))
        .collect();
    odd.sort();
    Verdict::of(odd.iter().map(|name| Attempt::through(format!("/dev/{name}"))).collect())
}
