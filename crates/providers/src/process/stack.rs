//! The layers a workspace is made of, topmost first: the sandbox's own upper, then the snapshots it started from.
//!
//! What a layer says about a path holds unless a layer above says something about it.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_domain::Change;
use belljar_jail::layer::{self, LayerError};
use belljar_ports::ChangedFiles;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fgetxattr, fstat, openat, statat};

#[derive(Debug)]
pub(super) struct Stack {
    layers: Vec<OwnedFd>,
    /// A detached mount lives as long as a descriptor of it.
    _disk: Arc<OwnedFd>,
}

impl Stack {
    pub(super) const fn new(layers: Vec<OwnedFd>, disk: Arc<OwnedFd>) -> Self {
        Self { layers, _disk: disk }
    }

    /// Compares all layers together with the host's directory.
    pub(super) fn scan(&self, base: &Path) -> Result<Vec<Change>, LayerError> {
        let mut all: Vec<Change> = Vec::new();
        for (index, layer) in self.layers.iter().enumerate() {
            let above = self.layers.get(..index).unwrap_or_default();
            let found = layer::scan(layer.as_fd(), base)?;
            let holds = |change: &Change| above.iter().all(|layer| !decides(layer.as_fd(), &change.path));
            all.extend(found.into_iter().filter(holds));
        }
        all.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        Ok(all)
    }

    /// Opens a file in the topmost layer that has it.
    fn find(&self, path: &Path) -> io::Result<OwnedFd> {
        let mut answer = Err(io::Error::from(io::ErrorKind::NotFound));
        for layer in &self.layers {
            answer = layer::open_beneath(layer.as_fd(), path);
            if answer.is_ok() || decides(layer.as_fd(), path) {
                break;
            }
        }
        answer
    }
}

/// Says whether a layer has something at a path, or something that hides what layers below have there.
fn decides(layer: BorrowedFd<'_>, path: &Path) -> bool {
    let Ok(mut dir) = layer.try_clone_to_owned() else { return false };
    for name in path {
        if is_opaque(dir.as_fd()) {
            return true;
        }
        let Ok(stat) = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return true;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(next) = openat(&dir, name, flags, Mode::empty()) else { return true };
        dir = next;
    }
    // The directory itself is there: it was made, changed or walked through above.
    true
}

fn is_opaque(dir: BorrowedFd<'_>) -> bool {
    let mut value = [0_u8; 1];
    let marked =
        |name: &str, value: &mut [u8; 1]| fgetxattr(dir, name, value).is_ok_and(|length| length == 1);
    ["trusted.overlay.opaque", "user.overlay.opaque"]
        .iter()
        .any(|name| marked(name, &mut value) && value == *b"y")
}

impl ChangedFiles for Stack {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::from(self.find(path)?)))
    }

    fn copy(&self, path: &Path, size: u64, to: &File) -> io::Result<u64> {
        let from = self.find(path)?;
        layer::fill(to.as_fd(), from.as_fd(), size)?;
        File::from(from).metadata().map(|now| now.len())
    }

    fn changed(&self, path: &Path) -> Option<SystemTime> {
        let now = fstat(self.find(path).ok()?).ok()?;
        let since = Duration::new(u64::try_from(now.st_ctime).ok()?, u32::try_from(now.st_ctime_nsec).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(since)
    }
}
