//! What becomes of each kind of entry, and of whiteouts across layers.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path, process::Command};

use tar::EntryType;

use super::{
    super::{
        Limits, UnpackError,
        progress::Meter,
        unpack::{Tally, Unpacker, Whiteouts},
    },
    Tar, expected, listing, owner_and_time,
};

fn unpack(root: &Path, layers: &[Vec<u8>]) -> Result<Tally, UnpackError> {
    let meter = Meter::new(&|_| {});
    let mut unpacker = Unpacker::new(root, Limits::default(), &meter)?;
    for layer in layers {
        unpacker.layer(layer.as_slice(), Whiteouts::Apply)?;
    }
    unpacker.finish()
}

#[test]
fn every_kind_of_entry_becomes_what_it_should() {
    let root = tempfile::tempdir().unwrap();
    let long = format!("{}/{}", "d".repeat(120), "f".repeat(200));
    let archive = Tar::default()
        .dir("./", 0o711)
        .dir("usr/bin", 0o2555)
        .entry(EntryType::Regular, "usr/bin/su", "", 0o6755, b"su")
        .symlink("bin", "usr/bin")
        .file("bin/through", "a link")
        .hard_link("usr/bin/also", "bin/su")
        .dir("tmp", 0o1777)
        .entry(EntryType::Char, "dev/null", "", 0o666, b"")
        .entry(EntryType::Block, "dev/sda", "", 0o666, b"")
        .entry(EntryType::Fifo, "pipe", "", 0o666, b"")
        .entry(EntryType::Regular, "old-style/", "", 0o750, b"")
        .file(&long, "long")
        .done();
    let tally = unpack(root.path(), &[archive]).unwrap();
    assert_eq!(tally, Tally { bytes: 12, entries: 12, skipped: 3 });
    assert_eq!(
        listing(root.path()),
        expected(&[
            ("bin", "l usr/bin"),
            (&"d".repeat(120), "d 755"),
            (&long, "f 644 long"),
            ("old-style", "d 750"),
            ("tmp", "d 1777"),
            ("usr", "d 755"),
            ("usr/bin", "d 555"),
            ("usr/bin/also", "f 755 su"),
            ("usr/bin/su", "f 755 su"),
            ("usr/bin/through", "f 644 a link"),
        ])
    );
    assert_eq!(root.path().metadata().unwrap().mode() & 0o7777, 0o711);
    assert_eq!(fs::metadata(root.path().join("usr/bin/su")).unwrap().nlink(), 2);
    // A group beyond the ids of a sandbox becomes root's.
    let ours = root.path().join("usr").metadata().unwrap();
    let owner = if ours.uid() == 0 { (7, 0) } else { (ours.uid(), ours.gid()) };
    for name in ["bin", "usr/bin", "usr/bin/su", "tmp"] {
        assert_eq!(owner_and_time(&root.path().join(name)), (owner.0, owner.1, 1_000_000_000), "{name}");
    }
}

#[test]
fn whiteouts_hide_what_lower_layers_have() {
    let root = tempfile::tempdir().unwrap();
    let base = Tar::default()
        .file("etc/keep", "1")
        .file("etc/gone", "1")
        .file("etc/tree/deep/file", "1")
        .file("opaque/old", "1")
        .file("opaque/sub/old", "1")
        .file("opaque/sub/new", "1")
        .file("swap", "file")
        .dir("strict", 0o500)
        .done();
    let upper = Tar::default()
        .file("opaque/sub/new", "2")
        .file("opaque/new", "2")
        .file("etc/.wh.gone", "")
        .file("etc/.wh.tree", "")
        .file("etc/.wh.never", "")
        .file("none/at/.wh.all", "")
        .file("etc/keep/.wh.below-a-file", "")
        .dir("opaque", 0o700)
        .file("opaque/.wh..wh..opq", "")
        .file(".wh..wh.plnk", "")
        .dir("swap", 0o755)
        .file("swap/inside", "2")
        .file("strict/added", "2")
        .done();
    // Hidden and brought back by the same layer, in either order: what the layer brings stays.
    let top = Tar::default()
        .file(".wh.swap", "")
        .file("swap/other", "3")
        .file("etc/tree", "now a file")
        .file("strict/own", "3")
        .file(".wh.strict", "")
        .done();
    unpack(root.path(), &[base, upper, top]).unwrap();
    assert_eq!(
        listing(root.path()),
        expected(&[
            ("etc", "d 755"),
            ("etc/keep", "f 644 1"),
            ("etc/tree", "f 644 now a file"),
            ("opaque", "d 700"),
            ("opaque/new", "f 644 2"),
            ("opaque/sub", "d 755"),
            ("opaque/sub/new", "f 644 2"),
            ("strict", "d 500"),
            ("strict/own", "f 644 3"),
            ("swap", "d 755"),
            ("swap/other", "f 644 3"),
        ])
    );
}

#[test]
fn archives_of_gnu_tar_unpack() {
    let temp = tempfile::tempdir().unwrap();
    let (from, root) = (temp.path().join("from"), temp.path().join("root"));
    let name = format!("usr/{}/{}", "ä".repeat(80), "b".repeat(150));
    fs::create_dir_all(from.join(&name).parent().unwrap()).unwrap();
    fs::write(from.join(&name), "named at length").unwrap();
    let holes = fs::File::create(from.join("usr/holes")).unwrap();
    holes.set_len(8 * 1024 * 1024).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&holes, b"data", 4 * 1024 * 1024).unwrap();
    for (format, sparse) in
        [("gnu", "--sparse"), ("posix", "--no-acls"), ("ustar", "--exclude=ä*"), ("v7", "--exclude=ä*")]
    {
        fs::create_dir(&root).unwrap();
        let archive = temp.path().join("archive.tar");
        let mut tar = Command::new("tar");
        tar.arg("-C").arg(&from).args(["--format", format, sparse, "-cf"]).arg(&archive).arg(".");
        assert!(tar.status().unwrap().success());
        unpack(&root, &[fs::read(&archive).unwrap()]).unwrap();
        assert_eq!(fs::read(root.join("usr/holes")).unwrap(), fs::read(from.join("usr/holes")).unwrap());
        if format == "gnu" {
            let blocks = root.join("usr/holes").metadata().unwrap().blocks();
            assert!(blocks * 512 < 1024 * 1024, "the holes were filled: {blocks} blocks");
        }
        if !sparse.starts_with("--exclude") {
            assert_eq!(fs::read_to_string(root.join(&name)).unwrap(), "named at length");
        }
        fs::remove_dir_all(&root).unwrap();
    }
}

#[test]
fn sparse_files_in_pax_form_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let from = temp.path().join("usr");
    fs::create_dir(&from).unwrap();
    fs::File::create(from.join("holes")).unwrap().set_len(1024 * 1024).unwrap();
    let archive = temp.path().join("archive.tar");
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(temp.path()).args(["--format=posix", "--sparse", "-cf"]).arg(&archive).arg("usr");
    assert!(tar.status().unwrap().success());
    let root = temp.path().join("root");
    fs::create_dir(&root).unwrap();
    let outcome = unpack(&root, &[fs::read(&archive).unwrap()]);
    assert!(matches!(outcome, Err(UnpackError::PaxSparse(_))), "{outcome:?}");
}
