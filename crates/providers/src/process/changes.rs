//! What a sandbox changed, read from its private disk.

use std::{
    fs, io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::PermissionsExt,
    },
    path::Path,
    sync::Arc,
};

use belljar_jail::layer::{self, IdShift};
use belljar_ports::{Changes, SandboxError};
use rustix::fs::{Mode, OFlags, openat};

use super::{blueprint::ID_COUNT, record::Record, stack::Stack, workspace};

/// Where the workspace's changes go when the disk itself goes with the sandbox.
pub(super) const EXPORT: &str = "export";

/// Opens the upper of one part of the disk.
pub(super) fn upper(disk: impl AsFd, part: &str) -> io::Result<OwnedFd> {
    let path = format!("{part}/upper");
    Ok(openat(
        disk,
        path,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

pub(super) fn is_untouched(disk: impl AsFd) -> Result<bool, SandboxError> {
    let failed = |e| SandboxError::provider("look at the private disk", e);
    let upper = upper(disk, workspace::PART).map_err(failed)?;
    let dir = rustix::fs::Dir::new(upper).map_err(|e| failed(e.into()))?;
    let mut names = dir.flatten().filter(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."));
    Ok(names.next().is_none())
}

pub(super) fn of(record: &Record, disk: Arc<OwnedFd>) -> Result<Changes, SandboxError> {
    let Some(base) = record.spec.workspace.clone() else {
        return Err(SandboxError::Unsupported {
            what: "this sandbox has no workspace, so nothing to compare".to_owned(),
            hint: "copy files out with `belljar cp`".to_owned(),
        });
    };
    let open = |e| SandboxError::provider("open the workspace's changes", e);
    let mut layers = vec![upper(&*disk, workspace::PART).map_err(open)?];
    for snapshot in &record.snapshots {
        match fs::File::open(snapshot.join(workspace::PART)) {
            Ok(layer) => layers.push(layer.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(open(error)),
        }
    }
    let stack = Stack::new(layers, disk);
    let changes =
        stack.scan(base.as_path()).map_err(|e| SandboxError::provider("compare the workspace", e))?;
    Ok(Changes { base, since: record.created, changes, files: Arc::new(stack) })
}

/// Copies the workspace's changes out of a disk that will not survive.
pub(super) fn export(record: &Record, dir: &Path, disk: &OwnedFd) -> Result<(), SandboxError> {
    let failed = |e| SandboxError::provider("keep the workspace's changes", e);
    let target = dir.join(EXPORT).join(workspace::PART);
    if target.exists() {
        return Ok(());
    }
    let upper = upper(disk, workspace::PART)
        .map_err(|e| SandboxError::provider("open the workspace's changes", e))?;
    fs::create_dir_all(&target).map_err(|e| SandboxError::provider("keep the workspace's changes", e))?;
    layer::copy(upper.as_fd(), &target.join("upper"), shift(record)).map_err(failed)
}

/// How ids on the private disk relate to ids inside.
pub(super) fn shift(record: &Record) -> IdShift {
    record.id_base.map_or(IdShift::NONE, |base| IdShift { base, count: ID_COUNT })
}

/// Removes a tree even where its maker took away his own rights to its directories, or somebody still writes to it.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    const ATTEMPTS: usize = 100;
    for _attempt in 0..ATTEMPTS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => open_up(path)?,
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => return other,
        }
    }
    fs::remove_dir_all(path)
}

fn open_up(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}
