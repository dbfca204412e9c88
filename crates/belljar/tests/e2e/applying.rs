//! Changes are brought to the host when asked, whole or not at all.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use serde_json::json;

use crate::support::{Ended, Glass, promises};

promises! { [root, user]:
    applying_brings_every_change,
    a_conflict_is_refused_and_nothing_is_written,
    a_merge_keeps_both_sides,
    a_merge_that_cannot_be_made_is_marked,
    a_run_can_apply_by_itself,
    a_failed_run_applies_nothing_by_itself,
    git_hooks_are_held_back,
    what_was_applied_belongs_to_the_caller,
}

fn applying_brings_every_change(glass: &Glass) {
    glass.write("gone", "x\n");
    glass.write("renamed", "one\n");
    glass.write("mode", "#!/bin/sh\necho ran\n");
    let script = "rm gone; mv renamed new-name; chmod 755 mode; mkdir d; echo in > d/f; ln -s d/f link; \
                  printf '\\0\\377' > bytes";
    glass.sh(&[], script).ok();
    let applied = glass.json(&["apply"]);
    assert_eq!(applied["conflicted"], json!([]));
    assert_eq!(glass.names(), ["bytes", "d", "link", "mode", "new-name"]);
    assert_eq!(glass.read("link"), "in\n");
    assert_eq!(glass.read("new-name"), "one\n");
    assert_eq!(fs::read(glass.work().join("bytes")).unwrap(), [0, 255]);
    assert_eq!(Ended::of(&mut glass.command("./mode".as_ref())).ok(), "ran\n");
    assert_eq!(glass.json(&["list", "--all"]), json!([]), "an applied run is over and done with");
}

fn a_conflict_is_refused_and_nothing_is_written(glass: &Glass) {
    glass.write("both", "base\n");
    glass.sh(&[], "echo sandbox > both; echo new > fresh").ok();
    glass.write("both", "host\n");
    glass.run(&["apply"]).code(125).says("nothing was applied").says("both");
    assert_eq!(glass.read("both"), "host\n");
    assert_eq!(glass.names(), ["both"]);
    assert!(glass.run(&["diff"]).ok().contains("+sandbox"), "the changes are still there");
}

fn git(glass: &Glass, args: &[&str]) {
    let mut command = glass.command("git".as_ref());
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(args);
    Ended::of(&mut command).ok();
}

/// A repository whose file `both` has lines 1 to 9.
fn repository(glass: &Glass) {
    glass.write("both", (1..10).map(|n| format!("{n}\n")).collect::<String>());
    git(glass, &["init", "-q"]);
    git(glass, &["add", "both"]);
    git(glass, &["commit", "-qm", "base"]);
}

fn a_merge_keeps_both_sides(glass: &Glass) {
    repository(glass);
    glass.sh(&[], "sed -i 's/^9$/nine/' both").ok();
    let host = glass.read("both").replace("1\n", "one\n");
    glass.write("both", host);
    glass.run(&["apply"]).code(125).says("--3way");
    glass.run(&["apply", "--3way"]).ok();
    assert_eq!(glass.read("both"), "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
}

fn a_merge_that_cannot_be_made_is_marked(glass: &Glass) {
    repository(glass);
    glass.sh(&[], "sed -i 's/^5$/sandbox/' both").ok();
    let host = glass.read("both").replace("5\n", "host\n");
    glass.write("both", host);
    let merged = glass.run(&["apply", "--3way"]).code(1);
    assert!(merged.out.contains("CONFLICT"), "{merged:?}");
    let both = glass.read("both");
    assert!(both.contains("<<<<<<<") && both.contains("sandbox") && both.contains("host"), "{both}");
}

fn a_run_can_apply_by_itself(glass: &Glass) {
    glass.sh(&["--apply"], "echo hi > f").ok();
    assert_eq!(glass.read("f"), "hi\n");
    assert_eq!(glass.json(&["list", "--all"]), json!([]));
}

fn a_failed_run_applies_nothing_by_itself(glass: &Glass) {
    glass.sh(&["--apply"], "echo hi > f; exit 3").code(3);
    assert_eq!(glass.names(), [""; 0]);
    assert!(glass.run(&["diff"]).ok().contains("+hi"), "the changes are kept");
}

fn git_hooks_are_held_back(glass: &Glass) {
    repository(glass);
    glass
        .sh(&[], "printf '#!/bin/sh\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo x > f")
        .ok();
    let applied = glass.json(&["apply"]);
    assert_eq!(applied["held_back"], json!([".git/hooks/pre-commit"]));
    assert_eq!(glass.read("f"), "x\n");
    let hook = glass.work().join(".git/hooks/pre-commit");
    assert!(!hook.exists());
    glass.run(&["apply", "--allow-git-internals"]).ok();
    assert!(hook.exists());
}

fn what_was_applied_belongs_to_the_caller(glass: &Glass) {
    glass.sh(&["--apply"], "mkdir d; echo hi > d/f; ln -s f d/l").ok();
    let owner = |path: &Path| fs::symlink_metadata(path).unwrap().uid();
    for name in ["d", "d/f", "d/l"] {
        assert_eq!(owner(&glass.work().join(name)), glass.caller.uid(), "{name}");
    }
}
