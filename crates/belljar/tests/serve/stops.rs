//! What follows when an agent stops: its conversation is archived, people are told, commands are run, each once.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
};

use serde_json::{Value, json};

use crate::support::{Receiver, Served, eventually};

fn stop(served: &Served, hook: &str, session: &str, transcript: &Path, more: &Value) {
    let mut payload = json!({
        "hook_event_name": hook, "session_id": session, "transcript_path": transcript, "cwd": "/w",
        "last_assistant_message": "All tests pass.\nReally.",
    });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(served.neighbour().post("/hooks/claude-code", &payload).status, 200);
}

fn events(served: &Served, kind: &str, session: &str) -> Vec<Value> {
    let page =
        served.client().get(&format!("/api/v1/events?after=0&kind={kind}&session_id={session}")).json();
    page["items"].as_array().unwrap().clone()
}

fn artifact(served: &Served, event: &Value, name: &str) -> Option<String> {
    let digest = event["payload"][name]["digest"].as_str()?;
    Some(served.client().get(&format!("/api/v1/artifacts/{digest}")).text())
}

#[test]
fn a_conversation_is_archived_without_its_secrets() {
    let served = Served::start();
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let transcript = served.work().join("s1.jsonl");
    let line = json!({"type": "user", "message": {"content": format!("my token is {secret}")}});
    fs::write(&transcript, format!("{line}\nno json {secret}\n")).unwrap();
    let below = served.work().join("s1/subagents");
    fs::create_dir_all(&below).unwrap();
    fs::write(below.join("agent-a1.jsonl"), "{\"type\":\"assistant\"}\n").unwrap();
    let call = json!({"hook_event_name": "PostToolUseFailure", "session_id": "s1", "tool_name": "Bash",
        "tool_use_id": "t1", "tool_input": {"command": "false"}, "error": "exit 1", "agent_id": "a1", "agent_type": "Explore"});
    assert_eq!(served.neighbour().post("/hooks/claude-code", &call).status, 200);
    let denied = json!({"hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": "Bash", "tool_use_id": "t2",
        "tool_input": {"command": "rm -rf /"}, "cwd": served.work()});
    let told = served.neighbour().post("/hooks/claude-code", &denied).text();
    assert!(told.contains("\"deny\""), "{told}");
    stop(&served, "Stop", "s1", &transcript, &json!({}));
    stop(&served, "SessionEnd", "s1", &transcript, &json!({"reason": "other"}));
    let archived =
        eventually("it is archived", || events(&served, "session.archived", "s1").into_iter().next());
    let kept = artifact(&served, &archived, "transcript").unwrap();
    assert!(kept.contains("my token is [redacted:") && !kept.contains(&secret), "{kept}");
    let bundle = artifact(&served, &archived, "bundle").unwrap();
    assert!(!bundle.contains(&secret));
    for name in ["summary.json", "events.jsonl", "transcript.jsonl", "subagents/agent-a1.jsonl"] {
        assert!(bundle.contains(name), "{name}");
    }
    let summary = &archived["payload"]["summary"];
    assert_eq!((&summary["state"], &summary["reason"]), (&json!("over"), &json!("other")), "{summary}");
    assert_eq!(summary["tools"], json!([{"tool": "Bash", "calls": 2, "failed": 1, "denied": 1}]));
    assert_eq!(summary["subagents"][0]["agent_type"], "Explore", "{summary}");
    assert_eq!(summary["last_message"], "All tests pass.\nReally.");
}

#[test]
fn only_a_file_of_the_sessions_own_name_is_read() {
    let served = Served::start();
    let private = served.work().join("private.txt");
    fs::write(&private, "nobody's business\n").unwrap();
    let link = served.work().join("s3.jsonl");
    symlink(&private, &link).unwrap();
    for (session, path) in [("s2", private.as_path()), ("s3", &link), ("s4", Path::new("/etc/s4.jsonl"))] {
        stop(&served, "SessionEnd", session, path, &json!({}));
        let archived =
            eventually("it is archived", || events(&served, "session.archived", session).into_iter().next());
        assert!(archived["payload"].get("transcript").is_none(), "{archived}");
        assert!(!artifact(&served, &archived, "bundle").unwrap().contains("business"));
    }
}

#[test]
fn people_are_told_and_commands_are_run_once() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let config = format!(
        "[stop]\ncommand = [\"sh\", \"-c\", 'echo \"$1\" >> {0}', \"sh\", \"{{text}} ({{session}})\"]\n\
         say = [\"sh\", \"-c\", 'echo \"$1\" >> {1}', \"sh\", \"{{message}}\"]\n\
         run = ['cat >> {2}; echo \"$BELLJAR_SESSION\" >> {2}', 'exit 7']\n[webhooks]\nallow_private = true\n",
        at("told"),
        at("said"),
        at("ran")
    );
    let served = Served::start_configured(&config);
    let receiver = Receiver::listen();
    let hook = json!({"url": receiver.url(), "events": ["turn.ended"]});
    assert_eq!(served.client().post("/api/v1/webhooks", &hook).status, 201);
    let nowhere = Path::new("/nowhere/s5.jsonl");
    stop(&served, "Stop", "s5", nowhere, &json!({"stop_hook_active": false}));
    let done = eventually("both commands ran", || {
        Some(events(&served, "session.processed", "s5")).filter(|done| done.len() == 2)
    });
    assert_eq!(
        (&done[0]["status"], &done[1]["payload"]["exit_code"]),
        (&json!("success"), &json!(7)),
        "{done:?}"
    );
    // Sent on by a hook, it stops again: that is no news.
    stop(&served, "Stop", "s5", nowhere, &json!({"stop_hook_active": true}));
    stop(&served, "Stop", "s6", nowhere, &json!({}));
    let told = eventually("the other is told", || {
        let told = fs::read_to_string(at("told")).ok()?;
        told.contains("(s6)").then_some(told)
    });
    assert_eq!(told.lines().next(), Some("claude-code is done: All tests pass. (s5)"));
    assert_eq!(told.lines().count(), 2, "{told}");
    eventually("it is said", || (fs::read_to_string(at("said")).ok()?.lines().count() == 2).then_some(()));
    eventually("all ran", || (events(&served, "session.processed", "s6").len() == 2).then_some(()));
    let ran = fs::read_to_string(at("ran")).unwrap();
    assert!(ran.contains("\"session_id\":\"s5\"") && ran.contains("\ns5\n"), "{ran}");
    assert_eq!(receiver.next().json()["type"], "turn.ended");
}

#[test]
fn what_follows_a_stop_is_left_to_the_next_server_by_one_that_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let ran = dir.path().join("ran");
    let mut served = Served::start_configured(&format!(
        "[stop]\nrun = ['echo \"$BELLJAR_SESSION\" >> {}']\n",
        ran.display()
    ));
    for session in ["s7", "s8", "s9"] {
        let transcript = served.work().join(format!("{session}.jsonl"));
        let usage = json!({"input_tokens": 10, "output_tokens": 5});
        let said = json!({"id": "m1", "model": "claude-opus-5-5", "usage": usage, "content": []});
        let line = json!({"type": "assistant", "sessionId": session, "requestId": "r1", "message": said});
        fs::write(&transcript, format!("{line}\n")).unwrap();
        stop(&served, "Stop", session, &transcript, &json!({}));
        stop(&served, "SessionEnd", session, &transcript, &json!({"reason": "other"}));
        served.restart("KILL");
    }
    for session in ["s7", "s8", "s9"] {
        for kind in ["session.archived", "session.processed", "transcript.read"] {
            eventually(kind, || events(&served, kind, session).into_iter().next());
        }
        let lines = fs::read_to_string(&ran).unwrap();
        assert!(lines.lines().any(|line| line == session), "{lines}");
    }
}

#[test]
fn commands_that_are_wanted_again_are_for_stops_after_that() {
    let dir = tempfile::tempdir().unwrap();
    let ran = dir.path().join("ran");
    let config = format!("[stop]\nrun = ['echo \"$BELLJAR_SESSION\" >> {}']\n", ran.display());
    let mut served = Served::start_configured(&config);
    let nowhere = Path::new("/nowhere/s.jsonl");
    let ran_for = |session: &str| fs::read_to_string(&ran).is_ok_and(|ran| ran.contains(session));
    stop(&served, "Stop", "wanted", nowhere, &json!({}));
    eventually("it ran", || ran_for("wanted").then_some(()));
    let own = served.home().join("belljar.toml");
    fs::write(&own, "").unwrap();
    served.restart("TERM");
    stop(&served, "Stop", "unwanted", nowhere, &json!({}));
    fs::write(&own, &config).unwrap();
    served.restart("TERM");
    stop(&served, "Stop", "again", nowhere, &json!({}));
    eventually("it ran", || ran_for("again").then_some(()));
    assert!(!ran_for("unwanted"));
}

#[test]
fn a_notice_on_the_desktop_says_who_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let (bin, shown) = (dir.path().join("bin"), dir.path().join("shown"));
    fs::create_dir(&bin).unwrap();
    // What stands for a desktop here: a program of that name that writes down what it is to show.
    let script = format!("#!/bin/sh\nprintf '%s|' \"$@\" >> {}\n", shown.display());
    fs::write(bin.join("notify-send"), script).unwrap();
    fs::set_permissions(bin.join("notify-send"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let served = Served::start_with(&[("PATH", &path), ("BELLJAR_STOP_DESKTOP", "true")]);
    let more = json!({"last_assistant_message": "--help; $(rm -rf /)\nmore"});
    stop(&served, "Stop", "s", Path::new("/nowhere/s.jsonl"), &more);
    let told =
        eventually("it is shown", || fs::read_to_string(&shown).ok().filter(|told| told.ends_with("/)|")));
    assert_eq!(told, "--app-name=belljar|--|belljar|claude-code is done: --help; $(rm -rf /)|");
}
