//! The store of templates under `$BELLJAR_HOME/templates`. Owns which source leads to which root, and keeping roots
//! so that each is unpacked once.
//!
//! `images/KEY` holds `root/` and `template.json`; `names/` says which name leads where; `files/` remembers which
//! image an archive held; `locks/` and `tmp/` are work in progress. A root appears under `images/` by one rename, so
//! it is whole or not there; a crash leaves something in `tmp/`, which the next [`TemplateStore::open`] removes.
//! Refuses: to copy a directory that already is a root, and to know which sandboxes run.

mod disk;
mod names;

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

pub use self::names::Listed;
use self::{
    disk::{Disk, Record},
    names::Held,
};
use super::{
    Limits, Progress, Template, TemplateError, UnpackError,
    archive::Files,
    docker,
    image::Image,
    oci,
    progress::Meter,
    remove::remove_tree,
    source::{self, Shape, Source, SourceFile},
    stream::{Compression, decompressed},
    unpack::{Unpacker, Whiteouts},
};

/// The templates of one home.
#[derive(Debug)]
pub struct TemplateStore {
    disk: Disk,
    limits: Limits,
}

impl TemplateStore {
    /// Opens the store below `home`, making it if need be, and removes what a crash left half done.
    ///
    /// # Errors
    /// When the directories cannot be made.
    pub fn open(home: &Path) -> Result<Self, TemplateError> {
        let disk = Disk::open(&home.join("templates"))?;
        disk.sweep();
        Ok(Self { disk, limits: Limits::default() })
    }

    /// Sets other bounds on what an archive may unpack to.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the template a source stands for: a root directory as it is, anything else unpacked, once.
    ///
    /// # Errors
    /// When the source is unreadable, unrecognised, damaged, for another machine or beyond the limits.
    pub fn resolve(&self, source: &Path) -> Result<Template, TemplateError> {
        self.resolve_watched(source, &|_| {})
    }

    /// As [`Self::resolve`], telling how far it has come.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    pub fn resolve_watched(
        &self,
        source: &Path,
        watch: &dyn Fn(Progress),
    ) -> Result<Template, TemplateError> {
        // Somebody may remove the image between our finding and our reading it; then it is unpacked again.
        loop {
            match self.bring(source, &Meter::new(watch))? {
                Held::InPlace(root) => return Ok(Template::bare(&root)),
                Held::Kept(key) => {
                    if let Some(record) = self.disk.kept(&key)? {
                        return Ok(record.template);
                    }
                }
            }
        }
    }

    /// Makes sure that the root of a source is there.
    fn bring(&self, source: &Path, meter: &Meter<'_>) -> Result<Held, TemplateError> {
        match source::probe(source)? {
            Source::Root(root) => Ok(Held::InPlace(root)),
            Source::Image(files) => self.bring_image(&files, source, meter).map(Held::Kept),
            Source::File(file) => self.bring_file(&file, meter).map(Held::Kept),
        }
    }

    fn bring_file(&self, source: &SourceFile, meter: &Meter<'_>) -> Result<String, TemplateError> {
        let own = format!("file-{}", source.fingerprint.hex());
        if let Some(key) = self.known_file(&own)? {
            return Ok(key);
        }
        let _lock = self.disk.lock(&own)?;
        if let Some(key) = self.known_file(&own)? {
            return Ok(key);
        }
        if source.shape(self.limits.bytes)? == Shape::Root {
            let named = source.path.display().to_string();
            self.keep(&own, &source.path, Template::default(), meter, |unpacker| {
                meter.expect(source.length);
                let stored = meter.over(source.reopen()?);
                let plain = decompressed(stored).map_err(|error| source.unreadable(error))?;
                unpacker
                    .layer(plain, Whiteouts::Literal)
                    .map_err(|error| TemplateError::Unpack { what: named, source: error })?;
                source.require_unchanged()
            })?;
            return Ok(own);
        }
        let spooled = self.disk.work(&own);
        let outcome = self.plain(source, &spooled, meter).and_then(|(path, file)| {
            let files = Files::in_archive(&path, file)?;
            let key = self.bring_image(&files, &source.path, meter)?;
            source.require_unchanged()?;
            self.disk.remember_file(&own, &key)?;
            Ok(key)
        });
        self.disk.discard(&spooled).and(outcome)
    }

    /// What an archive is known to hold, without reading it.
    fn known_file(&self, own: &str) -> Result<Option<String>, TemplateError> {
        let key = self.disk.file_key(own)?.unwrap_or_else(|| own.to_owned());
        Ok(self.disk.kept(&key)?.map(|_| key))
    }

    /// The archive without compression, so that its files can be found by seeking.
    fn plain(
        &self,
        source: &SourceFile,
        work: &Path,
        meter: &Meter<'_>,
    ) -> Result<(PathBuf, File), TemplateError> {
        if source.compression()? == Compression::None {
            return Ok((source.path.clone(), source.reopen()?));
        }
        self.disk.discard(work)?;
        self.disk.make(work)?;
        let path = work.join("image.tar");
        let store = |error| disk::failed("write", &path, error);
        meter.expect(source.length);
        let mut plain =
            decompressed(meter.over(source.reopen()?)).map_err(|error| source.unreadable(error))?;
        let mut file = File::create_new(&path).map_err(store)?;
        let most = self.limits.bytes;
        let copied =
            io::copy(&mut io::Read::take(&mut plain, most.saturating_add(1)), &mut file).map_err(store)?;
        if copied > most {
            let what = source.path.display().to_string();
            return Err(TemplateError::Unpack { what, source: UnpackError::TooManyBytes(most) });
        }
        let file = File::open(&path).map_err(store)?;
        Ok((path, file))
    }

    fn bring_image(&self, files: &Files, source: &Path, meter: &Meter<'_>) -> Result<String, TemplateError> {
        let image = if oci::is_layout(files) { oci::read(files)? } else { docker::read(files)? };
        let Image { key, settings, .. } = &image;
        let _lock = self.disk.lock(key)?;
        if self.disk.kept(key)?.is_none() {
            self.keep(key, source, settings.clone(), meter, |unpacker| image.unpack(files, unpacker, meter))?;
        }
        Ok(image.key)
    }

    /// Unpacks into a directory of its own and puts it where it belongs once it is whole. Needs the lock on the key.
    fn keep(
        &self,
        key: &str,
        source: &Path,
        template: Template,
        meter: &Meter<'_>,
        fill: impl FnOnce(&mut Unpacker<'_>) -> Result<(), TemplateError>,
    ) -> Result<(), TemplateError> {
        let work = self.disk.work(key);
        self.disk.discard(&work)?;
        self.disk.make(&work.join("root"))?;
        let unpack = |error| TemplateError::Unpack { what: source.display().to_string(), source: error };
        let outcome = Unpacker::new(&work.join("root"), self.limits, meter)
            .map_err(unpack)
            .and_then(|mut unpacker| fill(&mut unpacker).map(|()| unpacker))
            .and_then(|unpacker| unpacker.finish().map_err(unpack))
            .and_then(|tally| self.disk.publish(key, &Record::new(source, tally, template)));
        if outcome.is_err() {
            // The first failure is the one to report; what stays behind is swept at the next start.
            remove_tree(&work).unwrap_or_default();
        }
        outcome
    }

    /// Removes every unpacked image that no name leads to, and returns how many. The caller sees to it that no sandbox
    /// runs on one of them.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn prune(&self) -> Result<usize, TemplateError> {
        let _names = self.disk.lock(names::LOCK)?;
        let mut named = Vec::new();
        for name in self.names()? {
            if let Some(names::Named { held: Held::Kept(key), .. }) = self.read_name(&name)? {
                named.push(key);
            }
        }
        let mut removed = 0;
        for key in self.disk.keys()?.into_iter().filter(|key| !named.contains(key)) {
            self.disk.drop_image(&key)?;
            removed += 1;
        }
        Ok(removed)
    }
}

/// The names of the entries of a directory, hidden ones left out.
fn entries(path: &Path) -> Result<Vec<String>, TemplateError> {
    let listing = fs::read_dir(path).map_err(|error| disk::failed("list", path, error))?;
    let mut names = Vec::new();
    for entry in listing {
        let entry = entry.map_err(|error| disk::failed("list", path, error))?;
        names.extend(entry.file_name().into_string().ok().filter(|name| !name.starts_with('.')));
    }
    names.sort_unstable();
    Ok(names)
}
