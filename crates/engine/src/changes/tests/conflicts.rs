//! What is refused, and that nothing is written then.

use super::*;
use crate::changes::{ApplyError, ApplyOptions, Conflict, ConflictReason, apply};

/// Applies, expects exactly these conflicts, and that the host is as it was.
fn refused(pair: &Pair, changes: &Changes, expected: &[(&str, ConflictReason)]) {
    let before = listing(&pair.host(""));
    let error = apply(changes, ApplyOptions::default()).unwrap_err();
    let ApplyError::Conflicts(conflicts) = error else { panic!("{error}") };
    let expected: Vec<_> =
        expected.iter().map(|(path, reason)| Conflict { path: path.into(), reason: *reason }).collect();
    assert_eq!(conflicts, expected);
    assert_eq!(listing(&pair.host("")), before);
}

#[test]
fn what_the_host_changed_too_stops_everything() {
    let pair = Pair::new(|host| {
        for name in ["deleted", "edited", "free", "gone", "mode"] {
            write(&host.join(name), "old\n");
        }
        write(&host.join("dir/child"), "c");
    });
    for name in ["edited", "free", "gone"] {
        write(&pair.sandbox(name), "sandbox\n");
    }
    fs::remove_file(pair.sandbox("deleted")).unwrap();
    chmod(&pair.sandbox("mode"), 0o755);
    write(&pair.sandbox("added"), "sandbox\n");
    write(&pair.sandbox("both"), "the same\n");
    write(&pair.sandbox("dir/new"), "n");
    fs::create_dir(pair.sandbox("made")).unwrap();
    let changes = pair.changes();
    pair.edit_host("edited", "host\n");
    pair.edit_host("deleted", "old\n");
    pair.edit_host("added", "host\n");
    pair.edit_host("both", "the same\n");
    pair.edit_host("mode", "host\n");
    pair.edit_host("made", "a file\n");
    fs::remove_file(pair.host("gone")).unwrap();
    fs::remove_dir_all(pair.host("dir")).unwrap();
    refused(
        &pair,
        &changes,
        &[
            ("added", ConflictReason::Exists),
            ("deleted", ConflictReason::Changed),
            ("dir/new", ConflictReason::Parent),
            ("edited", ConflictReason::Changed),
            ("gone", ConflictReason::Gone),
            ("made", ConflictReason::Exists),
            ("mode", ConflictReason::Changed),
        ],
    );
}

#[test]
fn a_touched_file_with_the_same_content_is_still_somebody_elses() {
    let pair = Pair::new(|host| write(&host.join("a"), "old\n"));
    write(&pair.sandbox("a"), "new\n");
    let changes = pair.changes();
    pair.edit_host("a", "old\n");
    refused(&pair, &changes, &[("a", ConflictReason::Changed)]);
}

#[test]
fn a_symlinked_parent_leads_nowhere() {
    let pair = Pair::new(|host| {
        write(&host.join("dir/file"), "old\n");
        write(&host.join("dir/other"), "old\n");
    });
    write(&pair.dir.path().join("outside/file"), "old\n");
    write(&pair.dir.path().join("outside/other"), "old\n");
    write(&pair.sandbox("dir/file"), "evil\n");
    write(&pair.sandbox("dir/new"), "evil\n");
    fs::remove_file(pair.sandbox("dir/other")).unwrap();
    let changes = pair.changes();
    fs::remove_dir_all(pair.host("dir")).unwrap();
    symlink("../outside", pair.host("dir")).unwrap();
    let outside = listing(&pair.dir.path().join("outside"));
    refused(
        &pair,
        &changes,
        &[
            ("dir/file", ConflictReason::Parent),
            ("dir/new", ConflictReason::Parent),
            ("dir/other", ConflictReason::Parent),
        ],
    );
    assert_eq!(listing(&pair.dir.path().join("outside")), outside);
}

#[test]
fn a_link_and_a_file_through_it_are_not_both_applied() {
    let pair = Pair::new(|_| {});
    write(&pair.sandbox("x/passwd"), "evil\n");
    let added = |path: &str, after| Change {
        path: path.into(),
        kind: ChangeKind::Added,
        before: None,
        after: Some(after),
    };
    let outside = pair.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let changes = pair.with(vec![
        added("x", Entry::Symlink { target: outside.clone() }),
        added("x/passwd", Entry::File { size: 5, mode: 0o644 }),
    ]);
    refused(&pair, &changes, &[("x/passwd", ConflictReason::Parent)]);
    assert_eq!(listing(&outside), []);
}

#[test]
fn paths_that_are_not_plain_are_refused() {
    let pair = Pair::new(|_| {});
    for path in ["../evil", "/etc/evil", "a/../../evil", "", "./.."] {
        let change = Change {
            path: path.into(),
            kind: ChangeKind::Added,
            before: None,
            after: Some(Entry::Directory { mode: 0o755 }),
        };
        let error = apply(&pair.with(vec![change]), ApplyOptions::default()).unwrap_err();
        assert!(
            matches!(&error, ApplyError::Path { path: refused } if refused == Path::new(path)),
            "{error}"
        );
    }
    let renamed = Change {
        path: "a".into(),
        kind: ChangeKind::Renamed { from: "../b".into() },
        before: Some(Entry::File { size: 0, mode: 0o644 }),
        after: Some(Entry::File { size: 0, mode: 0o644 }),
    };
    assert!(matches!(
        apply(&pair.with(vec![renamed]), ApplyOptions::default()),
        Err(ApplyError::Path { .. })
    ));
}

#[test]
fn a_directory_to_be_replaced_must_hold_nothing_new() {
    let pair = Pair::new(|host| write(&host.join("d/seen"), "s"));
    fs::remove_dir_all(pair.sandbox("d")).unwrap();
    write(&pair.sandbox("d"), "a file now");
    let changes = pair.changes();
    write(&pair.host("d/mine"), "mine");
    refused(&pair, &changes, &[("d", ConflictReason::NotEmpty)]);
}

#[test]
fn the_target_of_a_rename_must_be_free() {
    let pair = Pair::new(|host| write(&host.join("old"), "content of some length\n"));
    fs::rename(pair.sandbox("old"), pair.sandbox("new")).unwrap();
    let changes = find_renames(pair.changes());
    pair.edit_host("new", "mine\n");
    refused(&pair, &changes, &[("new", ConflictReason::Exists)]);
}
