//! Files by the hash of their content: written beside, made durable, then moved to their place, so that a file at its
//! place is always whole.
//!
//! Owns: the folder. Refuses: to know what points to a file; the database does, and a file the database does not know
//! is rubbish left by a crash.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use belljar_domain::Digest;
use belljar_ports::StoreError;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

/// Age at which an unfinished file is nobody's any more.
const ABANDONED: Duration = Duration::from_hours(1);
/// What the name of an unfinished file begins with.
const NEW: &str = "new-";

/// The folder.
#[derive(Debug)]
pub(crate) struct Artifacts {
    root: PathBuf,
    largest: u64,
    placing: Mutex<()>,
}

/// A file that is durable, and stays beside its place until a row knows it: whoever is killed before that leaves a trace.
#[derive(Debug)]
pub(crate) struct Staged {
    file: NamedTempFile,
    pub(crate) digest: Digest,
    pub(crate) bytes: u64,
}

impl Artifacts {
    pub(crate) fn new(root: PathBuf, largest: u64) -> Self {
        Self { root, largest, placing: Mutex::new(()) }
    }

    /// Held while a file and the row that knows it come or go together.
    pub(crate) fn placing(&self) -> MutexGuard<'_, ()> {
        self.placing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, digest: Digest) -> PathBuf {
        let text = digest.to_string();
        let (folder, name) = text.split_at(2);
        self.root.join(folder).join(name)
    }

    /// Copies content to a file beside, and makes it durable.
    pub(crate) fn stage(&self, content: &mut dyn Read) -> Result<Staged, StoreError> {
        let doing = |e| StoreError::backend("write an artifact", e);
        fs::create_dir_all(&self.root).map_err(doing)?;
        let mut file = tempfile::Builder::new().prefix(NEW).tempfile_in(&self.root).map_err(doing)?;
        let (digest, bytes) =
            copy(&mut content.take(self.largest.saturating_add(1)), file.as_file_mut()).map_err(doing)?;
        if bytes > self.largest {
            return Err(StoreError::TooLarge {
                what: "bytes of an artifact",
                found: bytes,
                limit: self.largest,
            });
        }
        file.as_file().sync_all().map_err(doing)?;
        Ok(Staged { file, digest, bytes })
    }

    /// Puts a file into its place. What is staged is dropped when the row that knows the file is written.
    pub(crate) fn place(&self, staged: &Staged) -> Result<(), StoreError> {
        let path = self.path(staged.digest);
        let moved = (|| {
            let folder = path.parent().unwrap_or(&self.root);
            let is_new = !folder.is_dir();
            fs::create_dir_all(folder)?;
            match fs::hard_link(staged.file.path(), &path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // A file system without links; an hour later, retention finds what this could leave.
                Err(_) => fs::rename(staged.file.path(), &path)?,
                Ok(()) => {}
            }
            File::open(folder)?.sync_all()?;
            if is_new { File::open(&self.root)?.sync_all() } else { Ok(()) }
        })();
        moved.map_err(|e: io::Error| StoreError::backend("put an artifact into its place", e))
    }

    /// What killed writers left beside: each with the digest of what is in it, whose place may be taken without a row.
    /// Only for the one who may write.
    pub(crate) fn abandoned(&self) -> io::Result<Vec<(PathBuf, Digest)>> {
        let beside = children(&self.root)?.into_iter().filter(|(_, name)| name.starts_with(NEW));
        beside
            .map(|(path, _)| copy(&mut File::open(&path)?, &mut io::sink()).map(|(digest, _)| (path, digest)))
            .collect()
    }

    /// Opens a file at an offset.
    pub(crate) fn open(&self, digest: Digest, offset: u64) -> Result<File, StoreError> {
        match File::open(self.path(digest)) {
            Ok(mut file) => {
                file.seek(SeekFrom::Start(offset)).map_err(|e| StoreError::backend("read an artifact", e))?;
                Ok(file)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(StoreError::Unknown(format!("artifact {digest}")))
            }
            Err(error) => Err(StoreError::backend("open an artifact", error)),
        }
    }

    /// Removes a file; one that is not there is fine.
    pub(crate) fn remove(&self, digest: Digest) -> io::Result<()> {
        match fs::remove_file(self.path(digest)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Every file at its place that has been there for a while. Abandoned ones beside are removed on the way.
    pub(crate) fn settled(&self, now: SystemTime) -> io::Result<Vec<Digest>> {
        let mut found = Vec::new();
        for (path, name) in children(&self.root)? {
            if path.is_dir() {
                let inside = children(&path)?.into_iter().filter(|(inner, _)| is_old(inner, now));
                found.extend(inside.filter_map(|(_, rest)| format!("{name}{rest}").parse::<Digest>().ok()));
            } else if name.starts_with(NEW) && is_old(&path, now) {
                fs::remove_file(&path)?;
            }
        }
        Ok(found)
    }
}

fn is_old(path: &Path, now: SystemTime) -> bool {
    let modified = fs::metadata(path).and_then(|about| about.modified());
    modified.is_ok_and(|then| now.duration_since(then).is_ok_and(|age| age > ABANDONED))
}

fn children(folder: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries
            .map(|entry| entry.map(|entry| (entry.path(), entry.file_name().to_string_lossy().into_owned())))
            .collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn copy(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<(Digest, u64)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    loop {
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let read = buffer.get(..count).unwrap_or_default();
        if read.is_empty() {
            return Ok((Digest(hasher.finalize().into()), total));
        }
        hasher.update(read);
        to.write_all(read)?;
        total += read.len() as u64;
    }
}
