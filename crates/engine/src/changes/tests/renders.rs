//! The three forms, and that git reads what we write.

use serde_json::json;

use super::*;
use crate::changes::{json, stat};

const POEM: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

fn texts(host: &Path) {
    write(&host.join("edited"), POEM);
    write(&host.join("gone"), "bye\n");
    write(&host.join("moved"), POEM.replace("ten", "eleven"));
    write(&host.join("exact"), "exactly this\nand that\n");
    write(&host.join("run.sh"), "#!/bin/sh\n");
    write(&host.join("crlf"), "a\r\nb\r\nc\r\n");
    write(&host.join("unended"), "no newline");
    write(&host.join("latin"), b"caf\xe9\n");
    write(&host.join("file"), "becomes a link\n");
    for name in ["edited", "gone", "moved", "exact", "run.sh", "crlf", "unended", "latin", "file"] {
        chmod(&host.join(name), 0o644);
    }
    symlink("old", host.join("link")).unwrap();
}

fn alter(pair: &Pair) {
    let at = |path| pair.sandbox(path);
    write(
        &at("edited"),
        POEM.replace("two\n", "2\n").replace("nine\n", "").replace("ten\n", "ten\neleven\n"),
    );
    fs::remove_file(at("gone")).unwrap();
    fs::remove_file(at("moved")).unwrap();
    write(&at("dir/moved here"), POEM.replace("ten", "twelve"));
    fs::rename(at("exact"), at("exactly")).unwrap();
    chmod(&at("run.sh"), 0o755);
    write(&at("crlf"), "a\r\nB\r\nc\r\n");
    write(&at("unended"), "no newline\nbut more");
    write(&at("latin"), b"caf\xe9s\n");
    fs::remove_file(at("file")).unwrap();
    symlink("gone", at("file")).unwrap();
    fs::remove_file(at("link")).unwrap();
    symlink("new", at("link")).unwrap();
    write(&at("empty"), "");
    write(&at("with space"), "spaced\n");
    write(&at("odd\t\"name\"\n\u{e9}"), "odd\n");
    for path in ["empty", "with space", "odd\t\"name\"\n\u{e9}", "dir/moved here"] {
        chmod(&at(path), 0o644);
    }
}

#[test]
fn git_applies_the_patch() {
    let pair = Pair::new(texts);
    alter(&pair);
    let mut patch = Vec::new();
    diff(&find_renames(pair.changes()), &mut patch, Look::Patch).unwrap();
    let file = pair.dir.path().join("patch");
    fs::write(&file, patch).unwrap();
    git(&pair.host(""), &["apply", "--whitespace=nowarn", file.to_str().unwrap()]);
    assert_eq!(listing(&pair.host("")), listing(&pair.sandbox("")));
}

#[test]
fn the_summary_is_the_one_git_gives() {
    let pair = Pair::new(|host| {
        texts(host);
        write(&host.join("blob"), b"\0old");
    });
    alter(&pair);
    write(&pair.sandbox("blob"), b"\0newer");
    write(&pair.sandbox("long"), "line\n".repeat(300));
    let deep = format!("{}/file", "directory-with-a-name/".repeat(4));
    write(&pair.sandbox(&deep), "x\n");
    let ours = stat(&find_renames(pair.changes()), Look::Patch).unwrap();
    let repository = pair.host("");
    git(&repository, &["init", "-q"]);
    git(&repository, &["add", "-A"]);
    git(&repository, &["commit", "-qm", "x"]);
    let work_tree = format!("--work-tree={}", pair.sandbox("").display());
    git(&repository, &[&work_tree, "add", "-A"]);
    let theirs = git(&repository, &["diff", "--cached", "--stat=80", "-M60%"]);
    assert_eq!(ours, theirs);
}

#[test]
fn a_patch_reads_as_git_writes_it() {
    let pair = Pair::new(|host| {
        write(&host.join("a"), "one\ntwo");
        write(&host.join("b"), b"\0");
        write(&host.join("c"), "same\n");
        chmod(&host.join("a"), 0o644);
        chmod(&host.join("c"), 0o644);
    });
    write(&pair.sandbox("a"), "one\n2\n");
    write(&pair.sandbox("b"), b"\x01\0");
    chmod(&pair.sandbox("c"), 0o755);
    fs::remove_file(pair.sandbox("a")).unwrap();
    write(&pair.sandbox("a"), "one\n2\n");
    chmod(&pair.sandbox("a"), 0o600);
    assert_eq!(
        pair.patch(),
        "diff --git a/a b/a\n\
         old mode 100644\n\
         new mode 100600\n\
         --- a/a\n\
         +++ b/a\n\
         @@ -1,2 +1,2 @@\n \
         one\n\
         -two\n\
         \\ No newline at end of file\n\
         +2\n\
         diff --git a/b b/b\n\
         Binary files a/b and b/b differ\n\
         diff --git a/c b/c\n\
         old mode 100644\n\
         new mode 100755\n"
    );
}

#[test]
fn a_large_file_is_not_shown_and_a_moved_one_is_a_rename() {
    let pair = Pair::new(|host| {
        write(&host.join("large"), "x".repeat(2 << 20));
        write(&host.join("moving"), [b"\0".as_slice(), &[7; 2 << 20]].concat());
    });
    write(&pair.sandbox("large"), "y".repeat(2 << 20));
    fs::rename(pair.sandbox("moving"), pair.sandbox("rested")).unwrap();
    assert_eq!(
        pair.patch(),
        "diff --git a/large b/large\n\
         Binary files a/large and b/large differ\n\
         diff --git a/moving b/rested\n\
         similarity index 100%\n\
         rename from moving\n\
         rename to rested\n"
    );
}

#[test]
fn a_terminal_is_not_written_to_by_the_sandbox() {
    let pair = Pair::new(|_| {});
    write(&pair.sandbox("a"), "\x1b[2Jhidden\n");
    chmod(&pair.sandbox("a"), 0o644);
    let shown = |look| {
        let mut out = Vec::new();
        diff(&pair.changes(), &mut out, look).unwrap();
        String::from_utf8(out).unwrap()
    };
    let header = "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n";
    assert_eq!(shown(Look::Terminal), format!("{header}+^[[2Jhidden\n"));
    assert_eq!(shown(Look::Patch), format!("{header}+\x1b[2Jhidden\n"));
    assert!(shown(Look::Colour).ends_with("\x1b[36m@@ -0,0 +1 @@\x1b[m\n\x1b[32m+^[[2Jhidden\x1b[m\n"));
}

#[test]
fn the_value_holds_every_change() {
    let pair = Pair::new(|host| {
        write(&host.join("a"), "one\ntwo\n");
        write(&host.join("blob"), b"\0");
        write(&host.join("old"), "the same\n");
        for name in ["a", "blob", "old"] {
            chmod(&host.join(name), 0o644);
        }
    });
    write(&pair.sandbox("a"), "one\n2\n3\n");
    write(&pair.sandbox("blob"), b"\0\0");
    fs::rename(pair.sandbox("old"), pair.sandbox("new")).unwrap();
    fs::create_dir(pair.sandbox("dir")).unwrap();
    chmod(&pair.sandbox("dir"), 0o755);
    let file = |path: &str, kind: &str, additions: Option<u32>, deletions: Option<u32>| {
        json!({
            "path": path, "kind": kind, "type": "file", "binary": additions.is_none(),
            "additions": additions, "deletions": deletions, "old_mode": "100644", "new_mode": "100644",
            "changed_at": null,
        })
    };
    let mut renamed = file("new", "renamed", Some(0), Some(0));
    renamed["from"] = json!("old");
    let directory = json!({
        "path": "dir", "kind": "added", "type": "directory", "binary": false,
        "additions": 0, "deletions": 0, "old_mode": null, "new_mode": "040755", "changed_at": null,
    });
    assert_eq!(
        json(&find_renames(pair.changes())).unwrap(),
        json!({
            "files": [
                file("a", "modified", Some(2), Some(1)),
                file("blob", "modified", None, None),
                directory,
                renamed,
            ],
            "totals": { "files": 3, "additions": 2, "deletions": 1 },
        })
    );
}

#[test]
fn files_that_have_nothing_in_common_are_not_a_rename() {
    let pair = Pair::new(|host| {
        write(&host.join("a"), POEM);
        write(&host.join("empty"), "");
    });
    fs::remove_file(pair.sandbox("a")).unwrap();
    fs::remove_file(pair.sandbox("empty")).unwrap();
    write(&pair.sandbox("b"), "quite\nanother\nthing\nof\nthe\nsame\nlength\nor\nso\nit seems\n");
    write(&pair.sandbox("void"), "");
    let changes = pair.changes();
    assert_eq!(find_renames(changes.clone()).changes, changes.changes);
}
