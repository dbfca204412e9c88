//! What a copy keeps, and what it does not take.

use std::os::unix::fs::MetadataExt as _;

use super::*;
use crate::layer::{IdShift, copy};

fn copied(layers: &Layers, ids: IdShift) -> Result<PathBuf, LayerError> {
    let dest = layers.path("copy");
    copy(File::open(layers.path("upper")).unwrap().as_fd(), &dest, ids).map(|()| dest)
}

fn mtime(path: &Path) -> (i64, i64) {
    let metadata = fs::symlink_metadata(path).unwrap();
    (metadata.mtime(), metadata.mtime_nsec())
}

#[test]
fn modes_times_links_holes_and_marks_are_kept() {
    let layers = Layers::new();
    write(layers.upper("d/file"), "content", 0o4755);
    fs::hard_link(layers.upper("d/file"), layers.upper("twin")).unwrap();
    symlink("../../etc/passwd", layers.upper("link")).unwrap();
    whiteout(layers.upper("gone"));
    node(layers.upper("pipe"), FileType::Fifo);
    let (opaque, _) = own_namespace();
    mark(layers.upper("d"), opaque, b"y");
    chmod(layers.upper("d"), 0o1571);
    let sparse = File::create(layers.upper("sparse")).unwrap();
    std::os::unix::fs::FileExt::write_at(&sparse, b"end", 64 << 20).unwrap();
    let copy = copied(&layers, IdShift::NONE).unwrap();

    let stat = |name: &str| fs::symlink_metadata(copy.join(name)).unwrap();
    assert_eq!(fs::read(copy.join("d/file")).unwrap(), b"content");
    assert_eq!(stat("d/file").mode() & 0o7777, 0o4755);
    assert_eq!(stat("d").mode() & 0o7777, 0o1571);
    assert_eq!(stat("d/file").ino(), stat("twin").ino());
    assert_eq!(fs::read_link(copy.join("link")).unwrap(), Path::new("../../etc/passwd"));
    assert_eq!((stat("gone").mode() & 0o170_000, stat("gone").rdev()), (0o020_000, 0));
    assert_eq!(stat("pipe").mode(), 0o010_600);
    let mut value = [0; 8];
    let length = rustix::fs::getxattr(copy.join("d"), opaque, &mut value).unwrap();
    assert_eq!(&value[..length], b"y");
    assert_eq!(stat("sparse").len(), (64 << 20) + 3);
    assert!(stat("sparse").blocks() < 100, "holes were filled: {}", stat("sparse").blocks());
    let original = fs::read(layers.upper("sparse")).unwrap();
    assert!(fs::read(copy.join("sparse")).unwrap() == original);
    for name in ["d", "d/file", "link", "gone", "pipe", "sparse"] {
        assert_eq!(mtime(&copy.join(name)), mtime(&layers.upper(name)), "{name}");
    }
}

#[test]
fn owners_are_shifted_back() {
    if !is_root() {
        eprintln!("not run: only root gives files away");
        return;
    }
    let layers = Layers::new();
    write(layers.upper("root"), "", 0o644);
    write(layers.upper("user"), "", 0o644);
    write(layers.upper("stray"), "", 0o644);
    symlink("x", layers.upper("link")).unwrap();
    for (name, id) in [("root", 100_000), ("user", 101_000), ("stray", 7), ("link", 101_000)] {
        std::os::unix::fs::lchown(layers.upper(name), Some(id), Some(id)).unwrap();
    }
    let copy = copied(&layers, IdShift { base: 100_000, count: 65_536 }).unwrap();
    let owner = |name: &str| {
        let stat = fs::symlink_metadata(copy.join(name)).unwrap();
        (stat.uid(), stat.gid())
    };
    assert_eq!(["root", "user", "stray", "link"].map(owner), [(0, 0), (1000, 1000), (0, 0), (1000, 1000)]);
}

#[test]
fn a_device_is_refused_and_nothing_is_left() {
    if !is_root() {
        eprintln!("not run: only root makes devices");
        return;
    }
    let layers = Layers::new();
    write(layers.upper("a"), "", 0o644);
    let null = rustix::fs::makedev(1, 3);
    rustix::fs::mknodat(CWD, layers.upper("dev"), FileType::CharacterDevice, Mode::RUSR, null).unwrap();
    let error = copied(&layers, IdShift::NONE).unwrap_err();
    assert!(matches!(&error, LayerError::Device { path } if path == Path::new("dev")), "{error}");
    assert!(!layers.path("copy").exists());
}

#[test]
fn an_existing_destination_is_left_alone() {
    let layers = Layers::new();
    write(layers.path("copy/mine"), "mine", 0o644);
    copied(&layers, IdShift::NONE).unwrap_err();
    assert_eq!(fs::read(layers.path("copy/mine")).unwrap(), b"mine");
}
