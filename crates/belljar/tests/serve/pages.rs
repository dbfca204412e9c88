//! Lists come in pages; filters narrow them.

use serde_json::json;

use crate::support::{Served, eventually};

#[test]
fn pages_of_sandboxes_neither_miss_nor_repeat() {
    let served = Served::start();
    let client = served.client();
    for number in 0..5 {
        let order = json!({"labels": {"parity": if number % 2 == 0 { "even" } else { "odd" }}, "agent": "pager",
                "metadata": {"number": number, "is_first": number == 0, "name": format!("n{number}")}});
        assert_eq!(client.post("/api/v1/sandboxes", &order).status, 201);
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("/api/v1/sandboxes?limit=2{cursor}")).json();
        seen.extend(
            page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()),
        );
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let mut sorted = seen.clone();
    sorted.sort_by(|a, b| b.cmp(a));
    sorted.dedup();
    assert_eq!((seen.len(), &seen), (5, &sorted), "newest first, each once");
    let count = |query: &str| {
        client.get(&format!("/api/v1/sandboxes?{query}")).json()["items"].as_array().unwrap().len()
    };
    assert_eq!(
        (count("label=parity=even"), count("label=parity=odd"), count("label=parity=none")),
        (3, 2, 0)
    );
    assert_eq!(
        (count("metadata=number=3"), count("metadata=name=n1,number=1"), count("metadata=is_first=true")),
        (1, 1, 1)
    );
    assert_eq!(
        (count("metadata=number=9"), count("metadata=name=n1,number=2"), count("metadata=none=")),
        (0, 0, 0)
    );
    client.get("/api/v1/sandboxes?metadata=nonsense").is_problem(400, "INVALID_REQUEST");
    assert_eq!(
        (count("agent=pager"), count("agent=nobody"), count("status=RUNNING"), count("state=paused")),
        (5, 0, 5, 0)
    );
}

#[test]
fn events_and_the_audit_are_paged_counted_and_verified() {
    let served = Served::start();
    let client = served.client();
    let sandbox = served.sandbox();
    served.sh(&sandbox, "true");
    let id = sandbox.rsplit('/').next().unwrap();
    let newest = client.get(&format!("/api/v1/events?sandbox_id={id}&limit=1")).json();
    let next = newest["next_cursor"].as_str().unwrap();
    let before = client.get(&format!("/api/v1/events?sandbox_id={id}&limit=1&cursor={next}")).json();
    assert!(before["items"][0]["seq"].as_u64() < newest["items"][0]["seq"].as_u64());
    let oldest = client.get("/api/v1/events?after=0&limit=2").json();
    assert_eq!(oldest["items"][0]["seq"], 1);

    let audit = client.get("/api/v1/events/audit?operation_type=command_execute").json();
    let entry = &audit["items"][0];
    for field in ["audit_id", "agent", "operation", "target", "rbac", "cost", "context", "timestamp"] {
        assert!(entry.get(field).is_some(), "{field} in {entry}");
    }
    assert_eq!(entry["operation"]["type"], "command_execute");
    let stats = client.get("/api/v1/events/audit/stats").json();
    assert!(stats["total"].as_u64() > Some(2) && stats["by_type"]["command_execute"] == 1, "{stats}");
    assert!(stats["by_decision"].is_object() && stats["by_role"].is_object());
    let verified = client.get("/api/v1/audit/verify").json();
    assert_eq!((&verified["intact"], &verified["finding"]), (&json!(true), &json!(null)), "{verified}");
}

#[test]
fn artifacts_are_kept_once_and_come_back_whole() {
    let served = Served::start();
    let client = served.client();
    let content: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    let upload =
        crate::support::Request::new("POST", "/api/v1/artifacts?name=numbers.bin").body(content.clone());
    let kept = client.send(&upload);
    assert_eq!(kept.status, 201, "{kept:?}");
    let digest = kept.json()["digest"].as_str().unwrap().to_owned();
    assert_eq!(client.send(&upload).json()["digest"], digest);
    let back = client.get(&format!("/api/v1/artifacts/{digest}"));
    assert_eq!((back.status, back.body == content), (200, true));
    assert_eq!(back.header("content-disposition"), Some("attachment"));
    assert_eq!(client.get("/api/v1/artifacts?limit=1").json()["items"][0]["name"], "numbers.bin");
    client.get(&format!("/api/v1/artifacts/{}", "0".repeat(64))).is_problem(404, "NOT_FOUND");
    client.get("/api/v1/artifacts/..%2f..%2fadmin.key").is_problem(404, "NOT_FOUND");
}

#[test]
fn a_page_of_logs_is_not_short_because_of_what_was_not_asked_for() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let run = |line: &str| {
        let ran = client.post(&format!("{sandbox}/exec"), &json!({ "command": line })).json();
        ran["execution_id"].as_str().unwrap().to_owned()
    };
    let first = run("echo needle one");
    for _time in 0..5 {
        run("echo needle other");
    }
    for target in [
        format!("{sandbox}/logs?q=needle&limit=2&execution_id={first}"),
        format!("{sandbox}/logs?limit=2&execution_id={first}"),
    ] {
        let page = eventually("the words are in the index", || {
            let page = client.get(&target).json();
            (page["complete"] == true).then_some(page)
        });
        assert_eq!(page["items"].as_array().unwrap().len(), 1, "{target}: {page}");
        assert_eq!(page["items"][0]["text"], "needle one\n", "{page}");
        assert!(page["next_cursor"].is_null(), "{page}");
        let time = page["items"][0]["time"].as_str().unwrap();
        let later = client.get(&format!("{sandbox}/logs?q=needle&limit=5&until={time}")).json();
        assert_eq!((&later["items"], &later["next_cursor"]), (&json!([]), &json!(null)), "{later}");
    }
    let page = client.get(&format!("{sandbox}/logs?q=needle&limit=4")).json();
    let rest = format!("{sandbox}/logs?q=needle&limit=4&cursor={}", page["next_cursor"].as_str().unwrap());
    assert_eq!(client.get(&rest).json()["items"].as_array().unwrap().len(), 2);
}

#[test]
fn a_log_is_read_from_a_level_on() {
    let served = Served::start();
    let (client, sandbox) = (served.client(), served.sandbox());
    served.sh(&sandbox, "echo fine; echo wrong >&2");
    let said = |query: &str| {
        let page = client.get(&format!("{sandbox}/logs?{query}")).json();
        let pieces = page["items"].as_array().unwrap_or_else(|| panic!("{page}")).clone();
        pieces.iter().map(|piece| piece["text"].as_str().unwrap()).collect::<Vec<_>>().join("")
    };
    eventually("both are there", || (said("").len() == 11).then_some(()));
    for level in ["error", "warn"] {
        assert_eq!(said(&format!("level={level}")), "wrong\n");
        let contradiction = client.get(&format!("{sandbox}/logs?level={level}&stream=stdout"));
        contradiction.is_problem(400, "INVALID_REQUEST");
    }
    for level in ["info", "debug"] {
        assert_eq!(said(&format!("level={level}")).len(), 11);
    }
    assert_eq!(said("level=info&stream=stdout"), "fine\n");
    client.get(&format!("{sandbox}/logs?level=loud")).is_problem(400, "INVALID_REQUEST");
}
