//! An answer reaches every vendor in its own words, and where a vendor does not listen nothing is said.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use belljar_capture::{Agent, Answer, HookEvent, Reply, can_ask, reply};
use belljar_domain::Verdict;
use serde_json::{Value, json};

fn event(agent: &Agent, name: &str, more: &Value) -> HookEvent {
    let mut payload = json!({"hook_event_name": name, "session_id": "s"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    HookEvent::of(Some(agent.clone()), Some(name), payload).unwrap()
}

fn said(agent: &Agent, name: &str, verdict: Verdict) -> Reply {
    let answer = Answer::new(verdict, "not here");
    reply(&event(agent, name, &json!({})), Some(&answer))
}

fn json_of(reply: &Reply) -> Value {
    assert_eq!((reply.exit, reply.stderr.as_str()), (0, ""));
    if reply.stdout.is_empty() { Value::Null } else { serde_json::from_str(&reply.stdout).unwrap() }
}

const NOTHING: Value = Value::Null;

#[test]
fn claude_code_is_answered_in_its_words() {
    let decision = |what: &str| {
        json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": what, "permissionDecisionReason": "not here",
        }})
    };
    let request = |decision: Value| json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    let block = json!({"decision": "block", "reason": "not here"});
    for (name, allow, ask, deny) in [
        ("PreToolUse", decision("allow"), decision("ask"), decision("deny")),
        (
            "PermissionRequest",
            request(json!({"behavior": "allow"})),
            NOTHING,
            request(json!({"behavior": "deny", "message": "not here"})),
        ),
        ("UserPromptSubmit", NOTHING, NOTHING, block.clone()),
        ("PostToolUse", NOTHING, NOTHING, block.clone()),
        ("Stop", NOTHING, NOTHING, block.clone()),
        ("SubagentStop", NOTHING, NOTHING, block),
        ("SessionStart", NOTHING, NOTHING, NOTHING),
        ("SessionEnd", NOTHING, NOTHING, NOTHING),
        ("Notification", NOTHING, NOTHING, NOTHING),
        ("WorktreeCreate", NOTHING, NOTHING, NOTHING),
        ("FromTheFuture", NOTHING, NOTHING, NOTHING),
    ] {
        let heard = [Verdict::Allow, Verdict::Ask, Verdict::Deny]
            .map(|verdict| json_of(&said(&Agent::ClaudeCode, name, verdict)));
        assert_eq!(heard, [allow, ask, deny], "{name}");
    }
}

#[test]
fn events_of_claude_code_that_know_only_the_exit_code_get_it() {
    for name in
        ["ConfigChange", "PreCompact", "PreModelSwitch", "TaskCreated", "PostToolBatch", "Elicitation"]
    {
        assert_eq!(said(&Agent::ClaudeCode, name, Verdict::Deny), Reply::refusal("not here"), "{name}");
        assert_eq!(said(&Agent::ClaudeCode, name, Verdict::Ask), Reply::silence(), "{name}");
    }
}

#[test]
fn codex_never_hears_a_bare_yes_or_a_question() {
    for verdict in [Verdict::Allow, Verdict::Ask] {
        assert_eq!(json_of(&said(&Agent::Codex, "PreToolUse", verdict)), NOTHING);
    }
    let output = json_of(&said(&Agent::Codex, "PreToolUse", Verdict::Deny));
    assert_eq!(output["hookSpecificOutput"]["permissionDecision"], "deny");
    let mute = Answer::new(Verdict::Deny, " ");
    let output = json_of(&reply(&event(&Agent::Codex, "PreToolUse", &json!({})), Some(&mute)));
    assert_eq!(output["hookSpecificOutput"]["permissionDecisionReason"], "denied by belljar");
    assert_eq!(json_of(&said(&Agent::Codex, "Interrupt", Verdict::Deny)), NOTHING);
}

#[test]
fn gemini_cursor_and_opencode_are_answered_in_their_words() {
    let deny = json!({"decision": "deny", "reason": "not here"});
    for name in ["BeforeTool", "BeforeAgent", "AfterTool"] {
        assert_eq!(json_of(&said(&Agent::Gemini, name, Verdict::Deny)), deny, "{name}");
        assert_eq!(json_of(&said(&Agent::Gemini, name, Verdict::Ask)), NOTHING, "{name}");
    }
    assert_eq!(json_of(&said(&Agent::Gemini, "SessionEnd", Verdict::Deny)), NOTHING);

    for (verdict, word) in [(Verdict::Deny, "deny"), (Verdict::Ask, "ask")] {
        let heard = json_of(&said(&Agent::Cursor, "beforeShellExecution", verdict));
        assert_eq!(
            heard,
            json!({"permission": word, "user_message": "not here", "agent_message": "not here"})
        );
    }
    let heard = json_of(&said(&Agent::Cursor, "beforeSubmitPrompt", Verdict::Deny));
    assert_eq!(heard, json!({"continue": false, "user_message": "not here"}));
    assert_eq!(json_of(&said(&Agent::Cursor, "afterFileEdit", Verdict::Deny)), json!({}));
    assert_eq!(json_of(&said(&Agent::OpenCode, "tool.execute.before", Verdict::Deny)), deny);
}

#[test]
fn nothing_to_say_is_said_as_each_vendor_wants_it() {
    for agent in Agent::KNOWN {
        let heard = reply(&event(&agent, "PreToolUse", &json!({})), None);
        let expected = if agent == Agent::Cursor { "{}" } else { "" };
        assert_eq!(heard, Reply { stdout: expected.to_owned(), ..Reply::silence() }, "{agent}");
    }
}

#[test]
fn a_turn_is_never_sent_on_twice() {
    let answer = Answer::new(Verdict::Deny, "tests fail");
    for (agent, name, again) in [
        (Agent::ClaudeCode, "Stop", json!({"stop_hook_active": true})),
        (Agent::ClaudeCode, "SubagentStop", json!({"stop_hook_active": true})),
        (Agent::Codex, "Stop", json!({"stop_hook_active": true})),
        (Agent::Gemini, "AfterAgent", json!({"stop_hook_active": true})),
        (Agent::Cursor, "stop", json!({"loop_count": 1})),
    ] {
        let first = reply(&event(&agent, name, &json!({})), Some(&answer));
        assert!(first.stdout.contains("tests fail"), "{agent} {name}");
        assert_eq!(
            reply(&event(&agent, name, &again), Some(&answer)),
            Reply::nothing(&agent),
            "{agent} {name}"
        );
    }
}

#[test]
fn a_program_we_do_not_know_is_refused_by_the_exit_code() {
    let agent = Agent::from("aider");
    assert_eq!(said(&agent, "PreToolUse", Verdict::Deny), Reply::refusal("not here"));
    assert_eq!(said(&agent, "PreToolUse", Verdict::Ask), Reply::silence());
    assert_eq!(said(&agent, "Stop", Verdict::Deny), Reply::silence());
}

#[test]
fn a_changed_input_is_what_every_vendor_runs_or_it_runs_nothing() {
    let instead = json!({"command": "ls"});
    let answer = Answer { updated_input: Some(instead.clone()), ..Answer::new(Verdict::Allow, "so") };
    let given = json!({"tool_name": "Bash", "tool_input": {"command": "rm x"}});
    let heard = |agent: Agent, name: &str| reply(&event(&agent, name, &given), Some(&answer));
    let output = json_of(&heard(Agent::ClaudeCode, "PreToolUse"));
    assert_eq!(output["hookSpecificOutput"]["permissionDecision"], "allow");
    assert_eq!(output["hookSpecificOutput"]["updatedInput"], instead);
    let output = json_of(&heard(Agent::ClaudeCode, "PermissionRequest"));
    assert_eq!(
        output["hookSpecificOutput"]["decision"],
        json!({"behavior": "allow", "updatedInput": instead})
    );
    let output = json_of(&heard(Agent::Codex, "PreToolUse"));
    assert_eq!(output["hookSpecificOutput"]["updatedInput"], instead);
    assert_eq!(json_of(&heard(Agent::Cursor, "preToolUse"))["updated_input"], instead);
    assert_eq!(json_of(&heard(Agent::OpenCode, "tool.execute.before"))["input"], instead);
    assert_eq!(json_of(&heard(Agent::Gemini, "BeforeTool"))["hookSpecificOutput"]["tool_input"], instead);
    // Who cannot be given it is told, and does not do what was asked at first.
    let more = json!({"tool_name": "Bash", "tool_input": {"command": "rm x", "force": true}});
    let merged = reply(&event(&Agent::Gemini, "BeforeTool", &more), Some(&answer));
    for told in [merged, heard(Agent::from("aider"), "PreToolUse"), heard(Agent::Codex, "PermissionRequest")]
    {
        assert_eq!(told.exit, 2);
        assert!(told.stderr.contains("{\"command\":\"ls\"}"), "{told:?}");
    }
}

#[test]
fn who_cannot_ask_a_person_is_known() {
    for (agent, name, can) in [
        (Agent::ClaudeCode, "PreToolUse", true),
        (Agent::ClaudeCode, "PermissionRequest", true),
        (Agent::Codex, "PreToolUse", false),
        (Agent::Codex, "PermissionRequest", true),
        (Agent::Gemini, "BeforeTool", false),
        (Agent::Cursor, "preToolUse", true),
        (Agent::OpenCode, "tool.execute.before", false),
        (Agent::from("aider"), "PreToolUse", false),
    ] {
        assert_eq!(can_ask(&event(&agent, name, &json!({}))), can, "{agent} {name}");
    }
}

#[test]
fn claude_code_can_be_stopped_and_put_off() {
    let stop = Answer { stop: true, ..Answer::new(Verdict::Deny, "killed") };
    let output = json_of(&reply(&event(&Agent::ClaudeCode, "PreToolUse", &json!({})), Some(&stop)));
    assert_eq!((&output["continue"], &output["stopReason"]), (&json!(false), &json!("killed")));
    assert_eq!(output["hookSpecificOutput"]["permissionDecision"], "deny");
    let output = json_of(&reply(&event(&Agent::ClaudeCode, "UserPromptSubmit", &json!({})), Some(&stop)));
    assert_eq!((&output["continue"], &output["decision"]), (&json!(false), &json!("block")));
    let later = Answer { defer: true, ..Answer::new(Verdict::Ask, "later") };
    let output = json_of(&reply(&event(&Agent::ClaudeCode, "PreToolUse", &json!({})), Some(&later)));
    assert_eq!(output["hookSpecificOutput"]["permissionDecision"], "defer");
}
