//! What one sandbox changed, taken to another as a bundle: all of it, or nothing.

use serde_json::{Value, json};

use crate::support::Served;

/// A sandbox on the shared workspace; its path in the API.
fn on_workspace(served: &Served) -> String {
    let made = served.client().post("/api/v1/sandboxes", &json!({ "workspace": served.work() }));
    assert_eq!(made.status, 201, "{made:?}");
    format!("/api/v1/sandboxes/{}", made.json()["id"].as_str().unwrap())
}

fn bundle(served: &Served, sandbox: &str) -> Value {
    let bundle = served.client().get(&format!("{sandbox}/diff?format=bundle"));
    assert_eq!(bundle.status, 200, "{bundle:?}");
    bundle.json()
}

#[test]
fn what_one_sandbox_changed_is_applied_to_another() {
    let served = Served::start();
    let (client, work) = (served.client(), served.work());
    for name in ["changed", "gone", "tool"] {
        std::fs::write(work.join(name), "before\n").unwrap();
    }
    let (one, two) = (on_workspace(&served), on_workspace(&served));
    let script = "echo after > changed; rm gone; chmod +x tool; mkdir -p deep/er; printf '\\377\\000' > deep/er/bin; \
                  ln -s changed link";
    served.sh(&one, &format!("cd {} && {script}", work.display()));
    let bundle = bundle(&served, &one);
    let applied = client.post(&format!("{two}/apply"), &bundle);
    assert_eq!(applied.status, 200, "{applied:?}");
    assert_eq!(applied.json()["applied"], json!(["changed", "deep/er/bin", "gone", "link", "tool"]));
    let look = "cat changed link; ls; stat -c %A tool; od -An -tx1 deep/er/bin; readlink link";
    let look = format!("cd {} && {look}", work.display());
    assert_eq!(served.sh(&two, &look), served.sh(&one, &look));
    // The same once more is nothing more, and on the host nothing was touched.
    let again = client.post(&format!("{two}/apply"), &bundle).json();
    assert_eq!((&again["applied"], &again["unchanged"]), (&json!([]), &json!(5)));
    assert_eq!(std::fs::read_to_string(work.join("changed")).unwrap(), "before\n");
}

#[test]
fn a_bundle_that_does_not_fit_changes_nothing() {
    let served = Served::start();
    let (client, work) = (served.client(), served.work());
    for name in ["a", "b"] {
        std::fs::write(work.join(name), "before\n").unwrap();
    }
    let (one, two) = (on_workspace(&served), on_workspace(&served));
    served.sh(&one, &format!("cd {} && echo after > a && echo after > b", work.display()));
    served.sh(&two, &format!("cd {} && echo own > b", work.display()));
    let refused = client.post(&format!("{two}/apply"), &bundle(&served, &one));
    refused.is_problem(409, "CONFLICT");
    assert!(refused.text().contains("nothing was applied: b"), "{refused:?}");
    assert_eq!(served.sh(&two, &format!("cd {} && cat a b", work.display())), "before\nown\n");
}

#[test]
fn a_file_that_became_a_directory_is_applied_and_what_makes_no_sense_changes_nothing() {
    let served = Served::start();
    let (client, work) = (served.client(), served.work());
    std::fs::write(work.join("a"), "before\n").unwrap();
    let (one, two) = (on_workspace(&served), on_workspace(&served));
    let at = work.display();
    served.sh(&one, &format!("cd {at} && rm a && mkdir a && echo after > a/b"));
    let applied = client.post(&format!("{two}/apply"), &bundle(&served, &one));
    assert_eq!(applied.json()["applied"], json!(["a", "a/b"]), "{applied:?}");
    assert_eq!(served.sh(&two, &format!("cat {at}/a/b")), "after\n");
    let made = |path: &str| json!({"path": path, "before": null, "after": {"type": "file", "mode": 420, "text": "x"}});
    let out = json!({"path": "z", "before": null, "after": {"type": "symlink", "target": "../../../../../../../.."}});
    for (files, why) in [
        (json!([made("c"), out]), "leads out of"),
        (json!([made("c"), made("./c")]), "twice"),
        (json!([made("c/d"), made("c")]), "below `c`"),
    ] {
        let refused = client.post(&format!("{two}/apply"), &json!({ "files": files }));
        refused.is_problem(400, "INVALID_REQUEST");
        assert!(refused.text().contains(why), "{refused:?}");
        assert_eq!(served.sh(&two, &format!("ls {at}")), served.sh(&one, &format!("ls {at}")));
    }
}

#[test]
fn a_bundle_leads_nowhere_else() {
    let served = Served::start();
    let (client, sandbox) = (served.client(), served.sandbox());
    let file = |path: &str| json!({"files": [{"path": path, "before": null, "after": {"type": "file", "mode": 420, "text": "x"}}]});
    client.post(&format!("{sandbox}/apply"), &file("a")).is_problem(400, "INVALID_REQUEST");
    for out in ["../a", "/etc/passwd", "a/../../b", "", &"n".repeat(300)] {
        let answer = client.post(&format!("{sandbox}/apply?path=/tmp"), &file(out));
        answer.is_problem(400, "INVALID_REQUEST");
    }
    let link =
        json!({"files": [{"path": "l", "before": null, "after": {"type": "symlink", "target": "../../.."}}]});
    client.post(&format!("{sandbox}/apply?path=/tmp"), &link).is_problem(400, "INVALID_REQUEST");
    assert_eq!(client.post(&format!("{sandbox}/apply?path=/tmp"), &file("deep/a")).status, 200);
    assert_eq!(served.sh(&sandbox, "cat /tmp/deep/a"), "x");
    let huge = json!({"files": [], "left_out": ["x".repeat(33 << 20)]});
    client.post(&format!("{sandbox}/apply?path=/tmp"), &huge).is_problem(413, "TOO_LARGE");
}
