//! Uppers made by hand and by a real overlay, read and copied.

use std::{
    ffi::OsStr,
    fs::{self, File},
    os::{
        fd::AsFd as _,
        unix::fs::{PermissionsExt as _, symlink},
    },
    path::{Path, PathBuf},
    process::Command,
};

use belljar_domain::{Change, ChangeKind, Entry};
use rustix::fs::{CWD, FileType, Mode, XattrFlags};
use tempfile::TempDir;

use super::{LayerError, scan};

mod copies;
mod overlay;
mod reads;

/// A base and an upper side by side.
struct Layers {
    dir: TempDir,
}

impl Layers {
    fn new() -> Self {
        Self::within(TempDir::new().unwrap())
    }

    fn within(dir: TempDir) -> Self {
        for name in ["base", "upper", "work", "merged"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn base(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path("base").join(name)
    }

    fn upper(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path("upper").join(name)
    }

    fn scan(&self) -> Result<Vec<Change>, LayerError> {
        scan(File::open(self.path("upper")).unwrap().as_fd(), &self.path("base"))
    }

    /// Mounts the overlay in a mount namespace of its own and runs `script` in it, as a sandbox would.
    fn run_in_overlay(&self, options: &str, script: &str) {
        let mount = format!(
            "mount -t overlay overlay -o lowerdir=base,upperdir=upper,workdir=work,{options} merged && cd merged && set -e && {script}"
        );
        self.run_apart(&mount);
    }

    /// Runs `script` in a mount namespace, and in a user namespace too if that is what it takes.
    fn run_apart(&self, script: &str) -> String {
        let namespaces = if is_root() { "-m" } else { "-Urm" };
        let output = Command::new("unshare")
            .args([namespaces, "sh", "-ec", script])
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The attribute an overlay of ours marks an opaque directory with, and how it is mounted.
fn own_namespace() -> (&'static str, &'static str) {
    if is_root() {
        ("trusted.overlay.opaque", "redirect_dir=off,metacopy=off")
    } else {
        ("user.overlay.opaque", "userxattr")
    }
}

fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>, mode: u32) {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    chmod(path, mode);
}

fn directory(path: impl AsRef<Path>) {
    fs::create_dir_all(path.as_ref()).unwrap();
    chmod(path, 0o755);
}

fn chmod(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn node(path: impl AsRef<Path>, kind: FileType) {
    rustix::fs::mknodat(CWD, path.as_ref(), kind, Mode::from_raw_mode(0o600), 0).unwrap();
}

fn whiteout(path: impl AsRef<Path>) {
    node(path, FileType::CharacterDevice);
}

fn mark(path: impl AsRef<Path>, name: &str, value: &[u8]) {
    rustix::fs::setxattr(path.as_ref(), name, value, XattrFlags::empty()).unwrap();
}

const fn file(size: u64, mode: u32) -> Option<Entry> {
    Some(Entry::File { size, mode })
}

const fn dir(mode: u32) -> Option<Entry> {
    Some(Entry::Directory { mode })
}

fn link(target: &str) -> Option<Entry> {
    Some(Entry::Symlink { target: target.into() })
}

fn change(path: impl AsRef<OsStr>, kind: ChangeKind, before: Option<Entry>, after: Option<Entry>) -> Change {
    Change { path: PathBuf::from(path.as_ref()), kind, before, after }
}
