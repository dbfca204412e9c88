//! Mounts, made the way a sandbox makes them: by descriptors, detached, then put in place.

use std::{
    env, fs,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    path::Path,
};

use belljar_init::wire::{Failure, Stage};
use rustix::{
    fs::CWD,
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
        fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount,
        open_tree,
    },
    thread::UnshareFlags,
};

use super::{
    namespaces::{self, Held},
    step::{At, without_effect},
};
use crate::is_host_root;

/// The helper that mounts `/proc` for its own pid namespace.
pub(super) const PROC_INSIDE: &str = "proc-inside";

/// Covered in the probe's own mount namespace, seen by nobody else.
const STAGE: &str = "/tmp";

pub(super) fn namespace() -> Result<String, Failure> {
    enter()?;
    stage()?;
    Ok("made, separated from the host's, a tmpfs mounted in it".to_owned())
}

pub(super) fn proc() -> Result<String, Failure> {
    enter()?;
    namespaces::unshare(UnshareFlags::NEWPID, "pid")?;
    namespaces::helper(PROC_INSIDE)
}

pub(super) fn proc_inside() -> Result<String, Failure> {
    make("proc", &[]).at(Stage::Proc, "/proc")?;
    Ok("a private one can be mounted".to_owned())
}

/// An overlay as a sandbox's workspace is one: a file of the lower layer is changed and another deleted through it.
pub(super) fn overlay() -> Result<String, Failure> {
    let root = is_host_root();
    enter()?;
    stage()?;
    env::set_current_dir(STAGE).at(Stage::Cow, STAGE)?;
    for dir in ["lower", "upper", "work", "merged"] {
        fs::create_dir(dir).at(Stage::Cow, dir)?;
    }
    for file in ["lower/changed", "lower/deleted"] {
        fs::write(file, "before").at(Stage::Cow, file)?;
    }
    let mut options =
        vec![("lowerdir", "lower"), ("upperdir", "upper"), ("workdir", "work"), ("volatile", "")];
    if !root {
        options.push(("userxattr", ""));
    }
    let mount = make("overlay", &options).at(Stage::Cow, "overlay")?;
    attach(&mount, "merged").at(Stage::Cow, "merged")?;
    fs::write("merged/changed", "after").at(Stage::Cow, "changed")?;
    fs::remove_file("merged/deleted").at(Stage::Cow, "deleted")?;
    let is = |path: &str, text: &str| fs::read_to_string(path).is_ok_and(|found| found == text);
    let kept_apart =
        is("lower/changed", "before") && is("upper/changed", "after") && is("lower/deleted", "before");
    match kept_apart && fs::symlink_metadata("upper/deleted").is_ok() {
        true if root => Ok("a change and a deletion stayed in the upper layer".to_owned()),
        true => Ok("in a user namespace, a change and a deletion stayed in the upper layer".to_owned()),
        false => Err(without_effect(Stage::Cow, "overlay")),
    }
}

/// Shows directories of this host with owners shifted into a sandbox's range: the toolchain and the working directory.
pub(super) fn idmapped() -> Result<String, Failure> {
    let held = Held::new()?;
    let here = env::current_dir().unwrap_or_default();
    for path in [Path::new("/usr"), here.as_path()] {
        let about = path.to_string_lossy();
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let mount = open_tree(CWD, path, flags).at(Stage::Bind, &about)?;
        map_owners(&mount, &held.file).at(Stage::Bind, &about)?;
    }
    Ok("/usr and this directory can be shown with other owners".to_owned())
}

fn map_owners(mount: &OwnedFd, userns: &fs::File) -> std::io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_IDMAP,
        attr_clr: 0,
        propagation: 0,
        userns_fd: u64::try_from(userns.as_raw_fd()).unwrap_or(0),
    };
    // SAFETY: mount_setattr reads a NUL-terminated path, here the empty literal, and a mount_attr of the size given,
    // here `attributes`; both descriptors are borrowed from owners that outlive the call.
    let code = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if code == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

fn enter() -> Result<(), Failure> {
    namespaces::enter()?;
    namespaces::unshare(UnshareFlags::NEWNS, "mnt")?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).at(Stage::PrivateMounts, "/")
}

/// A file system of its own to work in.
fn stage() -> Result<(), Failure> {
    let mount = make("tmpfs", &[("mode", "0700"), ("size", "1m")]).at(Stage::Skeleton, STAGE)?;
    attach(&mount, STAGE).at(Stage::Skeleton, STAGE)
}

fn make(kind: &str, options: &[(&str, &str)]) -> rustix::io::Result<OwnedFd> {
    let config = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        match value.is_empty() {
            true => fsconfig_set_flag(config.as_fd(), *key)?,
            false => fsconfig_set_string(config.as_fd(), *key, *value)?,
        }
    }
    fsconfig_create(config.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(config.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

fn attach(mount: &OwnedFd, at: &str) -> rustix::io::Result<()> {
    move_mount(mount, "", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}
