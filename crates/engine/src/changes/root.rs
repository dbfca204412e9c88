//! The workspace on the host, held open.
//!
//! Owns: every step below it. Refuses: symlinks on the way, `..`, other mounts. What a sandbox named
//! is looked up here only, so a name cannot lead out however the tree changes meanwhile.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat},
    io::Errno,
};

const CONFINED: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// One call takes a path up to 4096 bytes; longer ones are walked in pieces.
const PIECE: usize = 2048;

#[derive(Debug)]
pub(super) struct Root {
    dir: OwnedFd,
}

impl Root {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { dir: rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty())? })
    }

    /// Opens the directory at `path`; the empty path is the workspace.
    pub(super) fn dir(&self, path: &Path) -> io::Result<OwnedFd> {
        let mut here = self.enter(&self.dir, Path::new("."))?;
        let mut piece = PathBuf::new();
        for name in path.components() {
            piece.push(name);
            if piece.as_os_str().len() > PIECE {
                here = self.enter(&here, &piece)?;
                piece.clear();
            }
        }
        if piece.as_os_str().is_empty() { Ok(here) } else { self.enter(&here, &piece) }
    }

    /// Opens the directory that holds `path`; returns it with the last name.
    pub(super) fn parent<'path>(&self, path: &'path Path) -> io::Result<(OwnedFd, &'path OsStr)> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        Ok((self.dir(path.parent().unwrap_or(Path::new("")))?, name))
    }

    /// Looks at `path` without following it; nothing there, or nothing above it, is none.
    pub(super) fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        let found = self
            .parent(path)
            .and_then(|(dir, name)| Ok(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?));
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the regular file at `path` for reading.
    pub(super) fn file(&self, path: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let (dir, name) = self.parent(path)?;
        let file = rustix::fs::openat2(dir, name, flags, Mode::empty(), CONFINED)?;
        if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(Errno::INVAL.into());
        }
        Ok(file.into())
    }

    pub(super) fn link_target(&self, path: &Path) -> io::Result<PathBuf> {
        let (dir, name) = self.parent(path)?;
        let target = rustix::fs::readlinkat(dir, name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()).into())
    }

    /// Lists the names in the directory at `path`.
    pub(super) fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.dir(path)?)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(names)
    }

    #[expect(clippy::unused_self, reason = "only a root may be walked from")]
    fn enter(&self, from: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
        Ok(rustix::fs::openat2(from, path, DIRECTORY, Mode::empty(), CONFINED)?)
    }
}

/// Says whether a path from a sandbox is plainly relative: names only, at least one.
pub(super) fn is_plain(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    !bytes.is_empty()
        && !bytes.contains(&0)
        && path.components().all(|component| matches!(component, Component::Normal(_)))
}
