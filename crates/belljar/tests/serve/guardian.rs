//! The policy as people look at it: rules with their hits, a call tried on it, and what this machine can enforce.

use serde_json::json;

use crate::support::{Served, eventually};

#[test]
fn rules_are_listed_with_how_often_they_decided() {
    let served = Served::start();
    let listed = served.client().get("/api/v1/guardian").json();
    assert_eq!(listed["mode"], "guard");
    let hits = || {
        let all = served.client().get("/api/v1/guardian").json();
        let rules = all["rules"].as_array().unwrap().clone();
        rules.into_iter().find(|rule| rule["name"] == "delete-everything").unwrap()
    };
    let rule = hits();
    assert_eq!(
        (&rule["verdict"], &rule["pack"], &rule["hits"]),
        (&json!("deny"), &json!("files"), &json!(0))
    );
    assert!(rule["written"]["examples"]["match"].as_array().unwrap().contains(&json!("rm -rf /")));
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv/app", "tool_name": "Bash",
        "tool_use_id": "t", "tool_input": { "command": "rm -rf /" },
    });
    assert_eq!(served.client().post("/hooks/claude-code", &payload).status, 200);
    eventually("the rule is counted", || {
        let rule = hits();
        (rule["hits"] == 1 && rule["last_hit"].is_string()).then_some(())
    });
}

#[test]
fn a_call_is_tried_and_not_made() {
    let served = Served::start();
    let check = |body: serde_json::Value| served.client().post("/api/v1/guardian/check", &body);
    let on_host =
        check(json!({ "command": "cd /tmp && rm -rf ~", "home": "/home/ann", "cwd": "/srv/app" })).json();
    assert_eq!((&on_host["verdict"], &on_host["rule"]), (&json!("deny"), &json!("delete-everything")));
    assert!(
        on_host["effects"]
            .as_array()
            .unwrap()
            .iter()
            .any(|effect| effect.as_str().unwrap().contains("/home/ann"))
    );
    let inside = check(json!({ "command": "rm -rf ~", "place": "sandbox" })).json();
    assert_eq!(inside["verdict"], "allow");
    let held_in = inside["findings"][0]["relieved_by"].as_str().unwrap();
    assert!(held_in.contains("contained"), "{inside}");
    let read = check(
        json!({ "tool": "Read", "input": { "file_path": "/home/ann/.ssh/id_rsa" }, "home": "/home/ann" }),
    );
    assert_eq!(read.json()["verdict"], "deny");
    for wrong in
        [json!({}), json!({ "command": "ls", "tool": "Bash" }), json!({ "command": "a".repeat(70_000) })]
    {
        assert_eq!(check(wrong).status, 400);
    }
    let events = served.client().get("/api/v1/events?kind=tool,guardian").json();
    assert_eq!(events["items"], json!([]), "a trial leaves no trace");
}

#[test]
fn the_machine_says_what_it_can_enforce_and_where_hooks_are() {
    let served = Served::start();
    let host = served.client().get("/api/v1/host").json();
    assert!(host["doctor"]["verdict"].is_string(), "{host}");
    let hooks = host["hooks"]["hooks"].as_array().unwrap();
    assert!(hooks.iter().any(|hook| hook["agent"] == "claude-code" && hook["scope"] == "user"), "{host}");
    assert_eq!(served.stranger().get("/api/v1/host").status, 401);
}

#[test]
fn what_is_the_hosts_own_is_not_shown_to_a_sandbox() {
    let served = Served::start();
    let shared = |path: &str, mode: &str| {
        let mount = json!({ "host": path, "sandbox": "/mnt/shown", "mode": mode });
        served.client().post("/api/v1/sandboxes", &json!({ "mounts": [mount] }))
    };
    for path in ["/", "/etc", "/root", "/dev/shm"] {
        shared(path, "ro").is_problem(403, "PERMISSION_DENIED");
    }
    let keys = served.work().join(".ssh");
    std::fs::create_dir(&keys).unwrap();
    std::fs::write(keys.join("id_ed25519"), "x").unwrap();
    shared(keys.to_str().unwrap(), "ro").is_problem(403, "PERMISSION_DENIED");
    let data = served.work().join("data");
    std::fs::create_dir(&data).unwrap();
    assert_eq!(shared(data.to_str().unwrap(), "ro").status, 201);
    assert_eq!(shared(data.to_str().unwrap(), "rw").status, 201);
}
