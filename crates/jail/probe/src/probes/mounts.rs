//! The file tree: nothing can be mounted, unmounted, made writable again, or reached beside the tree.

use std::fs;
use std::path::{Path, PathBuf};

use super::Probe;
use super::tools::{alone, c_path, reach};
use crate::context::Context;
use crate::report::{Attempt, Verdict};
use crate::supervise::SCRATCH;
use crate::sys::{Arg, Errno, call};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("16-mount", "nothing can be mounted", mount_something),
    Probe::new("17-remount-rw", "a read-only mount stays read-only", remount_writable),
    Probe::new("18-mount-propagation", "no mount made inside shows outside", look_for_propagation),
    Probe::new("78-overlay-layers", "the layers under the tree cannot be opened", open_layers),
    Probe::new("89-chroot", "the root directory cannot be changed", change_root),
    Probe::new("90-unmask", "masks over the tree cannot be taken off", unmount_masks),
];

fn mount_something(_: &Context) -> Verdict {
    let flags = i64::from(libc::AT_FDCWD);
    let tree = Arg::Int(i64::from(libc::AT_RECURSIVE) | 1);
    // All zero: a change of nothing, which still asks for the right to change.
    let attributes = [0; 32];
    Verdict::of(vec![
        in_own_mounts("mount tmpfs", |target| mount(c"tmpfs", target, c"tmpfs", 0).map(|()| "worked".into())),
        in_own_mounts("bind mount", |target| {
            mount(c"/", target, c"", libc::MS_BIND).map(|()| "worked".into())
        }),
        reach("fsopen", libc::SYS_fsopen, [Arg::Text(c"tmpfs"), Arg::Int(0)]),
        reach("open_tree", libc::SYS_open_tree, [Arg::Int(flags), Arg::Text(c"/"), tree]),
        reach("mount_setattr", libc::SYS_mount_setattr, {
            [Arg::Int(flags), Arg::Text(c"/"), Arg::Int(0), Arg::Bytes(&attributes), Arg::Int(32)]
        }),
        alone("unshare mounts", || unshare(libc::CLONE_NEWNS).map(|()| "worked".into())),
    ])
}

/// Undoes a read-only bind in a mount namespace of its own if it may have one, and writes beside the canary.
fn remount_writable(context: &Context) -> Verdict {
    let mark = context.canary_dir().join("made-by-17-remount-rw");
    let point = mount_point_of(&context.canary_file);
    if !context.canary_file.exists() {
        return Verdict::contained("the canary is not in the tree");
    }
    Verdict::of(vec![in_own_mounts("remount and write", |_| {
        if fs::write(&mark, b"").is_ok() {
            return Err("was writable already".into());
        }
        mount(c"", &point, c"", libc::MS_REMOUNT | libc::MS_BIND)?;
        fs::write(&mark, b"made inside\n").map_err(|error| format!("write: {}", Errno::of(&error)))?;
        Ok(format!("{} is writable again", point.display()))
    })])
}

fn look_for_propagation(_: &Context) -> Verdict {
    let Some(mounts) = mountinfo() else { return Verdict::contained("no mountinfo") };
    let shared =
        mounts.iter().filter(|line| line.split(" - ").next().is_some_and(|head| head.contains(" shared:")));
    let count = shared.count();
    Verdict { contained: count == 0, detail: format!("{count} of {} mounts are shared", mounts.len()) }
}

/// The paths of an overlay's layers are written in mountinfo; none may be openable from inside.
fn open_layers(_: &Context) -> Verdict {
    let mut attempts = Vec::new();
    for line in mountinfo().unwrap_or_default() {
        let Some((_, options)) = line.split_once(" - overlay ") else { continue };
        for option in options.split([',', ' ']) {
            let Some((name, value)) = option.split_once('=') else { continue };
            if !name.ends_with("dir") && !name.ends_with("dir+") {
                continue;
            }
            for layer in value.split(':').filter(|layer| layer.starts_with('/') && *layer != "/") {
                let listed = fs::read_dir(layer).map_err(Errno::from);
                attempts.push(Attempt::judge(&format!("open {name} {layer}"), listed));
            }
        }
    }
    Verdict::of(attempts)
}

fn change_root(_: &Context) -> Verdict {
    let pivot = [Arg::Text(c"/"), Arg::Text(c"/")];
    Verdict::of(vec![
        alone("chroot", || match call(libc::SYS_chroot, [Arg::Text(c"/")]) {
            Ok(_) => Ok("worked".into()),
            Err(errno) => Err(errno.to_string()),
        }),
        reach("pivot_root", libc::SYS_pivot_root, pivot),
    ])
}

/// Asks with `MNT_EXPIRE`, which takes nothing off the first time: EAGAIN means that it may be taken off. Each
/// mount point is asked once, because the second time would do it.
fn unmount_masks(_: &Context) -> Verdict {
    let mounts = mountinfo().unwrap_or_default();
    let mut points: Vec<&str> = mounts.iter().filter_map(|line| line.split(' ').nth(4)).collect();
    points.sort_unstable();
    points.dedup();
    let mut attempts = Vec::new();
    for point in points.into_iter().filter(|point| *point != "/") {
        let path = c_path(Path::new(point));
        let flags = Arg::Int(libc::MNT_EXPIRE.into());
        attempts.push(match call(libc::SYS_umount2, [Arg::Text(&path), flags]) {
            Err(errno) if !matches!(errno.0, libc::EAGAIN | libc::EBUSY) => {
                Attempt::stopped(format!("umount {point}: {errno}"))
            }
            Ok(_) | Err(_) => Attempt::through(format!("umount {point}: allowed")),
        });
        // Looking at it takes the mark off again.
        _ = fs::metadata(point);
    }
    Verdict::of(attempts)
}

/// Runs an act in a private mount namespace if one may be had, else where we are, with a directory to mount on.
fn in_own_mounts(what: &str, act: impl FnOnce(&Path) -> Result<String, String>) -> Attempt {
    alone(what, || {
        // Without a namespace of our own a mount needs the same right, so it fails as well, or it is the finding.
        if unshare(libc::CLONE_NEWNS).is_ok() {
            _ = mount(c"", Path::new("/"), c"", libc::MS_REC | libc::MS_PRIVATE);
        }
        let target = mount_target();
        let result = act(&target);
        _ = call(libc::SYS_umount2, [Arg::Text(&c_path(&target)), Arg::Int(libc::MNT_DETACH.into())]);
        result
    })
}

/// Like [`in_own_mounts`], but tries harder: with a user namespace too.
pub(super) fn in_private_mounts(what: &str, act: impl FnOnce(&Path) -> Result<String, String>) -> Attempt {
    alone(what, || {
        if unshare(libc::CLONE_NEWNS | libc::CLONE_NEWCGROUP).is_err() {
            unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWCGROUP)?;
            _ = fs::write("/proc/self/setgroups", "deny");
            _ = fs::write("/proc/self/uid_map", format!("0 {} 1", crate::sys::call::effective_uid()));
        }
        mount(c"", Path::new("/"), c"", libc::MS_REC | libc::MS_PRIVATE)?;
        act(&mount_target())
    })
}

fn mount_target() -> PathBuf {
    let scratch = Path::new("/tmp").join(SCRATCH);
    if fs::create_dir_all(&scratch).is_ok() { scratch } else { PathBuf::from("/tmp") }
}

fn mount(source: &std::ffi::CStr, target: &Path, kind: &std::ffi::CStr, flags: u64) -> Result<(), String> {
    let place = c_path(target);
    let flags = Arg::Int(flags.cast_signed());
    let done =
        call(libc::SYS_mount, [Arg::Text(source), Arg::Text(&place), Arg::Text(kind), flags, Arg::Null]);
    done.map(|_| ()).map_err(|errno| format!("mount: {errno}"))
}

fn unshare(flags: i32) -> Result<(), String> {
    call(libc::SYS_unshare, [Arg::Int(flags.into())]).map(|_| ()).map_err(|errno| format!("unshare: {errno}"))
}

fn mountinfo() -> Option<Vec<String>> {
    Some(fs::read_to_string("/proc/self/mountinfo").ok()?.lines().map(str::to_owned).collect())
}

fn mount_point_of(file: &Path) -> PathBuf {
    let mounts = mountinfo().unwrap_or_default();
    let points = mounts.iter().filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from);
    points
        .filter(|point| file.starts_with(point))
        .max_by_key(|point| point.as_os_str().len())
        .unwrap_or("/".into())
}
