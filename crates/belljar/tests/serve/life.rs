//! The life of a sandbox over HTTP.

use serde_json::json;

use crate::support::{Request, Served, eventually};

#[test]
fn create_run_pause_resume_extend_label_and_delete() {
    let served = Served::start();
    let client = served.client();
    let order = json!({"name": "demo", "labels": {"task": "a"}, "metadata": {"k": [1]}, "ttl_seconds": 600});
    let made = client.post("/api/v1/sandboxes", &order);
    assert_eq!(made.status, 201, "{made:?}");
    let sandbox = made.json();
    let path = format!("/api/v1/sandboxes/{}", sandbox["id"].as_str().unwrap());
    assert_eq!(made.header("location"), Some(path.as_str()));
    assert!(sandbox["id"].as_str().unwrap().starts_with("sbx_"));
    for (field, wanted) in
        [("status", json!("RUNNING")), ("state", json!("running")), ("provider", json!("process"))]
    {
        assert_eq!(sandbox[field], wanted, "{sandbox}");
    }
    for field in
        ["template", "project_id", "created_at", "last_activity", "metadata", "expires_at", "provider_ref"]
    {
        assert!(!sandbox[field].is_null(), "{field} in {sandbox}");
    }
    let ran = client
        .post(&format!("{path}/exec"), &json!({"command": ["sh", "-c", "echo out; echo err >&2; exit 3"]}));
    let ran = ran.json();
    assert_eq!(
        (&ran["stdout"], &ran["stderr"], &ran["exit_code"]),
        (&json!("out\n"), &json!("err\n"), &json!(3))
    );

    assert_eq!(client.post(&format!("{path}/pause"), &json!({})).json()["status"], "PAUSED");
    assert_eq!(client.get(&format!("{path}/health")).json()["healthy"], false);
    assert_eq!(client.post(&format!("{path}/resume"), &json!({})).json()["status"], "RUNNING");
    assert_eq!(client.get(&format!("{path}/health")).json()["healthy"], true);
    assert_eq!(client.post(&format!("{path}/extend"), &json!({"ttl_seconds": 7200})).status, 200);
    let patch = Request::new("PATCH", &path)
        .json(&json!({"labels": {"task": null, "new": "b"}, "metadata": {"x": 1}}));
    let patched = client.send(&patch).json();
    assert_eq!((&patched["labels"], &patched["metadata"]), (&json!({"new": "b"}), &json!({"x": 1})));
    assert!(client.get(&format!("{path}/stats")).json()["memory_bytes"].is_u64());
    assert_eq!(client.get(&format!("{path}/history")).status, 200);

    assert_eq!(client.delete(&path).status, 204);
    assert!(matches!(client.delete(&path).status, 204 | 404));
    let after = client.get(&path);
    assert!(after.status == 404 || after.json()["status"] == "TERMINATED", "{after:?}");
}

#[test]
fn stopping_keeps_what_was_changed_and_can_be_repeated() {
    let served = Served::start();
    let client = served.client();
    let made = client.post("/api/v1/sandboxes", &json!({"workspace": served.work()})).json();
    let path = format!("/api/v1/sandboxes/{}", made["id"].as_str().unwrap());
    client.post(&format!("{path}/exec"), &json!({"command": "echo new > made"}));
    for _time in 0..2 {
        let stopped = client.post(&format!("{path}/stop"), &json!({}));
        assert_eq!(stopped.status, 200, "{stopped:?}");
        let stopped = stopped.json();
        assert_eq!(
            (&stopped["state"], &stopped["status"], &stopped["cause"]),
            (&json!("stopped"), &json!("TERMINATED"), &json!(null)),
            "nothing ran, so nothing was killed"
        );
    }
    let diff = client.get(&format!("{path}/diff?format=patch"));
    assert!(diff.text().contains("+new"), "{diff:?}");
    assert_eq!(client.post(&format!("{path}/exec"), &json!({"command": "true"})).status, 409);
    assert_eq!(
        client.post("/api/v1/sandboxes/sbx_00000000000070008000000000000000/stop", &json!({})).status,
        404
    );
    assert_eq!(client.delete(&path).status, 204);
}

#[test]
fn the_workspace_is_shown_copy_on_write_and_its_diff_can_be_read() {
    let served = Served::start();
    std::fs::write(served.work().join("kept"), "old\n").unwrap();
    let made = served.client().post("/api/v1/sandboxes", &json!({"workspace": served.work()}));
    assert_eq!(made.status, 201, "{made:?}");
    let path = format!("/api/v1/sandboxes/{}", made.json()["id"].as_str().unwrap());
    served.sh(&path, "echo new > kept; echo fresh > made");
    assert_eq!(std::fs::read_to_string(served.work().join("kept")).unwrap(), "old\n");
    let diff = served.client().get(&format!("{path}/diff"));
    assert!(diff.text().contains("kept") && diff.text().contains("made"), "{}", diff.text());
    let patch = served.client().get(&format!("{path}/diff?format=patch"));
    assert_eq!(patch.header("content-type"), Some("text/x-diff; charset=utf-8"));
    assert!(patch.text().contains("+new\n") && patch.text().contains("-old\n"), "{}", patch.text());
    let accepted = served.client().with("accept", "text/x-diff").get(&format!("{path}/diff"));
    assert_eq!(accepted.body, patch.body);
}

#[test]
fn a_snapshot_starts_another_sandbox() {
    let served = Served::start();
    let path = served.sandbox();
    served.sh(&path, "echo frozen > ~/kept");
    let taken = served.client().post(&format!("{path}/snapshots"), &json!({"name": "first"}));
    assert_eq!(taken.status, 201, "{taken:?}");
    let id = taken.json()["id"].as_str().unwrap().to_owned();
    let listed = served.client().get("/api/v1/snapshots").json();
    assert_eq!((&listed["items"][0]["id"], &listed["items"][0]["name"]), (&json!(id), &json!("first")));
    let copy = served.client().post("/api/v1/sandboxes", &json!({"template": id}));
    assert_eq!(copy.status, 201, "{copy:?}");
    let copy = format!("/api/v1/sandboxes/{}", copy.json()["id"].as_str().unwrap());
    assert_eq!(served.sh(&copy, "cat ~/kept"), "frozen\n");
    assert_eq!(served.client().delete(&copy).status, 204);
    // What started from it is removed in the background.
    eventually("the snapshot can be removed", || {
        (served.client().delete(&format!("/api/v1/snapshots/{id}")).status == 204).then_some(())
    });
}

#[test]
fn a_sandbox_outlives_its_server() {
    let mut served = Served::start();
    let path = served.sandbox();
    served.sh(&path, "echo here > ~/kept");
    let background = json!({"command": "sleep 1; echo late", "background": true});
    let started = served.client().post(&format!("{path}/exec"), &background).json();
    let execution = format!("{path}/executions/{}", started["execution_id"].as_str().unwrap());
    served.restart("KILL");
    assert_eq!(served.sh(&path, "cat ~/kept"), "here\n");
    let ended = served.client().get(&format!("{execution}/wait?timeout_seconds=30")).json();
    assert_eq!((&ended["status"], &ended["exit_code"]), (&json!("success"), &json!(0)), "{ended}");
    let output = eventually("its output is kept", || {
        let page = served.client().get(&format!("{execution}/output")).json();
        (page["end"] == true).then_some(page)
    });
    assert_eq!(output["items"][0]["text"], "late\n");
}

#[test]
fn a_snapshot_goes_right_after_the_last_sandbox_that_stood_on_it() {
    let served = Served::start();
    let client = served.client();
    let first = served.sandbox();
    served.sh(&first, "echo kept > ~/note");
    let snapshot = client.post(&format!("{first}/snapshots"), &json!({})).json()["id"].clone();
    let path = format!("/api/v1/snapshots/{}", snapshot.as_str().unwrap());
    let copies: Vec<_> = (0..3)
        .map(|_| client.post("/api/v1/sandboxes", &json!({ "template": snapshot })).json()["id"].clone())
        .collect();
    let refused = client.delete(&path);
    refused.is_problem(409, "CONFLICT");
    for id in &copies {
        assert!(refused.text().contains(id.as_str().unwrap()), "{refused:?}");
    }
    for id in &copies {
        assert_eq!(client.delete(&format!("/api/v1/sandboxes/{}", id.as_str().unwrap())).status, 204);
    }
    // They are still being removed.
    let gone = client.delete(&path);
    assert_eq!(gone.status, 204, "{gone:?}");
    client.delete(&path).is_problem(404, "NOT_FOUND");
}

#[test]
fn a_server_that_has_said_where_it_listens_ends_well_when_it_is_told_to() {
    for _ in 0..5 {
        let mut served = Served::start();
        served.signal("TERM");
        assert!(served.ended());
    }
}
