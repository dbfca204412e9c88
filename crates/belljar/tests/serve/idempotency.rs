//! A request with a key is carried out once.

use serde_json::json;

use crate::support::{Request, Served};

#[test]
fn the_same_request_is_carried_out_once_and_another_is_refused() {
    let served = Served::start();
    let client = served.client();
    let create = |key: &str, name: &str| {
        let request = Request::new("POST", "/api/v1/sandboxes").with("idempotency-key", key);
        client.send(&request.json(&json!({ "name": name })))
    };
    let first = create("k1", "one");
    assert_eq!(first.status, 201, "{first:?}");
    let again = create("k1", "one");
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    let location = format!("/api/v1/sandboxes/{}", first.json()["id"].as_str().unwrap());
    assert_eq!(again.header("location"), Some(location.as_str()));
    assert_eq!(again.header("location"), first.header("location"));
    create("k1", "two").is_problem(409, "IDEMPOTENCY_KEY_REUSED");
    let other = create("k2", "one");
    assert_ne!(other.json()["id"], first.json()["id"]);
    create("", "one").is_problem(400, "INVALID_REQUEST");
}

#[test]
fn a_request_that_failed_can_be_made_again() {
    let served = Served::start();
    let sandbox = served.sandbox();
    let run = |command: &str| {
        let request = Request::new("POST", &format!("{sandbox}/exec")).with("idempotency-key", "again");
        served.client().send(&request.json(&json!({ "command": [command] })))
    };
    run("no-such-program").is_problem(422, "EXECUTION_ERROR");
    assert_eq!(run("true").status, 200);
}

#[test]
fn while_one_is_under_way_another_is_told_so() {
    let served = Served::start();
    let sandbox = served.sandbox();
    let request = Request::new("POST", &format!("{sandbox}/exec")).with("idempotency-key", "slow");
    let request = request.json(&json!({"command": "sleep 2; echo once >> ~/count"}));
    let client = served.client();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| client.send(&request));
        std::thread::sleep(std::time::Duration::from_millis(700));
        client.send(&request).is_problem(409, "IDEMPOTENCY_IN_PROGRESS");
        assert_eq!(first.join().unwrap().status, 200);
    });
    assert_eq!(client.send(&request).header("idempotency-replayed"), Some("true"));
    assert_eq!(served.sh(&sandbox, "cat ~/count"), "once\n");
}
