//! Unpacking archives into a root. Owns the walk over the entries, the bounds, and what becomes of each kind of entry.
//!
//! Every entry is made relative to a directory that was resolved with the new root as `/`, so no name and no link in
//! an archive reaches the host. Setuid and setgid bits and extended attributes are dropped: under `no_new_privs` they
//! grant nothing. Device nodes and pipes are skipped and counted.
//! Refuses: `..` in names, archives beyond the bounds, and sparse files in a form that would unpack as garbage.

mod attributes;
mod contents;
mod name;
mod tree;
mod whiteout;

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags},
    io::Errno,
};

use self::{
    attributes::{Attributes, Ownership},
    contents::{copy, drain},
    tree::{Place, Tree},
    whiteout::{Fresh, Mark},
};
use super::{UnpackError, progress::Meter, stream::Allowance};

/// Bounds on what an archive may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of contents, holes of sparse files included.
    pub bytes: u64,
    /// Entries of all layers together.
    pub entries: u64,
    /// Bytes of one path.
    pub path: usize,
    /// Directories above one entry. Removing holds one descriptor per level.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 20 * 1024 * 1024 * 1024, entries: 2_000_000, path: 4095, depth: 256 }
    }
}

/// What was unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tally {
    pub(super) bytes: u64,
    pub(super) entries: u64,
    /// Device nodes, pipes and entries of unknown kinds, which were left out.
    pub(super) skipped: u64,
}

/// Whether names starting with `.wh.` say that something below is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whiteouts {
    /// As in the layers of an image.
    Apply,
    /// Ordinary names, as in the tar of a root filesystem.
    Literal,
}

/// Unpacks one archive after the other into the same root.
pub(super) struct Unpacker<'a> {
    tree: Tree,
    limits: Limits,
    ownership: Ownership,
    tally: Tally,
    meter: &'a Meter<'a>,
}

type Entry<'a, R> = tar::Entry<'a, R>;

impl<'a> Unpacker<'a> {
    /// Starts on an empty directory.
    pub(super) fn new(root: &Path, limits: Limits, meter: &'a Meter<'a>) -> Result<Self, UnpackError> {
        let tree = Tree::open(root, limits.depth).map_err(|source| failed("open", root, source))?;
        Ok(Self { tree, limits, ownership: Ownership::of_caller(), tally: Tally::default(), meter })
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Unpacks one archive over what is there.
    pub(super) fn layer(&mut self, stream: impl Read, whiteouts: Whiteouts) -> Result<(), UnpackError> {
        let (allowance, mut stream) = Allowance::over(stream);
        let mut fresh = Fresh::default();
        let mut archive = tar::Archive::new(&mut stream);
        let mut entries = archive.entries().map_err(UnpackError::Read)?;
        loop {
            allowance.for_header();
            let Some(entry) = entries.next() else { break };
            allowance.for_contents();
            self.entry(entry.map_err(UnpackError::Read)?, whiteouts, &mut fresh)?;
        }
        // What follows the last entry is padding, but only at the very end does gzip or zstd check its sum.
        allowance.for_contents();
        let mut rest = stream.take(self.limits.bytes);
        io::copy(&mut rest, &mut io::sink()).map(drop).map_err(UnpackError::Read)
    }

    /// Gives directories the modes and times they were meant to have, now that nothing is written to them any more.
    pub(super) fn finish(self) -> Result<Tally, UnpackError> {
        self.tree.settle().map_err(|(path, source)| failed("set the mode of", &path, source))?;
        self.meter.tell();
        Ok(self.tally)
    }

    fn entry<R: Read>(
        &mut self,
        mut entry: Entry<'_, R>,
        whiteouts: Whiteouts,
        fresh: &mut Fresh,
    ) -> Result<(), UnpackError> {
        self.charge(entry.size())?;
        let raw = entry.path_bytes().into_owned();
        let path = name::inside(&raw, self.limits)?;
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() {
            return drain(&mut entry, &path);
        }
        if whiteouts == Whiteouts::Apply
            && let Some(mark) = Mark::of(&path)?
        {
            let hidden = mark.apply(&mut self.tree, fresh);
            return hidden
                .map_err(|source| failed("apply the whiteout", &path, source))
                .and_then(|()| drain(&mut entry, &path));
        }
        let attributes = Attributes::of(entry.header(), self.ownership).map_err(UnpackError::Read)?;
        let is_directory = kind.is_dir() || (kind.is_file() && raw.ends_with(b"/"));
        if is_directory {
            let made =
                self.tree.directory(&path, attributes).map_err(|source| failed("create", &path, source))?;
            fresh.insert(made);
            return drain(&mut entry, &path);
        }
        let is_file = kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse();
        if !(is_file || kind.is_symlink() || kind.is_hard_link()) {
            self.tally.skipped += 1;
            return drain(&mut entry, &path);
        }
        let place = self.tree.place(&path).map_err(|source| failed("create", &path, source))?;
        fresh.insert(place.path());
        if is_file {
            self.file(&mut entry, &place, &path, attributes)
        } else if kind.is_symlink() {
            self.symlink(&entry, &place, &path, attributes)?;
            drain(&mut entry, &path)
        } else {
            self.hard_link(&entry, &place, &path)?;
            drain(&mut entry, &path)
        }
    }

    fn charge(&mut self, bytes: u64) -> Result<(), UnpackError> {
        self.tally.entries += 1;
        self.tally.bytes = self.tally.bytes.saturating_add(bytes);
        if self.tally.entries > self.limits.entries {
            return Err(UnpackError::TooManyEntries(self.limits.entries));
        }
        if self.tally.bytes > self.limits.bytes {
            return Err(UnpackError::TooManyBytes(self.limits.bytes));
        }
        self.meter.unpacked(self.tally.bytes, self.tally.entries);
        Ok(())
    }

    fn file<R: Read>(
        &mut self,
        entry: &mut Entry<'_, R>,
        place: &Place,
        path: &Path,
        attributes: Attributes,
    ) -> Result<(), UnpackError> {
        let records = entry.pax_extensions().map_err(UnpackError::Read)?;
        if records
            .into_iter()
            .flatten()
            .flatten()
            .any(|record| record.key_bytes().starts_with(b"GNU.sparse."))
        {
            return Err(UnpackError::PaxSparse(path.display().to_string()));
        }
        let create = |source| failed("create", path, source);
        self.tree.clear(place).map_err(create)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(&place.directory, &place.name, flags, mode).map_err(Errno::into);
        let mut file = File::from(file.map_err(create)?);
        copy(entry, &mut file, path)?;
        attributes.apply_to_file(&file).map_err(|source| failed("set the mode of", path, source))
    }

    fn symlink<R: Read>(
        &mut self,
        entry: &Entry<'_, R>,
        place: &Place,
        path: &Path,
        attributes: Attributes,
    ) -> Result<(), UnpackError> {
        let target = link_target(entry, path)?;
        let create = |source| failed("create the link", path, source);
        self.tree.clear(place).map_err(create)?;
        rustix::fs::symlinkat(OsStr::from_bytes(&target), &place.directory, &place.name)
            .map_err(|errno| create(errno.into()))?;
        attributes.apply_to_link(place).map_err(create)
    }

    /// Makes another name for a file of the root; links are not followed, so a name of a link is that link again.
    fn hard_link<R: Read>(
        &mut self,
        entry: &Entry<'_, R>,
        place: &Place,
        path: &Path,
    ) -> Result<(), UnpackError> {
        let target = name::inside(&link_target(entry, path)?, self.limits)?;
        let create = |source| failed("create the hard link", path, source);
        let original = self.tree.find(&target).map_err(create)?;
        let original = original.ok_or_else(|| create(Errno::NOENT.into()))?;
        if original.is_same_file(place).map_err(create)? {
            return Ok(());
        }
        self.tree.clear(place).map_err(create)?;
        let (from, to) = (&original.directory, &place.directory);
        rustix::fs::linkat(from, &original.name, to, &place.name, AtFlags::empty())
            .map_err(|errno| create(errno.into()))
    }
}

fn link_target<R: Read>(entry: &Entry<'_, R>, path: &Path) -> Result<Vec<u8>, UnpackError> {
    let name = || path.display().to_string();
    match entry.link_name_bytes() {
        Some(target) if target.contains(&0) || target.is_empty() => {
            Err(UnpackError::UnsafeName { name: name(), why: "its link target is not a path" })
        }
        Some(target) => Ok(target.into_owned()),
        None => Err(UnpackError::UnsafeName { name: name(), why: "it is a link without a target" }),
    }
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> UnpackError {
    let path = if path == Path::new("") { PathBuf::from("/") } else { path.to_owned() };
    UnpackError::Entry { action, path: path.display().to_string(), source }
}
