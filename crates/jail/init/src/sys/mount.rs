//! Mounts, by the descriptor-based interface only: a mount is made detached, given its attributes, then put in place.

use linux_raw_sys::general as k;

use super::{CText, Fd, HERE, Sys, call, plain, reg, to_fd};

const AT_EMPTY_PATH: usize = k::AT_EMPTY_PATH as usize;
const AT_RECURSIVE: usize = 0x8000;
const OPEN_TREE_CLONE: usize = 1;
const OPEN_TREE_CLOEXEC: usize = k::O_CLOEXEC as usize;
const MOVE_MOUNT_F_EMPTY_PATH: usize = 0x4;
const MOVE_MOUNT_T_EMPTY_PATH: usize = 0x40;
const FSCONFIG_SET_FLAG: usize = 0;
const FSCONFIG_SET_STRING: usize = 1;
const FSCONFIG_CMD_CREATE: usize = 6;

/// Attributes of a mount.
pub(crate) const RDONLY: u64 = 0x1;
pub(crate) const NOSUID: u64 = 0x2;
pub(crate) const NODEV: u64 = 0x4;
pub(crate) const NOEXEC: u64 = 0x8;
pub(crate) const NOSYMFOLLOW: u64 = 0x0020_0000;
const IDMAP: u64 = 0x0010_0000;

/// A new file system of the given type, with options, as a detached mount.
pub(crate) fn new_mount(kind: &str, options: &[(&str, &str)], attributes: u64) -> Sys<Fd> {
    let name = CText::new(kind);
    // SAFETY: fsopen reads a NUL-terminated name, which `name` is and outlives the call.
    let config = to_fd(unsafe { call(k::__NR_fsopen, [name.addr(), 1, 0, 0, 0, 0]) }?);
    for (key, value) in options {
        let key = CText::new(key);
        let text = CText::new(value);
        let (command, value) =
            if value.is_empty() { (FSCONFIG_SET_FLAG, 0) } else { (FSCONFIG_SET_STRING, text.addr()) };
        // SAFETY: fsconfig reads NUL-terminated key and value (or no value for a flag); both live until it returns.
        unsafe { call(k::__NR_fsconfig, [reg(config.0), command, key.addr(), value, 0, 0]) }?;
    }
    plain(k::__NR_fsconfig, [reg(config.0), FSCONFIG_CMD_CREATE, 0, 0])?;
    let attributes = usize::try_from(attributes).unwrap_or(0);
    plain(k::__NR_fsmount, [reg(config.0), 1, attributes, 0]).map(to_fd)
}

/// How far a clone of a mount reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This mount alone.
    One,
    /// Everything mounted below too. An unprivileged namespace may not uncover what mounts hide.
    Tree,
}

/// A detached second view of an existing path.
pub(crate) fn clone_mount(dir: i32, path: &str, reach: Reach) -> Sys<Fd> {
    let path = CText::new(path);
    let deep = if reach == Reach::Tree { AT_RECURSIVE } else { 0 };
    let flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | deep;
    // SAFETY: open_tree reads a NUL-terminated path, which `path` is and outlives the call.
    unsafe { call(k::__NR_open_tree, [reg(dir), path.addr(), flags, 0, 0, 0]) }.map(to_fd)
}

#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    userns: u64,
}

fn set_attr(dir: i32, path: &str, reach: Reach, attr: &MountAttr) -> Sys<()> {
    let path = CText::new(path);
    let flags = AT_EMPTY_PATH | if reach == Reach::Tree { AT_RECURSIVE } else { 0 };
    let args = [reg(dir), path.addr(), flags, &raw const *attr as usize, size_of::<MountAttr>(), 0];
    // SAFETY: mount_setattr reads a NUL-terminated path and a mount_attr of the given size; both live until it returns.
    unsafe { call(k::__NR_mount_setattr, args) }.map(drop)
}

/// Sets attributes, and an id map if a user namespace is given (only while detached).
pub(crate) fn restrict(mount: &Fd, reach: Reach, attributes: u64, map: Option<&Fd>) -> Sys<()> {
    let (extra, userns) = match map {
        Some(userns) => (IDMAP, u64::try_from(userns.0).unwrap_or(0)),
        None => (0, 0),
    };
    // What the host mounts below it later stays the host's.
    const MS_PRIVATE: u64 = 1 << 18;
    let attr = MountAttr { set: attributes | extra, clear: 0, propagation: MS_PRIVATE, userns };
    set_attr(mount.0, "", reach, &attr)
}

/// Lets nothing that is mounted here be seen outside. What the host unmounts goes here, too, so that a builder which
/// waits for its plan keeps no device of the host's busy.
pub(crate) fn follow_the_host() -> Sys<()> {
    const MS_SLAVE: u64 = 1 << 19;
    set_attr(HERE, "/", Reach::Tree, &MountAttr { set: 0, clear: 0, propagation: MS_SLAVE, userns: 0 })
}

/// Puts a detached mount in place.
pub(crate) fn attach(mount: &Fd, at: &Fd) -> Sys<()> {
    let empty = CText::new("");
    let flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
    let args = [reg(mount.0), empty.addr(), reg(at.0), empty.addr(), flags, 0];
    // SAFETY: move_mount reads two NUL-terminated paths, both the empty text alive until it returns.
    unsafe { call(k::__NR_move_mount, args) }.map(drop)
}

/// Detaches what is mounted at a path; those who hold it open keep it.
pub(crate) fn detach(path: &str) -> Sys<()> {
    const MNT_DETACH: usize = 2;
    let path = CText::new(path);
    // SAFETY: umount2 reads a NUL-terminated path, which `path` is and outlives the call.
    unsafe { call(k::__NR_umount2, [path.addr(), MNT_DETACH, 0, 0, 0, 0]) }.map(drop)
}

/// Makes the working directory the root and stacks the old root on top of it, to be detached at once.
pub(crate) fn pivot_here() -> Sys<()> {
    let here = CText::new(".");
    // SAFETY: pivot_root reads two NUL-terminated paths, both the same text alive until it returns.
    unsafe { call(k::__NR_pivot_root, [here.addr(), here.addr(), 0, 0, 0, 0]) }.map(drop)
}
