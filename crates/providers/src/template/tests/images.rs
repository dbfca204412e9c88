//! Images: OCI layouts and both forms of `docker save`.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::json;

use super::{
    super::{Template, TemplateError, TemplateStore, digest::Digest, image::architecture},
    GZIP, Layout, TAR, Tar, ZSTD, chain, expected, gzip, listing, tiny_root, zstd,
};

fn layers() -> [Vec<u8>; 3] {
    [
        tiny_root(),
        Tar::default().file("etc/.wh.motd", "").file("etc/second", "2").done(),
        Tar::default().file("etc/third", "3").done(),
    ]
}

fn settings(root: &Path) -> Template {
    let variables = [("PATH", "/bin"), ("EMPTY", ""), ("A", "b=c")];
    Template {
        root: root.to_owned(),
        env: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        workdir: Some("/work".to_owned()),
        user: Some("7:8".to_owned()),
        entrypoint: Vec::new(),
        cmd: ["sh", "-c", "true"].map(str::to_owned).to_vec(),
    }
}

fn contents() -> BTreeMap<String, String> {
    expected(&[
        ("bin", "d 755"),
        ("bin/sh", "f 644 #!"),
        ("etc", "d 755"),
        ("etc/second", "f 644 2"),
        ("etc/third", "f 644 3"),
    ])
}

fn layout() -> Layout {
    let [one, two, three] = layers();
    Layout::single(&[(TAR, one), (GZIP, gzip(&two)), (ZSTD, zstd(&three))])
}

/// Resolves an archive given as bytes.
fn resolve(home: &Path, bytes: &[u8]) -> Result<Template, TemplateError> {
    let file = home.join("some file");
    fs::write(&file, bytes).unwrap();
    TemplateStore::open(home).unwrap().resolve(&file)
}

/// A `docker save` archive of the older form.
fn docker(config_name: Option<&str>) -> Tar {
    let [one, two, three] = layers();
    let ids: Vec<String> = [&one, &two, &three].map(|layer| Digest::of(layer).to_string()).to_vec();
    let config = json!({
        "architecture": architecture(),
        "config": {
            "Env": ["PATH=/bin", "EMPTY=", "A=b=c"], "WorkingDir": "/work", "User": "7:8",
            "Entrypoint": null, "Cmd": ["sh", "-c", "true"],
        },
        "rootfs": {"type": "layers", "diff_ids": ids},
    })
    .to_string();
    let digest = format!("{}.json", Digest::of(config.as_bytes()).hex());
    let name = config_name.unwrap_or(&digest);
    let manifest = json!([{
        "Config": name, "RepoTags": ["tiny:1"], "Layers": ["a/layer.tar", "b/layer.tar", "c/layer.tar"],
    }]);
    let data =
        |tar: Tar, name: &str, bytes: &[u8]| tar.entry(tar::EntryType::Regular, name, "", 0o644, bytes);
    let tar = data(Tar::default(), "a/layer.tar", &one);
    let tar = data(tar, "real/layer.tar", &two).symlink("b/layer.tar", "../real/layer.tar");
    // Podman compresses on request; the digest is that of the contents all the same.
    data(tar, "c/layer.tar", &gzip(&three)).file(name, &config).file("manifest.json", &manifest.to_string())
}

#[test]
fn every_form_of_an_image_unpacks_to_the_same() {
    let saved = docker(None).done();
    let modern = layout().tar();
    for archive in [&modern, &gzip(&modern), &zstd(&modern), &saved, &gzip(&saved), &zstd(&saved)] {
        let home = tempfile::tempdir().unwrap();
        let template = resolve(home.path(), archive).unwrap();
        assert_eq!(template, settings(&template.root));
        assert_eq!(listing(&template.root), contents());
        assert_eq!(fs::read_dir(home.path().join("templates/tmp")).unwrap().count(), 0);
    }
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("layout");
    layout().write(&directory);
    let template = TemplateStore::open(home.path()).unwrap().resolve(&directory).unwrap();
    assert_eq!(template, settings(&template.root));
    assert_eq!(listing(&template.root), contents());
}

#[test]
fn the_image_for_this_machine_is_chosen() {
    let mut layout = Layout::default();
    let foreign = layout.image("quantum", &[(TAR, Tar::default().file("bin/foreign", "").done())]);
    let ours = layout.image(architecture(), &[(TAR, tiny_root())]);
    let mut attestation = ours.clone();
    attestation["platform"] = json!({"architecture": "unknown", "os": "unknown"});
    let inner = json!({"manifests": [attestation, foreign, ours]}).to_string().into_bytes();
    let inner = layout.blob("application/vnd.oci.image.index.v1+json", inner);
    let home = tempfile::tempdir().unwrap();
    let template = resolve(home.path(), &layout.clone().index(&[inner.clone(), inner]).tar()).unwrap();
    assert!(template.root.join("bin/sh").exists());

    let error =
        resolve(home.path(), &layout.clone().index(std::slice::from_ref(&foreign)).tar()).unwrap_err();
    let wanted = architecture();
    assert_eq!(
        chain(&error),
        format!("the image is for quantum, this machine is {wanted}; save it with --platform linux/{wanted}")
    );
    // Without a platform beside it, the configuration tells.
    let mut bare = foreign;
    bare.as_object_mut().unwrap().remove("platform");
    let error = resolve(home.path(), &layout.index(&[bare]).tar()).unwrap_err();
    assert!(matches!(error, TemplateError::Architecture { .. }), "{error}");
}

#[test]
fn several_images_are_not_chosen_from() {
    let mut layout = Layout::default();
    let mut one = layout.image(architecture(), &[(TAR, tiny_root())]);
    let mut two = layout.image(architecture(), &[(TAR, Tar::default().file("bin/two", "").done())]);
    one["annotations"] = json!({"io.containerd.image.name": "one:1"});
    two["annotations"] = json!({"org.opencontainers.image.ref.name": "two"});
    let home = tempfile::tempdir().unwrap();
    let error = resolve(home.path(), &layout.index(&[one, two]).tar()).unwrap_err();
    assert_eq!(chain(&error), "the archive holds several images (one:1, two); save just one");
}

#[test]
fn damaged_blobs_are_named_and_leave_nothing() {
    let whole = layout();
    for (name, bytes) in whole.0.iter().filter(|(name, _)| name.starts_with("blobs/")) {
        for place in [0, bytes.len() / 2, bytes.len() - 1] {
            let mut damaged = whole.clone();
            damaged.0.get_mut(name).unwrap()[place] ^= 1;
            let home = tempfile::tempdir().unwrap();
            let error = resolve(home.path(), &damaged.tar()).unwrap_err();
            let promised = name.replace("blobs/sha256/", "sha256:");
            assert!(
                matches!(&error, TemplateError::DigestMismatch { blob, .. } if *blob == promised),
                "{error}"
            );
            for folder in ["images", "tmp"] {
                assert_eq!(fs::read_dir(home.path().join("templates").join(folder)).unwrap().count(), 0);
            }
        }
        let mut missing = whole.clone();
        missing.0.remove(name);
        let home = tempfile::tempdir().unwrap();
        let error = resolve(home.path(), &missing.tar()).unwrap_err();
        assert!(matches!(&error, TemplateError::BlobMissing { blob } if blob == name), "{error}");
    }
}

#[test]
fn a_damaged_docker_archive_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let wrong = format!("{}.json", "0".repeat(64));
    let error = resolve(home.path(), &docker(Some(&wrong)).done()).unwrap_err();
    assert!(matches!(&error, TemplateError::DigestMismatch { blob, .. } if *blob == wrong), "{error}");

    let mut bytes = docker(None).done();
    let place = bytes.windows(3).position(|window| window == b"hi\0").unwrap();
    bytes[place] = b'H';
    let error = resolve(home.path(), &bytes).unwrap_err();
    let promised = Digest::of(&layers()[0]).to_string();
    assert!(matches!(&error, TemplateError::DigestMismatch { blob, .. } if *blob == promised), "{error}");
}

#[test]
fn layers_in_unknown_formats_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let encrypted = format!("{GZIP}+encrypted");
    let error = resolve(home.path(), &Layout::single(&[(&encrypted, tiny_root())]).tar()).unwrap_err();
    assert!(
        matches!(&error, TemplateError::MediaType { media_type, .. } if *media_type == encrypted),
        "{error}"
    );
}

#[test]
fn a_layout_does_not_lead_out_of_its_directory() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("layout");
    layout().write(&directory);
    fs::rename(directory.join("index.json"), home.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", directory.join("index.json")).unwrap();
    let error = TemplateStore::open(home.path()).unwrap().resolve(&directory).unwrap_err();
    assert!(matches!(error, TemplateError::Unrecognised { .. }), "{error}");
}
