//! Hooks handed to a real server: recorded once, in columns, answered as their vendor expects.

use serde_json::{Value, json};

use crate::support::{Served, eventually};

fn envelope(number: u8, payload: &Value) -> Value {
    json!({
        "version": 1, "id": format!("evt_0192f0c00000700080000000000000{number:02x}"), "agent": "claude-code",
        "sent_at": "2026-11-16T04:00:00Z", "pid": 7, "env": {"TRACEPARENT": "00-1"}, "payload": payload,
    })
}

fn call(event: &str) -> Value {
    json!({
        "hook_event_name": event, "session_id": "s1", "tool_name": "Bash", "tool_use_id": "toolu_1", "cwd": "/w",
        "tool_input": {"command": "cargo test"}, "permission_mode": "default", "brand_new": [1],
    })
}

#[test]
fn what_a_hook_says_is_recorded_once_in_columns() {
    let served = Served::start();
    let client = served.client();
    for (number, event) in [(1, "PreToolUse"), (2, "PostToolUse"), (1, "PreToolUse")] {
        let answer = client.post("/api/v1/hooks/claude-code", &envelope(number, &call(event)));
        assert_eq!((answer.status, answer.json()), (200, json!({"verdict": null})), "{event}");
    }
    let page = client.get("/api/v1/events?session_id=s1").json();
    let events = page["items"].as_array().unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool.finished", "tool.requested"], "{page}");
    let asked = &events[1];
    assert_eq!((&asked["tool"], &asked["target"]), (&json!("Bash"), &json!("cargo test")), "{asked}");
    assert_eq!(
        (&asked["agent_name"], &asked["time"]),
        (&json!("claude-code"), &json!("2026-11-16T04:00:00.000000Z"))
    );
    assert_eq!(asked["payload"]["rest"]["brand_new"], json!([1]), "{asked}");
    assert_eq!(events[0]["payload"]["tool_use_id"], asked["payload"]["tool_use_id"]);
}

#[test]
fn even_nonsense_is_kept_and_what_is_no_envelope_is_refused() {
    let served = Served::start();
    let client = served.client();
    let mut nonsense = envelope(3, &json!(null));
    nonsense["payload"].take();
    nonsense["text"] = json!("not json at all");
    assert_eq!(client.post("/api/v1/hooks/aider", &nonsense).status, 200);
    let kept = client.get("/api/v1/events?kind=hook.unread").json();
    assert_eq!(kept["items"][0]["payload"]["text"], "not json at all", "{kept}");
    for wrong in [json!({}), json!([1]), json!({"version": 2})] {
        assert_eq!(client.post("/api/v1/hooks/codex", &wrong).status, 400, "{wrong}");
    }
}

#[test]
fn claude_codes_own_http_hooks_get_nothing_back() {
    let served = Served::start();
    let answer = served.client().post("/hooks/claude-code", &call("PostToolUseFailure"));
    assert_eq!((answer.status, answer.body.len()), (200, 0), "{answer:?}");
    let page = served.client().get("/api/v1/events?kind=tool.failed").json();
    assert_eq!(page["items"][0]["status"], "failure", "{page}");
    // Without a key nobody is let in, from wherever.
    assert_eq!(served.stranger().post("/hooks/claude-code", &call("Stop")).status, 401);
}

#[test]
fn secrets_are_taken_out_before_anything_is_kept_or_shown() {
    let served = Served::start();
    // Put together here, so that nobody finds one in this file.
    let secrets = [format!("ghp_{}", "a1B2".repeat(9)), format!("sk-ant-api03-{}", "Zx9_".repeat(24))];
    let mut told = call("PostToolUse");
    told["tool_input"] =
        json!({"command": format!("curl -H 'Authorization: Bearer {}' https://x", secrets[0])});
    told["tool_response"] =
        json!({"stdout": format!("ANTHROPIC_API_KEY={}", secrets[1]), "fine": "cargo test"});
    assert_eq!(served.client().post("/api/v1/hooks/claude-code", &envelope(9, &told)).status, 200);
    let sandbox = served.sandbox();
    let run = json!({"command": ["sh", "-c", format!("true {}", secrets[0])]});
    assert_eq!(served.client().post(&format!("{sandbox}/exec"), &run).status, 200);
    let page = served.client().get("/api/v1/events?session_id=s1").text();
    assert!(page.contains("[redacted:") && page.contains("cargo test"), "{page}");
    for secret in &secrets {
        assert!(!page.contains(secret.as_str()), "{page}");
        for name in ["belljar.db", "belljar.db-wal"] {
            let Ok(bytes) = std::fs::read(served.home().join(name)) else { continue };
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{name} has a secret");
        }
    }
}

/// Runs `belljar hook` as an agent would.
fn hook(home: &std::path::Path, payload: &Value) -> std::process::Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_belljar"));
    command.args(["hook", "--agent", "claude-code"]).env("BELLJAR_HOME", home);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.to_string().as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn what_was_said_while_no_server_was_there_is_told_to_the_next_in_order() {
    let mut served = Served::start();
    let said = |event: &str| {
        let ended = hook(&served.home(), &call(event));
        assert!(ended.status.success() && ended.stdout.is_empty() && ended.stderr.is_empty(), "{ended:?}");
    };
    said("PreToolUse");
    served.signal("KILL");
    said("PostToolUse");
    said("Stop");
    served.again();
    let kinds = eventually("everything is told", || {
        let page = served.client().get("/api/v1/events?session_id=s1&after=0").json();
        let events = page["items"].as_array().unwrap();
        let kinds: Vec<_> = events.iter().map(|event| event["kind"].as_str().unwrap().to_owned()).collect();
        (kinds.len() >= 3).then_some(kinds)
    });
    assert_eq!(kinds, ["tool.requested", "tool.finished", "turn.ended"]);
    let left = eventually("the spool is empty", || {
        let names = std::fs::read_dir(served.home().join("spool")).unwrap().flatten();
        let left = names.filter(|entry| entry.path().extension().is_some_and(|end| end == "jsonl")).count();
        (left == 0).then_some(left)
    });
    assert_eq!(left, 0);
}
