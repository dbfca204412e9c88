//! `belljar events`: what agents did, on one line a call, found by what it was, and exported piece by piece.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Output, Stdio},
};

use serde_json::{Value, json};

use crate::support::Served;

fn belljar(served: &Served, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_belljar"));
    command.env("BELLJAR_HOME", served.home()).args(words);
    command
}

fn ran(served: &Served, words: &[&str]) -> Output {
    let ran = belljar(served, words).output().unwrap();
    assert!(ran.status.success(), "{words:?}: {ran:?}");
    ran
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect()
}

fn hook(served: &Served, event: &str, more: &Value) {
    let mut payload = json!({"hook_event_name": event, "session_id": "s1", "cwd": "/w"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(served.neighbour().post("/hooks/claude-code", &payload).status, 200);
}

fn call(served: &Served, event: &str, id: &str, command: &str) {
    let more = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}, "error": "Exit code 1"});
    hook(served, event, &more);
}

fn story(served: &Served) {
    hook(served, "UserPromptSubmit", &json!({"prompt": "fix it"}));
    call(served, "PreToolUse", "t1", "cargo test");
    call(served, "PostToolUseFailure", "t1", "cargo test");
    call(served, "PreToolUse", "t2", "cargo build");
    hook(served, "Stop", &json!({"last_assistant_message": "Fixed."}));
}

#[test]
fn a_call_is_one_line_with_what_came_of_it() {
    let served = Served::start();
    story(&served);
    let shown = lines(&ran(&served, &["events", "tail", "--no-follow"]));
    let has = |line: &String, words: &[&str]| words.iter().all(|word| line.contains(word));
    assert_eq!(shown.len(), 4, "{shown:#?}");
    assert!(has(&shown[0], &["claude·s1", "prompt", "fix it"]), "{}", shown[0]);
    assert!(has(&shown[1], &["Bash", "cargo test — Exit code 1", "✗"]), "{}", shown[1]);
    assert!(has(&shown[2], &["Bash", "cargo build", "?"]), "{}", shown[2]);
    assert!(has(&shown[3], &["done", "Fixed.", "✓"]), "{}", shown[3]);
    assert!(!shown.iter().any(|line| line.contains('\u{1b}')), "nobody asked for colour");
    let edits = lines(&ran(&served, &["events", "tail", "--no-follow", "--tool", "Edit,Write"]));
    assert!(edits.is_empty(), "{edits:?}");
}

struct Tail(Child);

impl Drop for Tail {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn who_watches_misses_nothing_when_the_server_goes_and_comes_back() {
    let mut served = Served::start();
    let mut watching = Tail(
        belljar(&served, &["--json", "events", "tail", "-n", "0"]).stdout(Stdio::piped()).spawn().unwrap(),
    );
    let mut shown = BufReader::new(watching.0.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&shown.next().unwrap().unwrap()).unwrap();
    // Until it watches, it may not see; from the first it sees, it sees all.
    let first = std::thread::scope(|scope| {
        let seen = scope.spawn(&mut next);
        while !seen.is_finished() {
            hook(&served, "UserPromptSubmit", &json!({"prompt": "hello"}));
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        seen.join().unwrap()
    });
    assert_eq!(first["payload"]["prompt"], "hello");
    served.restart("KILL");
    hook(&served, "Stop", &json!({"last_assistant_message": "after"}));
    let mut last = first["seq"].as_u64().unwrap();
    loop {
        let event = next();
        let seq = event["seq"].as_u64().unwrap();
        assert!(seq > last, "{seq} came after {last}");
        last = seq;
        if event["kind"] == "turn.ended" {
            break;
        }
    }
}

#[test]
fn events_are_found_and_exported_piece_by_piece() {
    let mut served = Served::start();
    story(&served);
    let failed: Value = serde_json::from_slice(
        &ran(&served, &["--json", "events", "query", "--status", "failure", "--since", "1h"]).stdout,
    )
    .unwrap();
    assert_eq!(failed["items"].as_array().unwrap().len(), 1, "{failed}");
    assert_eq!(failed["items"][0]["target"], "cargo test");
    let whole = lines(&ran(&served, &["events", "export", "--session", "s1"]));
    assert_eq!(whole.len(), 5, "{whole:?}");
    let middle = serde_json::from_str::<Value>(&whole[1]).unwrap()["seq"].to_string();
    let rest = ran(&served, &["events", "export", "--session", "s1", "--after", &middle]);
    assert_eq!(lines(&rest), whole[2..]);
    let said = String::from_utf8_lossy(&rest.stderr).into_owned();
    let last = serde_json::from_str::<Value>(&whole[4]).unwrap()["seq"].to_string();
    assert!(said.contains(&format!("3 events; go on with --after {last}")), "{said}");
    let file = served.work().join("events.csv");
    ran(&served, &["events", "export", "--format", "csv", "--kind", "tool", "-o", file.to_str().unwrap()]);
    let table = std::fs::read_to_string(&file).unwrap();
    assert!(table.starts_with("seq,time,") && table.lines().count() == 4, "{table}");
    // The ledger tells the same without a server.
    served.signal("TERM");
    assert!(served.ended());
    assert_eq!(lines(&ran(&served, &["events", "export", "--session", "s1"])), whole);
    let wrong = belljar(&served, &["events", "query", "--since", "yesterday"]).output().unwrap();
    assert!(
        !wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).contains("how long ago"),
        "{wrong:?}"
    );
    served.again();
}

#[test]
fn events_are_found_by_their_words_and_names_with_a_server_and_without() {
    let mut served = Served::start();
    story(&served);
    let kinds = |served: &Served, words: &[&str]| -> Vec<String> {
        let found = ran(served, &[&["--json", "events", "query", "--session", "s1"], words].concat());
        let found: Value = serde_json::from_slice(&found.stdout).unwrap();
        let items = found["items"].as_array().unwrap().iter();
        items.map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
    };
    let all = |served: &Served| {
        assert_eq!(kinds(served, &["--text", "Cargo TEST"]), ["tool.failed", "tool.requested"]);
        assert_eq!(kinds(served, &["--text", "fix"]), ["prompt.submitted"]);
        assert_eq!(kinds(served, &["--text", "cargo", "--call", "t2"]), ["tool.requested"]);
        assert_eq!(kinds(served, &["--app", "claude-code", "--limit", "1"]), ["turn.ended"]);
        assert!(kinds(served, &["--app", "codex"]).is_empty());
        let tail = lines(&ran(served, &["events", "tail", "--no-follow", "--text", "build"]));
        assert!(tail.len() == 1 && tail[0].contains("cargo build"), "{tail:?}");
    };
    all(&served);
    served.signal("TERM");
    assert!(served.ended());
    all(&served);
    served.again();
}
