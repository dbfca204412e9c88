//! OTLP over HTTP: both encodings, packed or not, recorded once, answered as exporters expect.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::support::{Request, Served};

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";

fn log(name: &str, more: &[(&str, Value)]) -> Value {
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let mut attributes = vec![
        text("session.id", "s-otlp"),
        text("prompt.id", "p-1"),
        text("event.name", name),
        json!({"key": "event.sequence", "value": {"intValue": more.len()}}),
    ];
    attributes.extend(more.iter().map(|(key, value)| json!({"key": key, "value": value})));
    json!({
        "timeUnixNano": "1794767896688000000", "body": {"stringValue": format!("claude_code.{name}")},
        "attributes": attributes,
    })
}

fn export(records: &[Value]) -> Value {
    let scope = json!({"name": "com.anthropic.claude_code.events", "version": "2"});
    json!({"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": scope, "logRecords": records}]}]})
}

fn api_request() -> Value {
    log(
        "api_request",
        &[
            ("model", json!({"stringValue": "claude-opus-5-5"})),
            ("request_id", json!({"stringValue": "req_1"})),
            ("input_tokens", json!({"intValue": 1200})),
            ("output_tokens", json!({"intValue": "42"})),
            ("cost_usd_micros", json!({"intValue": 7320})),
            ("duration_ms", json!({"intValue": 415})),
        ],
    )
}

fn seen(served: &Served, query: &str) -> Vec<Value> {
    served.client().get(&format!("/api/v1/events?{query}")).json()["items"].as_array().unwrap().clone()
}

#[test]
fn an_export_sent_again_counts_once_and_is_answered_in_its_own_words() {
    let served = Served::start();
    let failed = log(
        "tool_result",
        &[
            ("tool_name", json!({"stringValue": "Bash"})),
            ("tool_use_id", json!({"stringValue": "toolu_1"})),
            ("success", json!({"stringValue": "false"})),
            ("error", json!({"stringValue": format!("bad {SECRET}")})),
            ("duration_ms", json!({"stringValue": "2054"})),
        ],
    );
    let strange = log("moon_phase", &[("phase", json!({"stringValue": "full"}))]);
    let body = export(&[api_request(), failed, strange.clone(), strange]);
    for _ in 0..2 {
        let answer = served.client().post("/v1/logs", &body);
        assert_eq!((answer.status, answer.json()), (200, json!({})));
    }
    let events = seen(&served, "session_id=s-otlp");
    assert_eq!(events.len(), 4, "equals within one export are two: {events:?}");
    let find = |kind: &str| events.iter().find(|event| event["kind"] == kind).unwrap();
    let called = find("model.called");
    assert_eq!((&called["cost_micros"], &called["duration_ms"]), (&json!(7320), &json!(415)));
    assert_eq!((&called["tokens"], &called["payload"]["usage"]["input"]), (&json!(1242), &json!(1200)));
    assert_eq!(called["payload"]["request_id"], "req_1");
    let tool = find("tool.reported");
    assert_eq!((&tool["tool"], &tool["status"]), (&json!("Bash"), &json!("failure")));
    assert_eq!(tool["payload"]["tool_use_id"], "toolu_1");
    assert_eq!(find("otel.moon_phase")["payload"]["attributes"]["phase"], "full");
    assert!(!events.iter().any(|event| event.to_string().contains(SECRET)), "secrets stay outside");
    assert_eq!(served.client().get("/api/v1/errors").json()["items"][0]["count"], 1);
    for file in std::fs::read_dir(served.home()).unwrap().flatten().filter(|file| file.path().is_file()) {
        let bytes = std::fs::read(file.path()).unwrap();
        let is_there = bytes.windows(SECRET.len()).any(|some| some == SECRET.as_bytes());
        assert!(!is_there, "{} has the secret", file.path().display());
    }
}

#[test]
fn packed_protobuf_is_read_and_answered_in_protobuf() {
    let served = Served::start();
    // One record with the body `claude_code.compaction`: request, resource, scope, record, body, text.
    let nested =
        |field: u8, inner: &[u8]| [&[field << 3 | 2, u8::try_from(inner.len()).unwrap()], inner].concat();
    let value = nested(1, b"claude_code.compaction");
    let record = [&[0x09][..], &1_794_767_896_688_000_000_u64.to_le_bytes(), &nested(5, &value)].concat();
    let plain = nested(1, &nested(2, &nested(2, &record)));
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(&plain).unwrap();
    let packed = packer.finish().unwrap();
    let proto = || Request::new("POST", "/v1/logs").with("Content-Type", "application/x-protobuf");
    let gzip = || proto().with("Content-Encoding", "gzip");
    let answer = served.client().send(&gzip().body(packed));
    assert_eq!(
        (answer.status, answer.header("content-type"), answer.body.len()),
        (200, Some("application/x-protobuf"), 0)
    );
    assert_eq!(seen(&served, "kind=otel.compaction").len(), 1);
    let broken = served.client().send(&proto().body(*b"\x0a\xff"));
    assert_eq!((broken.status, &broken.body[..2]), (400, &b"\x08\x03"[..]), "a status with INVALID_ARGUMENT");
    let torn = served.client().send(&gzip().body(*b"no gzip"));
    assert_eq!(torn.status, 400);
    let other = served
        .client()
        .send(&Request::new("POST", "/v1/logs").with("Content-Type", "text/plain").body(*b"x"));
    assert_eq!(other.status, 415);
}

#[test]
fn spans_and_metrics_are_kept() {
    let served = Served::start();
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let count = |key: &str, value: u64| json!({"key": key, "value": {"intValue": value}});
    let span = json!({
        "traceId": "aa", "spanId": "bb", "name": "chat gpt-x",
        "startTimeUnixNano": "1794767896000000000", "endTimeUnixNano": "1794767897500000000",
        "attributes": [
            text("gen_ai.operation.name", "chat"), text("gen_ai.request.model", "gpt-x"),
            text("gen_ai.conversation.id", "s-span"), count("gen_ai.usage.input_tokens", 10), count("gen_ai.usage.output_tokens", 5),
        ],
    });
    let resource = json!({"attributes": [text("service.name", "other-agent")]});
    let traces = json!({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]});
    assert_eq!(served.client().post("/v1/traces", &traces).status, 200);
    let events = seen(&served, "session_id=s-span");
    assert_eq!((&events[0]["kind"], &events[0]["duration_ms"]), (&json!("model.called"), &json!(1500)));
    assert_eq!((&events[0]["agent_name"], &events[0]["tokens"]), (&json!("other-agent"), &json!(15)));

    let point = json!({
        "startTimeUnixNano": "1794767896000000000", "timeUnixNano": "1794767897000000000", "asDouble": 0.5,
        "attributes": [text("session.id", "s-m"), text("model", "m")],
    });
    let sum = json!({"dataPoints": [point], "aggregationTemporality": 1, "isMonotonic": true});
    let metrics = json!({"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "claude_code.cost.usage", "unit": "USD", "sum": sum}]}]}]});
    for _ in 0..2 {
        assert_eq!(served.client().post("/v1/metrics", &metrics).status, 200);
    }
    let events = seen(&served, "kind=otel.metrics");
    assert_eq!(events.len(), 1, "points travel together, once: {events:?}");
    assert_eq!(events[0]["payload"]["points"][0]["value"], 0.5);
    assert_eq!(served.client().post("/v1/metrics", &json!({"resourceMetrics": 3})).status, 400);
    let spread = json!({
        "count": "3", "sum": 4.5, "bucketCounts": ["1", 2], "explicitBounds": [1.0], "timeUnixNano": "1794800002000000000",
        "attributes": [text("session.id", "s-h")],
    });
    let histogram = json!({"name": "took", "unit": "s", "histogram": {"dataPoints": [spread], "aggregationTemporality": 1}});
    let metrics = json!({"resourceMetrics": [{"scopeMetrics": [{"metrics": [histogram]}]}]});
    let taken = served.client().post("/v1/metrics", &metrics);
    assert_eq!((taken.status, taken.json()), (200, json!({})));
    let point = &seen(&served, "kind=otel.metrics&session_id=s-h")[0]["payload"]["points"][0];
    assert_eq!(
        (&point["value"], &point["count"], &point["bounds"], &point["buckets"]),
        (&json!(4.5), &json!(3), &json!([1.0]), &json!([1, 2])),
        "{point}"
    );
}

#[test]
fn a_list_of_prices_in_the_home_goes_before_the_one_that_came_along() {
    let mut served = Served::start();
    let text = |name: &str, value: &str| json!({"key": name, "value": {"stringValue": value}});
    let count = |name: &str, value: u64| json!({"key": name, "value": {"intValue": value.to_string()}});
    let tell = |served: &Served, session: &str, model: &str| {
        let span = json!({
            "traceId": session, "spanId": "bb", "name": format!("chat {model}"),
            "startTimeUnixNano": "1794767896000000000", "endTimeUnixNano": "1794767897500000000",
            "attributes": [
                text("gen_ai.operation.name", "chat"), text("gen_ai.request.model", model),
                text("gen_ai.conversation.id", session), count("gen_ai.usage.input_tokens", 1_000_000),
            ],
        });
        let resource = json!({"attributes": [text("service.name", "other-agent")]});
        let traces = json!({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]});
        assert_eq!(served.client().post("/v1/traces", &traces).status, 200);
        served.client().get(&format!("/api/v1/sessions/{session}")).json()["spent"].clone()
    };
    let spent = tell(&served, "a1", "gpt-5.3-codex");
    assert_eq!((&spent["cost_usd"], &spent["unpriced"]), (&json!(1.75), &json!(0)), "{spent}");
    let spent = tell(&served, "a2", "model-of-mine-2");
    assert_eq!((&spent["cost_usd"], &spent["unpriced"]), (&json!(0.0), &json!(1)), "{spent}");

    let list =
        json!({"as_of": "2027-01-01", "models": [{"name": "model-of-mine-2", "input": 3, "output": 4}]});
    std::fs::write(served.home().join("prices.json"), list.to_string()).unwrap();
    served.restart("TERM");
    let spent = tell(&served, "a3", "model-of-mine-2");
    assert_eq!((&spent["cost_usd"], &spent["unpriced"]), (&json!(3.0), &json!(0)), "{spent}");
    assert_eq!(tell(&served, "a4", "gpt-5.3-codex")["cost_usd"], json!(1.75), "the other is still there");
    assert_eq!(served.client().get("/api/v1/cost?by=model").json()["prices_as_of"], "2027-01-01");

    std::fs::write(served.home().join("prices.json"), "{\"models\": 1}").unwrap();
    served.signal("TERM");
    assert!(served.ended());
    let wrong = std::process::Command::new(env!("CARGO_BIN_EXE_belljar"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("BELLJAR_HOME", served.home())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&wrong.stderr);
    assert!(!wrong.status.success() && said.contains("prices.json") && said.contains("mend it"), "{said}");
}
