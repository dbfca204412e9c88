//! Joining with what the host did, through git.

use super::*;
use crate::changes::{Applied, ApplyError, ApplyOptions, OnConflict, apply};

const MERGE: ApplyOptions =
    ApplyOptions { on_conflict: OnConflict::Merge, git_internals: crate::changes::GitInternals::HoldBack };
const BASE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

fn repository() -> Pair {
    let pair = Pair::new(|host| {
        write(&host.join("sub/file"), BASE);
        write(&host.join("untracked"), BASE);
        write(&host.join("blob"), b"\0old");
        // A program the repository would have git run, were it let.
        git(host, &["init", "-q"]);
        git(host, &["add", "sub", "blob"]);
        git(host, &["commit", "-qm", "x"]);
        let marker = host.join("../ran");
        let script = format!("touch {}", marker.display());
        git(host, &["config", "core.fsmonitor", &script]);
        git(host, &["config", "core.pager", &script]);
    });
    fs::remove_dir_all(pair.sandbox(".git")).unwrap();
    fs::rename(pair.host(".git"), pair.dir.path().join("git")).unwrap();
    pair
}

fn merged(pair: &Pair, changes: &Changes) -> Result<Applied, ApplyError> {
    fs::rename(pair.dir.path().join("git"), pair.host(".git")).unwrap();
    let result = apply(changes, MERGE);
    assert!(!pair.dir.path().join("ran").exists(), "the repository ran a program");
    result
}

#[test]
fn edits_apart_from_each_other_are_joined() {
    let pair = repository();
    write(&pair.sandbox("sub/file"), BASE.replace("seven", "SANDBOX"));
    chmod(&pair.sandbox("sub/file"), 0o755);
    write(&pair.sandbox("new"), "new\n");
    let changes = pair.changes();
    pair.edit_host("sub/file", &BASE.replace("one", "HOST"));
    assert_eq!(
        merged(&pair, &changes).unwrap(),
        Applied {
            written: vec!["new".into(), "sub/file".into()],
            merged: vec!["sub/file".into()],
            ..Applied::default()
        }
    );
    let text = fs::read_to_string(pair.host("sub/file")).unwrap();
    assert_eq!(text, BASE.replace("one", "HOST").replace("seven", "SANDBOX"));
    assert_eq!(entry_at(&pair.host("sub/file")), Some(Entry::File { size: text.len() as u64, mode: 0o755 }));
}

#[test]
fn what_the_host_committed_meanwhile_is_not_undone() {
    for log in ["true", "false"] {
        let pair = repository();
        write(&pair.sandbox("sub/file"), BASE.replace("seven", "SANDBOX"));
        let changes = pair.changes();
        let edited = BASE.replace("one", "HOST");
        pair.edit_host("sub/file", &edited);
        fs::rename(pair.dir.path().join("git"), pair.host(".git")).unwrap();
        let later = pair.since.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() + 60;
        let committed = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.fsmonitor=false"])
            .args(["commit", "-qam", "y"])
            .env("GIT_COMMITTER_DATE", format!("{later} +0000"))
            .current_dir(pair.host(""))
            .status()
            .unwrap();
        assert!(committed.success());
        if log == "false" {
            fs::remove_dir_all(pair.host(".git/logs")).unwrap();
        }
        fs::rename(pair.host(".git"), pair.dir.path().join("git")).unwrap();
        fs::remove_file(pair.dir.path().join("ran")).ok();
        let result = merged(&pair, &changes);
        let text = fs::read_to_string(pair.host("sub/file")).unwrap();
        if log == "true" {
            assert_eq!(result.unwrap().merged, [PathBuf::from("sub/file")]);
            assert_eq!(text, edited.replace("seven", "SANDBOX"));
        } else {
            assert!(matches!(result, Err(ApplyError::Conflicts(_))));
            assert_eq!(text, edited);
        }
    }
}

#[test]
fn edits_of_the_same_line_are_marked() {
    let pair = repository();
    write(&pair.sandbox("sub/file"), BASE.replace("four", "SANDBOX"));
    let changes = pair.changes();
    pair.edit_host("sub/file", &BASE.replace("four", "HOST"));
    assert_eq!(
        merged(&pair, &changes).unwrap(),
        Applied {
            written: vec!["sub/file".into()],
            merged: vec!["sub/file".into()],
            conflicted: vec!["sub/file".into()],
            ..Applied::default()
        }
    );
    assert_eq!(
        fs::read_to_string(pair.host("sub/file")).unwrap(),
        BASE.replace("four", "<<<<<<< host\nHOST\n=======\nSANDBOX\n>>>>>>> sandbox")
    );
}

#[test]
fn what_git_does_not_know_or_is_no_text_stays_a_conflict() {
    let pair = repository();
    write(&pair.sandbox("sub/file"), BASE.replace("seven", "SANDBOX"));
    write(&pair.sandbox("untracked"), BASE.replace("seven", "SANDBOX"));
    write(&pair.sandbox("blob"), b"\0sandbox");
    let changes = pair.changes();
    for name in ["sub/file", "untracked", "blob"] {
        pair.edit_host(name, &BASE.replace("one", "HOST"));
    }
    let error = merged(&pair, &changes).unwrap_err();
    let ApplyError::Conflicts(conflicts) = error else { panic!("{error}") };
    let paths: Vec<_> = conflicts.into_iter().map(|conflict| conflict.path).collect();
    assert_eq!(paths, [PathBuf::from("blob"), "untracked".into()]);
    assert_eq!(fs::read_to_string(pair.host("sub/file")).unwrap(), BASE.replace("one", "HOST"));
}

#[test]
fn outside_a_repository_there_is_no_ancestor() {
    let pair = Pair::new(|host| write(&host.join("a"), "old\n"));
    write(&pair.sandbox("a"), "sandbox\n");
    let changes = pair.changes();
    pair.edit_host("a", "host\n");
    assert!(matches!(apply(&changes, MERGE), Err(ApplyError::Conflicts(_))));
}
