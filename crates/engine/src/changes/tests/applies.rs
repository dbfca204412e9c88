//! What arrives on the host.

use super::*;
use crate::changes::{Applied, ApplyError, ApplyOptions, GitInternals, apply};

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

fn applied(pair: &Pair) -> Applied {
    apply(&find_renames(pair.changes()), ApplyOptions::default()).unwrap()
}

fn workspace(host: &Path) {
    write(&host.join("edited"), "old\n");
    write(&host.join("gone"), "gone\n");
    write(&host.join("dir/one"), "1\n");
    write(&host.join("dir/sub/two"), "2\n");
    write(&host.join("moved"), "the quick brown fox\n");
    write(&host.join("run.sh"), "#!/bin/sh\n");
    write(&host.join("file"), "a file\n");
    write(&host.join("tree/leaf"), "leaf\n");
    write(&host.join("kept"), "kept\n");
    symlink("old", host.join("link")).unwrap();
    symlink("kept", host.join("turns")).unwrap();
}

fn alter(pair: &Pair) {
    let at = |path| pair.sandbox(path);
    write(&at("edited"), "new\n");
    fs::remove_file(at("gone")).unwrap();
    fs::remove_dir_all(at("dir")).unwrap();
    fs::rename(at("moved"), at("arrived")).unwrap();
    chmod(&at("run.sh"), 0o755);
    fs::remove_file(at("file")).unwrap();
    write(&at("file/inner"), "inner\n");
    fs::remove_dir_all(at("tree")).unwrap();
    write(&at("tree"), "now a file\n");
    fs::remove_file(at("link")).unwrap();
    symlink("new", at("link")).unwrap();
    fs::remove_file(at("turns")).unwrap();
    write(&at("turns"), "no longer a link\n");
    write(&at("new/deep/blob"), b"\0\x01\x02");
    chmod(&at("new/deep"), 0o500);
    fs::create_dir(at("empty")).unwrap();
}

#[test]
fn everything_arrives_and_arriving_again_does_nothing() {
    let pair = Pair::new(workspace);
    alter(&pair);
    let changes = find_renames(pair.changes());
    let first = apply(&changes, ApplyOptions::default()).unwrap();
    assert_eq!(
        first,
        Applied {
            written: paths(&[
                "arrived",
                "edited",
                "empty",
                "file",
                "file/inner",
                "link",
                "new",
                "new/deep",
                "new/deep/blob",
                "run.sh",
                "tree",
                "turns",
            ]),
            removed: paths(&["dir", "dir/one", "dir/sub", "dir/sub/two", "gone", "moved", "tree/leaf"]),
            ..Applied::default()
        }
    );
    assert_eq!(listing(&pair.host("")), listing(&pair.sandbox("")));
    let second = apply(&changes, ApplyOptions::default()).unwrap();
    assert_eq!(second, Applied { already: second.already.clone(), ..Applied::default() });
    assert_eq!(second.already.len(), first.written.len() + first.removed.len());
    assert_eq!(listing(&pair.host("")), listing(&pair.sandbox("")));
}

#[test]
fn owners_are_those_of_the_host_and_privilege_bits_are_dropped() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not run: only root gives files away");
        return;
    }
    let pair = Pair::new(|host| {
        write(&host.join("dir/theirs"), "old\n");
        std::os::unix::fs::chown(host.join("dir"), Some(1234), Some(1235)).unwrap();
        std::os::unix::fs::chown(host.join("dir/theirs"), Some(77), Some(78)).unwrap();
    });
    write(&pair.sandbox("dir/theirs"), "new\n");
    write(&pair.sandbox("dir/sub/new"), "n\n");
    chmod(&pair.sandbox("dir/sub/new"), 0o6755);
    chmod(&pair.sandbox("dir/sub"), 0o2755);
    symlink("new", pair.sandbox("dir/sub/link")).unwrap();
    applied(&pair);
    let stat = |path: &str| {
        let stat = fs::symlink_metadata(pair.host(path)).unwrap();
        (stat.uid(), stat.gid(), stat.mode() & 0o7777)
    };
    assert_eq!(stat("dir/theirs"), (77, 78, 0o644));
    assert_eq!(stat("dir/sub"), (1234, 1235, 0o755));
    assert_eq!(stat("dir/sub/new"), (1234, 1235, 0o755));
    assert_eq!(stat("dir/sub/link"), (1234, 1235, 0o777));
}

#[test]
fn a_directory_keeps_the_setgid_of_the_host() {
    let pair = Pair::new(|host| {
        fs::create_dir(host.join("shared")).unwrap();
        chmod(&host.join("shared"), 0o2775);
    });
    chmod(&pair.sandbox("shared"), 0o700);
    fs::create_dir(pair.sandbox("shared/sub")).unwrap();
    chmod(&pair.sandbox("shared/sub"), 0o755);
    let changes = pair.changes();
    for _ in 0..2 {
        apply(&changes, ApplyOptions::default()).unwrap();
        assert_eq!(entry_at(&pair.host("shared")), Some(Entry::Directory { mode: 0o2700 }));
        assert_eq!(entry_at(&pair.host("shared/sub")), Some(Entry::Directory { mode: 0o2755 }));
    }
}

#[test]
fn what_would_run_on_the_host_is_held_back_unless_allowed() {
    let pair = Pair::new(|host| {
        write(&host.join(".git/config"), "[core]\n");
        write(&host.join(".git/HEAD"), "ref: refs/heads/main\n");
        write(&host.join("sub/.git/HEAD"), "x\n");
        fs::create_dir_all(host.join(".git/hooks")).unwrap();
    });
    write(&pair.sandbox(".git/config"), "[core]\nfsmonitor = evil\n");
    write(&pair.sandbox(".git/hooks/pre-commit"), "evil\n");
    write(&pair.sandbox(".git/modules/m/hooks/post-checkout"), "evil\n");
    write(&pair.sandbox(".git/HEAD"), "ref: refs/heads/hooks\n");
    write(&pair.sandbox(".git/refs/heads/hooks"), "0\n");
    fs::remove_dir_all(pair.sandbox("sub/.git")).unwrap();
    write(&pair.sandbox("sub/.git"), "gitdir: ../evil\n");
    let changes = pair.changes();
    let held = [
        ".git/config",
        ".git/hooks/pre-commit",
        ".git/modules/m/hooks",
        ".git/modules/m/hooks/post-checkout",
        "sub/.git",
        "sub/.git/HEAD",
    ];
    let written = [
        ".git/HEAD",
        ".git/modules",
        ".git/modules/m",
        ".git/refs",
        ".git/refs/heads",
        ".git/refs/heads/hooks",
    ];
    assert_eq!(
        apply(&changes, ApplyOptions::default()).unwrap(),
        Applied { written: paths(&written), held_back: paths(&held), ..Applied::default() }
    );
    assert_eq!(fs::read_to_string(pair.host(".git/config")).unwrap(), "[core]\n");
    assert!(!pair.host(".git/hooks/pre-commit").exists());
    let allowed = ApplyOptions { git_internals: GitInternals::Allow, ..ApplyOptions::default() };
    let result = apply(&changes, allowed).unwrap();
    assert_eq!(result.held_back, paths(&[]));
    assert_eq!(listing(&pair.host("")), listing(&pair.sandbox("")));
}

#[test]
fn pipes_are_skipped_and_links_that_lead_out_are_named() {
    let pair = Pair::new(|_| {});
    let pipe = pair.sandbox("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    symlink("/etc/passwd", pair.sandbox("passwd")).unwrap();
    symlink("pipe", pair.sandbox("inside")).unwrap();
    assert_eq!(
        applied(&pair),
        Applied {
            written: paths(&["inside", "passwd"]),
            skipped: paths(&["pipe"]),
            outside_links: paths(&["passwd"]),
            ..Applied::default()
        }
    );
    assert_eq!(fs::read_link(pair.host("passwd")).unwrap(), Path::new("/etc/passwd"));
}

#[test]
fn a_directory_with_something_new_in_it_stays() {
    let pair = Pair::new(|host| write(&host.join("dir/sub/seen"), "s"));
    let changes = {
        fs::remove_dir_all(pair.sandbox("dir")).unwrap();
        pair.changes()
    };
    write(&pair.host("dir/mine"), "mine");
    assert_eq!(
        apply(&changes, ApplyOptions::default()).unwrap(),
        Applied { removed: paths(&["dir/sub", "dir/sub/seen"]), kept: paths(&["dir"]), ..Applied::default() }
    );
    assert_eq!(fs::read(pair.host("dir/mine")).unwrap(), b"mine");
}

#[test]
fn odd_names_arrive_exactly() {
    let pair = Pair::new(|_| {});
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9\n\"");
    fs::write(pair.sandbox("").join(name), "x").unwrap();
    applied(&pair);
    assert_eq!(listing(&pair.host("")), listing(&pair.sandbox("")));
}

#[test]
fn a_file_that_changes_while_it_is_copied_stops_everything() {
    let pair = Pair::new(|host| write(&host.join("a"), "a"));
    write(&pair.sandbox("a"), "changed");
    write(&pair.sandbox("z"), "short");
    let changes = pair.changes();
    write(&pair.sandbox("z"), "longer than it was");
    let before = listing(&pair.host(""));
    let error = apply(&changes, ApplyOptions::default()).unwrap_err();
    assert!(matches!(&error, ApplyError::Moving { path } if path == Path::new("z")), "{error}");
    assert_eq!(listing(&pair.host("")), before);
}
