//! Carrying out a plan whose contents are all staged.
//!
//! Removals first, so that names are free; then directories from the top; then the staged contents are
//! moved in; modes last, so that a directory closes after it is filled. What is replaced or removed must
//! still be what was planned for.

use std::{
    io,
    os::fd::AsRawFd as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, RenameFlags},
    io::Errno,
};

use super::{
    super::root::Root,
    Applied, ApplyError,
    host::Stamp,
    plan::{Plan, Write},
    stage::{self, Staged},
};

pub(super) fn commit(plan: Plan, staged: Vec<Staged>, root: &Root) -> Result<Applied, ApplyError> {
    let mut commit = Commit { root, done: 0, kept: Vec::new() };
    for (path, stamp) in &plan.removals {
        commit.step(path, |commit| commit.remove(path, *stamp))?;
    }
    // Planned from the deepest up.
    for path in &plan.directories_gone {
        commit.step(path, |commit| commit.remove_directory(path))?;
    }
    for (path, _) in &plan.directories_new {
        commit.step(path, |commit| commit.make_directory(path))?;
    }
    for (write, mut staged) in plan.writes.iter().zip(staged) {
        commit.step(&write.path, |commit| commit.move_in(write, &mut staged))?;
    }
    for (path, mode) in plan.modes.iter().chain(plan.directories_new.iter()).rev() {
        commit.step(path, |commit| commit.set_mode(path, *mode))?;
    }
    let mut result = plan.result;
    result.removed.retain(|path| !commit.kept.contains(path));
    result.kept.extend(commit.kept);
    Ok(result)
}

struct Commit<'a> {
    root: &'a Root,
    done: usize,
    kept: Vec<PathBuf>,
}

impl Commit<'_> {
    fn step(&mut self, path: &Path, act: impl FnOnce(&mut Self) -> io::Result<()>) -> Result<(), ApplyError> {
        let done = self.done;
        act(self).map_err(|source| ApplyError::Act { path: path.to_owned(), done, source })?;
        self.done += 1;
        Ok(())
    }

    fn remove(&self, path: &Path, stamp: Stamp) -> io::Result<()> {
        self.check(path, stamp)?;
        let (dir, name) = self.root.parent(path)?;
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    fn remove_directory(&mut self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.root.parent(path)?;
        match rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR) {
            // Somebody put something there since the plan; it is not ours to remove.
            Err(Errno::NOTEMPTY | Errno::EXIST) => self.kept.push(path.to_owned()),
            other => other?,
        }
        Ok(())
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.root.parent(path)?;
        rustix::fs::mkdirat(&dir, name, Mode::RWXU)?;
        if let Some((uid, gid)) = stage::owner(rustix::fd::AsFd::as_fd(&dir), None)? {
            rustix::fs::chownat(&dir, name, uid, gid, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Ok(())
    }

    fn move_in(&self, write: &Write, staged: &mut Staged) -> io::Result<()> {
        let (dir, name) = self.root.parent(&write.path)?;
        let renamed = match write.replaces {
            Some(stamp) => {
                self.check(&write.path, stamp)?;
                rustix::fs::renameat(&staged.dir, &staged.name, &dir, name)
            }
            None => {
                let flags = RenameFlags::NOREPLACE;
                match rustix::fs::renameat_with(&staged.dir, &staged.name, &dir, name, flags) {
                    // Not every filesystem can refuse to replace; then the plan's look must do.
                    Err(Errno::INVAL) if self.root.stat(&write.path)?.is_none() => {
                        rustix::fs::renameat(&staged.dir, &staged.name, &dir, name)
                    }
                    other => other,
                }
            }
        };
        renamed?;
        staged.moved = true;
        Ok(())
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        let (dir, name) = self.root.parent(path)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(dir, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        // The host's own setgid, inherited or set, is not the sandbox's to take away.
        let mode = mode | if is_directory { stat.st_mode & Mode::SGID.as_raw_mode() } else { 0 };
        // By descriptor, since kernels before 6.6 cannot change a mode by name without following it. The
        // descriptor of a symlink leads to the link itself, whose mode cannot be changed.
        let by_descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
        std::fs::set_permissions(by_descriptor, std::fs::Permissions::from_mode(mode))
    }

    fn check(&self, path: &Path, stamp: Stamp) -> io::Result<()> {
        match self.root.stat(path)? {
            Some(stat) if Stamp::of(&stat) == stamp => Ok(()),
            Some(_) | None => Err(io::Error::other("it changed while the changes were being applied")),
        }
    }
}
