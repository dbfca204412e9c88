//! Where a server keeps the journals of running commands: in memory, found again by the next server of the same home.

use std::{
    fs,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use crate::context::Context;

/// Says whose directory it is.
const OWNER: &str = "home";

/// The directory for this home: below the first of these that is in memory, else in the home itself. Always the same
/// one on the same machine, or the next server would not find what this one left.
pub(crate) fn dir(context: &Context) -> PathBuf {
    let user = rustix::process::geteuid();
    let own = if user.is_root() {
        Some(PathBuf::from("/run/belljar"))
    } else {
        context.env.get("XDG_RUNTIME_DIR").map(|dir| Path::new(dir).join("belljar"))
    };
    let shared = PathBuf::from(format!("/dev/shm/belljar-{}", user.as_raw()));
    own.into_iter()
        .chain([shared])
        .filter(|base| base.parent().is_some_and(is_in_memory))
        .find_map(|base| claim(&base, &context.home))
        .unwrap_or_else(|| context.home.join("run"))
}

fn is_in_memory(base: &Path) -> bool {
    const TMPFS: u64 = 0x0102_1994;
    rustix::fs::statfs(base).is_ok_and(|fs| u64::try_from(fs.f_type) == Ok(TMPFS))
}

/// Makes the directory, and removes those of homes that are no more.
fn claim(base: &Path, home: &Path) -> Option<PathBuf> {
    let home = home.canonicalize().ok()?;
    make_private(base)?;
    for entry in fs::read_dir(base).ok()?.flatten() {
        let owner = fs::read_to_string(entry.path().join(OWNER)).unwrap_or_default();
        if !owner.is_empty() && !Path::new(&owner).exists() {
            // The next server tries again.
            let _later = fs::remove_dir_all(entry.path());
        }
    }
    let dir = base.join(format!("{:016x}", fingerprint(home.to_str()?)));
    make_private(&dir)?;
    fs::write(dir.join(OWNER), home.to_str()?).ok()?;
    Some(dir)
}

/// FNV-1a: the same in every release, so that an upgraded server finds what the old one left.
fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Makes a directory that is ours alone; somebody else's is not used.
fn make_private(dir: &Path) -> Option<()> {
    if let Err(error) = fs::DirBuilder::new().mode(0o700).create(dir)
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        return None;
    }
    let meta = fs::symlink_metadata(dir).ok()?;
    let ours = meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o077 == 0;
    ours.then_some(())
}

/// Lets go of a directory nothing is left in.
pub(crate) fn leave(dir: &Path) {
    let journals = fs::read_dir(dir).into_iter().flatten().flatten();
    if journals.filter(|entry| entry.file_name() != OWNER).count() == 0 {
        // Another server may just have come.
        let _stays = fs::remove_file(dir.join(OWNER)).and_then(|()| fs::remove_dir(dir));
        let _others = dir.parent().map(fs::remove_dir);
    }
}

/// Raises the limit on open files as far as this user may: every sandbox takes a few.
pub(crate) fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "the limit on open files stays as it is");
    }
}
