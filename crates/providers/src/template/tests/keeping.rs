//! The store: what is kept, found again, shared and removed.

use std::{
    cell::RefCell,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
    sync::Barrier,
};

use super::{
    super::{Limits, Listed, Progress, Template, TemplateError, TemplateStore},
    GZIP, Layout, Tar, chain, expected, gzip, listing, tiny_root, zstd,
};

fn tiny() -> std::collections::BTreeMap<String, String> {
    expected(&[("bin", "d 755"), ("bin/sh", "f 644 #!"), ("etc", "d 755"), ("etc/motd", "f 644 hi")])
}

fn count(home: &Path, folder: &str) -> usize {
    fs::read_dir(home.join("templates").join(folder)).unwrap().count()
}

#[test]
fn a_root_directory_is_used_in_place() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("my root");
    fs::create_dir_all(root.join("usr")).unwrap();
    let store = TemplateStore::open(home.path()).unwrap();
    let expected = Template { root: root.canonicalize().unwrap(), ..Template::default() };
    assert_eq!(store.resolve(&root).unwrap(), expected);
    assert_eq!(store.import_as("mine", &root).unwrap(), expected);
    assert_eq!(store.by_name("mine").unwrap(), expected);
    assert_eq!(count(home.path(), "images"), 0);

    fs::rename(&root, home.path().join("moved")).unwrap();
    let error = store.by_name("mine").unwrap_err();
    assert!(matches!(&error, TemplateError::Gone { name, .. } if name == "mine"), "{error}");
    store.remove("mine").unwrap();
    assert!(home.path().join("moved/usr").exists());
}

#[test]
fn a_tar_is_told_by_its_contents_and_unpacked_once() {
    for bytes in [tiny_root(), gzip(&tiny_root()), zstd(&tiny_root())] {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("picture.png");
        fs::write(&file, bytes).unwrap();
        let store = TemplateStore::open(home.path()).unwrap();
        let told = RefCell::new(Vec::new());
        let first = store.resolve_watched(&file, &|progress| told.borrow_mut().push(progress)).unwrap();
        assert_eq!(listing(&first.root), tiny());
        let total = file.metadata().unwrap().len();
        let last = *told.borrow().last().unwrap();
        assert_eq!(last, Progress { read: total, total, bytes: 4, entries: 4 });

        let inode = first.root.join("bin/sh").metadata().unwrap().ino();
        let told = RefCell::new(0);
        let second = TemplateStore::open(home.path())
            .unwrap()
            .resolve_watched(&file, &|_| *told.borrow_mut() += 1)
            .unwrap();
        assert_eq!((&second, *told.borrow()), (&first, 0));
        assert_eq!(second.root.join("bin/sh").metadata().unwrap().ino(), inode);

        fs::write(&file, Tar::default().file("bin/other", "").done()).unwrap();
        let third = store.resolve(&file).unwrap();
        assert_eq!(listing(&third.root), expected(&[("bin", "d 755"), ("bin/other", "f 644 ")]));
        assert_eq!((count(home.path(), "images"), count(home.path(), "tmp")), (2, 0));
    }
}

#[test]
fn an_image_is_unpacked_once_wherever_it_lies() {
    let home = tempfile::tempdir().unwrap();
    let layout = Layout::single(&[(GZIP, gzip(&tiny_root()))]);
    let store = TemplateStore::open(home.path()).unwrap();
    layout.write(&home.path().join("layout"));
    let first = store.resolve(&home.path().join("layout")).unwrap();
    for (name, bytes) in [("a", layout.tar()), ("b", gzip(&layout.tar()))] {
        let file = home.path().join(name);
        fs::write(&file, bytes).unwrap();
        assert_eq!(store.resolve(&file).unwrap(), first);
        let told = RefCell::new(0);
        assert_eq!(store.resolve_watched(&file, &|_| *told.borrow_mut() += 1).unwrap(), first);
        assert_eq!(*told.borrow(), 0, "the second use of {name} read it again");
    }
    assert_eq!(count(home.path(), "images"), 1);
}

#[test]
fn what_is_nothing_is_said_to_be_nothing() {
    let home = tempfile::tempdir().unwrap();
    let store = TemplateStore::open(home.path()).unwrap();
    let path = home.path().join("x.tar");
    let shown = path.canonicalize().unwrap_or_else(|_| path.clone());
    let prefix = format!(
        "`{}` is neither a root filesystem, an OCI layout nor a docker save archive: ",
        shown.display()
    );
    let error = |store: &TemplateStore| chain(&store.resolve(&path).unwrap_err());

    fs::write(&path, Tar::default().file("rootfs/bin/sh", "").done()).unwrap();
    assert_eq!(error(&store), format!("{prefix}no bin/ or usr/ at the top"));
    fs::write(&path, "a picture of a cat".repeat(100)).unwrap();
    assert!(error(&store).starts_with(&format!("{prefix}it does not read as a tar (")));
    fs::write(&path, "").unwrap();
    assert_eq!(error(&store), format!("{prefix}no bin/ or usr/ at the top"));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(error(&store), format!("{prefix}no bin/ or usr/ at the top"));
    fs::remove_dir(&path).unwrap();
    assert!(error(&store).starts_with("could not read the template source"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    assert_eq!(error(&store), format!("{prefix}it is neither a file nor a directory"));
}

#[test]
fn beyond_the_limits_nothing_stays() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("big");
    fs::write(&file, gzip(&Tar::default().file("bin/zeros", &"0".repeat(100_000)).done())).unwrap();
    let store = TemplateStore::open(home.path()).unwrap();
    let store = store.with_limits(Limits { bytes: 99_999, ..Limits::default() });
    let error = chain(&store.resolve(&file).unwrap_err());
    assert!(
        error.ends_with("it unpacks to more than 99999 bytes; raise the limit if that is expected"),
        "{error}"
    );
    assert_eq!((count(home.path(), "images"), count(home.path(), "tmp")), (0, 0));
}

#[test]
fn a_checksum_at_the_end_of_a_compressed_tar_counts() {
    for (mut bytes, from_end) in [(gzip(&tiny_root()), 6), (zstd(&tiny_root()), 2)] {
        let home = tempfile::tempdir().unwrap();
        let place = bytes.len() - from_end;
        bytes[place] ^= 1;
        fs::write(home.path().join("t"), bytes).unwrap();
        let error = TemplateStore::open(home.path()).unwrap().resolve(&home.path().join("t")).unwrap_err();
        assert!(chain(&error).contains("damaged or truncated"), "{}", chain(&error));
    }
}

#[test]
fn two_at_once_unpack_one() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("tar");
    let many = (0..500).fold(Tar::default(), |tar, number| tar.file(&format!("bin/{number}"), "contents"));
    fs::write(&file, gzip(&many.done())).unwrap();
    let barrier = Barrier::new(2);
    let import = || {
        let store = TemplateStore::open(home.path()).unwrap();
        barrier.wait();
        let told = RefCell::new(0);
        let template = store.resolve_watched(&file, &|_| *told.borrow_mut() += 1).unwrap();
        (template, told.into_inner() > 0)
    };
    let (one, two) = std::thread::scope(|scope| {
        let other = scope.spawn(import);
        (import(), other.join().unwrap())
    });
    assert_eq!(one.0, two.0);
    assert_ne!(one.1, two.1, "exactly one of them unpacks");
    assert_eq!(fs::read_dir(one.0.root.join("bin")).unwrap().count(), 500);
    assert_eq!((count(home.path(), "images"), count(home.path(), "tmp")), (1, 0));
}

#[test]
fn what_a_crash_left_is_swept_and_work_in_progress_is_not() {
    let home = tempfile::tempdir().unwrap();
    drop(TemplateStore::open(home.path()).unwrap());
    let base = home.path().join("templates");
    for key in ["dead", "alive"] {
        fs::create_dir_all(base.join("tmp").join(key).join("root/bin")).unwrap();
    }
    fs::set_permissions(base.join("tmp/dead/root/bin"), fs::Permissions::from_mode(0o000)).unwrap();
    let alive = fs::File::create(base.join("locks/alive")).unwrap();
    alive.lock().unwrap();
    drop(TemplateStore::open(home.path()).unwrap());
    let left: Vec<_> =
        fs::read_dir(base.join("tmp")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["alive"]);
}

#[test]
fn names_are_given_listed_and_taken_away() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().canonicalize().unwrap().join("tar");
    fs::write(&file, tiny_root()).unwrap();
    let store = TemplateStore::open(home.path()).unwrap();
    let template = store.import_as("python:3.12-slim", &file).unwrap();
    store.import_as("again", &file).unwrap();
    let listed = |name: &str| Listed {
        name: name.to_owned(),
        source: file.clone(),
        root: template.root.clone(),
        bytes: Some(4),
    };
    assert_eq!(store.list().unwrap(), [listed("again"), listed("python:3.12-slim")]);
    assert_eq!(store.by_name("python:3.12-slim").unwrap(), template);

    store.remove("python:3.12-slim").unwrap();
    assert_eq!(store.by_name("again").unwrap(), template);
    let unknown = chain(&store.remove("python:3.12-slim").unwrap_err());
    assert_eq!(unknown, "no template is named `python:3.12-slim`; import one under that name first");

    // The name moves on, and what it led to goes.
    let other = home.path().join("other");
    fs::write(&other, Tar::default().file("bin/x", "").done()).unwrap();
    let moved = store.import_as("again", &other).unwrap();
    assert_eq!((template.root.exists(), moved.root.exists()), (false, true));
    store.remove("again").unwrap();
    assert_eq!((store.list().unwrap(), count(home.path(), "images")), (vec![], 0));

    for name in ["", "host", "a b", "../x", ".hidden", "-rf", "a/b", &"n".repeat(129), "snp_../x"] {
        let error = store.import_as(name, &file).unwrap_err();
        assert!(matches!(error, TemplateError::Name(_)), "{name}: {error}");
    }
}

#[test]
fn pruning_keeps_what_has_a_name() {
    let home = tempfile::tempdir().unwrap();
    let store = TemplateStore::open(home.path()).unwrap();
    let (named, unnamed) = (home.path().join("named"), home.path().join("unnamed"));
    fs::write(&named, tiny_root()).unwrap();
    fs::write(&unnamed, tiny_root()).unwrap();
    let kept = store.import_as("kept", &named).unwrap();
    let gone = store.resolve(&unnamed).unwrap();
    assert_eq!(store.prune().unwrap(), 1);
    assert_eq!((kept.root.exists(), gone.root.exists()), (true, false));
    assert_eq!(listing(&store.resolve(&unnamed).unwrap().root), tiny());
}
