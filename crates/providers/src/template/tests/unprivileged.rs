//! The same without privileges: directories that forbid writing neither stop unpacking nor removing.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use super::{super::TemplateStore, GZIP, Layout, Tar, expected, gzip, listing};

const INSIDE: &str = "template::tests::unprivileged::read_only_directories_unpack_and_go_without_privileges";

#[test]
fn read_only_directories_unpack_and_go_without_privileges() {
    if !rustix::process::geteuid().is_root() {
        return read_only_directories_as_nobody_special();
    }
    // The build directory may be closed to other users: run a copy.
    let temp = tempfile::tempdir().unwrap();
    let binary = temp.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    let scratch = temp.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    for (path, mode) in [(temp.path(), 0o755), (&binary, 0o755), (&scratch, 0o777)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let output = Command::new("setpriv")
        .args(["--reuid", "1000", "--regid", "1000", "--clear-groups", "--bounding-set=-all"])
        .arg(&binary)
        .args(["--exact", INSIDE])
        .env("TMPDIR", &scratch)
        .current_dir(&scratch)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn read_only_directories_as_nobody_special() {
    assert!(!rustix::process::geteuid().is_root());
    let home = tempfile::tempdir().unwrap();
    let layers = [
        Tar::default().dir("./", 0o555).dir("usr", 0o555).dir("usr/closed", 0o000).file("usr/closed/x", "1"),
        Tar::default()
            .file("usr/closed/deep/y", "2")
            .file("usr/.wh.never", "")
            .symlink("a", "usr")
            .dir("a/z", 0o111),
    ];
    let layers = layers.map(|layer| (GZIP, gzip(&layer.done())));
    Layout::single(&layers).write(&home.path().join("layout"));
    let store = TemplateStore::open(home.path()).unwrap();
    let template = store.import_as("closed", &home.path().join("layout")).unwrap();

    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    let root = &template.root;
    assert_eq!(
        [root.clone(), root.join("usr"), root.join("usr/closed")].map(|path| mode(&path)),
        [0o555, 0o555, 0]
    );
    for folder in ["usr/closed", "usr/z"] {
        fs::set_permissions(root.join(folder), fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert_eq!(
        listing(root),
        expected(&[
            ("a", "l usr"),
            ("usr", "d 555"),
            ("usr/closed", "d 755"),
            ("usr/closed/deep", "d 755"),
            ("usr/closed/deep/y", "f 644 2"),
            ("usr/closed/x", "f 644 1"),
            ("usr/z", "d 755"),
        ])
    );
    fs::set_permissions(root.join("usr/closed"), fs::Permissions::from_mode(0o000)).unwrap();
    store.remove("closed").unwrap();
    assert_eq!(fs::read_dir(home.path().join("templates/images")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(home.path().join("templates/tmp")).unwrap().count(), 0);
}
