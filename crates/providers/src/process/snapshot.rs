//! Snapshots: the private disk's parts, copied once, to be the lower layers of as many sandboxes as one likes.

use std::{
    fs, io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    time::SystemTime,
};

use belljar_domain::{SandboxId, SandboxSpec, SnapshotId};
use belljar_jail::layer;
use belljar_ports::{SandboxError, SnapshotInfo};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, openat};
use serde::{Deserialize, Serialize};

use super::{
    blueprint::Roots,
    changes::{self, shift},
    record::Record,
};

/// Parts of the disk that are worth keeping; scratch space is not.
const PARTS: [&str; 3] = ["root", "home", "workspace"];

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    id: SnapshotId,
    name: Option<String>,
    of: SandboxId,
    created: SystemTime,
    bytes: u64,
    spec: SandboxSpec,
    /// Host directories of the template's root below it.
    layers: Vec<PathBuf>,
    /// Older snapshots below it, newest first.
    below: Vec<PathBuf>,
}

fn dir(home: &Path, id: SnapshotId) -> PathBuf {
    home.join("snapshots").join(id.to_string())
}

/// What one is called that is not whole: on its way in, or out.
fn draft(home: &Path, id: SnapshotId) -> PathBuf {
    home.join("snapshots").join(format!(".{id}"))
}

/// Held by whoever has a draft; those that nobody holds a lock for were left by somebody killed.
fn lock(home: &Path) -> io::Result<fs::File> {
    let all = fs::File::open(home.join("snapshots"))?;
    flock(&all, FlockOperation::LockShared)?;
    Ok(all)
}

/// Copies what the sandbox wrote; what lies below is referred to, not copied.
pub(super) fn take(
    home: &Path,
    record: &Record,
    disk: &OwnedFd,
    id: SnapshotId,
    name: Option<&str>,
) -> Result<SnapshotInfo, SandboxError> {
    let failed = |e: io::Error| SandboxError::provider("store the snapshot", e);
    let target = dir(home, id);
    fs::create_dir_all(home.join("snapshots")).map_err(failed)?;
    // Held until it is stored.
    let _lock = lock(home).map_err(failed)?;
    let draft = draft(home, id);
    fs::create_dir(&draft).map_err(failed)?;
    rustix::fs::chmod(&draft, Mode::from_raw_mode(0o700)).map_err(|e| failed(e.into()))?;
    let copied = PARTS.iter().try_for_each(|part| copy_part(record, disk, part, &draft.join(part)));
    if let Err(error) = copied {
        let _unused = changes::remove_tree(&draft);
        return Err(error);
    }
    let stored = Stored {
        id,
        name: name.map(str::to_owned),
        of: record.id,
        created: SystemTime::now(),
        bytes: size(&draft),
        spec: record.spec.clone(),
        layers: record.layers.clone(),
        below: record.snapshots.clone(),
    };
    let text =
        serde_json::to_vec_pretty(&stored).map_err(|e| SandboxError::provider("describe the snapshot", e))?;
    fs::write(draft.join("snapshot.json"), text).map_err(failed)?;
    fs::rename(&draft, &target).map_err(failed)?;
    Ok(info(&stored))
}

/// Removes what killed takers left.
pub(super) fn remove_drafts(home: &Path) {
    let all = home.join("snapshots");
    let Ok(lock) = fs::File::open(&all) else { return };
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return;
    }
    for entry in fs::read_dir(&all).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with('.') {
            // The next sweep tries again.
            let _stays = changes::remove_tree(&entry.path());
        }
    }
}

fn copy_part(record: &Record, disk: &OwnedFd, part: &str, target: &Path) -> Result<(), SandboxError> {
    let open =
        |path: &str| openat(disk, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    // A part is either an overlay's upper or, for a home without history, a plain directory.
    let Ok(source) = open(&format!("{part}/upper")).or_else(|_| open(part)) else { return Ok(()) };
    layer::copy(source.as_fd(), target, shift(record))
        .map_err(|e| SandboxError::provider("copy the sandbox's files", e))
}

fn load(home: &Path, id: SnapshotId) -> Result<Stored, SandboxError> {
    let text =
        fs::read(dir(home, id).join("snapshot.json")).map_err(|_missing| SandboxError::Unsupported {
            what: format!("there is no snapshot {id}"),
            hint: "`belljar snapshot --list` shows what there is".to_owned(),
        })?;
    serde_json::from_slice(&text).map_err(|e| SandboxError::provider("understand the snapshot", e))
}

/// What a sandbox that starts from a snapshot is made of.
pub(super) fn roots(home: &Path, id: SnapshotId) -> Result<Roots, SandboxError> {
    let stored = load(home, id)?;
    let snapshots = std::iter::once(dir(home, id)).chain(stored.below).collect();
    Ok(Roots { layers: stored.layers, snapshots, ..Roots::default() })
}

/// What the sandbox was asked to be that a snapshot was taken of.
pub(super) fn spec(home: &Path, id: SnapshotId) -> Result<SandboxSpec, SandboxError> {
    load(home, id).map(|stored| stored.spec)
}

pub(super) fn all(home: &Path) -> Result<Vec<SnapshotInfo>, SandboxError> {
    let Ok(entries) = fs::read_dir(home.join("snapshots")) else { return Ok(Vec::new()) };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<SnapshotId>().ok());
    let mut all: Vec<_> = ids.filter_map(|id| load(home, id).ok()).map(|stored| info(&stored)).collect();
    all.sort_by_key(|snapshot| snapshot.id);
    Ok(all)
}

/// Removes one, unless something that may still run or be read lies on top of it.
pub(super) fn remove(home: &Path, id: SnapshotId) -> Result<(), SandboxError> {
    load(home, id)?;
    let path = dir(home, id);
    let sandboxes = Record::all(home)?.into_iter().filter(|record| record.snapshots.contains(&path));
    let mut by: Vec<String> = sandboxes.map(|record| record.id.to_string()).collect();
    let above =
        all(home)?.into_iter().filter(|one| load(home, one.id).is_ok_and(|s| s.below.contains(&path)));
    by.extend(above.map(|snapshot| snapshot.id.to_string()));
    if !by.is_empty() {
        return Err(SandboxError::InUse { what: format!("snapshot {id}"), by });
    }
    // It goes as it came, whole: what is killed half-way through leaves a draft.
    let gone = lock(home).and_then(|_lock| {
        let draft = draft(home, id);
        fs::rename(&path, &draft)?;
        changes::remove_tree(&draft)
    });
    gone.map_err(|e| SandboxError::provider("remove the snapshot", e))
}

fn info(stored: &Stored) -> SnapshotInfo {
    SnapshotInfo {
        id: stored.id,
        name: stored.name.clone(),
        of: stored.of,
        created: stored.created,
        bytes: stored.bytes,
    }
}

fn size(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}
