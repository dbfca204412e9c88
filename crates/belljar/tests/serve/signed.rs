//! Events that are signed: whose they are is verified, each is taken once, and where that is asked for no other is.

use std::{
    process::{Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use crate::support::{Request, Served};

fn belljar(served: &Served, words: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_belljar"));
    let ran = command.env("BELLJAR_HOME", served.home()).arg("--json").args(words).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    serde_json::from_slice(&ran.stdout).unwrap()
}

fn key(served: &Served, name: &str) -> String {
    belljar(served, &["hooks", "keys", "add", name])["key"].as_str().unwrap().to_owned()
}

/// Signs as the documentation says, by another program than ours.
fn signature(key: &str, parts: [&str; 4]) -> String {
    let script = "import sys,hmac,hashlib;k,*p=sys.argv[1:];print('v1='+hmac.new(k.encode(),'\\n'.join(p).encode(),hashlib.sha256).hexdigest())";
    let ran = Command::new("python3").args(["-c", script, key]).args(parts).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn told(session: &str) -> String {
    json!({"source_app": "ci", "session_id": session, "hook_event_type": "Stop", "payload": {}}).to_string()
}

fn signed(sender: &str, seconds: u64, nonce: &str, signature: &str, body: &str) -> Request {
    Request::new("POST", "/events")
        .with("content-type", "application/json")
        .with("x-belljar-sender", sender)
        .with("x-belljar-timestamp", &seconds.to_string())
        .with("x-belljar-nonce", nonce)
        .with("x-belljar-signature", signature)
        .body(body)
}

#[test]
fn a_signed_request_is_taken_once_and_as_it_was_signed() {
    let mut served = Served::start();
    let (key, client) = (key(&served, "ci"), served.stranger());
    let (seconds, body) = (now(), told("signed"));
    let sign = |seconds: u64, nonce: &str, body: &str| {
        signature(&key, [&seconds.to_string(), nonce, "/events", body])
    };
    let good = signed("ci", seconds, "n1", &sign(seconds, "n1", &body), &body);
    assert_eq!(client.send(&good).status, 200);
    client.send(&good).is_problem(401, "SIGNATURE_INVALID");
    // Nor is it taken by the next server.
    served.restart("KILL");
    let client = served.stranger();
    client.send(&good).is_problem(401, "SIGNATURE_INVALID");
    let old = seconds - 301;
    for wrong in [
        signed("ci", seconds, "n2", &sign(seconds, "n1", &body), &body),
        signed("ci", seconds, "n3", &sign(seconds, "n3", &body), &told("other")),
        signed("ci", old, "n4", &sign(old, "n4", &body), &body),
        signed("ci", seconds + 400, "n5", &sign(seconds + 400, "n5", &body), &body),
        signed("cd", seconds, "n6", &sign(seconds, "n6", &body), &body),
        signed("../admin", seconds, "n7", &sign(seconds, "n7", &body), &body),
    ] {
        client.send(&wrong).is_problem(401, "SIGNATURE_INVALID");
        // Nor does a key make up for it.
        served.client().send(&wrong).is_problem(401, "SIGNATURE_INVALID");
    }
    let page = served.client().get("/api/v1/events?kind=turn.ended").json();
    let events = page["items"].as_array().unwrap();
    assert_eq!(events.len(), 1, "{page}");
    let payload = &events[0]["payload"];
    assert_eq!((&payload["identity"], &payload["sender"]), (&json!("verified"), &json!("ci")), "{payload}");
    // A signature tells events; it reads none.
    assert_eq!(client.get("/events/recent").status, 401);
    belljar(&served, &["hooks", "keys", "remove", "ci"]);
    let late = signed("ci", seconds, "n9", &sign(seconds, "n9", &body), &body);
    client.send(&late).is_problem(401, "SIGNATURE_INVALID");
}

#[test]
fn a_hook_signs_by_itself_and_unsigned_events_can_be_refused() {
    let served = Served::start_configured("[hooks]\nunsigned = \"refuse\"\n");
    let key = key(&served, "laptop");
    let unsigned = Request::new("POST", "/events").json(&serde_json::from_str(&told("s")).unwrap());
    served.client().send(&unsigned).is_problem(401, "SIGNATURE_REQUIRED");
    // The kernel says whose program is at the socket.
    assert_eq!(served.neighbour().send(&unsigned).status, 200);
    let mut hook = Command::new(env!("CARGO_BIN_EXE_belljar"));
    hook.args(["hook", "--agent", "claude-code", "--no-spool", "--verbose"])
        .env("BELLJAR_URL", format!("http://127.0.0.1:{}", served.port()))
        .envs([("BELLJAR_SENDER", "laptop"), ("BELLJAR_SENDER_KEY", &key)])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = hook.spawn().unwrap();
    let payload = br#"{"hook_event_name":"Stop","session_id":"mine"}"#;
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&ended.stderr).contains("delivered"), "{ended:?}");
    let page = served.client().get("/api/v1/events?session_id=mine").json();
    assert_eq!(page["items"][0]["payload"]["sender"], "laptop", "{page}");
    assert_eq!(belljar(&served, &["hooks", "keys", "list"]), json!({"senders": ["laptop"]}));
}
