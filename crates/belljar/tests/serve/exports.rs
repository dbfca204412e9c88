//! Spans for a collector elsewhere: what agents did, in the words of the `GenAI` conventions, each once, also after the
//! collector or the server was away.

use std::{collections::BTreeMap, process::Command};

use serde_json::{Value, json};

use crate::support::{Receiver, Served};

fn hook(served: &Served, event: &str, more: &Value) {
    let mut payload = json!({"hook_event_name": event, "session_id": "s-x", "prompt_id": "p1", "cwd": "/w"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(served.client().post("/hooks/claude-code", &payload).status, 200);
}

fn call(served: &Served, id: &str, tool: &str, end: &str, more: &Value) {
    let mut said = json!({"tool_name": tool, "tool_use_id": id, "tool_input": {"command": "secret plans"}});
    said.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    hook(served, "PreToolUse", &said);
    hook(served, end, &said);
}

fn request(served: &Served) {
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let number = |key: &str, value: u64| json!({"key": key, "value": {"intValue": value.to_string()}});
    let record = json!({
        "timeUnixNano": "1794800000000000000", "body": {"stringValue": "claude_code.api_request"},
        "attributes": [
            text("event.name", "api_request"), text("session.id", "s-x"), text("prompt.id", "p1"),
            text("model", "claude-opus-5-5"), text("request_id", "req_1"), number("input_tokens", 10),
            number("output_tokens", 5), number("cache_read_tokens", 100), number("cache_creation_tokens", 20),
            number("duration_ms", 1500), number("cost_usd_micros", 2500),
        ],
    });
    let scope = json!({"scope": {"name": "com.anthropic.claude_code"}, "logRecords": [record]});
    let logs = json!({"resourceLogs": [{"scopeLogs": [scope]}]});
    assert_eq!(served.client().post("/v1/logs", &logs).status, 200);
}

/// The spans of a request, by name.
fn spans(request: &Value) -> BTreeMap<String, Value> {
    let of_scope = &request["resourceSpans"][0]["scopeSpans"][0];
    assert!(of_scope["schemaUrl"].as_str().unwrap().starts_with("https://opentelemetry.io/schemas/1."));
    let spans = of_scope["spans"].as_array().unwrap().iter();
    spans.map(|span| (span["name"].as_str().unwrap().to_owned(), span.clone())).collect()
}

fn said<'s>(span: &'s Value, key: &str) -> &'s Value {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|pair| pair["key"] == key);
    found.map_or(&Value::Null, |pair| pair["value"].as_object().unwrap().values().next().unwrap())
}

/// Posts until all of these have come.
fn until(receiver: &Receiver, names: &[&str]) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    while !names.iter().all(|name| all.contains_key(*name)) {
        let post = receiver.next();
        assert_eq!(post.headers["authorization"], "Bearer for the collector");
        for (name, span) in spans(&post.json()) {
            // What was answered with 503 may come more than once until it is taken: the same span each time.
            let before = all.insert(name, span.clone());
            assert!(before.is_none_or(|before| before == span), "{span}");
        }
    }
    all
}

fn spoken_in_the_conventions_words(all: &BTreeMap<String, Value>) {
    let turn = &all["invoke_agent claude-code"];
    assert!(turn.get("parentSpanId").is_none() && turn["spanId"].as_str().unwrap().len() == 16, "{turn}");
    for span in all.values().filter(|span| *span != turn) {
        assert_eq!((&span["parentSpanId"], &span["traceId"]), (&turn["spanId"], &turn["traceId"]), "{span}");
        assert_eq!(said(span, "gen_ai.conversation.id"), "s-x");
        assert_eq!(said(span, "gen_ai.provider.name"), "anthropic", "{span}");
    }
    let bash = &all["execute_tool Bash"];
    let time = |name: &str| bash[name].as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(time("endTimeUnixNano") - time("startTimeUnixNano"), 20_000_000);
    assert_eq!(
        (said(bash, "gen_ai.tool.call.id"), said(bash, "gen_ai.tool.type")),
        (&json!("t1"), &json!("function"))
    );
    assert!(!bash.to_string().contains("secret plans"), "what was said does not go along unasked: {bash}");
    let failed = &all["tools/call b"];
    assert_eq!(
        (&failed["status"]["code"], said(failed, "error.type")),
        (&json!(2), &json!("exit_code_2")),
        "{failed}"
    );
    let model = &all["chat claude-opus-5-5"];
    assert_eq!(
        (said(model, "gen_ai.usage.input_tokens"), &model["kind"]),
        (&json!("130"), &json!(3)),
        "{model}"
    );
    assert_eq!(
        (said(model, "belljar.cost.usd"), said(model, "gen_ai.usage.output_tokens")),
        (&json!(0.0025), &json!("5"))
    );
}

#[test]
fn a_collector_hears_of_every_turn_request_and_call_once() {
    let receiver = Receiver::listen();
    // Not at first.
    receiver.answers(503);
    let config = format!(
        "[export]\nendpoint = \"{}\"\nheaders = [\"authorization=Bearer for the collector\"]\n",
        receiver.url()
    );
    let mut served = Served::start_configured(&config);
    hook(&served, "UserPromptSubmit", &json!({"prompt": "do it"}));
    call(&served, "t1", "Bash", "PostToolUse", &json!({"duration_ms": 20, "tool_response": {"stdout": "x"}}));
    receiver.next();
    receiver.answers(200);
    call(&served, "t2", "mcp__a__b", "PostToolUseFailure", &json!({"error": "Exit code 2\nno"}));
    // Told once more as finished, as it is to an administrator's hooks.
    hook(
        &served,
        "PostToolUse",
        &json!({"tool_name": "mcp__a__b", "tool_use_id": "t2", "tool_response": "Error: Exit code 2"}),
    );
    request(&served);
    let inside = json!({"agent_id": "a1", "agent_type": "Explore"});
    hook(&served, "SubagentStart", &inside);
    hook(&served, "SubagentStop", &inside);
    hook(&served, "Stop", &json!({}));
    let names = [
        "execute_tool Bash",
        "tools/call b",
        "chat claude-opus-5-5",
        "invoke_agent Explore",
        "invoke_agent claude-code",
    ];
    let all = until(&receiver, &names);
    assert_eq!(all.len(), names.len(), "{all:?}");
    spoken_in_the_conventions_words(&all);

    // The next server goes on where this one was, also with what had begun, and tells nothing again.
    let slow = json!({"tool_name": "Edit", "tool_use_id": "t4", "tool_input": {}});
    hook(&served, "PreToolUse", &slow);
    served.restart("TERM");
    hook(
        &served,
        "PostToolUse",
        &json!({"tool_name": "mcp__a__b", "tool_use_id": "t2", "tool_response": "Error: Exit code 2"}),
    );
    hook(&served, "PostToolUse", &slow);
    call(&served, "t3", "Read", "PostToolUse", &json!({}));
    let more = until(&receiver, &["execute_tool Edit", "execute_tool Read"]);
    assert_eq!(more.len(), 2, "{more:?}");
    let time = |name: &str| more["execute_tool Edit"][name].as_str().unwrap().parse::<u64>().unwrap();
    assert!(time("startTimeUnixNano") < time("endTimeUnixNano"), "{more:?}");

    // And whoever wants a file has the same spans in it.
    let mut export = Command::new(env!("CARGO_BIN_EXE_belljar"));
    let ran = export
        .args(["events", "export", "--format", "otlp"])
        .env("BELLJAR_HOME", served.home())
        .output()
        .unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    let filed: BTreeMap<_, _> =
        text.lines().flat_map(|line| spans(&serde_json::from_str(line).unwrap())).collect();
    for (name, span) in all.iter().chain(&more) {
        assert_eq!(
            (&filed[name]["spanId"], &filed[name]["attributes"]),
            (&span["spanId"], &span["attributes"]),
            "{name}"
        );
    }
}

#[test]
fn what_a_collector_will_never_take_is_dropped_and_said() {
    let receiver = Receiver::listen();
    receiver.answers(400);
    let served =
        Served::start_configured(&format!("[export]\nendpoint = \"{}\"\ncontent = true\n", receiver.url()));
    call(&served, "t1", "Bash", "PostToolUse", &json!({"tool_response": {"stdout": "x"}}));
    let span = spans(&receiver.next().json()).remove("execute_tool Bash").unwrap();
    assert!(said(&span, "gen_ai.tool.call.arguments").as_str().unwrap().contains("secret plans"), "{span}");
    let refused = crate::support::eventually("it is said", || {
        let page = served.client().get("/api/v1/events?kind=export.refused").json();
        page["items"][0]["error"].as_str().map(str::to_owned)
    });
    assert!(refused.contains("400"), "{refused}");
    receiver.answers(200);
    call(&served, "t2", "Read", "PostToolUse", &json!({}));
    assert!(spans(&receiver.next().json()).contains_key("execute_tool Read"));
}
