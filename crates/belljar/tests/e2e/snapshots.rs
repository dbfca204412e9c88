//! A snapshot freezes a sandbox's files; any number of sandboxes start from it, none changes it.

use serde_json::json;

use crate::support::{Glass, promises};

promises! { [root, user]:
    a_restored_sandbox_has_the_files,
    restored_sandboxes_do_not_share,
    a_command_can_run_in_a_restored_sandbox,
    a_snapshot_in_use_cannot_be_removed,
    a_snapshot_of_a_restored_sandbox_has_both_histories,
    a_run_can_start_from_a_snapshot,
}

/// A sandbox with files in workspace and home, and the snapshot `base` of it.
fn taken(glass: &Glass) -> String {
    glass.write("host", "host\n");
    let id = glass.keep(&[]);
    glass
        .exec(&id, "echo work > f; echo home > ~/h; mkdir -p ~/d; ln -s ../h ~/d/l; rm host; echo t > /tmp/t")
        .ok();
    let snapshot = glass.json(&["snapshot", &id, "--name", "base"])["id"].as_str().unwrap().to_owned();
    glass.exec(&id, "echo later > f").ok();
    glass.run(&["terminate", "-f", &id]).ok();
    snapshot
}

fn restore(glass: &Glass, name: &str) -> String {
    glass.run(&["restore", name]).ok().trim().to_owned()
}

fn a_restored_sandbox_has_the_files(glass: &Glass) {
    taken(glass);
    let id = restore(glass, "base");
    assert_eq!(glass.exec(&id, "cat f ~/h ~/d/l; ls; [ ! -e /tmp/t ]").ok(), "work\nhome\nhome\nf\n");
    glass.exec(&id, "echo more >> f; echo more >> ~/h; cat f ~/h").ok();
    let diff = glass.run(&["diff", &id]).ok();
    assert!(diff.contains("+more"), "{diff}");
}

fn restored_sandboxes_do_not_share(glass: &Glass) {
    let snapshot = taken(glass);
    let (first, second) = (restore(glass, "base"), restore(glass, &snapshot));
    glass.exec(&first, "echo one > f; rm ~/h").ok();
    assert_eq!(glass.exec(&second, "cat f ~/h").ok(), "work\nhome\n");
    let third = restore(glass, "base");
    assert_eq!(glass.exec(&third, "cat f ~/h").ok(), "work\nhome\n");
}

fn a_command_can_run_in_a_restored_sandbox(glass: &Glass) {
    taken(glass);
    assert_eq!(glass.run(&["restore", "base", "--", "cat", "f"]).ok(), "work\n");
    glass.run(&["restore", "base", "--", "sh", "-c", "exit 5"]).code(5);
    assert_eq!(glass.json(&["list"]), json!([]), "it does not stay");
}

fn a_snapshot_in_use_cannot_be_removed(glass: &Glass) {
    let snapshot = taken(glass);
    let id = restore(glass, "base");
    glass.run(&["snapshot", "--remove", &snapshot]).code(125).says("is in use by");
    glass.run(&["terminate", "-f", &id]).ok();
    glass.run(&["discard", &id]).ok();
    glass.run(&["snapshot", "--remove", &snapshot]).ok();
    assert_eq!(glass.json(&["snapshot", "--list"]), json!([]));
    glass.run(&["restore", "base"]).code(125).says("there is no snapshot `base`");
}

fn a_snapshot_of_a_restored_sandbox_has_both_histories(glass: &Glass) {
    taken(glass);
    let id = restore(glass, "base");
    glass.exec(&id, "echo second > g; rm ~/h; echo again > f").ok();
    glass.run(&["snapshot", &id, "--name", "second"]).ok();
    let id = restore(glass, "second");
    assert_eq!(glass.exec(&id, "cat f g; ls; ls ~").ok(), "again\nsecond\nf\ng\nd\n");
}

fn a_run_can_start_from_a_snapshot(glass: &Glass) {
    let snapshot = taken(glass);
    assert_eq!(glass.sh(&["--template", &snapshot], "cat ~/h").ok(), "home\n");
}
