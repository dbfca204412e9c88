//! A sandbox can start from another root than the host's: a directory, an archive, a name.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{Ended, Glass, promises};

promises! { [root, user]:
    a_directory_is_a_template,
    an_archive_is_a_template,
    a_template_can_be_named,
    a_broken_template_is_refused,
}

/// A root with a shell, what it needs to run, and nothing else.
fn root(glass: &Glass) -> PathBuf {
    let root = glass.lent().join("root");
    let copy = |from: &Path| {
        let to = root.join(from.strip_prefix("/").unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    };
    let output = Command::new("ldd")
        .args(["/bin/sh", "/bin/cat"])
        .output()
        .expect("ldd is missing: apt-get install libc-bin");
    let text = String::from_utf8(output.stdout).unwrap();
    let libraries = text.split_whitespace().filter(|word| word.starts_with('/') && !word.ends_with(':'));
    libraries.map(Path::new).chain(["/bin/sh", "/bin/cat"].map(Path::new)).for_each(copy);
    for dir in ["etc", "tmp", "root", "proc", "dev", "sys", "run", "home"] {
        fs::create_dir_all(root.join(dir)).unwrap();
    }
    fs::write(root.join("etc/motd"), "from the template\n").unwrap();
    let mut own = Command::new("chown");
    let uid = glass.caller.uid().to_string();
    Ended::of(own.args(["-R", &format!("{uid}:{uid}")]).arg(&root)).ok();
    root
}

const LOOK: &str = "cat /etc/motd; [ -e /usr/bin/python3 ] || echo no python; echo new > /etc/motd; echo w > f; cat /etc/motd f";
const SEEN: &str = "from the template\nno python\nnew\nw\n";

fn a_directory_is_a_template(glass: &Glass) {
    let root = root(glass);
    assert_eq!(glass.sh(&["--template", root.to_str().unwrap()], LOOK).ok(), SEEN);
    assert_eq!(fs::read_to_string(root.join("etc/motd")).unwrap(), "from the template\n");
    assert!(glass.run(&["diff"]).ok().contains("+w"));
}

fn archive(glass: &Glass) -> PathBuf {
    let path = glass.lent().join("root.tar");
    let mut tar = Command::new("tar");
    Ended::of(tar.arg("-cf").arg(&path).arg("-C").arg(root(glass)).arg(".")).ok();
    path
}

fn an_archive_is_a_template(glass: &Glass) {
    let path = archive(glass);
    let flags = ["--template", path.to_str().unwrap()];
    assert_eq!(glass.sh(&flags, LOOK).ok(), SEEN);
    // The second time it is there already, and as it was.
    assert_eq!(glass.sh(&flags, LOOK).ok(), SEEN);
}

fn a_template_can_be_named(glass: &Glass) {
    let path = archive(glass);
    glass.run(&["template", "import", "small", path.to_str().unwrap()]).ok();
    fs::remove_file(&path).unwrap();
    assert_eq!(glass.json(&["template", "list"])[1]["name"], "small");
    assert_eq!(glass.sh(&["--template", "small"], LOOK).ok(), SEEN);
    glass.run(&["discard", "--all"]).ok();
    glass.run(&["template", "remove", "small"]).ok();
    assert_eq!(glass.json(&["template", "list"]).as_array().unwrap().len(), 1);
    glass.sh(&["--template", "small"], LOOK).code(125).says("small");
}

fn a_broken_template_is_refused(glass: &Glass) {
    let path = glass.lent().join("root.tar");
    fs::write(&path, "this is no archive").unwrap();
    glass.sh(&["--template", path.to_str().unwrap()], LOOK).code(125).says("is neither a root filesystem");
    let empty = glass.lent().join("empty");
    fs::create_dir(&empty).unwrap();
    let ended = glass.sh(&["--template", empty.to_str().unwrap()], LOOK);
    assert!(matches!(ended.code, Some(125 | 127)), "{ended:?}");
}
