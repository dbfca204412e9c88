//! Webhooks against a real server: signed, tried again, across restarts, and not to where they must not go.

use std::{
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{PATIENCE, Post, Receiver, Request, Served};

const ALLOWED: &str = "[webhooks]\nallow_private = true\nretry_delay = \"200ms\"\nattempts = 4\n";
const SECRET: &str = "a secret of the test's own";

fn subscribe(served: &Served, url: &str, events: &[&str]) -> String {
    let asked = json!({ "url": url, "events": events, "secret": SECRET });
    let made = served.client().post("/api/v1/webhooks", &asked);
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.json()["secret"], SECRET);
    format!("/api/v1/webhooks/{}", made.json()["id"].as_str().unwrap())
}

/// Something happens, in no time: attempts are counted from when the event is written, not from when a sandbox is there.
fn tell(served: &Served) {
    let told =
        served.client().post("/api/v1/events/ingest", &json!({ "kind": "tool.finished", "tool": "Bash" }));
    assert!(matches!(told.status, 200 | 201), "{told:?}");
}

/// As the documentation tells receivers to check: with a program that is not ours.
fn is_signed(post: &Post) {
    let script = "import hashlib, hmac, sys; t = sys.argv[2].encode(); \
        print('v1=' + hmac.new(sys.argv[1].encode(), t + b'.' + sys.stdin.buffer.read(), hashlib.sha256).hexdigest())";
    let mut python = Command::new("python3")
        .args(["-c", script, SECRET, &post.headers["x-belljar-timestamp"]])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut python.stdin.take().unwrap(), &post.body).unwrap();
    let said = String::from_utf8(python.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(said.trim(), post.headers["x-belljar-signature"]);
}

/// The log of a webhook once it has as many entries as are waited for, none of which is waiting.
fn log(served: &Served, hook: &str, count: usize) -> Vec<Value> {
    let until = Instant::now() + PATIENCE;
    loop {
        let found =
            served.client().get(&format!("{hook}/deliveries")).json()["items"].as_array().unwrap().clone();
        if found.len() >= count && found.iter().all(|entry| entry["due_at"].is_null()) {
            return found;
        }
        assert!(Instant::now() < until, "{found:?}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn events_that_are_wanted_are_told_signed_and_logged() {
    let (served, receiver) = (Served::start_configured(ALLOWED), Receiver::listen());
    let hook = subscribe(&served, &receiver.url(), &["execution.ended", "sandbox"]);
    let sandbox = served.sandbox();
    served.sh(&sandbox, "echo hello");
    let (created, ended) = (receiver.next(), receiver.next());
    is_signed(&created);
    is_signed(&ended);
    assert_eq!(created.headers["x-belljar-event"], "sandbox.created");
    assert_eq!(ended.headers["content-type"], "application/json");
    let told = ended.json();
    assert_eq!((&told["type"], &told["status"]), (&json!("execution.ended"), &json!("success")), "{told}");
    assert!(sandbox.ends_with(told["sandbox_id"].as_str().unwrap()), "{told}");
    let log = log(&served, &hook, 2);
    assert!(log.iter().all(|entry| entry["status"] == "success" && entry["code"] == 200), "{log:?}");
    let listed = served.client().get("/api/v1/webhooks").json();
    assert!(listed["items"][0]["secret"].is_null() && !listed.to_string().contains(SECRET), "{listed}");

    let tried = served.client().post(&format!("{hook}/test"), &json!({}));
    assert_eq!(tried.json()["status"], "success", "{tried:?}");
    assert_eq!(receiver.next().headers["x-belljar-event"], "webhook.test");

    assert_eq!(served.client().send(&Request::new("DELETE", &hook)).status, 204);
    assert_eq!(served.client().get(&format!("{hook}/deliveries")).status, 404);
    served.sh(&sandbox, "true");
    thread::sleep(Duration::from_secs(2));
    assert!(receiver.rest().is_empty(), "nobody is told after the end");
}

#[test]
fn what_is_not_answered_well_is_tried_again_and_then_given_up() {
    let (served, receiver) = (Served::start_configured(ALLOWED), Receiver::listen());
    receiver.answers(500);
    let hook = subscribe(&served, &receiver.url(), &["tool.finished"]);
    tell(&served);
    let (first, second) = (receiver.next(), receiver.next());
    assert_eq!(first.json()["id"], second.json()["id"]);
    receiver.answers(204);
    receiver.next();
    let tries = log(&served, &hook, 3);
    let codes: Vec<_> = tries.iter().rev().map(|entry| entry["code"].as_u64().unwrap()).collect();
    assert!(codes.starts_with(&[500, 500]) && codes.ends_with(&[204]), "{codes:?}");

    // A redirect is an answer like any other that is not good; it is not followed.
    receiver.answers(302);
    tell(&served);
    let tries = log(&served, &hook, codes.len() + 4);
    assert!(tries[..4].iter().all(|entry| entry["code"] == 302), "{tries:?}");
    assert_eq!(tries[0]["attempt"], 4);
    let given_up = served.client().get("/api/v1/events?kind=webhook.failed").json();
    assert_eq!(given_up["items"].as_array().unwrap().len(), 1, "{given_up}");
}

#[test]
fn a_server_that_is_killed_forgets_no_delivery() {
    let (mut served, receiver) = (Served::start_configured(ALLOWED), Receiver::listen());
    receiver.answers(503);
    let hook = subscribe(&served, &receiver.url(), &["tool.finished"]);
    tell(&served);
    let first = receiver.next().json();
    // By the time a server is up again every attempt could have been made.
    receiver.answers(200);
    served.restart("KILL");
    // Killed before it wrote down that the first attempt failed, it makes that attempt again.
    let tries = log(&served, &hook, 1);
    assert_eq!(tries[0]["status"], "success", "{tries:?}");
    let told = receiver.rest();
    assert!(!told.is_empty());
    for post in told {
        assert_eq!(post.json()["id"], first["id"], "{post:?}");
    }
}

#[test]
fn private_addresses_are_refused_unless_allowed() {
    let (served, receiver) = (Served::start(), Receiver::listen());
    let hook = subscribe(&served, &receiver.url().replace("127.0.0.1", "localhost"), &[]);
    let tried = served.client().post(&format!("{hook}/test"), &json!({})).json();
    assert!(tried["error"].as_str().unwrap().contains("allow_private"), "{tried}");
    assert!(receiver.rest().is_empty());
    let wrong =
        ["ftp://example.com", "http://a:b@example.com/", "nonsense", "http://127.0.0.1/", "http://[::1]/"];
    for wrong in wrong.into_iter().chain(["http://10.0.0.1:80/x", "http://169.254.169.254/latest"]) {
        let refused = served.client().post("/api/v1/webhooks", &json!({ "url": wrong }));
        assert_eq!(refused.status, 400, "{wrong}: {refused:?}");
    }
}
