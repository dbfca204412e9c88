//! The root being filled. Owns resolving paths inside it and the directories, whose modes wait until the end.
//!
//! Links inside the root are followed for the directories above an entry, as a layer may well write to `bin/x` where
//! `bin` links to `usr/bin`; they are followed with the root as `/`, see `RESOLVE_IN_ROOT` in openat2(2).
//! Refuses: to follow the entry itself, and to leave the root by any link.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io,
    os::{
        fd::{AsFd, AsRawFd as _, OwnedFd},
        unix::ffi::OsStringExt as _,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, readlinkat, statat},
    io::Errno,
};

use super::{super::remove, attributes::Attributes};

/// How often a resolution that the kernel could not vouch for is tried.
const ATTEMPTS: u32 = 128;

/// A root directory on the way to completion.
pub(super) struct Tree {
    root: OwnedFd,
    /// Where the kernel says the root is.
    location: PathBuf,
    depth: usize,
    /// What each directory will look like, by its real path: while we write, all of them are ours and writable.
    directories: BTreeMap<PathBuf, Attributes>,
}

/// A place for an entry: the directory it is in, held open, and its name there.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) directory: OwnedFd,
    pub(super) name: OsString,
    /// The real path of the directory, relative to the root.
    base: PathBuf,
}

impl Place {
    /// The place of a name in a directory whose real path is `base`.
    pub(super) fn within(directory: &OwnedFd, base: &Path, name: &OsStr) -> io::Result<Self> {
        Ok(Self { directory: directory.try_clone()?, name: name.to_owned(), base: base.to_owned() })
    }

    /// The real path of the entry, relative to the root.
    pub(super) fn path(&self) -> PathBuf {
        self.base.join(&self.name)
    }

    /// What is there now.
    pub(super) fn kind(&self) -> io::Result<Option<FileType>> {
        Ok(self.about()?.map(|about| FileType::from_raw_mode(about.st_mode)))
    }

    pub(super) fn is_same_file(&self, other: &Self) -> io::Result<bool> {
        let identity = |place: &Self| Ok::<_, io::Error>(place.about()?.map(|it| (it.st_dev, it.st_ino)));
        Ok(identity(self)?.is_some_and(|one| identity(other).is_ok_and(|two| two == Some(one))))
    }

    fn about(&self) -> io::Result<Option<rustix::fs::Stat>> {
        match statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) => Ok(Some(about)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Tree {
    pub(super) fn open(root: &Path, depth: usize) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, root, flags, Mode::empty())?;
        let location = location(&root)?;
        let directories = BTreeMap::from([(PathBuf::new(), Attributes::IMPLIED)]);
        Ok(Self { root, location, depth, directories })
    }

    /// Finds the place for an entry, making directories that are missing on the way.
    pub(super) fn place(&mut self, path: &Path) -> io::Result<Place> {
        if let Some(place) = self.find(path)? {
            return Ok(place);
        }
        let parent = path.parent().unwrap_or(Path::new(""));
        for ancestor in parent.ancestors().collect::<Vec<_>>().into_iter().rev().skip(1) {
            // Nothing is made over an existing link or file: then opening fails below, and says why.
            let place = self.find(ancestor)?.ok_or(Errno::NOENT)?;
            if place.kind()?.is_none() {
                self.make(&place)?;
                self.directories.entry(place.path()).or_insert(Attributes::IMPLIED);
            }
        }
        Ok(self.find(path)?.ok_or(Errno::NOENT)?)
    }

    /// Finds the place of an entry if the directory it would be in exists.
    pub(super) fn find(&self, path: &Path) -> io::Result<Option<Place>> {
        let Some(name) = path.file_name() else { return Err(Errno::ISDIR.into()) };
        let parent = path.parent().unwrap_or(Path::new(""));
        match self.resolve(parent) {
            Ok((directory, base)) => Ok(Some(Place { directory, name: name.to_owned(), base })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens a directory and tells its real path, if it exists.
    pub(super) fn enter(&self, path: &Path) -> io::Result<Option<(OwnedFd, PathBuf)>> {
        match self.resolve(path) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Makes a directory, or takes the one that is there, and returns its real path.
    pub(super) fn directory(&mut self, path: &Path, attributes: Attributes) -> io::Result<PathBuf> {
        if path.as_os_str().is_empty() {
            self.directories.insert(PathBuf::new(), attributes);
            return Ok(PathBuf::new());
        }
        let place = self.place(path)?;
        if place.kind()? != Some(FileType::Directory) {
            self.clear(&place)?;
            self.make(&place)?;
        }
        self.directories.insert(place.path(), attributes);
        Ok(place.path())
    }

    /// Removes whatever is at a place.
    pub(super) fn clear(&mut self, place: &Place) -> io::Result<()> {
        remove::remove_entry(place.directory.as_fd(), &place.name)?;
        let path = place.path();
        // Paths are ordered by their parts, so what is below follows at once.
        let gone: Vec<PathBuf> = self
            .directories
            .range(path.clone()..)
            .map(|(below, _)| below)
            .take_while(|below| below.starts_with(&path))
            .cloned()
            .collect();
        for below in gone {
            self.directories.remove(&below);
        }
        Ok(())
    }

    /// Sets modes, owners and times of all directories, the innermost first: an outer one may forbid entering it.
    pub(super) fn settle(&self) -> Result<(), (PathBuf, io::Error)> {
        for (path, attributes) in self.directories.iter().rev() {
            let name = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            openat2(&self.root, name, flags, Mode::empty(), resolve)
                .map_err(io::Error::from)
                .and_then(|directory| attributes.apply_to_directory(directory))
                .map_err(|error| (path.clone(), error))?;
        }
        Ok(())
    }

    fn make(&self, place: &Place) -> io::Result<()> {
        if place.path().components().count() > self.depth {
            return Err(Errno::NAMETOOLONG.into());
        }
        Ok(mkdirat(&place.directory, &place.name, Mode::RWXU)?)
    }

    /// Opens a directory of the root and tells its real path.
    fn resolve(&self, path: &Path) -> Result<(OwnedFd, PathBuf), Errno> {
        let name = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let open = |resolve| {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            // EAGAIN: something was renamed elsewhere on the system while `..` in a link was being followed.
            (0..ATTEMPTS)
                .map(|_| openat2(&self.root, name, flags, Mode::empty(), resolve))
                .find(|outcome| !matches!(outcome, Err(Errno::AGAIN)))
                .unwrap_or(Err(Errno::AGAIN))
        };
        match open(ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS) {
            Err(Errno::LOOP) => {}
            other => return Ok((other?, path.to_owned())),
        }
        let directory = open(ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS)?;
        let real = location(&directory)?;
        let real = real.strip_prefix(&self.location).map_err(|_outside| Errno::XDEV)?;
        Ok((directory, real.to_owned()))
    }
}

/// Where the kernel says a directory is.
fn location(directory: &OwnedFd) -> Result<PathBuf, Errno> {
    let link = readlinkat(CWD, format!("/proc/self/fd/{}", directory.as_raw_fd()), Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(link.into_bytes())))
}
