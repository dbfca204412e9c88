//! Sessions and the agents in them.

use belljar_domain::eye::SessionState;
use serde_json::json;

use crate::shelf::{event, fold, hook};

#[test]
fn a_session_is_what_it_was_last_seen_doing_whenever_that_is_told() {
    let events = [
        hook(
            "session.started",
            1,
            json!({"model": "claude-opus-5-5", "cwd": "/w", "transcript_path": "/t/s.jsonl"}),
        ),
        hook("prompt.submitted", 2, json!({"prompt": "fix  the\ntest"})),
        hook("tool.requested", 3, json!({"tool": "Bash", "tool_use_id": "t1"})),
        hook("turn.ended", 5, json!({})),
        // Exported after the turn's end, about something before it.
        hook("tool.finished", 4, json!({"tool": "Bash", "tool_use_id": "t1"})),
    ];
    let session = &fold(&events).sessions["s"];
    assert_eq!(session.state, SessionState::Idle);
    assert_eq!((session.title.as_deref(), session.cwd.as_deref()), (Some("fix the test"), Some("/w")));
    assert_eq!(
        (session.model.as_deref(), session.vendor.as_deref()),
        (Some("claude-opus-5-5"), Some("claude-code"))
    );
    assert_eq!((session.counts.events, session.counts.prompts, session.counts.turns), (5, 1, 1));
    let ended = [
        &events[..],
        &[hook("turn.failed", 6, json!({"message": "API Error"})), hook("session.ended", 7, json!({}))],
    ]
    .concat();
    let memory = fold(&ended);
    let session = &memory.sessions["s"];
    assert_eq!(
        (session.state, session.ended.is_some()),
        (SessionState::Failed, true),
        "how it ended is seen"
    );
    assert_eq!(memory.errors.values().next().unwrap().what, "turn");
    let resumed = [&ended[..], &[hook("prompt.submitted", 9, json!({}))]].concat();
    let session = &fold(&resumed).sessions["s"];
    assert_eq!((session.state, session.ended), (SessionState::Working, None));
}

#[test]
fn agents_form_a_tree_whoever_tells_of_it() {
    let of = |agent: &str, kind: &str, second, more: serde_json::Value| {
        let mut payload = more;
        payload["agent_id"] = json!(agent);
        hook(kind, second, payload)
    };
    let events = [
        hook(
            "tool.requested",
            1,
            json!({"tool": "Agent", "tool_use_id": "t1", "tool_input": {"subagent_type": "Explore"}}),
        ),
        of("a1", "agent.started", 2, json!({"agent_type": "Explore"})),
        of("a1", "tool.requested", 3, json!({"tool": "Agent", "tool_use_id": "t2"})),
        of("a2", "agent.started", 4, json!({})),
        of("a2", "agent.stopped", 5, json!({})),
    ];
    let memory = fold(&events);
    let agent = |name: &str| &memory.agents[&("s".to_owned(), name.to_owned())];
    assert_eq!((agent("a1").parent.as_deref(), agent("a1").started_by.as_deref()), (Some(""), Some("t1")));
    assert_eq!((agent("a2").parent.as_deref(), agent("a2").state), (Some("a1"), SessionState::Done));
    assert_eq!(agent("a1").agent_type.as_deref(), Some("Explore"));
    assert_eq!((memory.sessions["s"].counts.subagents, agent("").parent.as_deref()), (2, None));
    // A transcript knows which call started which agent, and what was guessed gives way.
    let facts = json!([
        {"fact": "use", "id": "t9", "tool": "Task", "session": "s", "agent": "a1"},
        {"fact": "result", "id": "t9", "error": false, "session": "s", "agent": "a1", "started": "a3"},
    ]);
    let read = event("transcript.read", 9, json!({"source": "transcript", "facts": facts}));
    let memory = fold(&[of("a3", "agent.started", 1, json!({})), read]);
    let agent = &memory.agents[&("s".to_owned(), "a3".to_owned())];
    assert_eq!((agent.parent.as_deref(), agent.started_by.as_deref()), (Some("a1"), Some("t9")));
}

#[test]
fn a_difference_counts_once_however_often_it_is_exported() {
    let export = |start: u64, time: u64, value: f64| {
        let point = json!({
            "name": "claude_code.cost.usage", "unit": "USD", "temporality": "delta", "value": value,
            "start": start, "time": time, "attributes": {"session.id": "s", "model": "m"},
        });
        event("otel.metrics", 1, json!({"source": "otlp", "points": [point]}))
    };
    let memory = fold(&[export(1, 2, 0.5), export(2, 3, 0.25), export(2, 3, 0.25)]);
    let series = memory.series.values().next().unwrap();
    assert_eq!((series.total(), series.session.as_deref()), (0.75, Some("s")));
}

#[test]
fn events_are_found_by_what_they_say() {
    let mut call = hook(
        "tool.requested",
        3,
        json!({"tool": "Bash", "tool_use_id": "t1", "tool_input": {"command": "grep needle"}}),
    );
    call.target = Some("grep needle".to_owned());
    let memory = fold(&[call]);
    let entry = &memory.index[&1];
    for tag in [
        ("kind", "tool.requested"),
        ("kind", "tool"),
        ("tool", "Bash"),
        ("session", "s"),
        ("app", "claude-code"),
    ] {
        assert!(entry.tags.contains(&(tag.0, tag.1.to_owned())), "{tag:?}: {entry:?}");
    }
    assert!(entry.words.contains("needle"));
}
