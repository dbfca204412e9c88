//! OCI image layouts, in a directory or inside a tar. Owns following index and manifest to the image for this machine.
//!
//! Refuses: several images without a way to choose, layers in unknown formats, and documents that do not match the
//! digest that led to them.

use std::collections::HashMap;

use serde::Deserialize;

use super::{
    TemplateError,
    archive::{Files, document},
    digest::Digest,
    image::{Config, Covers, Image, Layer, architecture},
};

/// Indexes may point to indexes; real images nest once.
const NESTING_LIMIT: u32 = 4;
const INDEX: &str = "index.json";

/// Says whether these files are an OCI layout.
pub(super) fn is_layout(files: &Files) -> bool {
    files.has("oci-layout") && files.has(INDEX)
}

/// Finds the image for this machine.
pub(super) fn read(files: &Files) -> Result<Image, TemplateError> {
    let index: Index = document(INDEX, &files.read(INDEX)?)?;
    let mut chosen: Vec<&Descriptor> = Vec::new();
    for candidate in index.manifests.iter().filter(|candidate| candidate.suits()) {
        if !chosen.iter().any(|other| other.digest == candidate.digest) {
            chosen.push(candidate);
        }
    }
    match chosen.as_slice() {
        [] => Err(none_for_us(&index.manifests)),
        [only] => manifest(files, only, NESTING_LIMIT),
        several => Err(TemplateError::Ambiguous(
            several.iter().map(|descriptor| descriptor.label()).collect::<Vec<_>>().join(", "),
        )),
    }
}

fn manifest(files: &Files, descriptor: &Descriptor, nesting: u32) -> Result<Image, TemplateError> {
    let (digest, name, bytes) = descriptor.read(files)?;
    let node: Node = document(&name, &bytes)?;
    match node {
        Node { manifests: Some(manifests), .. } => {
            if nesting == 0 {
                return Err(TemplateError::Inconsistent(format!("indexes nest too deep at {digest}")));
            }
            // Of several that suit, the first is meant: image-spec, image-index.md, `manifests`.
            let first = manifests.iter().find(|candidate| candidate.suits());
            manifest(files, first.ok_or_else(|| none_for_us(&manifests))?, nesting - 1)
        }
        Node { config: Some(config), layers: Some(layers), .. } => {
            let (_, config_name, config_bytes) = config.read(files)?;
            Ok(Image {
                // The manifest names the layers by digest; the configuration alone would only claim what they hold.
                key: format!("oci-{}", digest.hex()),
                settings: Config::parse(&config_name, &config_bytes)?.into_settings(),
                layers: layers.iter().map(Descriptor::layer).collect::<Result<_, _>>()?,
            })
        }
        Node { .. } => Err(TemplateError::Inconsistent(format!("{digest} is neither an index nor an image"))),
    }
}

fn none_for_us(manifests: &[Descriptor]) -> TemplateError {
    let mut found: Vec<&str> =
        manifests.iter().filter_map(|it| it.platform.as_ref()).map(|it| it.architecture.as_str()).collect();
    found.sort_unstable();
    found.dedup();
    let found = if found.is_empty() { "no machine at all".to_owned() } else { found.join(", ") };
    TemplateError::Architecture { wanted: architecture().to_owned(), found }
}

#[derive(Debug, Deserialize)]
struct Index {
    manifests: Vec<Descriptor>,
}

/// An index or a manifest: which of them shows in what it has.
#[derive(Debug, Deserialize)]
struct Node {
    manifests: Option<Vec<Descriptor>>,
    config: Option<Descriptor>,
    layers: Option<Vec<Descriptor>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    #[serde(default)]
    media_type: String,
    digest: String,
    platform: Option<Platform>,
    annotations: Option<HashMap<String, String>>,
}

#[derive(Debug, Deserialize)]
struct Platform {
    #[serde(default)]
    architecture: String,
    #[serde(default)]
    os: String,
}

impl Descriptor {
    /// One without a platform may suit; its configuration tells later. Attestations say `unknown` and never do.
    fn suits(&self) -> bool {
        self.platform.as_ref().is_none_or(|it| it.architecture == architecture() && it.os == "linux")
    }

    fn label(&self) -> String {
        ["io.containerd.image.name", "org.opencontainers.image.ref.name"]
            .iter()
            .find_map(|key| self.annotations.as_ref()?.get(*key))
            .unwrap_or(&self.digest)
            .clone()
    }

    /// Reads a document and checks it before anything in it is believed.
    fn read(&self, files: &Files) -> Result<(Digest, String, Vec<u8>), TemplateError> {
        let digest: Digest = self.digest.parse()?;
        let name = blob(&digest);
        let bytes = files.read(&name)?;
        let found = Digest::of(&bytes);
        if found != digest {
            return Err(TemplateError::DigestMismatch {
                blob: digest.to_string(),
                found: found.hex().to_owned(),
            });
        }
        Ok((digest, name, bytes))
    }

    fn layer(&self) -> Result<Layer, TemplateError> {
        // `application/vnd.oci.image.layer.v1.tar+gzip`, `application/vnd.docker.image.rootfs.diff.tar.gzip` and kin.
        let known = ["tar", "tar+gzip", "tar+zstd", "tar.gzip", "tar.zstd"];
        let is_layer = self.media_type.contains(".layer.") || self.media_type.contains(".rootfs.");
        if !is_layer || !known.iter().any(|end| self.media_type.ends_with(&format!(".{end}"))) {
            return Err(TemplateError::MediaType {
                blob: self.digest.clone(),
                media_type: self.media_type.clone(),
            });
        }
        let digest: Digest = self.digest.parse()?;
        Ok(Layer { file: blob(&digest), digest, covers: Covers::Stored })
    }
}

fn blob(digest: &Digest) -> String {
    format!("blobs/sha256/{}", digest.hex())
}
