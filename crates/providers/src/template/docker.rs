//! `docker save` archives in the form before Docker 25, which Podman still writes: `manifest.json`, a configuration
//! and one tar per layer. The newer form is an OCI layout and is read as one.
//!
//! Owns reading `manifest.json` and pairing each layer with the digest the configuration gives for its contents.
//! Refuses: several images in one archive, and a configuration that does not account for every layer.

use serde::Deserialize;

use super::{
    TemplateError,
    archive::{Files, document},
    digest::Digest,
    image::{Config, Covers, Image, Layer},
};

const MANIFEST: &str = "manifest.json";

/// Says whether these files are a `docker save` archive.
pub(super) fn is_archive(files: &Files) -> bool {
    files.has(MANIFEST)
}

/// Reads the one image of the archive.
pub(super) fn read(files: &Files) -> Result<Image, TemplateError> {
    let images: Vec<Saved> = document(MANIFEST, &files.read(MANIFEST)?)?;
    let saved = match images.as_slice() {
        [] => return Err(TemplateError::Inconsistent(format!("{MANIFEST} lists no image"))),
        [only] => only,
        several => {
            let names: Vec<String> = several.iter().map(Saved::label).collect();
            return Err(TemplateError::Ambiguous(names.join(", ")));
        }
    };
    let bytes = files.read(&saved.config)?;
    let digest = Digest::of(&bytes);
    if let Some(promised) = named_digest(&saved.config)
        && promised != digest
    {
        return Err(TemplateError::DigestMismatch {
            blob: saved.config.clone(),
            found: digest.hex().to_owned(),
        });
    }
    let config = Config::parse(&saved.config, &bytes)?;
    let layers = layers(&saved.layers, config.diff_ids())?;
    // The configuration holds the digest of every layer, and each is checked against it: so it names the contents.
    Ok(Image { key: format!("docker-{}", digest.hex()), settings: config.into_settings(), layers })
}

fn layers(files: &[String], diff_ids: &[String]) -> Result<Vec<Layer>, TemplateError> {
    if files.len() != diff_ids.len() {
        let (has, promises) = (files.len(), diff_ids.len());
        return Err(TemplateError::Inconsistent(format!(
            "{MANIFEST} lists {has} layers, the configuration {promises}"
        )));
    }
    files
        .iter()
        .zip(diff_ids)
        .map(|(file, id)| Ok(Layer { file: file.clone(), digest: id.parse()?, covers: Covers::Contents }))
        .collect()
}

/// The digest a configuration is named after: `<digest>.json` or `blobs/sha256/<digest>`.
fn named_digest(file: &str) -> Option<Digest> {
    let name = file.rsplit('/').next()?;
    Digest::from_hex(name.strip_suffix(".json").unwrap_or(name))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Saved {
    config: String,
    #[serde(default)]
    repo_tags: Option<Vec<String>>,
    #[serde(default)]
    layers: Vec<String>,
}

impl Saved {
    fn label(&self) -> String {
        self.repo_tags.as_ref().and_then(|tags| tags.first()).unwrap_or(&self.config).clone()
    }
}
