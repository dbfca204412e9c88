//! What agents did, asked of a real server: one record per call, sessions and their traces, errors, money.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Served, eventually};

const SESSION: &str = "s-eye";

/// Tells a hook, with a number of its own.
fn hook(served: &Served, number: u8, payload: &Value) {
    let mut payload = payload.clone();
    payload["session_id"] = json!(SESSION);
    let envelope = json!({
        "version": 1, "id": format!("evt_0192f0c00000700080000000000002{number:02x}"), "agent": "claude-code",
        "sent_at": format!("2026-11-16T04:00:{number:02}Z"), "pid": 7, "env": {}, "payload": payload,
    });
    let answer = served.neighbour().post("/api/v1/hooks/claude-code", &envelope);
    assert_eq!(answer.status, 200, "{answer:?}");
}

fn export(served: &Served, records: &[(&str, Value)]) {
    let records: Vec<Value> = (0..).zip(records).map(|(at, (name, said))| {
        let mut attributes = vec![
            json!({"key": "session.id", "value": {"stringValue": SESSION}}),
            json!({"key": "event.sequence", "value": {"intValue": at}}),
        ];
        attributes.extend(said.as_object().unwrap().iter().map(|(key, value)| match value {
            Value::String(text) => json!({"key": key, "value": {"stringValue": text}}),
            number => json!({"key": key, "value": {"intValue": number}}),
        }));
        json!({"timeUnixNano": "1794801605000000000", "body": {"stringValue": format!("claude_code.{name}")}, "attributes": attributes})
    }).collect();
    let body = json!({"resourceLogs": [{"scopeLogs": [{"scope": {"name": "com.anthropic.claude_code.events"}, "logRecords": records}]}]});
    assert_eq!(served.client().post("/v1/logs", &body).status, 200);
}

fn get(served: &Served, path: &str) -> Value {
    let answer = served.client().get(path);
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.json()
}

/// A session of three calls, one of which fails, told by hooks, telemetry and a transcript.
fn tell(served: &Served) {
    let transcript = served.work().join(format!("{SESSION}.jsonl"));
    let usage = json!({"input_tokens": 1000, "output_tokens": 50});
    let said = json!({"id": "msg_1", "model": "claude-opus-5-5", "usage": usage, "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash"}]});
    let line = json!({"type": "assistant", "sessionId": SESSION, "requestId": "req_1", "message": said});
    fs::write(&transcript, format!("{line}\n")).unwrap();
    hook(served, 1, &json!({"hook_event_name": "SessionStart", "model": "claude-opus-5-5", "cwd": "/w"}));
    hook(
        served,
        2,
        &json!({"hook_event_name": "UserPromptSubmit", "prompt": "find the needle", "prompt_id": "p1"}),
    );
    for number in 1..=3 {
        let name = format!("toolu_{number}");
        let call = json!({"tool_name": "Bash", "tool_use_id": name, "prompt_id": "p1", "tool_input": {"command": "make"}});
        let mut before = call.clone();
        before["hook_event_name"] = json!("PreToolUse");
        hook(served, 10 + number * 2, &before);
        let mut after = call;
        after["hook_event_name"] = json!(if number == 3 { "PostToolUseFailure" } else { "PostToolUse" });
        after["error"] =
            json!(if number == 3 { json!("Exit code 2\n/w/Makefile:3: no rule") } else { Value::Null });
        hook(served, 11 + number * 2, &after);
    }
    export(
        served,
        &[
            (
                "api_request",
                json!({"request_id": "req_1", "model": "claude-opus-5-5", "input_tokens": 1000, "output_tokens": 50, "cost_usd_micros": 6000, "duration_ms": 900}),
            ),
            (
                "tool_decision",
                json!({"tool_name": "Bash", "tool_use_id": "toolu_1", "request_id": "req_1", "decision": "accept", "source": "config"}),
            ),
            (
                "tool_result",
                json!({"tool_name": "Bash", "tool_use_id": "toolu_1", "request_id": "req_1", "success": "true", "duration_ms": 1234, "tool_result_size_bytes": 77}),
            ),
        ],
    );
    hook(served, 20, &json!({"hook_event_name": "Stop", "transcript_path": transcript}));
    eventually("the transcript is read", || {
        let page = get(served, "/api/v1/events?kind=transcript.read");
        (!page["items"].as_array().unwrap().is_empty()).then_some(())
    });
}

#[test]
fn hooks_telemetry_and_transcript_join_to_one_record_per_call_with_the_right_cost() {
    let served = Served::start();
    tell(&served);
    let calls = get(&served, &format!("/api/v1/calls?session_id={SESSION}"));
    let calls = calls["items"].as_array().unwrap();
    assert_eq!(calls.len(), 3, "{calls:?}");
    let first = get(&served, "/api/v1/calls/toolu_1");
    assert_eq!(first, get(&served, &format!("/api/v1/calls/{}", first["id"].as_str().unwrap())));
    assert_eq!(
        (&first["outcome"], &first["decision"], &first["decided_by"]),
        (&json!("success"), &json!("allow"), &json!("config"))
    );
    assert_eq!((&first["duration_ms"], &first["output_bytes"]), (&json!(1234), &json!(77)));
    assert_eq!(
        (&first["told"]["duration_ms"], &first["told"]["outcome"]),
        (&json!("telemetry"), &json!("hook"))
    );
    assert_eq!(first["cost_usd"], 0.006, "{first}");
    let failed = get(&served, "/api/v1/calls?outcome=failure&tool=Bash");
    assert_eq!(failed["items"][0]["tool_use_id"], "toolu_3");
    let session = get(&served, &format!("/api/v1/sessions/{SESSION}"));
    assert_eq!(
        (&session["state"], &session["title"]),
        (&json!("idle"), &json!("find the needle")),
        "{session}"
    );
    assert_eq!((&session["counts"]["calls"], &session["counts"]["failed"]), (&json!(3), &json!(1)));
    assert_eq!((&session["spent"]["requests"], &session["spent"]["cost_usd"]), (&json!(1), &json!(0.006)));
    assert_eq!(
        (&session["spent"]["basis"], &session["agents"][0]["own"]["requests"]),
        (&json!("reported"), &json!(1))
    );
    let trace = get(&served, &format!("/api/v1/sessions/{SESSION}/trace"));
    let kinds: Vec<_> =
        trace["items"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["event", "event", "call", "call", "call", "request", "event"], "{trace}");
    let paged = get(&served, &format!("/api/v1/sessions/{SESSION}/trace?limit=3"));
    let rest = get(
        &served,
        &format!("/api/v1/sessions/{SESSION}/trace?cursor={}", paged["next_cursor"].as_str().unwrap()),
    );
    assert_eq!(rest["items"].as_array().unwrap().len(), 4);
    let listed = get(&served, "/api/v1/sessions?state=idle,working&app=claude-code");
    assert_eq!(listed["items"][0]["session_id"], SESSION);
    for by in ["day", "project", "session", "agent", "model"] {
        let report = get(&served, &format!("/api/v1/cost?by={by}"));
        assert_eq!(
            (&report["total_usd"], &report["items"][0]["requests"]),
            (&json!(0.006), &json!(1)),
            "{by}: {report}"
        );
    }
    assert_eq!(get(&served, "/api/v1/cost?by=tool")["items"][0]["cost_usd"], 0.006);
}

#[test]
fn tools_agents_errors_and_loops_are_reported() {
    let served = Served::start();
    tell(&served);
    let tools = get(&served, "/api/v1/tools/usage?step=week");
    let bash = &tools["items"][0];
    assert_eq!(
        (&bash["tool"], &bash["calls"], &bash["failed"]),
        (&json!("Bash"), &json!(3), &json!(1)),
        "{tools}"
    );
    assert_eq!(bash["trend"][0]["from"], "2026-11-16");
    let agents = get(&served, &format!("/api/v1/agents/metrics?agent_id={SESSION}"));
    let agent = &agents["items"][0];
    assert_eq!((&agent["counts"]["calls"], &agent["score"]["speed"]), (&json!(3), &json!(100.0)), "{agents}");
    // Only what happened lately is worth a word.
    for number in 0..3 {
        let again = json!({"hook_event_name": "PreToolUse", "session_id": "s-loop", "tool_name": "Bash",
            "tool_use_id": format!("loop_{number}"), "tool_input": {"command": "cargo test"}});
        assert_eq!(served.client().post("/hooks/claude-code", &again).status, 200);
    }
    let detections = get(&served, "/api/v1/detections?repeats=3");
    assert_eq!(
        (&detections["items"][0]["kind"], &detections["items"][0]["times"]),
        (&json!("loop"), &json!(3)),
        "{detections}"
    );
    let errors = get(&served, "/api/v1/errors?state=open");
    let error = &errors["items"][0];
    assert_eq!(
        (&error["count"], &error["tool"], &error["title"]),
        (&json!(1), &json!("Bash"), &json!("Exit code # PATH no rule"))
    );
    let path = format!("/api/v1/errors/{}", error["fingerprint"].as_str().unwrap());
    assert_eq!(served.client().post(&format!("{path}/resolve"), &json!({"reason": " "})).status, 400);
    let resolved =
        served.client().post(&format!("{path}/resolve"), &json!({"reason": "fixed", "by": "ada"})).json();
    assert_eq!(
        (&resolved["state"], &resolved["by"], &resolved["reason"]),
        (&json!("resolved"), &json!("ada"), &json!("fixed"))
    );
    served.client().post(&format!("{path}/resolve"), &json!({"reason": "again"})).is_problem(409, "CONFLICT");
    let reopened = served.client().post(&format!("{path}/reopen"), &json!({"reason": "not yet"})).json();
    assert_eq!(reopened["state"], "open");
    let acts = get(&served, "/api/v1/events?kind=error_group&after=0");
    let kinds: Vec<_> =
        acts["items"].as_array().unwrap().iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["error_group.resolved", "error_group.reopened"], "what people say is in the ledger");
    served
        .client()
        .post("/api/v1/errors/0000000000000000/resolve", &json!({"reason": "x"}))
        .is_problem(404, "NOT_FOUND");
    served.client().get("/api/v1/sessions/nobody").is_problem(404, "NOT_FOUND");
    served.client().get("/api/v1/cost?by=moon").is_problem(400, "INVALID_REQUEST");
    assert!(get(&served, "/api/v1/handoffs")["edges"].as_array().unwrap().is_empty());
}

#[test]
fn events_are_found_by_words_and_by_every_field() {
    let served = Served::start();
    tell(&served);
    let kinds = |query: &str| {
        let page = get(&served, &format!("/api/v1/events?{query}"));
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["kind"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds("text=needle"), ["prompt.submitted"]);
    assert_eq!(kinds("text=makefile%20rul*"), ["tool.failed"]);
    assert_eq!(kinds("tool=Bash&status=failure"), ["tool.failed"]);
    assert_eq!(kinds("tool_use_id=toolu_2"), ["tool.finished", "tool.requested"]);
    assert_eq!(kinds("app=claude-code&kind=session,turn"), ["turn.ended", "session.started"]);
    assert_eq!(
        kinds("kind=prompt.submitted&from=2026-11-16T04:00:00Z&until=2026-11-16T04:00:03Z"),
        ["prompt.submitted"]
    );
    assert!(kinds("kind=prompt.submitted&until=2026-11-16T04:00:01Z").is_empty());
    assert_eq!(kinds("kind=prompt.submitted&from=2026-11-16T04:00:01Z"), ["prompt.submitted"]);
    served.client().get("/api/v1/events?text=**").is_problem(400, "INVALID_REQUEST");
}

#[test]
fn records_that_are_lost_are_made_again() {
    let mut served = Served::start();
    tell(&served);
    let all = |served: &Served| {
        ["calls?limit=50", "sessions", "errors", "cost?by=model", "tools/usage", "agents/metrics"]
            .map(|path| get(served, &format!("/api/v1/{path}")))
    };
    let before = all(&served);
    served.restart("TERM");
    assert_eq!(all(&served), before, "they are kept");
    served.signal("KILL");
    assert!(!served.ended());
    for ending in ["", "-wal", "-shm"] {
        let _gone = fs::remove_file(served.home().join(format!("eye.db{ending}")));
    }
    served.again();
    assert_eq!(all(&served), before, "and made again from the ledger");
}

#[test]
fn numbers_and_names_nobody_can_mean_stop_no_record() {
    let served = Served::start();
    let most = i64::MAX;
    for number in 1..=3 {
        let call = json!({"hook_event_name": "PostToolUse", "tool_name": "T".repeat(100_000), "tool_input": {},
            "tool_use_id": format!("toolu_{number}"), "duration_ms": most});
        hook(&served, number, &call);
        let asked = json!({"request_id": format!("r{number}"), "model": "claude-opus-5-5", "input_tokens": most,
            "output_tokens": most, "cache_read_tokens": most, "cost_usd_micros": most, "duration_ms": most});
        export(&served, &[("api_request", asked)]);
    }
    for (field, value) in
        [("tokens", json!(most)), ("duration_ms", json!(u64::MAX)), ("cost_usd", json!(1e12))]
    {
        let told = json!({"kind": "tool.used", "session_id": SESSION, field: value});
        let answer = served.client().post("/api/v1/events/ingest", &told);
        assert_eq!((answer.status, &answer.json()["errors"][0]["field"]), (400, &json!(field)), "{answer:?}");
    }
    let told = json!({"kind": "prompt.submitted", "session_id": "s".repeat(100_000)});
    assert_eq!(served.client().post("/api/v1/events/ingest", &told).status, 201);
    let told = json!({"kind": "prompt.submitted", "session_id": "afterwards"});
    assert_eq!(served.client().post("/api/v1/events/ingest", &told).status, 201);
    assert_eq!(get(&served, "/api/v1/sessions/afterwards")["counts"]["prompts"], 1);
    for path in [
        "/api/v1/sessions",
        "/api/v1/cost",
        "/api/v1/tools/usage",
        "/api/v1/agents/metrics",
        "/api/v1/errors",
    ] {
        let answer = get(&served, path).to_string();
        assert!(answer.len() < 20_000, "{path}: {}", answer.len());
    }
}

#[test]
fn what_no_record_takes_is_passed_over_and_said() {
    let served = Served::start();
    tell(&served);
    assert_eq!(get(&served, &format!("/api/v1/sessions/{SESSION}"))["counts"]["calls"], 3);
    // As a disk would that lost a block of the records: whatever is told of this call finds what nobody can read.
    let records = rusqlite::Connection::open(served.home().join("eye.db")).unwrap();
    records.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    assert_eq!(records.execute("UPDATE call_records SET record = '{\"call\":'", []).unwrap(), 3);
    let again = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "toolu_1",
        "prompt_id": "p1", "tool_input": {"command": "make"}});
    hook(&served, 50, &again);
    let told = json!({"kind": "prompt.submitted", "session_id": "afterwards"});
    assert_eq!(served.client().post("/api/v1/events/ingest", &told).status, 201);
    assert_eq!(get(&served, "/api/v1/sessions/afterwards")["counts"]["prompts"], 1, "the rest is seen");
    let said = eventually("it is said", || {
        let page = get(&served, "/api/v1/events?after=0&kind=record.passed_over");
        page["items"].as_array().unwrap().first().cloned()
    });
    assert_eq!(
        (&said["payload"]["kind"], &said["status"]),
        (&json!("tool.finished"), &json!("failure")),
        "{said}"
    );
    let metrics = served.client().get("/metrics").text();
    assert!(metrics.contains("belljar_records_passed_over_events 1"), "{metrics}");
}
