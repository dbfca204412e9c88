//! Names for templates. Owns giving, listing and taking them away; an image goes with the last of its names.
//!
//! Refuses: names that the domain would read as something else, such as a path, `host` or a snapshot.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use belljar_domain::TemplateRef;
use serde::{Deserialize, Serialize};

use super::{
    super::{Progress, Template, TemplateError, progress::Meter},
    TemplateStore, disk,
};

/// The lock on all names. No key looks like this.
pub(super) const LOCK: &str = "names";

/// A named template, as listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Where it was imported from.
    pub source: PathBuf,
    /// Its root, which may have gone since if it is used in place.
    pub root: PathBuf,
    /// Bytes it unpacked to; nothing for a directory used in place.
    pub bytes: Option<u64>,
}

/// Where a root is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Held {
    /// With the user, used as it is.
    InPlace(PathBuf),
    /// In the store, under a key.
    Kept(String),
}

/// What the file of a name says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Named {
    source: PathBuf,
    pub(super) held: Held,
}

impl TemplateStore {
    /// Imports a source under a name, which then no longer means what it meant before. A directory that is a root is
    /// not copied: the name leads to it.
    ///
    /// # Errors
    /// When the name is not one, or as [`Self::resolve`].
    pub fn import_as(&self, name: &str, source: &Path) -> Result<Template, TemplateError> {
        self.import_as_watched(name, source, &|_| {})
    }

    /// As [`Self::import_as`], telling how far it has come.
    ///
    /// # Errors
    /// As [`Self::import_as`].
    pub fn import_as_watched(
        &self,
        name: &str,
        source: &Path,
        watch: &dyn Fn(Progress),
    ) -> Result<Template, TemplateError> {
        require_name(name)?;
        let absolute = source
            .canonicalize()
            .map_err(|error| TemplateError::Source { path: source.to_owned(), source: error })?;
        loop {
            let named = Named { source: absolute.clone(), held: self.bring(source, &Meter::new(watch))? };
            let _lock = self.disk.lock(LOCK)?;
            // Before we held the lock, another name may have been removed and the image with it: then once more.
            let Some(template) = self.template(&named)? else { continue };
            let previous = self.read_name(name)?;
            self.disk.replace(&self.disk.work(LOCK), &self.disk.name_path(name), &named)?;
            self.release(previous)?;
            return Ok(template);
        }
    }

    /// Returns the template of a name.
    ///
    /// # Errors
    /// When nothing has this name, or its root is gone.
    pub fn by_name(&self, name: &str) -> Result<Template, TemplateError> {
        require_name(name)?;
        let named = self.read_name(name)?.ok_or_else(|| TemplateError::Unknown(name.to_owned()))?;
        self.template(&named)?
            .ok_or_else(|| TemplateError::Gone { name: name.to_owned(), root: self.root(&named.held) })
    }

    /// Lists the named templates, by name.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, TemplateError> {
        let mut listed = Vec::new();
        for name in self.names()? {
            // One removed since it was listed is not there.
            let Some(named) = self.read_name(&name)? else { continue };
            let bytes = match &named.held {
                Held::InPlace(_) => None,
                Held::Kept(key) => self.disk.kept(key)?.map(|record| record.bytes),
            };
            listed.push(Listed { name, root: self.root(&named.held), source: named.source, bytes });
        }
        Ok(listed)
    }

    /// Takes a name away, and with its last name the image. A directory used in place is left alone. The caller sees
    /// to it that no sandbox runs on it.
    ///
    /// # Errors
    /// When nothing has this name, or the store cannot be written.
    pub fn remove(&self, name: &str) -> Result<(), TemplateError> {
        require_name(name)?;
        let _lock = self.disk.lock(LOCK)?;
        let named = self.read_name(name)?;
        let path = self.disk.name_path(name);
        match fs::remove_file(&path) {
            Ok(()) => self.release(named),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(TemplateError::Unknown(name.to_owned()))
            }
            Err(error) => Err(disk::failed("remove", &path, error)),
        }
    }

    /// Removes the image a name led to, unless another name still does. Needs the lock on names.
    fn release(&self, named: Option<Named>) -> Result<(), TemplateError> {
        let Some(Named { held: Held::Kept(key), .. }) = named else { return Ok(()) };
        for other in self.names()? {
            if self.read_name(&other)?.is_some_and(|other| other.held == Held::Kept(key.clone())) {
                return Ok(());
            }
        }
        self.disk.drop_image(&key)
    }

    pub(super) fn names(&self) -> Result<Vec<String>, TemplateError> {
        self.disk.names()
    }

    pub(super) fn read_name(&self, name: &str) -> Result<Option<Named>, TemplateError> {
        disk::read(&self.disk.name_path(name))
    }

    fn template(&self, named: &Named) -> Result<Option<Template>, TemplateError> {
        match &named.held {
            Held::InPlace(root) => Ok(root.is_dir().then(|| Template::bare(root))),
            Held::Kept(key) => Ok(self.disk.kept(key)?.map(|record| record.template)),
        }
    }

    fn root(&self, held: &Held) -> PathBuf {
        match held {
            Held::InPlace(root) => root.clone(),
            Held::Kept(key) => self.disk.root(key),
        }
    }
}

fn require_name(name: &str) -> Result<(), TemplateError> {
    match name.parse() {
        Ok(TemplateRef::Named(_)) => Ok(()),
        _ => Err(TemplateError::Name(name.chars().take(160).collect())),
    }
}
