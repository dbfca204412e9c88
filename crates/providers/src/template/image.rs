//! What an image says besides its files: the settings a template keeps, and the layers it is made of.
//!
//! Owns the forms of the configuration and the unpacking of layers in order, each checked against its digest.
//! Refuses: an image for another architecture, and settings that no process could be given.

use std::{
    collections::BTreeMap,
    io::Read,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    TemplateError, UnpackError,
    archive::{Files, document},
    digest::{Digest, Verified},
    progress::Meter,
    stream::decompressed,
    unpack::{Unpacker, Whiteouts},
};

/// A root that a sandbox can start from, and what its image asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Template {
    /// The root directory; only ever read.
    #[serde(skip)]
    pub root: PathBuf,
    /// Environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The directory to start in.
    #[serde(default)]
    pub workdir: Option<String>,
    /// The user to run as: a name or number, perhaps with a group after a colon.
    #[serde(default)]
    pub user: Option<String>,
    /// What every command is prefixed with.
    #[serde(default)]
    pub entrypoint: Vec<String>,
    /// The command when none is given.
    #[serde(default)]
    pub cmd: Vec<String>,
}

impl Template {
    /// A bare root, about which nothing more is known.
    pub(super) fn bare(root: &Path) -> Self {
        Self { root: root.to_owned(), ..Self::default() }
    }
}

/// An image, found and ready to unpack.
#[derive(Debug)]
pub(super) struct Image {
    /// Names the contents: two images with the same key unpack to the same root.
    pub(super) key: String,
    pub(super) settings: Template,
    pub(super) layers: Vec<Layer>,
}

/// A layer, lowest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layer {
    /// The file inside the image.
    pub(super) file: String,
    pub(super) digest: Digest,
    pub(super) covers: Covers,
}

/// What the digest of a layer is a digest of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Covers {
    /// The blob as stored, compressed or not.
    Stored,
    /// The tar inside, once decompressed.
    Contents,
}

impl Image {
    /// Unpacks the layers one over the other.
    pub(super) fn unpack(
        &self,
        files: &Files,
        unpacker: &mut Unpacker<'_>,
        meter: &Meter<'_>,
    ) -> Result<(), TemplateError> {
        let mut total = 0_u64;
        for layer in &self.layers {
            total = total.saturating_add(files.open(&layer.file)?.1);
        }
        meter.expect(total);
        self.layers.iter().try_for_each(|layer| layer.unpack(files, unpacker, meter))
    }
}

impl Layer {
    fn unpack(
        &self,
        files: &Files,
        unpacker: &mut Unpacker<'_>,
        meter: &Meter<'_>,
    ) -> Result<(), TemplateError> {
        let (stored, length) = files.open(&self.file)?;
        let stored = meter.over(stored);
        let unreadable = |source| TemplateError::Blob { blob: self.file.clone(), source };
        match self.covers {
            Covers::Stored => {
                let mut verified = Verified::new(stored, self.digest.clone());
                let outcome = decompressed(&mut verified)
                    .map_err(UnpackError::Read)
                    .and_then(|contents| unpacker.layer(contents, Whiteouts::Apply));
                self.judge(outcome, verified, length)
            }
            Covers::Contents => {
                let contents = decompressed(stored).map_err(unreadable)?;
                let mut verified = Verified::new(contents, self.digest.clone());
                let outcome = unpacker.layer(&mut verified, Whiteouts::Apply);
                self.judge(outcome, verified, unpacker.limits().bytes)
            }
        }
    }

    /// A damaged blob mostly shows as an archive that makes no sense; then the digest is the better answer.
    fn judge<R: Read>(
        &self,
        outcome: Result<(), UnpackError>,
        verified: Verified<R>,
        most: u64,
    ) -> Result<(), TemplateError> {
        if let Err(UnpackError::Read(_) | UnpackError::Truncated(_)) | Ok(()) = outcome {
            verified.finish(most)?;
        }
        outcome.map_err(|source| TemplateError::Unpack { what: self.file.clone(), source })
    }
}

/// The configuration of an image, as both OCI and Docker write it; only what we use.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Config {
    #[serde(default)]
    architecture: String,
    #[serde(default)]
    config: Option<Settings>,
    #[serde(default)]
    rootfs: Option<RootFs>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Settings {
    env: Option<Vec<String>>,
    working_dir: Option<String>,
    user: Option<String>,
    entrypoint: Option<Vec<String>>,
    cmd: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct RootFs {
    #[serde(default)]
    diff_ids: Vec<String>,
}

impl Config {
    pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<Self, TemplateError> {
        let config: Self = document(name, bytes)?;
        if config.architecture.is_empty() || config.architecture == architecture() {
            return Ok(config);
        }
        Err(TemplateError::Architecture { wanted: architecture().to_owned(), found: config.architecture })
    }

    /// The digests of the layers once decompressed, lowest first.
    pub(super) fn diff_ids(&self) -> &[String] {
        self.rootfs.as_ref().map_or(&[], |rootfs| &rootfs.diff_ids)
    }

    pub(super) fn into_settings(self) -> Template {
        let settings = self.config.unwrap_or_default();
        let some = |text: Option<String>| text.filter(|text| !text.is_empty() && !text.contains('\0'));
        let variables = settings.env.unwrap_or_default();
        Template {
            root: PathBuf::new(),
            env: variables
                .iter()
                .filter(|variable| !variable.contains('\0'))
                .map(|variable| variable.split_once('=').unwrap_or((variable, "")))
                .filter(|(name, _)| !name.is_empty())
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            workdir: some(settings.working_dir),
            user: some(settings.user),
            entrypoint: settings.entrypoint.unwrap_or_default(),
            cmd: settings.cmd.unwrap_or_default(),
        }
    }
}

/// This machine's architecture in the words of OCI, which are Go's.
pub(super) fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "x86" => "386",
        "aarch64" => "arm64",
        "powerpc64" if cfg!(target_endian = "little") => "ppc64le",
        "powerpc64" => "ppc64",
        "loongarch64" => "loong64",
        same => same,
    }
}
