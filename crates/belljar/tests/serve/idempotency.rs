//! A request with a key is carried out once.

use serde_json::{Value, json};

use crate::support::{Request, Served, eventually};

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

#[test]
fn a_command_whose_server_was_killed_is_found_again_and_not_run_twice() {
    let mut served = Served::start();
    let sandbox = served.sandbox();
    let line = "echo once >> ~/count; echo begun; until test -e ~/go; do sleep 0.05; done; echo done; exit 3";
    let keyed = |key: &str, order: &Value| {
        Request::new("POST", &format!("{sandbox}/exec")).with("idempotency-key", key).json(order)
    };
    let [waited, streamed] = [
        keyed("waited", &json!({ "command": line })),
        keyed("streamed", &json!({"command": line, "stream": true})),
    ];
    let unanswered = [&waited, &streamed].map(|request| served.client().open(request).unwrap());
    eventually("both run", || (served.sh(&sandbox, "cat ~/count || true") == "once\nonce\n").then_some(()));
    served.restart("KILL");
    drop(unanswered);
    served.sh(&sandbox, "touch ~/go");
    let answer = served.client().send(&waited);
    assert_eq!(answer.status, 200, "{answer:?}");
    let said = answer.json();
    assert_eq!((&said["stdout"], &said["exit_code"]), (&json!("begun\ndone\n"), &json!(3)));
    let again = served.client().send(&waited);
    assert_eq!((&again.body, again.header("idempotency-replayed")), (&answer.body, Some("true")));
    let stream = served.client().send(&streamed).text();
    let [began, told, ended] =
        ["event: started", r#""text":"begun"#, "event: exit"].map(|word| stream.find(word).unwrap());
    assert!(began < told && told < ended, "{stream}");
    let again = served.client().send(&streamed).text();
    assert_eq!(again.matches(r#""text":"begun"#).count(), 1, "a stream is told from the beginning: {again}");
    assert_eq!(served.sh(&sandbox, "cat ~/count"), "once\nonce\n");
}

#[test]
fn what_a_killed_server_made_and_did_not_answer_for_is_found_again() {
    for pool in ["0", "1"] {
        let mut served = Served::start_with(&[("BELLJAR_SERVER_POOL", pool)]);
        eventually("the pool is full", || {
            let metrics = served.client().get("/metrics").text();
            metrics.contains(&format!("belljar_pool_ready {pool}")).then_some(())
        });
        let request = Request::new("POST", "/api/v1/sandboxes").with("idempotency-key", "k");
        let request = request.json(&json!({"name": "mine"}));
        let first = served.client().send(&request).json();
        forget_answers(&served);
        served.restart("KILL");
        let found = served.client().send(&request);
        assert_eq!((found.status, &found.json()["id"]), (201, &first["id"]), "pool of {pool}");
        assert_eq!(served.client().get("/api/v1/sandboxes").json()["items"].as_array().unwrap().len(), 1);
        // What is gone is no answer.
        served.client().delete(&format!("/api/v1/sandboxes/{}", first["id"].as_str().unwrap()));
        forget_answers(&served);
        let made = served.client().send(&request);
        assert_eq!((made.status, &made.json()["name"]), (201, &json!("mine")));
        assert_ne!(made.json()["id"], first["id"]);
    }
}

/// As if the server had been killed after it did what was asked, and before it wrote the answer down.
fn forget_answers(served: &Served) {
    let store = rusqlite::Connection::open(served.home().join("belljar.db")).unwrap();
    store.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    let forget = "UPDATE idempotency SET status = NULL, media_type = NULL, body = NULL, location = NULL";
    assert_eq!(store.execute(forget, []).unwrap(), 1);
}
