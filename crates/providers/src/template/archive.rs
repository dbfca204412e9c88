//! The files of an image, in a directory or inside an uncompressed tar. Owns finding and opening them by name.
//!
//! Refuses: names that lead out of the image, special files, and documents beyond a bound.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read},
    os::{fd::OwnedFd, unix::fs::FileExt as _},
    path::{Component, Path},
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags},
    io::Errno,
};
use serde::de::DeserializeOwned;

use super::{TemplateError, stream::Allowance};

/// Manifests and configurations are kilobytes; the OCI distribution specification caps manifests at 4 MiB.
const DOCUMENT_LIMIT: u64 = 8 * 1024 * 1024;
/// An image has a handful of files per layer, and at most some hundred layers.
const MEMBER_LIMIT: u64 = 100_000;
/// Links to links; older `docker save` has one step.
const LINK_LIMIT: usize = 8;

/// The files of an image.
#[derive(Debug)]
pub(super) enum Files {
    Directory(OwnedFd),
    Archive { file: File, members: HashMap<String, Member> },
}

/// A file or link inside an archive.
#[derive(Debug)]
pub(super) enum Member {
    Contents { offset: u64, length: u64 },
    Link(String),
}

impl Files {
    pub(super) fn in_directory(path: &Path) -> Result<Self, TemplateError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(CWD, path, flags, Mode::empty())
            .map(Self::Directory)
            .map_err(|errno| TemplateError::Source { path: path.to_owned(), source: errno.into() })
    }

    /// Lists an uncompressed tar, seeking over the contents.
    pub(super) fn in_archive(path: &Path, file: File) -> Result<Self, TemplateError> {
        let failed = |source| TemplateError::Source { path: path.to_owned(), source };
        let mut members = HashMap::new();
        let (allowance, section) = Allowance::over(Section { file: &file, position: 0, end: u64::MAX });
        let mut archive = tar::Archive::new(section);
        for (count, entry) in archive.entries_with_seek().map_err(failed)?.enumerate() {
            if count as u64 >= MEMBER_LIMIT {
                return Err(TemplateError::Oversized {
                    what: path.display().to_string(),
                    limit: MEMBER_LIMIT,
                });
            }
            let entry = entry.map_err(failed)?;
            allowance.for_header();
            let Some(name) = std::str::from_utf8(&entry.path_bytes()).ok().and_then(|name| within("", name))
            else {
                continue;
            };
            let kind = entry.header().entry_type();
            if kind.is_file() {
                let (offset, length) = (entry.raw_file_position(), entry.size());
                members.insert(name, Member::Contents { offset, length });
            } else if let Some(target) = entry.link_name_bytes()
                && let Ok(target) = std::str::from_utf8(&target)
            {
                let base =
                    if kind.is_symlink() { name.rsplit_once('/').map_or("", |(base, _)| base) } else { "" };
                if let Some(target) = within(base, target) {
                    members.insert(name, Member::Link(target));
                }
            }
        }
        Ok(Self::Archive { file, members })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.open(name).is_ok()
    }

    /// Opens a file of the image and says how long it is.
    pub(super) fn open(&self, name: &str) -> Result<(Box<dyn Read + '_>, u64), TemplateError> {
        let missing = || TemplateError::BlobMissing { blob: name.to_owned() };
        let name = within("", name).ok_or_else(missing)?;
        match self {
            Self::Directory(directory) => {
                let failed = |source: io::Error| TemplateError::Blob { blob: name.clone(), source };
                // Not waiting for the other end of a pipe, and not following a link out of the layout.
                let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
                let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
                let file = match rustix::fs::openat2(directory, name.as_str(), flags, Mode::empty(), resolve)
                {
                    Ok(file) => File::from(file),
                    Err(Errno::NOENT | Errno::NOTDIR) => return Err(missing()),
                    Err(errno) => return Err(failed(errno.into())),
                };
                let about = file.metadata().map_err(failed)?;
                if !about.is_file() {
                    return Err(missing());
                }
                Ok((Box::new(file), about.len()))
            }
            Self::Archive { file, members } => {
                let mut name = name.as_str();
                for _ in 0..LINK_LIMIT {
                    match members.get(name).ok_or_else(missing)? {
                        Member::Link(target) => name = target,
                        Member::Contents { offset, length } => {
                            let end = offset.saturating_add(*length);
                            return Ok((Box::new(Section { file, position: *offset, end }), *length));
                        }
                    }
                }
                Err(missing())
            }
        }
    }

    /// Reads a whole small file.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, TemplateError> {
        let (reader, length) = self.open(name)?;
        let mut bytes = Vec::new();
        reader
            .take(DOCUMENT_LIMIT + 1)
            .read_to_end(&mut bytes)
            .map_err(|source| TemplateError::Blob { blob: name.to_owned(), source })?;
        if length > DOCUMENT_LIMIT || bytes.len() as u64 > DOCUMENT_LIMIT {
            return Err(TemplateError::Oversized { what: name.to_owned(), limit: DOCUMENT_LIMIT });
        }
        Ok(bytes)
    }
}

/// Reads a JSON document.
pub(super) fn document<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, TemplateError> {
    serde_json::from_slice(bytes)
        .map_err(|source| TemplateError::Document { document: name.to_owned(), source })
}

/// Resolves a name against a folder of the image, by its letters alone; nothing when it leads outside.
fn within(base: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for component in Path::new(name).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => parts.pop().map(drop)?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// A stretch of a file, read without moving the file's own position.
struct Section<'a> {
    file: &'a File,
    position: u64,
    end: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let count = self.file.read_at(buffer.get_mut(..wanted).unwrap_or_default(), self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl io::Seek for Section<'_> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let target = match to {
            io::SeekFrom::Start(position) => Some(position),
            io::SeekFrom::Current(delta) => self.position.checked_add_signed(delta),
            io::SeekFrom::End(delta) => self.end.checked_add_signed(delta),
        };
        self.position = target.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
