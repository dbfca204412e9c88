//! Changes that stand on their own, brought into a directory.

use super::*;
use crate::changes::{ApplyOptions, Bundle, apply};

/// What a sandbox did, gathered and applied: afterwards the host has the same files.
fn applied(pair: &Pair) {
    let bundle = Bundle::gather(&pair.changes(), &|_| None).unwrap();
    let base = HostPath::new(pair.host("")).unwrap();
    apply(&bundle.onto(base.clone(), pair.since), ApplyOptions::default()).unwrap();
    let left: Vec<Change> = compare(&pair.host(""), &pair.sandbox(""));
    let files = left.iter().filter(|change| {
        let is_directory = |entry: &Option<Entry>| entry.as_ref().is_some_and(Entry::is_directory);
        !is_directory(&change.before) && !is_directory(&change.after)
    });
    assert_eq!(files.collect::<Vec<_>>(), Vec::<&Change>::new());
    // Once more does nothing.
    let again = apply(&bundle.onto(base, pair.since), ApplyOptions::default()).unwrap();
    assert_eq!(again.removed, Vec::<PathBuf>::new());
}

fn host() -> Pair {
    Pair::new(|host| {
        write(&host.join("plain"), "file");
        fs::create_dir_all(host.join("tree/deep")).unwrap();
        write(&host.join("tree/one"), "1");
        write(&host.join("tree/deep/two"), "2");
    })
}

#[test]
fn files_come_with_the_directories_they_are_in() {
    let pair = host();
    fs::create_dir_all(pair.sandbox("new/deeper")).unwrap();
    write(&pair.sandbox("new/deeper/file"), "x");
    write(&pair.sandbox("tree/deep/three"), "3");
    applied(&pair);
    assert_eq!(fs::read_to_string(pair.host("new/deeper/file")).unwrap(), "x");
}

#[test]
fn a_file_and_a_directory_take_each_others_place() {
    let pair = host();
    fs::remove_file(pair.sandbox("plain")).unwrap();
    fs::create_dir_all(pair.sandbox("plain/below")).unwrap();
    write(&pair.sandbox("plain/below/file"), "x");
    fs::remove_dir_all(pair.sandbox("tree")).unwrap();
    symlink("plain", pair.sandbox("tree")).unwrap();
    applied(&pair);
    assert_eq!(fs::read_to_string(pair.host("tree/below/file")).unwrap(), "x");
}

#[test]
fn a_directory_with_something_of_the_hosts_stays() {
    let pair = host();
    fs::remove_dir_all(pair.sandbox("tree")).unwrap();
    write(&pair.sandbox("tree"), "a file");
    pair.edit_host("tree/deep/unseen", "mine");
    let bundle = Bundle::gather(&pair.changes(), &|_| None).unwrap();
    let changes = bundle.onto(HostPath::new(pair.host("")).unwrap(), pair.since);
    apply(&changes, ApplyOptions::default()).unwrap_err();
    assert_eq!(fs::read_to_string(pair.host("tree/deep/unseen")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(pair.host("tree/one")).unwrap(), "1");
}

#[test]
fn no_directory_is_made_behind_a_link() {
    let pair = host();
    fs::create_dir_all(pair.sandbox("way")).unwrap();
    write(&pair.sandbox("way/file"), "x");
    let bundle = Bundle::gather(&pair.changes(), &|_| None).unwrap();
    // The host made a link of that name meanwhile.
    fs::create_dir(pair.dir.path().join("elsewhere")).unwrap();
    symlink(pair.dir.path().join("elsewhere"), pair.host("way")).unwrap();
    let changes = bundle.onto(HostPath::new(pair.host("")).unwrap(), pair.since);
    apply(&changes, ApplyOptions::default()).unwrap_err();
    assert!(!pair.dir.path().join("elsewhere/file").exists());
}
