//! What a server says reaches the agent in the agent's own form.

use serde_json::{Value, json};

use crate::support::{Act, Machine, Scripted};

fn call(name: &str) -> Value {
    json!({"hook_event_name": name, "session_id": "s", "cwd": "/srv/app", "tool_name": "Bash",
           "tool_input": {"command": "rm -rf /"}, "tool_use_id": "t"})
}

#[test]
fn a_payload_arrives_as_it_was_said_with_who_when_and_where() {
    let machine = Machine::new();
    let server = Scripted::verdict(&machine, &Value::Null);
    let mut command = machine.belljar(&["hook", "--agent", "claude-code"]);
    command.env("BELLJAR_SANDBOX", "sbx_1").env("ANTHROPIC_API_KEY", "sk-secret");
    let heard = crate::support::ended(command, call("PreToolUse").to_string().as_bytes());
    assert!(heard.is_silent(), "{heard:?}");
    let [request] = &server.seen()[..] else { panic!("one request") };
    assert_eq!(request.line, "POST /api/v1/hooks/claude-code HTTP/1.1");
    assert_eq!(request.headers["content-type"], "application/json");
    let body = &request.body;
    assert_eq!(body["payload"], call("PreToolUse"));
    assert_eq!((&body["agent"], &body["event"]), (&json!("claude-code"), &json!("PreToolUse")));
    let env = json!({"BELLJAR_SANDBOX": "sbx_1", "HOME": machine.path("user")});
    assert_eq!((&body["version"], &body["env"]), (&json!(1), &env));
    assert!(body["id"].as_str().unwrap().starts_with("evt_") && body["pid"].as_u64().unwrap() > 1);
    assert!(body["sent_at"].as_str().unwrap().ends_with('Z'));
    assert!(machine.spooled().is_empty());
}

#[test]
fn a_verdict_is_told_in_each_agents_own_form() {
    let machine = Machine::new();
    let _server = Scripted::verdict(&machine, &json!({"decision": "deny", "reason": "no"}));
    let claude = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no",
    }});
    for (agent, event, expected) in [
        ("claude-code", "PreToolUse", claude.clone()),
        ("codex", "PreToolUse", claude),
        ("gemini", "BeforeTool", json!({"decision": "deny", "reason": "no"})),
        ("cursor", "preToolUse", json!({"permission": "deny", "user_message": "no", "agent_message": "no"})),
        ("opencode", "tool.execute.before", json!({"decision": "deny", "reason": "no"})),
    ] {
        let heard = machine.hook(&["--agent", agent], &call(event));
        assert_eq!(heard.code, Some(0), "{agent}: {heard:?}");
        assert_eq!(serde_json::from_str::<Value>(&heard.out).unwrap(), expected, "{agent}");
    }
    let heard = machine.hook(&["--agent", "claude-code"], &call("ConfigChange"));
    assert_eq!((heard.code, heard.err.as_str(), heard.out.as_str()), (Some(2), "no", ""));
    let heard = machine.hook(&["--agent", "claude-code"], &call("SessionEnd"));
    assert!(heard.is_silent(), "{heard:?}");
}

#[test]
fn the_agent_is_told_from_the_payload() {
    let machine = Machine::new();
    let server = Scripted::verdict(&machine, &Value::Null);
    machine.hook(&[], &json!({"hook_event_name": "BeforeTool", "timestamp": "2026-01-31T12:00:00Z"}));
    machine.hook(&[], &json!({"hook_event_name": "stop", "conversation_id": "c"}));
    let asked: Vec<_> = server.seen().iter().map(|request| request.line.clone()).collect();
    assert_eq!(asked, ["POST /api/v1/hooks/gemini HTTP/1.1", "POST /api/v1/hooks/cursor HTTP/1.1"]);
}

#[test]
fn the_old_notice_of_codex_comes_as_an_argument() {
    let machine = Machine::new();
    let server = Scripted::verdict(&machine, &Value::Null);
    let notice = json!({"type": "agent-turn-complete", "thread-id": "t", "turn-id": "u"});
    let heard = machine.run(&["hook", "--agent", "codex", "--notify", &notice.to_string()], b"");
    assert!(heard.is_silent(), "{heard:?}");
    assert_eq!(
        (&server.seen()[0].body["payload"], &server.seen()[0].body["event"]),
        (&notice, &json!("agent-turn-complete"))
    );
}

#[test]
fn no_words_and_no_input_make_it_exit_with_anything_but_0() {
    let machine = Machine::new();
    let server = Scripted::verdict(&machine, &Value::Null);
    for args in
        [&["hook", "--no-such-flag", "x"][..], &["hook", "--agent"], &["hook", "--agent=../..", "--", "-x"]]
    {
        for input in
            [&b""[..], b"nonsense", b"[1,2]", b"{\"hook_event_name\":7}", b"\xff\xfe", &[b'['; 100_000]]
        {
            let heard = machine.run(args, input);
            assert!(heard.is_silent(), "{args:?} {heard:?}");
        }
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 18, "even nonsense is told");
    assert!(seen.iter().all(|request| request.line.starts_with("POST /api/v1/hooks/")));
    assert_eq!(seen[1].body["text"], "nonsense");
    let help = machine.run(&["hook", "--help"], b"");
    assert!(help.code == Some(0) && help.out.contains("--agent"), "{help:?}");
}

#[test]
fn an_input_beyond_all_bounds_is_read_to_its_end_and_told_in_part() {
    let machine = Machine::new();
    let server = Scripted::verdict(&machine, &Value::Null);
    let heard = machine.run(&["hook"], &vec![b'x'; 20 << 20]);
    assert!(heard.is_silent(), "{heard:?}");
    assert_eq!(server.seen()[0].body["text"].as_str().unwrap().len(), 64 << 10);
}

#[test]
fn what_a_server_will_never_take_is_not_kept() {
    let machine = Machine::new();
    let _server = Scripted::start(&machine, Act::Answer(422, "{\"code\":\"unreadable\"}".to_owned()));
    let heard = machine.hook(&["--verbose"], &call("Stop"));
    assert_eq!(heard.code, Some(0));
    assert!(heard.err.starts_with("belljar hook: refused: status 422"), "{heard:?}");
    assert!(machine.spooled().is_empty());
}
