//! Every event of every vendor is understood, and nothing a payload says is lost.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use std::collections::BTreeSet;

use belljar_capture::{Agent, HookEvent, HookKind};
use serde_json::{Value, json};

const CLAUDE_CODE: &str = include_str!("payloads/claude_code.jsonl");
const OTHERS: &str = include_str!("payloads/others.jsonl");

fn lines(text: &str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn read(payload: &Value) -> HookEvent {
    HookEvent::read(None, None, payload.to_string().as_bytes()).unwrap()
}

/// How many fields were promoted, the ones everybody has aside.
fn promoted(event: &HookEvent) -> usize {
    let all = serde_json::to_value(event).unwrap();
    let own = ["agent", "kind", "name", "rest", "findings", "exit_code", "client_time"];
    all.as_object()
        .unwrap()
        .iter()
        .filter(|(name, value)| !own.contains(&name.as_str()) && !value.is_null())
        .count()
}

#[test]
fn all_33_events_of_claude_code_have_a_kind_of_their_own() {
    let mut names = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for payload in lines(CLAUDE_CODE) {
        let event = read(&payload);
        assert_eq!(event.agent, Agent::ClaudeCode, "{payload}");
        assert!(!matches!(event.kind, HookKind::Other(_)), "{payload}");
        assert_eq!(event.findings, [], "{payload}");
        assert!(event.session_id.is_some() && event.cwd.is_some() && event.transcript_path.is_some());
        names.insert(event.name.clone());
        kinds.insert(event.kind.to_string());
    }
    assert_eq!((names.len(), kinds.len()), (33, 33));
}

#[test]
fn every_field_of_claude_code_is_promoted_or_kept() {
    for payload in lines(CLAUDE_CODE) {
        let event = read(&payload);
        let fields = payload.as_object().unwrap().len();
        assert_eq!(promoted(&event) + event.rest.len() + 1, fields, "{payload}\n{event:?}");
    }
}

#[test]
fn calls_of_claude_code_are_read_with_input_response_and_outcome() {
    let find = |name: &str, tool: &str| {
        let all = lines(CLAUDE_CODE).map(|payload| read(&payload));
        let mut fitting = all.filter(|event| event.name == name && event.tool_name.as_deref() == Some(tool));
        fitting.next().unwrap()
    };
    let before = find("PreToolUse", "Bash");
    assert_eq!(before.tool_input.unwrap()["command"], "touch ran.txt");
    assert!(before.kind.is_guard() && before.tool_use_id.is_some() && before.prompt_id.is_some());
    let after = find("PostToolUse", "Bash");
    assert_eq!(
        (after.duration_ms, after.tool_response.unwrap()["interrupted"].clone()),
        (Some(197), json!(false))
    );
    let failed = find("PostToolUseFailure", "Bash");
    assert_eq!((failed.kind, failed.exit_code), (HookKind::ToolFailed, Some(2)));
    assert!(failed.error.unwrap().starts_with("Exit code 2\n"));
    // Hooks of an administrator hear once more of what failed, as if it had not.
    let mut again = lines(CLAUDE_CODE).find(|line| line["hook_event_name"] == "PostToolUse").unwrap();
    again["tool_response"] = json!("Error: Exit code 3\nno such thing");
    let again = read(&again);
    assert_eq!((again.kind, again.exit_code), (HookKind::ToolAfter, Some(3)));
    assert_eq!(again.error.as_deref(), Some("Exit code 3\nno such thing"));
    let asked = find("PermissionRequest", "Bash");
    assert_eq!((asked.tool_use_id, asked.kind), (None, HookKind::Permission));
}

#[test]
fn the_other_vendors_are_told_apart_and_understood() {
    for case in lines(OTHERS) {
        let agent = Agent::from(case["agent"].as_str().unwrap());
        let payload = case["payload"].to_string();
        let event = HookEvent::read(Some(agent.clone()), None, payload.as_bytes()).unwrap();
        assert_eq!((event.kind.as_str(), &event.agent), (case["kind"].as_str().unwrap(), &agent), "{case}");
        assert_eq!(event.findings, [], "{case}");
        assert!(event.session_id.is_some(), "{case}");
        if event.kind == HookKind::ToolBefore || event.kind.is_outcome() {
            assert!(
                event.tool_name.is_some() && event.tool_input.is_some() || agent == Agent::OpenCode,
                "{case}"
            );
        }
        if case["detected"] == true {
            assert_eq!(read(&case["payload"]), event, "{case}");
        }
    }
}

#[test]
fn what_each_vendor_hides_elsewhere_is_found() {
    let all: Vec<HookEvent> = lines(OTHERS)
        .map(|case| {
            let agent = Agent::from(case["agent"].as_str().unwrap());
            HookEvent::of(Some(agent), None, case["payload"].clone()).unwrap()
        })
        .collect();
    let find = |name: &str| all.iter().find(|event| event.name == name).unwrap();
    assert_eq!(find("agent-turn-complete").prompt.as_deref(), Some("make it pass\nplease"));
    assert_eq!(find("PostToolUse").exit_code, Some(0));
    assert_eq!(find("BeforeAgent").client_time.unwrap().to_string(), "2026-01-31T12:00:01.000000Z");
    assert_eq!(find("AfterModel").model.as_deref(), Some("gemini-3"));
    assert_eq!(find("beforeShellExecution").tool_input, Some(json!({"command": "cargo test"})));
    assert_eq!(find("afterShellExecution").duration_ms, Some(12));
    assert_eq!(find("beforeMCPExecution").tool_input, Some(json!({"q": "belljar"})));
    assert_eq!(find("afterMCPExecution").tool_response, Some(json!({"hits": 1})));
    assert_eq!(find("sessionStart").cwd.as_deref(), Some("/srv/app"));
    assert_eq!(find("session.error").error.as_deref(), Some("overloaded"));
    assert_eq!(find("tool.execute.before").tool_use_id.as_deref(), Some("p-1"));
}

#[test]
fn what_is_not_known_is_kept() {
    let event = read(&json!({"hook_event_name": "FromTheFuture", "session_id": "s", "novel": {"a": [1]}}));
    assert_eq!(event.kind, HookKind::Other("FromTheFuture".to_owned()));
    assert_eq!((event.agent, event.rest["novel"].clone()), (Agent::ClaudeCode, json!({"a": [1]})));
}

#[test]
fn wrong_types_become_findings_and_never_a_panic() {
    let wrong = [json!(7), json!([1]), json!({"a": 1}), json!(true), json!(null), json!("")];
    let payloads = lines(CLAUDE_CODE).chain(lines(OTHERS).map(|case| case["payload"].clone()));
    for payload in payloads {
        for name in payload.as_object().unwrap().keys() {
            for value in &wrong {
                let mut broken = payload.clone();
                broken[name] = value.clone();
                for agent in Agent::KNOWN {
                    let event = HookEvent::of(Some(agent), None, broken.clone()).unwrap();
                    assert!(event.findings.iter().all(|finding| finding.path.starts_with("$.")));
                }
            }
        }
    }
    let event = read(&json!({"hook_event_name": "PreToolUse", "session_id": 7, "tool_name": ["Bash"]}));
    let said: Vec<String> = event.findings.iter().map(|f| format!("{} {}", f.path, f.problem)).collect();
    assert_eq!(said, ["$.session_id is a number, not text", "$.tool_name is a list, not text"]);
    assert_eq!(event.rest["session_id"], 7);
}
