//! What Codex, Gemini CLI and opencode tell of their requests, each in its own way, and what that comes to.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Served, eventually};

fn export(service: &str, records: &[(&str, &[(&str, Value)])]) -> Value {
    let told = |(name, said): &(&str, &[(&str, Value)])| {
        let named = ("event.name", json!({"stringValue": name}));
        let said = [&named].into_iter().chain(said.iter());
        let said: Vec<Value> = said.map(|(key, value)| json!({"key": key, "value": value})).collect();
        json!({"timeUnixNano": "1794767896688000000", "body": {"stringValue": "told"}, "attributes": said})
    };
    let records: Vec<Value> = records.iter().map(told).collect();
    let resource = json!({"attributes": [{"key": "service.name", "value": {"stringValue": service}}]});
    json!({"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": records}]}]})
}

fn text(value: &str) -> Value {
    json!({ "stringValue": value })
}

fn count(value: u64) -> Value {
    json!({"intValue": value.to_string()})
}

fn hook(served: &Served, number: u8, agent: &str, payload: &Value) {
    let envelope = json!({
        "version": 1, "id": format!("evt_0192f0c00000700080000000000002{number:02x}"), "agent": agent,
        "sent_at": "2026-11-16T04:00:00Z", "pid": 7, "env": {}, "payload": payload,
    });
    let answer = served.neighbour().post(&format!("/api/v1/hooks/{agent}"), &envelope);
    assert_eq!(answer.status, 200, "{answer:?}");
}

fn spent(served: &Served, session: &str) -> Value {
    served.client().get(&format!("/api/v1/sessions/{session}")).json()["spent"].clone()
}

fn calls(served: &Served, session: &str) -> Vec<Value> {
    served.client().get(&format!("/api/v1/calls?session_id={session}")).json()["items"]
        .as_array()
        .unwrap()
        .clone()
}

#[test]
fn codex_telemetry_has_its_tokens_priced_and_joins_its_hooks() {
    let served = Served::start();
    let call = json!({"session_id": "cx", "turn_id": "t", "tool_name": "Bash", "tool_use_id": "call_1", "cwd": "/w",
        "tool_input": {"command": "ls"}});
    let event = |name: &str| {
        let mut payload = call.clone();
        payload["hook_event_name"] = json!(name);
        payload
    };
    hook(&served, 1, "codex", &event("PreToolUse"));
    hook(&served, 2, "codex", &event("PostToolUse"));
    let about = || ("conversation.id", text("cx"));
    let model = || ("model", text("gpt-5.3-codex"));
    let body = export(
        "codex_cli_rs",
        &[
            (
                "codex.tool_decision",
                &[
                    about(),
                    ("tool_name", text("shell")),
                    ("call_id", text("call_1")),
                    ("decision", text("approved_for_session")),
                    ("source", text("user")),
                ],
            ),
            ("codex.sse_event", &[about(), model(), ("event.kind", text("response.output_item.done"))]),
            (
                "codex.sse_event",
                &[
                    about(),
                    model(),
                    ("event.kind", text("response.completed")),
                    ("input_token_count", count(1_000_000)),
                    ("cached_token_count", count(800_000)),
                    ("output_token_count", count(100_000)),
                    ("reasoning_token_count", count(60_000)),
                    ("tool_token_count", count(1_100_000)),
                ],
            ),
            (
                "codex.tool_result",
                &[
                    about(),
                    ("tool_name", text("shell")),
                    ("call_id", text("call_1")),
                    ("duration_ms", text("41")),
                    ("success", text("false")),
                    ("output", text("exit 1")),
                ],
            ),
        ],
    );
    assert_eq!(served.client().post("/v1/logs", &body).status, 200);
    let spent = spent(&served, "cx");
    // 0.2 M at 1.75, 0.8 M at 0.175, 0.1 M at 14: reasoning is within the output.
    assert_eq!(
        (&spent["cost_usd"], &spent["basis"], &spent["requests"]),
        (&json!(1.89), &json!("list_price"), &json!(1))
    );
    let calls = calls(&served, "cx");
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!((&calls[0]["tool"], &calls[0]["decided_by"]), (&json!("Bash"), &json!("user")), "{calls:?}");
    assert_eq!(calls[0]["duration_ms"], 41);
}

#[test]
fn gemini_telemetry_has_its_tokens_priced_and_its_refusals_named() {
    let served = Served::start();
    let about = || ("session.id", text("gm"));
    let body = export(
        "gemini-cli",
        &[
            (
                "gemini_cli.api_response",
                &[
                    about(),
                    ("model", text("gemini-2.5-pro")),
                    ("input_token_count", count(100_000)),
                    ("cached_content_token_count", count(60_000)),
                    ("output_token_count", count(10_000)),
                    ("thoughts_token_count", count(5_000)),
                    ("duration_ms", count(900)),
                    ("prompt_id", text("p")),
                ],
            ),
            (
                "gemini_cli.tool_call",
                &[
                    about(),
                    ("function_name", text("run_shell_command")),
                    ("duration_ms", count(5)),
                    ("success", json!({"boolValue": false})),
                    ("decision", text("reject")),
                ],
            ),
            (
                "gemini_cli.api_error",
                &[
                    about(),
                    ("model", text("gemini-2.5-pro")),
                    ("error", text("quota")),
                    ("status_code", count(429)),
                ],
            ),
            (
                "gen_ai.client.inference.operation.details",
                &[about(), ("gen_ai.usage.input_tokens", count(100_000))],
            ),
        ],
    );
    assert_eq!(served.client().post("/v1/logs", &body).status, 200);
    // The same request as a span.
    let said = [
        ("gen_ai.operation.name", text("chat")),
        ("gen_ai.conversation.id", text("gm")),
        ("gen_ai.request.model", text("gemini-2.5-pro")),
        ("gen_ai.usage.input_tokens", count(100_000)),
    ];
    let said: Vec<Value> = said.into_iter().map(|(key, value)| json!({"key": key, "value": value})).collect();
    let span = json!({"traceId": "aa", "spanId": "bb", "name": "llm_call", "attributes": said,
        "startTimeUnixNano": "1794767896000000000", "endTimeUnixNano": "1794767897500000000"});
    let resource = json!({"attributes": [{"key": "service.name", "value": text("gemini-cli")}]});
    let traces = json!({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]});
    assert_eq!(served.client().post("/v1/traces", &traces).status, 200);
    let spent = spent(&served, "gm");
    // 40 k at 1.25, 60 k at 0.125, 15 k at 10: thoughts are beside the output.
    assert_eq!((&spent["cost_usd"], &spent["requests"]), (&json!(0.2075), &json!(1)), "{spent}");
    let calls = calls(&served, "gm");
    assert_eq!(
        (calls.len(), &calls[0]["outcome"], &calls[0]["decision"]),
        (1, &json!("denied"), &json!("deny"))
    );
    let events = served.client().get("/api/v1/events?session_id=gm").json();
    let failed =
        events["items"].as_array().unwrap().iter().find(|event| event["kind"] == "model.failed").cloned();
    assert_eq!(failed.unwrap()["payload"]["status_code"], "429");
}

#[test]
fn a_rollout_of_codex_is_read_for_what_it_cost() {
    let served = Served::start();
    let path = served.work().join("rollout-2026-11-18T14-00-00-cx-2.jsonl");
    let line = |sort: &str, payload: &Value| {
        format!("{}\n", json!({"timestamp": "2026-11-18T14:00:00.000Z", "type": sort, "payload": payload}))
    };
    let used = |input: u64, total: u64| json!({"input_tokens": input, "cached_input_tokens": 0, "output_tokens": 0, "total_tokens": total});
    let counted = |total: u64| {
        let info = json!({"last_token_usage": used(1_000_000, 0), "total_token_usage": used(0, total)});
        line("event_msg", &json!({"type": "token_count", "info": info}))
    };
    let begin = line("session_meta", &json!({"id": "cx-2"}))
        + &line("turn_context", &json!({"model": "gpt-5.3-codex"}));
    let call =
        json!({"type": "function_call", "name": "exec_command", "call_id": "call_1", "arguments": "{}"});
    fs::write(&path, begin + &line("response_item", &call) + &counted(1) + &counted(1)).unwrap();
    let stop =
        json!({"hook_event_name": "Stop", "session_id": "cx-2", "turn_id": "t", "transcript_path": path});
    hook(&served, 3, "codex", &stop);
    let cost = |dollars: f64| {
        eventually("it is counted", || {
            Some(spent(&served, "cx-2")).filter(|spent| spent["cost_usd"] == json!(dollars))
        })
    };
    assert_eq!((&cost(1.75)["requests"], &cost(1.75)["basis"]), (&json!(1), &json!("list_price")));
    let calls = calls(&served, "cx-2");
    assert_eq!((calls.len(), &calls[0]["tool"]), (1, &json!("exec_command")), "{calls:?}");
    // What was said before is known when it grows.
    let mut text = fs::read_to_string(&path).unwrap();
    text += &counted(2);
    fs::write(&path, text).unwrap();
    hook(&served, 4, "codex", &stop);
    assert_eq!(cost(3.5)["unpriced"], 0);
}

#[test]
fn opencode_and_gemini_hooks_tell_what_an_answer_cost() {
    let served = Served::start();
    let info = |id: &str, cost: f64| {
        json!({"id": id, "sessionID": "oc", "parentID": "m-user", "role": "assistant", "modelID": "gpt-5.3-codex",
            "time": {"created": 1, "completed": 2}, "cost": cost,
            "tokens": {"input": 1_000_000, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}})
    };
    for (number, info) in [(5, info("m-1", 0.25)), (6, info("m-1", 0.25)), (7, info("m-2", 0.0))] {
        let event = json!({"type": "message.updated", "properties": {"info": info}, "sessionID": "oc"});
        hook(&served, number, "opencode", &event);
    }
    let spent_by = spent(&served, "oc");
    // One as it says, one that it has no price for at list price.
    assert_eq!((&spent_by["cost_usd"], &spent_by["requests"]), (&json!(2.0), &json!(2)), "{spent_by}");
    let model = json!({"hook_event_name": "AfterModel", "session_id": "gm-2", "llm_request": {"model": "gemini-2.5-flash"},
        "llm_response": {"candidates": [{"finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 100_000, "candidatesTokenCount": 10_000, "totalTokenCount": 110_000}}});
    hook(&served, 8, "gemini", &model);
    let mut piece = model;
    piece["llm_response"]["candidates"][0]["finishReason"] = Value::Null;
    hook(&served, 9, "gemini", &piece);
    let spent_by = spent(&served, "gm-2");
    assert_eq!((&spent_by["cost_usd"], &spent_by["requests"]), (&json!(0.055), &json!(1)), "{spent_by}");
}
