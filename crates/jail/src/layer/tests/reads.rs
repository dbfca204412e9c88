//! What each thing in an upper is read as.

use std::{io, os::unix::ffi::OsStrExt as _};

use belljar_domain::Node;

use super::*;
use crate::layer::{budget::Budget, open_beneath, scan::scan_within};

#[test]
fn files_links_and_nodes_are_read_as_what_happened_to_them() {
    let layers = Layers::new();
    write(layers.base("kept"), "same", 0o644);
    write(layers.upper("kept"), "same", 0o644);
    write(layers.base("edited"), "old", 0o644);
    write(layers.upper("edited"), "new!", 0o755);
    write(layers.base("same-length"), "aaa", 0o644);
    write(layers.upper("same-length"), "aab", 0o644);
    write(layers.base("run.sh"), "x", 0o644);
    write(layers.upper("run.sh"), "x", 0o755);
    write(layers.base("gone"), "x", 0o600);
    whiteout(layers.upper("gone"));
    whiteout(layers.upper("never-there"));
    symlink("a", layers.base("link")).unwrap();
    symlink("b", layers.upper("link")).unwrap();
    symlink("a", layers.base("same-link")).unwrap();
    symlink("a", layers.upper("same-link")).unwrap();
    write(layers.upper("new/blob"), b"\0\x01", 0o644);
    chmod(layers.upper("new"), 0o750);
    directory(layers.upper("empty"));
    node(layers.upper("pipe"), FileType::Fifo);
    fs::hard_link(layers.upper("new/blob"), layers.upper("new/twin")).unwrap();
    assert_eq!(
        layers.scan().unwrap(),
        [
            change("edited", ChangeKind::Modified, file(3, 0o644), file(4, 0o755)),
            change("empty", ChangeKind::Added, None, dir(0o755)),
            change("gone", ChangeKind::Deleted, file(1, 0o600), None),
            change("link", ChangeKind::Modified, link("a"), link("b")),
            change("new", ChangeKind::Added, None, dir(0o750)),
            change("new/blob", ChangeKind::Added, None, file(2, 0o644)),
            change("new/twin", ChangeKind::Added, None, file(2, 0o644)),
            change("pipe", ChangeKind::Added, None, Some(Entry::Other { node: Node::Fifo, mode: 0o600 })),
            change("run.sh", ChangeKind::ModeChanged, file(1, 0o644), file(1, 0o755)),
            change("same-length", ChangeKind::Modified, file(3, 0o644), file(3, 0o644)),
        ]
    );
}

#[test]
fn a_copied_up_directory_is_no_change_but_its_new_mode_is() {
    let layers = Layers::new();
    directory(layers.base("a/b"));
    directory(layers.upper("a/b"));
    directory(layers.base("c"));
    directory(layers.upper("c"));
    chmod(layers.upper("c"), 0o700);
    write(layers.upper("a/b/new"), "", 0o644);
    assert_eq!(
        layers.scan().unwrap(),
        [
            change("a/b/new", ChangeKind::Added, None, file(0, 0o644)),
            change("c", ChangeKind::ModeChanged, dir(0o755), dir(0o700)),
        ]
    );
}

#[test]
fn a_deleted_directory_is_told_apart() {
    let layers = Layers::new();
    write(layers.base("d/one"), "1", 0o644);
    write(layers.base("d/sub/two"), "22", 0o644);
    directory(layers.base("d/sub"));
    write(layers.base("d/zwei"), "", 0o644);
    directory(layers.base("d"));
    whiteout(layers.upper("d"));
    assert_eq!(
        layers.scan().unwrap(),
        [
            change("d", ChangeKind::Deleted, dir(0o755), None),
            change("d/one", ChangeKind::Deleted, file(1, 0o644), None),
            change("d/sub", ChangeKind::Deleted, dir(0o755), None),
            change("d/sub/two", ChangeKind::Deleted, file(2, 0o644), None),
            change("d/zwei", ChangeKind::Deleted, file(0, 0o644), None),
        ]
    );
}

#[test]
fn an_opaque_directory_hides_the_base_at_every_depth() {
    for name in [own_namespace().0, "user.overlay.opaque"] {
        let layers = Layers::new();
        write(layers.base("d/kept"), "k", 0o644);
        write(layers.base("d/lost"), "l", 0o644);
        write(layers.base("d/sub/deep"), "d", 0o644);
        write(layers.base("d/tree/leaf"), "t", 0o644);
        write(layers.upper("d/kept"), "k", 0o644);
        write(layers.upper("d/sub/new"), "n", 0o644);
        for path in ["d", "d/sub", "d/tree"] {
            directory(layers.base(path));
        }
        for path in ["d", "d/sub"] {
            directory(layers.upper(path));
        }
        mark(layers.upper("d"), name, b"y");
        assert_eq!(
            layers.scan().unwrap(),
            [
                change("d/lost", ChangeKind::Deleted, file(1, 0o644), None),
                change("d/sub/deep", ChangeKind::Deleted, file(1, 0o644), None),
                change("d/sub/new", ChangeKind::Added, None, file(1, 0o644)),
                change("d/tree", ChangeKind::Deleted, dir(0o755), None),
                change("d/tree/leaf", ChangeKind::Deleted, file(1, 0o644), None),
            ],
            "{name}"
        );
    }
}

#[test]
fn a_thing_of_another_type_takes_its_children_with_it() {
    let layers = Layers::new();
    write(layers.base("d/child"), "1", 0o644);
    directory(layers.base("d"));
    symlink("/etc", layers.upper("d")).unwrap();
    write(layers.base("f"), "12", 0o644);
    write(layers.upper("f/inner"), "", 0o644);
    directory(layers.upper("f"));
    assert_eq!(
        layers.scan().unwrap(),
        [
            change("d", ChangeKind::TypeChanged, dir(0o755), link("/etc")),
            change("d/child", ChangeKind::Deleted, file(1, 0o644), None),
            change("f", ChangeKind::TypeChanged, file(2, 0o644), dir(0o755)),
            change("f/inner", ChangeKind::Added, None, file(0, 0o644)),
        ]
    );
}

#[test]
fn a_symlink_in_the_base_is_not_walked_through() {
    let layers = Layers::new();
    write(layers.path("outside/secret"), "s", 0o644);
    symlink(layers.path("outside"), layers.base("d")).unwrap();
    write(layers.upper("d/secret"), "s", 0o644);
    directory(layers.upper("d"));
    let target = layers.path("outside");
    assert_eq!(
        layers.scan().unwrap(),
        [
            change("d", ChangeKind::TypeChanged, link(target.to_str().unwrap()), dir(0o755)),
            change("d/secret", ChangeKind::Added, None, file(1, 0o644)),
        ]
    );
}

#[test]
fn odd_names_survive_and_sort_by_bytes() {
    let layers = Layers::new();
    let names: [&[u8]; 5] = [b"a b\n", b"a.txt", b"a/x", b"caf\xe9", b"tab\t\"q"];
    for name in names {
        write(layers.upper(OsStr::from_bytes(name)), "", 0o644);
    }
    let found: Vec<_> =
        layers.scan().unwrap().into_iter().map(|change| change.path.into_os_string()).collect();
    let expected: [&[u8]; 6] = [b"a", b"a b\n", b"a.txt", b"a/x", b"caf\xe9", b"tab\t\"q"];
    assert_eq!(found, expected.map(|name| OsStr::from_bytes(name).to_owned()));
}

#[test]
fn a_tree_deeper_than_any_path_or_descriptor_table_is_read() {
    const DEPTH: usize = 10_000;
    // In memory: a disk takes seconds to make as many directories.
    let layers = Layers::within(TempDir::new_in("/dev/shm").unwrap());
    let mut here: std::os::fd::OwnedFd = File::open(layers.path("upper")).unwrap().into();
    for _ in 0..DEPTH {
        rustix::fs::mkdirat(&here, "d", Mode::RWXU).unwrap();
        here = rustix::fs::openat(&here, "d", rustix::fs::OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
    rustix::fs::openat(&here, "leaf", flags, Mode::RUSR).unwrap();
    let changes = layers.scan().unwrap();
    assert_eq!(changes.len(), DEPTH + 1);
    let leaf = changes.last().unwrap();
    assert_eq!(leaf.path.as_os_str().len(), DEPTH * 2 + "leaf".len());
    open_beneath(File::open(layers.path("upper")).unwrap().as_fd(), &leaf.path).unwrap();
    let copy = layers.path("copy");
    crate::layer::copy(File::open(layers.path("upper")).unwrap().as_fd(), &copy, crate::layer::IdShift::NONE)
        .unwrap();
    assert!(scan(File::open(&copy).unwrap().as_fd(), &layers.path("base")).unwrap() == changes);
    // `remove_dir_all` holds a descriptor for each level, which is more than a process may.
    assert!(Command::new("rm").arg("-rf").args([layers.path("upper"), copy]).status().unwrap().success());
}

#[test]
fn too_much_is_an_error_that_says_so() {
    let layers = Layers::new();
    for index in 0..4 {
        write(layers.upper(index.to_string()), "", 0o644);
    }
    let upper = File::open(layers.path("upper")).unwrap();
    let error = scan_within(upper.as_fd(), &layers.path("base"), Budget::of(3)).unwrap_err();
    assert!(matches!(error, LayerError::TooMany { limit: 3 }), "{error}");
}

#[test]
fn marks_of_features_that_are_off_are_refused() {
    if !is_root() {
        eprintln!("not run: only root sets trusted attributes");
        return;
    }
    for (name, make) in [("redirect", true), ("metacopy", false)] {
        let layers = Layers::new();
        if make {
            directory(layers.upper("d"));
        } else {
            File::create(layers.upper("d")).unwrap().set_len(10).unwrap();
        }
        mark(layers.upper("d"), &format!("trusted.overlay.{name}"), b"/elsewhere");
        let error = layers.scan().unwrap_err();
        assert!(matches!(&error, LayerError::Foreign { path, .. } if path == Path::new("d")), "{error}");
    }
}

#[test]
fn only_regular_files_beneath_are_opened() {
    let layers = Layers::new();
    write(layers.path("outside"), "s", 0o644);
    write(layers.upper("d/file"), "f", 0o644);
    symlink("../outside", layers.upper("link")).unwrap();
    symlink("d", layers.upper("dirlink")).unwrap();
    node(layers.upper("pipe"), FileType::Fifo);
    let upper = File::open(layers.path("upper")).unwrap();
    let open = |path: &str| open_beneath(upper.as_fd(), Path::new(path));
    assert_eq!(io::read_to_string(File::from(open("d/file").unwrap())).unwrap(), "f");
    for path in ["link", "dirlink/file", "pipe", "d", "../outside", "/etc/passwd", "d/../d/file", "", "none"]
    {
        assert!(open(path).is_err(), "{path}");
    }
}
