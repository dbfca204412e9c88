//! No server, a slow one, a broken one: the agent goes on at once, and nothing is lost.

use std::{fs, io::Write as _, os::unix::fs::PermissionsExt as _, process::Stdio, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    support::{Act, Machine, Scripted},
    twenty::Server,
};

/// More than an observer waits, less than one who asks.
const SLOW: Duration = Duration::from_secs(3);

fn event(name: &str) -> Value {
    json!({"hook_event_name": name, "session_id": "s"})
}

#[test]
fn without_a_server_hooks_are_spooled_in_silence() {
    let machine = Machine::new();
    for name in ["SessionStart", "PreToolUse", "Stop"] {
        let heard = machine.hook(&["--agent", "claude-code"], &event(name));
        assert!(heard.is_silent(), "{heard:?}");
    }
    let spooled = machine.spooled();
    assert_eq!(spooled.len(), 3);
    for (file, name) in spooled.iter().zip(["SessionStart", "PreToolUse", "Stop"]) {
        let path = machine.path("home/spool").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 1);
        let entry: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&entry["event"], &entry["payload"]), (&json!(name), &event(name)));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(
        machine.hook(&["--agent", "cursor"], &event("stop")).out,
        "{}",
        "this agent wants to hear something"
    );
}

#[test]
fn a_server_in_trouble_is_as_good_as_none() {
    for act in [
        Act::Answer(500, "{}".to_owned()),
        Act::Answer(503, String::new()),
        Act::Answer(404, String::new()),
        Act::HangUp,
    ] {
        let machine = Machine::new();
        let _server = Scripted::start(&machine, act.clone());
        let heard = machine.hook(&["--agent", "claude-code"], &event("PostToolUse"));
        assert!(heard.is_silent() && machine.spooled().len() == 1, "{act:?} {heard:?}");
    }
}

fn deleting() -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w",
        "tool_name": "Bash", "tool_input": {"command": "rm -rf /usr"},
    })
}

#[test]
fn a_guard_rules_by_itself_where_a_server_says_what_nobody_understands() {
    for act in [
        Act::Answer(400, "{}".to_owned()),
        Act::Answer(413, String::new()),
        Act::Answer(415, String::new()),
        Act::Answer(422, "{\"code\":\"unreadable\"}".to_owned()),
        Act::Answer(200, "<html>".to_owned()),
        Act::Answer(200, String::new()),
        Act::Answer(200, "{\"verdict\":{\"decision\":\"perhaps\"}}".to_owned()),
        Act::Answer(502, String::new()),
    ] {
        let machine = Machine::new();
        let _server = Scripted::start(&machine, act.clone());
        let heard = machine.hook(&["--agent", "claude-code"], &deleting());
        assert!(heard.out.contains("\"deny\""), "{act:?} {heard:?}");
    }
}

#[test]
fn a_guard_without_a_home_goes_by_the_shipped_rules() {
    let machine = Machine::new();
    let mut command = machine.belljar(&["hook", "--agent", "claude-code"]);
    for name in ["BELLJAR_HOME", "HOME", "XDG_DATA_HOME", "BELLJAR_URL"] {
        command.env_remove(name);
    }
    let heard = crate::support::ended(command, deleting().to_string().as_bytes());
    assert!(heard.out.contains("\"deny\""), "{heard:?}");
}

#[test]
fn a_call_that_cannot_be_read_is_refused_with_a_server_and_without() {
    let mut long = deleting();
    long["tool_input"]["content"] = json!("x ".repeat(5 << 20));
    let whole = long.to_string();
    // What was left of it is named somewhere at the beginning, as agents do.
    let text = format!("{{\"hook_event_name\":\"PreToolUse\",{}", whole.trim_start_matches('{'));
    let machine = Machine::new();
    let heard = machine.run(&["hook", "--agent", "claude-code"], text.as_bytes());
    assert_eq!(heard.code, Some(2), "{heard:?}");
    assert!(heard.err.contains("cannot be read"), "{heard:?}");
    let _server = Scripted::verdict(&machine, &Value::Null);
    let heard = machine.run(&["hook", "--agent", "claude-code"], text.as_bytes());
    assert_eq!(heard.code, Some(2), "{heard:?}");
}

#[test]
fn an_observer_does_not_wait_for_a_slow_server_and_a_guard_does() {
    let machine = Machine::new();
    let _server = Scripted::start(&machine, Act::Silence(SLOW));
    let heard = machine.hook(&["--agent", "claude-code"], &event("PostToolUse"));
    assert!(heard.is_silent() && heard.took < SLOW, "{heard:?}");
    assert_eq!(machine.spooled().len(), 1);
    let heard = machine.hook(&["--agent", "claude-code"], &event("PreToolUse"));
    assert!(heard.is_silent() && heard.took >= SLOW, "{heard:?}");
    let heard = machine.hook(&["--agent", "claude-code", "--wait", "0.1"], &event("PreToolUse"));
    assert!(heard.is_silent() && heard.took < SLOW, "{heard:?}");
    assert_eq!(machine.spooled().len(), 3);
}

#[test]
fn a_home_that_cannot_be_written_hurts_nobody() {
    let machine = Machine::new();
    let mut command = machine.belljar(&["hook", "--agent", "claude-code"]);
    command.env("BELLJAR_HOME", "/proc/nowhere");
    let heard = crate::support::ended(command, event("Stop").to_string().as_bytes());
    assert!(heard.is_silent(), "{heard:?}");
}

#[test]
fn what_was_spooled_is_replayed_in_order_and_once() {
    let machine = Machine::new();
    let names = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
    for name in names {
        machine.hook(&["--agent", "claude-code"], &event(name));
    }
    fs::write(machine.path("home/spool/00000000000000000001-0000000001-9.jsonl"), "nonsense\n").unwrap();
    let failed = machine.run(&["hooks", "replay"], b"");
    assert_eq!(failed.code, Some(125), "{failed:?}");
    assert!(failed.err.contains("the server was gone"), "{failed:?}");
    assert_eq!(machine.spooled().len(), 5, "nothing but the nonsense left");

    let server = Scripted::verdict(&machine, &json!({"decision": "deny", "reason": "too late"}));
    let done = machine.run(&["--json", "hooks", "replay"], b"");
    assert_eq!(done.out.trim(), r#"{"refused":0,"replayed":5}"#, "{done:?}");
    let again = machine.run(&["--json", "hooks", "replay"], b"");
    assert_eq!(again.out.trim(), r#"{"refused":0,"replayed":0}"#, "{again:?}");
    let told: Vec<_> = server.seen().iter().map(|request| request.body["event"].clone()).collect();
    assert_eq!(told, names);
    assert!(server.seen().iter().all(|request| request.line.contains("/claude-code?late=true ")));
    assert!(machine.spooled().is_empty());
}

#[test]
fn an_observer_that_is_told_to_end_tells_first_what_it_heard() {
    let machine = Machine::new();
    let server = Scripted::start(&machine, Act::Silence(SLOW));
    let mut command = machine.belljar(&["hook", "--agent", "claude-code"]);
    let mut hook = command.stdin(Stdio::piped()).spawn().unwrap();
    writeln!(hook.stdin.take().unwrap(), "{}", event("StopFailure")).unwrap();
    while server.seen().is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    // As Claude Code does with hooks that still run when it ends.
    let id = rustix::process::Pid::from_child(&hook);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(hook.wait().unwrap().code(), Some(0));
    assert_eq!(machine.spooled().len(), 1);
}

#[test]
fn a_server_that_was_killed_slows_no_hook() {
    let machine = Machine::new();
    let mut server = Server::start(&machine);
    let median = |name: &str| {
        let mut spans: Vec<Duration> = (0..31)
            .map(|_| {
                let heard = machine.hook(&["--agent", "claude-code"], &event(name));
                assert!(heard.is_silent(), "{heard:?}");
                heard.took
            })
            .collect();
        spans.sort();
        spans[15]
    };
    let kinds = ["PostToolUse", "PreToolUse"];
    let before = kinds.map(median);
    server.kill();
    let after = kinds.map(median);
    // A socket nobody listens at refuses at once: what is left is writing a file, with no patience spent.
    for (before, after) in before.into_iter().zip(after) {
        assert!(after < 4 * before + Duration::from_millis(20), "{after:?} after, {before:?} before");
    }
    assert_eq!(machine.spooled().len(), 62);
}
