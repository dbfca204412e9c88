//! The store on disk. Owns its folders, its locks, and the rename that makes an image appear whole.
//!
//! Refuses: to write anything in place. A lock is a file held by flock(2), so that it ends with its holder, however
//! that ends; lock files stay, as removing one would let two holders in.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    super::{Template, TemplateError, archive::document, remove::remove_tree, unpack::Tally},
    entries,
};

#[derive(Debug)]
pub(super) struct Disk {
    base: PathBuf,
}

/// What `template.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Where it came from, for people to read.
    source: String,
    pub(super) bytes: u64,
    entries: u64,
    skipped: u64,
    #[serde(flatten)]
    pub(super) template: Template,
}

impl Record {
    pub(super) fn new(source: &Path, tally: Tally, template: Template) -> Self {
        let Tally { bytes, entries, skipped } = tally;
        Self { source: source.display().to_string(), bytes, entries, skipped, template }
    }
}

/// Held until dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Disk {
    pub(super) fn open(base: &Path) -> Result<Self, TemplateError> {
        let disk = Self { base: base.to_owned() };
        for folder in ["images", "names", "files", "locks", "tmp"] {
            disk.make(&disk.base.join(folder))?;
        }
        let base = disk.base.canonicalize().map_err(|error| failed("find", base, error))?;
        Ok(Self { base })
    }

    /// Removes work in progress whose worker is gone. What cannot be removed is met again, and reported, by whoever
    /// unpacks the same next.
    pub(super) fn sweep(&self) {
        for key in entries(&self.base.join("tmp")).unwrap_or_default() {
            if let Ok(file) = self.lock_file(&key)
                && file.try_lock().is_ok()
            {
                remove_tree(&self.work(&key)).unwrap_or_default();
            }
        }
    }

    /// Waits until nobody else works on this key.
    pub(super) fn lock(&self, key: &str) -> Result<Lock, TemplateError> {
        let file = self.lock_file(key)?;
        loop {
            match file.lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed("lock", &self.base.join("locks").join(key), error)),
            }
        }
    }

    fn lock_file(&self, key: &str) -> Result<File, TemplateError> {
        let path = self.base.join("locks").join(key);
        let opened = File::options().create(true).truncate(false).write(true).open(&path);
        opened.map_err(|error| failed("open", &path, error))
    }

    /// Where work on a key happens, under its lock.
    pub(super) fn work(&self, key: &str) -> PathBuf {
        self.base.join("tmp").join(key)
    }

    pub(super) fn make(&self, path: &Path) -> Result<(), TemplateError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|error| failed("create", path, error))
    }

    pub(super) fn discard(&self, path: &Path) -> Result<(), TemplateError> {
        remove_tree(path).map_err(|error| failed("remove", path, error))
    }

    fn image(&self, key: &str) -> PathBuf {
        self.base.join("images").join(key)
    }

    pub(super) fn root(&self, key: &str) -> PathBuf {
        self.image(key).join("root")
    }

    pub(super) fn keys(&self) -> Result<Vec<String>, TemplateError> {
        entries(&self.base.join("images"))
    }

    /// The image under a key, if it is there.
    pub(super) fn kept(&self, key: &str) -> Result<Option<Record>, TemplateError> {
        let record: Option<Record> = read(&self.image(key).join("template.json"))?;
        Ok(record.map(|record| {
            let template = Template { root: self.root(key), ..record.template };
            Record { template, ..record }
        }))
    }

    /// Makes finished work an image. It is on the disk before its name is, so that a power cut cannot leave the name
    /// with half the contents.
    pub(super) fn publish(&self, key: &str, record: &Record) -> Result<(), TemplateError> {
        let work = self.work(key);
        write(&work.join("template.json"), record)?;
        let synced = File::open(&work).and_then(|folder| Ok(rustix::fs::syncfs(folder)?));
        synced.map_err(|error| failed("flush", &work, error))?;
        fs::rename(&work, self.image(key)).map_err(|error| failed("put in place", &work, error))
    }

    /// Removes an image: first its name, then its contents.
    pub(super) fn drop_image(&self, key: &str) -> Result<(), TemplateError> {
        let _lock = self.lock(key)?;
        let (image, work) = (self.image(key), self.work(key));
        self.discard(&work)?;
        match fs::rename(&image, &work) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            outcome => {
                outcome.map_err(|error| failed("remove", &image, error)).and_then(|()| self.discard(&work))
            }
        }
    }

    /// Which image the archive with this fingerprint held.
    pub(super) fn file_key(&self, fingerprint: &str) -> Result<Option<String>, TemplateError> {
        read(&self.base.join("files").join(fingerprint))
    }

    /// Remembers which image an archive held. Needs the lock on the fingerprint.
    pub(super) fn remember_file(&self, fingerprint: &str, key: &str) -> Result<(), TemplateError> {
        let work = self.work(fingerprint);
        self.discard(&work)?;
        self.replace(&work, &self.base.join("files").join(fingerprint), &key)
    }

    pub(super) fn name_path(&self, name: &str) -> PathBuf {
        self.base.join("names").join(format!("{name}.json"))
    }

    /// The names there are.
    pub(super) fn names(&self) -> Result<Vec<String>, TemplateError> {
        let files = entries(&self.base.join("names"))?;
        Ok(files.iter().filter_map(|file| file.strip_suffix(".json")).map(str::to_owned).collect())
    }

    /// Writes a document aside and renames it into place.
    pub(super) fn replace(
        &self,
        work: &Path,
        path: &Path,
        value: &impl Serialize,
    ) -> Result<(), TemplateError> {
        write(work, value)?;
        fs::rename(work, path).map_err(|error| failed("put in place", path, error))
    }
}

/// Reads a document of the store, if it is there.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, TemplateError> {
    match fs::read(path) {
        Ok(bytes) => document(&path.display().to_string(), &bytes).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path, error)),
    }
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), TemplateError> {
    let bytes = serde_json::to_vec_pretty(value)
        .map_err(|source| TemplateError::Document { document: path.display().to_string(), source })?;
    let written = File::create(path).and_then(|mut file| {
        io::Write::write_all(&mut file, &bytes)?;
        file.sync_all()
    });
    written.map_err(|error| failed("write", path, error))
}

pub(super) fn failed(action: &'static str, path: &Path, source: io::Error) -> TemplateError {
    TemplateError::Store { action, path: path.to_owned(), source }
}
