//! Events told from outside, by a real client of a real server.

use serde_json::{Value, json};

use crate::support::Served;

const ID: &str = "evt_0192f0c0000070008000000000000001";

fn told(served: &Served, body: &Value) -> (u16, Value) {
    let answer = served.client().post("/api/v1/events/ingest", body);
    (answer.status, answer.json())
}

fn seen(served: &Served, query: &str) -> Vec<Value> {
    served.client().get(&format!("/api/v1/events?{query}")).json()["items"].as_array().unwrap().clone()
}

#[test]
fn one_event_is_recorded_once_however_often_it_is_told() {
    let served = Served::start();
    let event = json!({
        "id": ID, "kind": "tool.finished", "session_id": "s1", "tool": "Bash", "target": "ls",
        "status": "success", "cost_usd": 0.002, "mood": "good",
    });
    let (status, answer) = told(&served, &event);
    assert_eq!((status, &answer["accepted"], &answer["duplicates"]), (201, &json!(1), &json!(0)), "{answer}");
    let (status, again) =
        told(&served, &json!({"events": [event, {"kind": "deploy.done", "session_id": "s1"}]}));
    assert_eq!((status, &again["accepted"], &again["duplicates"]), (201, &json!(1), &json!(1)), "{again}");
    let events = seen(&served, "session_id=s1");
    assert_eq!(events.len(), 2, "{events:?}");
    let (newest, first) = (&events[0], &events[1]);
    assert_eq!((&newest["kind"], &first["kind"]), (&json!("deploy.done"), &json!("tool.finished")));
    assert_eq!((&first["cost_micros"], &first["payload"]["rest"]["mood"]), (&json!(2000), &json!("good")));
    assert_eq!(served.client().get("/api/v1/audit/verify").json()["intact"], true);
}

#[test]
fn nobody_tells_what_belljar_tells_and_mistakes_are_named() {
    let served = Served::start();
    for (body, said) in [
        (json!({"kind": "sandbox.created"}), "belljar alone"),
        (json!({"kind": "guardian.allowed"}), "belljar alone"),
        (json!([{"kind": "a.b"}, {"kind": "a.b", "tokens": "many"}]), "[1].tokens"),
        (json!({"events": [{"session_id": "s1"}]}), "events[0]"),
        (json!("nonsense"), "must be an event"),
        (json!((0..1001).map(|_| json!({"kind": "a.b"})).collect::<Vec<_>>()), "at most 1000"),
    ] {
        let (status, problem) = told(&served, &body);
        assert!((400..500).contains(&status), "{status}: {problem}");
        assert!(problem.to_string().contains(said), "{said}: {problem}");
    }
    assert!(seen(&served, "kind=a.b").is_empty(), "all or nothing");
}

#[test]
fn the_older_form_is_understood() {
    let served = Served::start();
    let (status, _) = told(
        &served,
        &json!({
            "agent_id": "builder", "agent_role": "backend", "operation_type": "tool_use", "operation_detail": "Tool: Edit",
            "target_resource": "src/main.rs", "target_type": "file", "rbac_decision": "denied", "rbac_reason": "not yours",
            "cost_usd": 0.5, "tokens_used": 100, "context": {"session_id": "s2", "tool_name": "Edit"},
        }),
    );
    assert_eq!(status, 201);
    let audit = served.client().get("/api/v1/events/audit?agent_id=builder").json();
    let entry = &audit["items"][0];
    assert_eq!(
        (&entry["rbac"]["decision"], &entry["rbac"]["reason"]),
        (&json!("deny"), &json!("not yours")),
        "{audit}"
    );
    assert_eq!(
        (&entry["operation"]["type"], &entry["cost"]["usd"]),
        (&json!("tool_use"), &json!(0.5)),
        "{audit}"
    );
}
