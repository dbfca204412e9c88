//! How an overlay writes down what cannot be a file: gone names, hidden directories.
//!
//! A name that is gone is a character device 0:0. A directory that hides the base's carries
//! `overlay.opaque=y`, in the `trusted.` namespace or, for an overlay mounted with `userxattr`, in
//! `user.`. `redirect` and `metacopy` would mean that names or contents are elsewhere; belljar mounts
//! with both off, so meeting one is an error rather than a wrong diff. Those are looked for in
//! `trusted.` alone: `userxattr` excludes both, and a sandbox could forge the `user.` names.

use std::os::fd::BorrowedFd;

use rustix::{
    fs::{FileType, Stat, XattrFlags},
    io::Errno,
};

const OPAQUE: [&str; 2] = ["trusted.overlay.opaque", "user.overlay.opaque"];
const REDIRECT: &str = "trusted.overlay.redirect";
const METACOPY: &str = "trusted.overlay.metacopy";

pub(super) fn is_whiteout(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0
}

pub(super) fn is_opaque(dir: BorrowedFd<'_>) -> bool {
    OPAQUE.iter().any(|name| {
        let mut value = [0_u8; 2];
        let length = rustix::fs::fgetxattr(dir, *name, &mut value);
        length == Ok(1) && value.first() == Some(&b'y')
    })
}

/// Returns the mark of a directory whose content is under another name.
pub(super) fn redirected(dir: BorrowedFd<'_>) -> Option<&'static str> {
    carries(dir, REDIRECT).then_some(REDIRECT)
}

/// Returns the mark of a file whose content is still in the base.
pub(super) fn without_content(file: BorrowedFd<'_>) -> Option<&'static str> {
    carries(file, METACOPY).then_some(METACOPY)
}

/// Marks `dir` as hiding the base's. Root without the capability for `trusted.` can only ever mount
/// with `userxattr`, so the `user.` name is then the one that will be read.
pub(super) fn make_opaque(dir: BorrowedFd<'_>) -> Result<(), Errno> {
    let set = |name| rustix::fs::fsetxattr(dir, name, b"y", XattrFlags::empty());
    let [trusted, user] = OPAQUE;
    if !rustix::process::geteuid().is_root() {
        return set(user);
    }
    match set(trusted) {
        Err(Errno::PERM) => set(user),
        other => other,
    }
}

fn carries(fd: BorrowedFd<'_>, name: &str) -> bool {
    // ERANGE also means that there is a value.
    !matches!(rustix::fs::fgetxattr(fd, name, &mut [0_u8; 0]), Err(Errno::NODATA | Errno::OPNOTSUPP))
}
