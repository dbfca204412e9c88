//! What the user pointed at. Owns telling the kinds of source apart, by content and never by name.
//!
//! Refuses: pipes, devices, and anything without a `bin` or `usr` at the top that is not an image either.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, Mode, OFlags};

use super::{
    TemplateError,
    archive::Files,
    digest::Digest,
    docker, oci,
    stream::{Allowance, Compression, decompressed},
};

/// What a path leads to.
#[derive(Debug)]
pub(super) enum Source {
    /// A root filesystem, usable where it is.
    Root(PathBuf),
    /// An image spread out in a directory.
    Image(Files),
    /// A file, whose kind takes reading to find out.
    File(SourceFile),
}

/// An open file and where it was found.
#[derive(Debug)]
pub(super) struct SourceFile {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// Its size, times, inode, device and path, hashed. Not its contents: reading gigabytes to find out that nothing
    /// has changed would cost about as much as unpacking them. A file rewritten in place keeps no fingerprint, as the
    /// kernel advances its change time.
    pub(super) fingerprint: Digest,
    pub(super) length: u64,
}

/// What a tar holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Root,
    Image,
}

/// Looks at what a path leads to.
pub(super) fn probe(given: &Path) -> Result<Source, TemplateError> {
    let failed = |source| TemplateError::Source { path: given.to_owned(), source };
    let path = given.canonicalize().map_err(failed)?;
    if !path.is_dir() {
        return SourceFile::open(path).map(Source::File);
    }
    let files = Files::in_directory(&path)?;
    if oci::is_layout(&files) {
        return Ok(Source::Image(files));
    }
    if ["bin", "usr"].iter().any(|name| path.join(name).symlink_metadata().is_ok()) {
        return Ok(Source::Root(path));
    }
    if docker::is_archive(&files) {
        return Ok(Source::Image(files));
    }
    Err(unrecognised(given))
}

impl SourceFile {
    fn open(path: PathBuf) -> Result<Self, TemplateError> {
        // Not waiting for the other end of a pipe.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(CWD, &path, flags, Mode::empty())
            .map(File::from)
            .map_err(|errno| TemplateError::Source { path: path.clone(), source: errno.into() })?;
        let about = file.metadata().map_err(|source| TemplateError::Source { path: path.clone(), source })?;
        if !about.is_file() {
            let why = "it is neither a file nor a directory".to_owned();
            return Err(TemplateError::Unrecognised { path, why });
        }
        let fingerprint = fingerprint(&path, &about);
        Ok(Self { path, file, fingerprint, length: about.len() })
    }

    /// Refuses a file that is no longer as it was when opened: part of it would be old and part new.
    pub(super) fn require_unchanged(&self) -> Result<(), TemplateError> {
        let about = self.file.metadata().map_err(|source| self.unreadable(source))?;
        if fingerprint(&self.path, &about) == self.fingerprint {
            return Ok(());
        }
        Err(TemplateError::Changed { path: self.path.clone() })
    }

    /// Opens the same file once more, at its start.
    pub(super) fn reopen(&self) -> Result<File, TemplateError> {
        let again = Self::open(self.path.clone())?;
        if again.fingerprint == self.fingerprint {
            return Ok(again.file);
        }
        Err(TemplateError::Changed { path: self.path.clone() })
    }

    pub(super) fn compression(&self) -> Result<Compression, TemplateError> {
        let mut start = Vec::new();
        self.reopen()?.take(4).read_to_end(&mut start).map_err(|source| self.unreadable(source))?;
        Ok(Compression::of(&start))
    }

    /// Reads as much of the tar as it takes to know what it holds, at most `most` bytes of it.
    pub(super) fn shape(&self, most: u64) -> Result<Shape, TemplateError> {
        let file = self.reopen()?;
        let found = match self.compression()? {
            Compression::None => {
                let (allowance, plain) = Allowance::over(file);
                shape_of(tar::Archive::new(plain).entries_with_seek(), &allowance, Contents::SeekOver)
            }
            Compression::Gzip | Compression::Zstd => {
                let plain = decompressed(file).map_err(|source| self.unreadable(source))?;
                let (allowance, plain) = Allowance::over(plain.take(most));
                shape_of(tar::Archive::new(plain).entries(), &allowance, Contents::ReadOver)
            }
        };
        match found {
            Ok(Some(shape)) => Ok(shape),
            Ok(None) => Err(unrecognised(&self.path)),
            Err(error) => Err(TemplateError::Unrecognised {
                path: self.path.clone(),
                why: format!("it does not read as a tar ({error})"),
            }),
        }
    }

    pub(super) fn unreadable(&self, source: io::Error) -> TemplateError {
        TemplateError::Source { path: self.path.clone(), source }
    }
}

fn unrecognised(path: &Path) -> TemplateError {
    TemplateError::Unrecognised { path: path.to_owned(), why: "no bin/ or usr/ at the top".to_owned() }
}

/// How to get past the contents of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contents {
    SeekOver,
    ReadOver,
}

fn shape_of<R: Read>(
    entries: io::Result<tar::Entries<'_, R>>,
    allowance: &Allowance,
    contents: Contents,
) -> io::Result<Option<Shape>> {
    let mut shape = None;
    for entry in entries? {
        let mut entry = entry?;
        let name = entry.path_bytes();
        let mut parts = name.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".");
        match (parts.next(), parts.next()) {
            (Some(b"bin" | b"usr"), _) => return Ok(Some(Shape::Root)),
            (Some(b"manifest.json" | b"oci-layout"), None) => shape = Some(Shape::Image),
            _ => {}
        }
        drop(name);
        if contents == Contents::ReadOver {
            allowance.for_contents();
            io::copy(&mut entry, &mut io::sink())?;
        }
        allowance.for_header();
    }
    Ok(shape)
}

fn fingerprint(path: &Path, about: &std::fs::Metadata) -> Digest {
    let facts = [
        i128::from(about.size()),
        i128::from(about.mtime()),
        i128::from(about.mtime_nsec()),
        i128::from(about.ctime()),
        i128::from(about.ctime_nsec()),
        i128::from(about.ino()),
        i128::from(about.dev()),
    ];
    let mut bytes: Vec<u8> = facts.iter().flat_map(|fact| fact.to_le_bytes()).collect();
    bytes.extend_from_slice(path.as_os_str().as_encoded_bytes());
    Digest::of(&bytes)
}
