//! A run changes nothing on the host; what it would have changed can be seen, whatever kind of change it is.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};

use crate::support::{Glass, promises};

promises! { [root, user]:
    a_run_leaves_the_directory_alone,
    the_last_run_can_be_looked_at,
    every_kind_of_change_is_shown,
    the_summary_counts_lines,
    a_discarded_run_is_gone,
    a_run_without_changes_leaves_no_record,
    the_caller_of_another_directory_sees_his_own_last_run,
}

fn a_run_leaves_the_directory_alone(glass: &Glass) {
    glass.write("old", "old\n");
    assert_eq!(glass.sh(&[], "echo hi > f; rm old; cat f; ls").ok(), "hi\nf\n");
    assert_eq!(glass.names(), ["old"]);
    assert_eq!(glass.read("old"), "old\n");
}

fn the_last_run_can_be_looked_at(glass: &Glass) {
    glass.sh(&[], "echo hi > f").ok();
    let diff = glass.run(&["diff"]).ok();
    assert!(diff.contains("+++ b/f\n@@ -0,0 +1 @@\n+hi\n"), "{diff}");
    // By its whole id and by the end of it.
    let id = glass.json(&["inspect"])["id"].as_str().unwrap().to_owned();
    assert_eq!(glass.run(&["diff", &id]).ok(), diff);
    assert_eq!(glass.run(&["diff", &id[id.len() - 8..]]).ok(), diff);
}

fn every_kind_of_change_is_shown(glass: &Glass) {
    glass.write("gone", "x\n");
    glass.write("renamed", "one\ntwo\nthree\nfour\nfive\n");
    glass.write("mode", "#!/bin/sh\n");
    glass.write("text", "a\nb\n");
    glass.write("bytes", [0, 1, 2]);
    let script = "rm gone; mv renamed new-name; chmod 755 mode; echo c >> text; printf '\\0\\7' > bytes; \
                  mkdir d; ln -s text d/link; : > d/empty";
    glass.sh(&[], script).ok();
    let shown = glass.json(&["diff"]);
    let find = |path: &str| -> Value {
        let files = shown["files"].as_array().unwrap();
        files.iter().find(|file| file["path"] == path).unwrap_or_else(|| panic!("{path}: {shown}")).clone()
    };
    assert_eq!(find("gone")["kind"], "deleted");
    assert_eq!(find("new-name")["kind"], "renamed");
    assert_eq!((&find("mode")["old_mode"], &find("mode")["new_mode"]), (&json!("100644"), &json!("100755")));
    assert_eq!((&find("text")["additions"], &find("text")["deletions"]), (&json!(1), &json!(0)));
    assert_eq!(find("bytes")["binary"], true);
    assert_eq!(find("d/link")["new_mode"], "120000");
    assert_eq!(find("d/empty")["kind"], "added");
    let diff = glass.run(&["diff"]).ok();
    for words in [
        "deleted file mode 100644",
        "rename from renamed\nrename to new-name",
        "old mode 100644\nnew mode 100755",
        "Binary files a/bytes and b/bytes differ",
        "new file mode 120000",
    ] {
        assert!(diff.contains(words), "no `{words}` in\n{diff}");
    }
    assert_eq!(fs::metadata(glass.work().join("mode")).unwrap().permissions().mode() & 0o777, 0o644);
}

fn the_summary_counts_lines(glass: &Glass) {
    glass.write("text", "a\nb\n");
    glass.sh(&[], "printf 'a\\nc\\nd\\n' > text").ok();
    let stat = glass.run(&["diff", "--stat"]).ok();
    assert!(stat.contains("text") && stat.contains("2 insertions(+), 1 deletion(-)"), "{stat}");
    assert_eq!(glass.json(&["diff"])["totals"], json!({"files": 1, "additions": 2, "deletions": 1}));
}

fn a_discarded_run_is_gone(glass: &Glass) {
    glass.sh(&[], "echo hi > f").ok();
    let id = glass.json(&["inspect"])["id"].clone();
    assert_eq!(glass.json(&["discard"]), json!({ "discarded": [id] }));
    glass.run(&["diff"]).code(125).says("there is no sandbox yet");
    assert_eq!(glass.json(&["list", "--all"]), json!([]));
}

fn a_run_without_changes_leaves_no_record(glass: &Glass) {
    glass.sh(&[], "cat /dev/null; echo x > /tmp/elsewhere").ok();
    assert_eq!(glass.json(&["list", "--all"]), json!([]));
}

fn the_caller_of_another_directory_sees_his_own_last_run(glass: &Glass) {
    glass.sh(&[], "echo here > f").ok();
    let lent = glass.lent();
    glass.sh(&["-C", lent.to_str().unwrap()], "echo there > f").ok();
    assert!(glass.run(&["diff"]).ok().contains("+here"));
    let elsewhere = crate::support::Ended::of(glass.belljar(&["diff"]).current_dir(&lent));
    assert!(elsewhere.ok().contains("+there"));
}
