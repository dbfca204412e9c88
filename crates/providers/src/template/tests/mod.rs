//! Tests over real archives in real directories.

mod escape;
mod images;
mod keeping;
mod kinds;
mod unprivileged;

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
};

use serde_json::{Value, json};
use tar::{EntryType, Header};

use super::{TemplateError, digest::Digest, image::architecture};

/// Builds a tar, entry by entry, with names no honest tool would write.
#[derive(Default)]
struct Tar(Vec<u8>);

impl Tar {
    fn entry(mut self, kind: EntryType, name: &str, link: &str, mode: u32, contents: &[u8]) -> Self {
        for (kind, text) in [(EntryType::GNULongName, name), (EntryType::GNULongLink, link)] {
            if text.len() >= 100 {
                let mut header = Header::new_gnu();
                header.set_entry_type(kind);
                header.set_size(text.len() as u64 + 1);
                self.push(header, b"././@LongLink", &[text.as_bytes(), b"\0"].concat());
            }
        }
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_mtime(1_000_000_000);
        header.set_uid(7);
        header.set_gid(70_000);
        header.set_size(contents.len() as u64);
        let link = link.as_bytes();
        header.as_old_mut().linkname[..link.len().min(100)].copy_from_slice(&link[..link.len().min(100)]);
        self.push(header, name.as_bytes(), contents);
        self
    }

    /// Writes the name byte for byte: the tar crate itself would refuse `..`.
    fn push(&mut self, mut header: Header, name: &[u8], contents: &[u8]) {
        let name = &name[..name.len().min(100)];
        header.as_old_mut().name[..name.len()].copy_from_slice(name);
        header.set_cksum();
        self.0.extend_from_slice(header.as_bytes());
        self.0.extend_from_slice(contents);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
    }

    fn file(self, name: &str, contents: &str) -> Self {
        self.entry(EntryType::Regular, name, "", 0o644, contents.as_bytes())
    }

    fn dir(self, name: &str, mode: u32) -> Self {
        self.entry(EntryType::Directory, name, "", mode, b"")
    }

    fn symlink(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Symlink, name, target, 0o777, b"")
    }

    fn hard_link(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Link, name, target, 0o644, b"")
    }

    fn done(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        self.0
    }
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
}

/// A small root.
fn tiny_root() -> Vec<u8> {
    Tar::default()
        .dir("./", 0o755)
        .dir("./bin/", 0o755)
        .file("./bin/sh", "#!")
        .file("./etc/motd", "hi")
        .done()
}

/// What a directory holds: `d MODE`, `f MODE CONTENTS`, `l TARGET`.
fn listing(root: &Path) -> BTreeMap<String, String> {
    fn walk(root: &Path, base: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(base).unwrap() {
            let path = entry.unwrap().path();
            let about = path.symlink_metadata().unwrap();
            let mode = about.permissions().mode() & 0o7777;
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if about.is_dir() {
                found.insert(name, format!("d {mode:o}"));
                walk(root, &path, found);
            } else if about.is_symlink() {
                found.insert(name, format!("l {}", fs::read_link(&path).unwrap().display()));
            } else {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                found.insert(name, format!("f {mode:o} {text}"));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, root, &mut found);
    found
}

fn expected(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(name, what)| ((*name).to_owned(), (*what).to_owned())).collect()
}

/// What owns a file, and when it was last written.
fn owner_and_time(path: &Path) -> (u32, u32, i64) {
    let about = path.symlink_metadata().unwrap();
    (about.uid(), about.gid(), about.mtime())
}

/// An OCI layout, in memory: file name to contents.
#[derive(Default, Clone)]
struct Layout(BTreeMap<String, Vec<u8>>);

impl Layout {
    fn blob(&mut self, media_type: &str, bytes: Vec<u8>) -> Value {
        let digest = Digest::of(&bytes);
        let descriptor = json!({"mediaType": media_type, "digest": digest.to_string(), "size": bytes.len()});
        self.0.insert(format!("blobs/sha256/{}", digest.hex()), bytes);
        descriptor
    }

    fn image(&mut self, architecture: &str, layers: &[(&str, Vec<u8>)]) -> Value {
        let config = json!({
            "architecture": architecture,
            "os": "linux",
            "config": {
                "Env": ["PATH=/bin", "EMPTY=", "A=b=c"],
                "WorkingDir": "/work",
                "User": "7:8",
                "Entrypoint": null,
                "Cmd": ["sh", "-c", "true"],
            },
            "rootfs": {"type": "layers", "diff_ids": []},
        });
        let config = self.blob("application/vnd.oci.image.config.v1+json", config.to_string().into_bytes());
        let layers: Vec<Value> = layers.iter().map(|(kind, bytes)| self.blob(kind, bytes.clone())).collect();
        let manifest = json!({"schemaVersion": 2, "config": config, "layers": layers});
        let mut descriptor =
            self.blob("application/vnd.oci.image.manifest.v1+json", manifest.to_string().into_bytes());
        descriptor["platform"] = json!({"architecture": architecture, "os": "linux"});
        descriptor
    }

    fn index(mut self, manifests: &[Value]) -> Self {
        self.0.insert("oci-layout".to_owned(), br#"{"imageLayoutVersion":"1.0.0"}"#.to_vec());
        let index = json!({"schemaVersion": 2, "manifests": manifests});
        self.0.insert("index.json".to_owned(), index.to_string().into_bytes());
        self
    }

    fn single(layers: &[(&str, Vec<u8>)]) -> Self {
        let mut layout = Self::default();
        let image = layout.image(architecture(), layers);
        layout.index(&[image])
    }

    fn write(&self, directory: &Path) {
        for (name, bytes) in &self.0 {
            let path = directory.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }

    fn tar(&self) -> Vec<u8> {
        let add = |tar: Tar, (name, bytes): (&String, &Vec<u8>)| {
            tar.entry(EntryType::Regular, name, "", 0o644, bytes)
        };
        self.0.iter().fold(Tar::default(), add).done()
    }
}

const TAR: &str = "application/vnd.oci.image.layer.v1.tar";
const GZIP: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const ZSTD: &str = "application/vnd.oci.image.layer.v1.tar+zstd";

/// The whole chain of an error, as the edge prints it.
fn chain(error: &TemplateError) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    text
}
