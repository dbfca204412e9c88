//! Real exports of Claude Code, trimmed, in both encodings; the binary ones were encoded from the JSON by the
//! published `opentelemetry-proto`.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use belljar_capture::{
    cost::{CostLedger, Prices, Tokens},
    otlp::{self, Accumulator, Encoding, Event, Fact, GenAiSpan, Operation, OtlpError},
};

const LOGS: [&[u8]; 2] = [include_bytes!("fixtures/logs.json"), include_bytes!("fixtures/logs.pb")];
const METRICS: [&[u8]; 2] = [include_bytes!("fixtures/metrics.json"), include_bytes!("fixtures/metrics.pb")];
const TRACES: [&[u8]; 2] = [include_bytes!("fixtures/traces.json"), include_bytes!("fixtures/traces.pb")];

fn events() -> Vec<Event> {
    otlp::logs(LOGS[0], Encoding::Json).unwrap().iter().filter_map(Event::of).collect()
}

#[test]
fn both_encodings_say_the_same() {
    let json = otlp::logs(LOGS[0], Encoding::Json).unwrap();
    assert_eq!(json, otlp::logs(LOGS[1], Encoding::Protobuf).unwrap());
    assert!(json.len() >= 9, "{}", json.len());
    let json = otlp::metrics(METRICS[0], Encoding::Json).unwrap();
    assert_eq!(json, otlp::metrics(METRICS[1], Encoding::Protobuf).unwrap());
    assert!(json.len() >= 4, "{}", json.len());
    let json = otlp::traces(TRACES[0], Encoding::Json).unwrap();
    assert_eq!(json, otlp::traces(TRACES[1], Encoding::Protobuf).unwrap());
    assert!(json.len() >= 8, "{}", json.len());
}

#[test]
fn requests_carry_what_is_paid_for_and_whose_it_is() {
    let events = events();
    let requests: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::ApiRequest(request) => Some((&event.context, request)),
            _ => None,
        })
        .collect();
    assert_eq!(requests.len(), 4);
    let (context, request) = requests[0];
    assert_eq!(context.session_id.as_deref(), Some("01670efa-abcf-4208-bb80-c9c95eefe796"));
    assert_eq!(context.prompt_id.as_deref(), Some("cdb51bf2-521e-4685-9398-c7a53fb09d6a"));
    assert_eq!(request.model, "claude-opus-5-5");
    assert_eq!(request.request_id.as_deref(), Some("req_fake_0001"));
    assert_eq!((request.cost_usd_micros, request.duration_ms), (Some(7320), Some(415)));
    let tokens = Tokens { input: 1200, output: 42, cache_read: 900, cache_write_5m: 300, cache_write_1h: 0 };
    assert_eq!(request.tokens, tokens);
    let of_subagent = requests.iter().filter(|(context, _)| context.agent_id.is_some()).count();
    assert_eq!(of_subagent, 1);
}

#[test]
fn what_events_cost_is_what_the_ledger_says() {
    let mut ledger = CostLedger::new(Prices::embedded().unwrap(), 100);
    let (session, agent) = ("01670efa-abcf-4208-bb80-c9c95eefe796", "ace8d6989bd07e51c");
    // Exported twice, as after a lost answer.
    for event in events().into_iter().chain(events()) {
        if let Some(request) = event.request() {
            ledger.hear(request);
        }
    }
    assert_eq!((ledger.session(session).requests, ledger.session(session).cost.micros()), (4, 4 * 7320));
    assert_eq!((ledger.agent_own(agent).requests, ledger.session_own(session).requests), (1, 3));
}

#[test]
fn tools_and_prompts_are_facts_and_the_unknown_is_kept() {
    let events = events();
    let facts = |is: fn(&Fact) -> bool| events.iter().filter(|event| is(&event.fact)).count();
    assert_eq!(facts(|fact| matches!(fact, Fact::UserPrompt { length: Some(12), .. })), 1);
    assert_eq!(facts(|fact| matches!(fact, Fact::SubagentCompleted { duration_ms: Some(2010), .. })), 1);
    assert_eq!(facts(|fact| matches!(fact, Fact::Other { name, .. } if name == "plugin_loaded")), 1);
    let decided = events.iter().find_map(|event| match &event.fact {
        Fact::ToolDecision(decision) => Some(decision),
        _ => None,
    });
    let decided = decided.unwrap();
    assert_eq!(
        (decided.decision.as_str(), decided.tool_use_id.as_deref()),
        ("accept", Some("toolu_fake_0001"))
    );
    let ended = events.iter().find_map(|event| match &event.fact {
        Fact::ToolResult(result) => Some(result),
        _ => None,
    });
    let ended = ended.unwrap();
    // Numbers and booleans that are sent as text.
    assert_eq!((ended.success, ended.duration_ms, ended.result_bytes), (Some(true), Some(48), Some(14)));
}

#[test]
fn differences_are_added_up_once() {
    let sums = otlp::metrics(METRICS[1], Encoding::Protobuf).unwrap();
    let mut totals = Accumulator::new(1000);
    sums.iter().for_each(|sum| totals.add(sum));
    let first = totals.total("claude_code.cost.usage");
    assert!(first > 0.007, "{first}");
    // The same export again, as after a lost answer.
    sums.iter().for_each(|sum| totals.add(sum));
    assert!((totals.total("claude_code.cost.usage") - first).abs() < 1e-12);
    let mut few = Accumulator::new(1);
    sums.iter().for_each(|sum| few.add(sum));
    assert!(few.refused() > 0);
}

#[test]
fn running_totals_replace_and_survive_a_restart() {
    let export = |start: u64, time: u64, value: u64| {
        let body = serde_json::json!({"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "n", "sum": {
            "aggregationTemporality": "AGGREGATION_TEMPORALITY_CUMULATIVE",
            "dataPoints": [{"startTimeUnixNano": start.to_string(), "timeUnixNano": time, "asInt": value.to_string()}]
        }}]}]}]});
        otlp::metrics(body.to_string().as_bytes(), Encoding::Json).unwrap()
    };
    let mut totals = Accumulator::new(10);
    for (start, time, value, expected) in [(1, 2, 5, 5.0), (1, 3, 8, 8.0), (1, 2, 5, 8.0), (9, 10, 2, 10.0)] {
        export(start, time, value).iter().for_each(|sum| totals.add(sum));
        assert!((totals.total("n") - expected).abs() < 1e-9, "{}", totals.total("n"));
    }
}

#[test]
fn spans_follow_the_conventions() {
    let spans = otlp::traces(TRACES[0], Encoding::Json).unwrap();
    let known: Vec<GenAiSpan> = spans.iter().filter_map(GenAiSpan::of).collect();
    let tool = known.iter().find(|span| span.operation == Operation::Tool).unwrap();
    assert!(tool.tool_use_id.is_some() && tool.tool_name.is_some());
    let model = known.iter().find(|span| span.operation == Operation::Model).unwrap();
    assert_eq!((model.tokens.input, model.tokens.cache_read), (1200, 900));
    assert!(known.iter().any(|span| span.operation == Operation::Agent));
}

/// The conventions count cached tokens within the input; taking both would pay for them twice.
#[test]
fn cached_tokens_of_other_agents_are_not_counted_twice() {
    let attribute = |key: &str, value: u64| serde_json::json!({"key": key, "value": {"intValue": value}});
    let body = serde_json::json!({"resourceSpans": [{"scopeSpans": [{"spans": [{
        "traceId": "01", "spanId": "02", "name": "chat m", "startTimeUnixNano": "0", "endTimeUnixNano": "5000000",
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
            attribute("gen_ai.usage.input_tokens", 2400),
            attribute("gen_ai.usage.cache_read.input_tokens", 900),
            attribute("gen_ai.usage.cache_creation.input_tokens", 300),
            attribute("gen_ai.usage.output_tokens", 42)
        ]
    }]}]}]});
    let spans = otlp::traces(body.to_string().as_bytes(), Encoding::Json).unwrap();
    let span = GenAiSpan::of(&spans[0]).unwrap();
    assert_eq!(span.tokens.input, 1200);
    assert_eq!((span.tokens.prompt(), span.duration_ms), (2400, 5));
}

#[test]
fn what_is_wrong_is_named_by_its_path() {
    for (body, expected) in [
        (r#"{"resourceLogs": 1}"#, "at resourceLogs: expected a list"),
        (
            r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"x"}]}]}]}"#,
            "at resourceLogs[0].scopeLogs[0].logRecords[0].timeUnixNano: expected a whole number",
        ),
        (
            r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":[{"key":"a","value":{"boolValue":1}}]}]}]}]}"#,
            "at resourceLogs[0].scopeLogs[0].logRecords[0].attributes[0].value.boolValue: expected a boolean",
        ),
    ] {
        assert_eq!(otlp::logs(body.as_bytes(), Encoding::Json).unwrap_err().to_string(), expected);
    }
}

#[test]
fn broken_and_hostile_protobuf_is_refused() {
    for cut in 1..LOGS[1].len() {
        // A request cut anywhere is refused or, between fields, shorter; never a panic.
        let _whatever = otlp::logs(&LOGS[1][..cut], Encoding::Protobuf);
    }
    assert!(matches!(otlp::logs(&[0x0a, 0xff], Encoding::Protobuf), Err(OtlpError::Protobuf { .. })));
    assert!(otlp::logs(&[0xff; 32], Encoding::Protobuf).is_err());
    // A list within a list within a list, a thousand deep.
    let mut nested = Vec::new();
    for _ in 0..1000 {
        nested = field(5, &field(1, &nested));
    }
    let body = field(1, &field(2, &field(2, &field(5, &nested))));
    let refused = otlp::logs(&body, Encoding::Protobuf).unwrap_err().to_string();
    assert!(refused.ends_with("more than 32 levels"), "{refused}");
}

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    out.push(u8::try_from(length).unwrap());
    out.extend_from_slice(bytes);
    out
}
