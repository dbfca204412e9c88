//! One record per call.

use belljar_domain::{
    EventStatus, NewEvent, Verdict,
    eye::{ErrorGroupState, Told},
};
use serde_json::json;

use crate::shelf::{event, fold, hook};

fn before() -> NewEvent {
    hook(
        "tool.requested",
        1,
        json!({"tool": "Bash", "tool_use_id": "t1", "prompt_id": "p", "tool_input": {"command": "ls"}}),
    )
}

fn after() -> NewEvent {
    let mut event = hook(
        "tool.finished",
        3,
        json!({"tool": "Bash", "tool_use_id": "t1", "tool_response": {"stdout": "x"}}),
    );
    event.status = Some(EventStatus::Success);
    event
}

fn reported() -> NewEvent {
    let mut event = event(
        "tool.reported",
        3,
        json!({"source": "otlp", "tool_use_id": "t1", "request_id": "r1", "output_bytes": 7}),
    );
    event.tool = Some("Bash".to_owned());
    event.status = Some(EventStatus::Success);
    event.duration_ms = Some(1800);
    event
}

fn decided() -> NewEvent {
    let mut event =
        event("tool.decided", 1, json!({"source": "otlp", "tool_use_id": "t1", "request_id": "r1"}));
    event.tool = Some("Bash".to_owned());
    event.decision = Some(Verdict::Allow);
    event.reason = Some("config".to_owned());
    event
}

fn called() -> NewEvent {
    let usage = json!({"input": 1000, "output": 10});
    let mut event = event(
        "model.called",
        1,
        json!({"source": "otlp", "request_id": "r1", "model": "claude-opus-5-5", "usage": usage}),
    );
    event.cost_micros = Some(600);
    event
}

fn transcript() -> NewEvent {
    let facts = json!([
        {"fact": "usage", "message": "m1", "request": "r1", "model": "claude-opus-5-5", "tokens": {"input": 1000, "output": 10}, "session": "s"},
        {"fact": "use", "id": "t1", "tool": "Bash", "message": "m1", "session": "s"},
        {"fact": "result", "id": "t1", "error": false, "session": "s"},
    ]);
    event("transcript.read", 9, json!({"source": "transcript", "facts": facts}))
}

#[test]
fn hook_telemetry_and_transcript_join_to_one_record_in_any_order() {
    let mut all = vec![before(), after(), reported(), decided(), called(), transcript()];
    let mut seen = Vec::new();
    for _ in 0..6 {
        all.rotate_left(1);
        for swap in 0..5 {
            let mut order = all.clone();
            order.swap(swap, swap + 1);
            let memory = fold(&order);
            assert_eq!((memory.calls.len(), memory.requests.len()), (1, 1), "{order:?}");
            let call = memory.calls.values().next().unwrap();
            let session = &memory.sessions["s"];
            assert_eq!((session.counts.calls, session.counts.succeeded), (1, 1));
            assert_eq!((session.spent.requests, session.spent.cost.micros()), (1, 600));
            assert_eq!((call.cost.unwrap().micros(), call.tokens.unwrap().input), (600, 1000));
            seen.push((call.known.clone(), call.told));
        }
    }
    let (known, told) = &seen[0];
    assert!(seen.iter().all(|other| other == &seen[0]), "the order does not matter");
    assert_eq!((known.outcome, known.decision), (Some(EventStatus::Success), Some(Verdict::Allow)));
    assert_eq!((known.duration_ms, known.output_bytes), (Some(1800), Some(7)));
    assert_eq!(
        (known.decided_by.as_deref(), known.input.as_deref()),
        (Some("config"), Some("{\"command\":\"ls\"}"))
    );
    assert_eq!(
        (told.of("outcome"), told.of("duration_ms"), told.of("decision")),
        (Some(Told::Hook), Some(Told::Telemetry), Some(Told::Telemetry))
    );
}

#[test]
fn a_call_that_was_broken_off_stays_so_when_it_is_told_of_as_finished() {
    let mut broken_off = after();
    broken_off.kind = "tool.failed".into();
    broken_off.status = Some(EventStatus::Cancelled);
    broken_off.error = Some("a person said no".to_owned());
    let memory = fold(&[before(), broken_off, after()]);
    let call = memory.calls.values().next().unwrap();
    assert_eq!((memory.calls.len(), call.known.outcome), (1, Some(EventStatus::Cancelled)));
    assert_eq!(call.known.error.as_deref(), Some("a person said no"));
    let counts = &memory.sessions["s"].counts;
    assert_eq!((counts.calls, counts.cancelled, counts.succeeded), (1, 1, 0));
}

#[test]
fn decision_and_outcome_are_two_things() {
    let mut failed = after();
    failed.kind = "tool.failed".into();
    failed.status = Some(EventStatus::Failure);
    failed.error = Some("Exit code 1".to_owned());
    let memory = fold(&[before(), decided(), failed]);
    let call = memory.calls.values().next().unwrap();
    assert_eq!((call.known.decision, call.known.outcome), (Some(Verdict::Allow), Some(EventStatus::Failure)));
    let mut denied =
        hook("permission.denied", 2, json!({"tool": "Bash", "tool_use_id": "t1", "rest": {"reason": "no"}}));
    denied.status = Some(EventStatus::Denied);
    let memory = fold(&[before(), denied]);
    let call = memory.calls.values().next().unwrap();
    assert_eq!((call.known.decision, call.known.outcome), (Some(Verdict::Deny), Some(EventStatus::Denied)));
    assert_eq!((call.known.reason.as_deref(), memory.sessions["s"].counts.denied), (Some("no"), 1));
    // Only that it was refused is known of a call somebody else tells of, and only that it was allowed of this one.
    let mut told = event("tool.finished", 1, json!({}));
    told.tool = Some("Edit".to_owned());
    told.decision = Some(Verdict::Allow);
    let memory = fold(&[told]);
    let call = memory.calls.values().next().unwrap();
    assert_eq!((call.known.decision, call.known.outcome), (Some(Verdict::Allow), None));
}

#[test]
fn a_question_is_answered_and_waits_meanwhile() {
    let asked = hook("permission.asked", 2, json!({"tool": "Bash", "tool_input": {"command": "ls"}}));
    let memory = fold(&[before(), asked.clone()]);
    assert_eq!(memory.calls.values().next().unwrap().known.decision, Some(Verdict::Ask));
    assert_eq!(memory.sessions["s"].state.as_str(), "waiting");
    let memory = fold(&[before(), asked, after(), decided()]);
    assert_eq!(memory.calls.values().next().unwrap().known.decision, Some(Verdict::Allow));
    assert_eq!(memory.sessions["s"].state.as_str(), "working");
}

#[test]
fn calls_without_names_are_paired_by_tool_and_order() {
    let begin = |second, file: &str| {
        hook("tool.requested", second, json!({"tool": "Read", "tool_input": {"path": file}}))
    };
    let end = |second| {
        let mut event = hook("tool.finished", second, json!({"tool": "Read"}));
        event.status = Some(EventStatus::Success);
        event
    };
    let memory = fold(&[begin(1, "a"), begin(2, "b"), end(4), end(8)]);
    let took: Vec<_> = memory.calls.values().map(|call| call.known.duration_ms.unwrap()).collect();
    assert_eq!(took, [3000, 6000]);
    assert_eq!(memory.sessions["s"].counts.succeeded, 2);
    assert!(memory.calls.values().all(|call| call.skew_ms == 100));
}

#[test]
fn an_error_is_counted_once_per_call_and_comes_back_after_it_was_resolved() {
    let failed = |second, name: &str, line: u32| {
        let mut event = hook("tool.failed", second, json!({"tool": "Bash", "tool_use_id": name}));
        event.status = Some(EventStatus::Failure);
        event.error = Some(format!("Exit code 1\n/w/src/a.rs:{line}: no such thing"));
        event
    };
    let mut telemetry = reported();
    telemetry.status = Some(EventStatus::Failure);
    telemetry.error = Some("ShellError".to_owned());
    let mut resolved = event("error_group.resolved", 5, json!({"by": "ada"}));
    resolved.reason = Some("fixed".to_owned());
    let first = fold(&[failed(1, "t1", 1), telemetry.clone(), failed(2, "t2", 99)]);
    assert_eq!(first.errors.len(), 1, "{:?}", first.errors);
    let group = first.errors.values().next().unwrap();
    assert_eq!((group.count, group.title.as_str()), (2, "Exit code # PATH no such thing"));
    resolved.target = Some(group.fingerprint.clone());
    let events = [failed(1, "t1", 1), telemetry, failed(2, "t2", 99), resolved];
    let memory = fold(&events);
    let group = memory.errors.values().next().unwrap();
    assert_eq!((group.state, group.by.as_deref()), (ErrorGroupState::Resolved, Some("ada")));
    let memory = fold(&[&events[..], &[failed(8, "t3", 5)]].concat());
    let group = memory.errors.values().next().unwrap();
    assert_eq!((group.state, group.returned, group.count), (ErrorGroupState::Open, 1, 3));
}

#[test]
fn the_same_call_over_and_over_is_noticed() {
    let call = |number: i64, command: &str| {
        let name = format!("t{number}");
        hook(
            "tool.requested",
            number,
            json!({"tool": "Bash", "tool_use_id": name, "tool_input": {"command": command}}),
        )
    };
    let memory = fold(&[call(1, "ls"), call(2, "make"), call(3, "make"), call(4, "make"), call(5, "make")]);
    let agent = &memory.agents[&("s".to_owned(), String::new())];
    assert_eq!((agent.repetition.times, agent.repetition.tool.as_str()), (4, "Bash"));
    let memory = fold(&[call(1, "make"), call(2, "make"), call(3, "ls")]);
    let agent = &memory.agents[&("s".to_owned(), String::new())];
    assert_eq!((agent.repetition.times, agent.repetition.most), (1, 2));
}

#[test]
fn what_a_person_says_is_the_answer_to_what_was_asked() {
    let mut asked = before();
    asked.decision = Some(Verdict::Ask);
    let mut answered =
        event("approval.answered", 2, json!({"tool_use_id": "t1", "approval": "apr_1", "by": "ann"}));
    (answered.tool, answered.decision) = (Some("Bash".to_owned()), Some(Verdict::Deny));
    let memory = fold(&[asked, answered]);
    let calls: Vec<_> = memory.calls.values().collect();
    assert_eq!(calls.len(), 1);
    assert!(calls.iter().all(|call| call.known.decision == Some(Verdict::Deny)));
    assert!(calls.iter().all(|call| call.known.decided_by.as_deref() == Some("person")));
}

#[test]
fn a_call_that_was_refused_is_over_unless_the_policy_only_observes() {
    let mut refused = before();
    refused.decision = Some(Verdict::Deny);
    let memory = fold(&[refused.clone()]);
    let call = memory.calls.values().next().unwrap();
    assert_eq!((call.known.decision, call.known.outcome), (Some(Verdict::Deny), Some(EventStatus::Denied)));
    assert_eq!(memory.sessions["s"].counts.denied, 1);
    // Whoever goes on all the same is believed.
    let memory = fold(&[refused.clone(), after()]);
    assert_eq!(memory.calls.values().next().unwrap().known.outcome, Some(EventStatus::Success));
    assert_eq!(memory.sessions["s"].counts.denied, 0);
    refused.payload["observed_only"] = json!(true);
    assert_eq!(fold(&[refused]).calls.values().next().unwrap().known.outcome, None);
}
