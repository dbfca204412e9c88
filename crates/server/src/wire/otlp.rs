//! Exports of telemetry, into events of the ledger.
//!
//! Owns: what each record becomes, and its id: made from what it says, so that an export sent again is recorded once.
//! What a hook tells as well (`tool.finished`) gets a name of its own here (`tool.reported`): one call stays one entry
//! of the audit. Points of metrics travel together, one event for many of them.

use std::collections::BTreeMap;

use belljar_capture::cost::Tokens;
use belljar_capture::otlp::{
    ApiRequest, Attributes, Context, Event, Fact, GenAiSpan, LogRecord, Operation, Origin, Span, Sum,
    Temporality,
};
use belljar_domain::{Actor, EventId, EventKind, EventStatus, NewEvent, ProjectId, Timestamp, Verdict};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Builder;

use super::{Clean, shortened};

/// Points that travel in one event.
const POINTS: usize = 200;
/// What has a place of its own in an event or its payload.
const PROMOTED: [&str; 12] = [
    "session.id",
    "prompt.id",
    "event.name",
    "event.sequence",
    "event.timestamp",
    "tool_name",
    "tool_use_id",
    "agent_id",
    "agent.id",
    "request_id",
    "model",
    "duration_ms",
];
const CLAUDE: &str = "com.anthropic.claude_code";

/// Makes ids out of what is recorded. Of equals within one export each counts, by its place among them.
struct Ids<'p> {
    clean: Clean<'p>,
    project: &'p ProjectId,
    seen: BTreeMap<[u8; 32], u64>,
}

impl<'p> Ids<'p> {
    const fn new(clean: Clean<'p>, project: &'p ProjectId) -> Self {
        Self { clean, project, seen: BTreeMap::new() }
    }

    fn id(&mut self, signal: &str, time: Timestamp, said: &Value) -> EventId {
        let text = format!("{}\0{signal}\0{}\0{said}", self.project.as_str(), time.as_micros());
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let nth = self.seen.entry(digest).or_default();
        let own: [u8; 32] = Sha256::digest([&digest[..], &nth.to_le_bytes()].concat()).into();
        *nth += 1;
        // As in other ids, milliseconds come first: what happened together is found together.
        let millis = u64::try_from(time.as_micros() / 1000).unwrap_or(0).to_be_bytes();
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(millis.iter().skip(2).chain(own.iter())).for_each(|(to, from)| *to = *from);
        EventId::from_uuid(Builder::from_custom_bytes(bytes).into_uuid())
    }
}

/// Log records, one event each.
pub(crate) fn logs(clean: Clean<'_>, records: &[LogRecord], project: &ProjectId) -> Vec<NewEvent> {
    let mut ids = Ids::new(clean, project);
    records.iter().map(|record| log(record, &mut ids)).collect()
}

fn log(record: &LogRecord, ids: &mut Ids<'_>) -> NewEvent {
    let mut payload = about(&record.origin, &record.attributes);
    put(&mut payload, "trace_id", json!(record.trace_id));
    put(&mut payload, "span_id", json!(record.span_id));
    let Some(event) = Event::of(record) else {
        let name = record.event_name.as_deref().or_else(|| record.attributes.text("event.name"));
        put(&mut payload, "body", record.body.json());
        put(&mut payload, "event", json!(name));
        let kind = named("otel", name.unwrap_or("log"));
        let mut foreign = begin(ids, "log", (record.time_unix_nano, &record.attributes), kind, payload);
        foreign.session = record.attributes.owned("session.id").or_else(|| conversation(&record.attributes));
        return foreign;
    };
    let Event { vendor, context, fact } = event;
    let Context { session_id, prompt_id, agent_id, agent_name, sequence, .. } = context;
    put(&mut payload, "prompt_id", json!(prompt_id));
    put(&mut payload, "agent_id", json!(agent_id));
    put(&mut payload, "agent_type", json!(agent_name));
    put(&mut payload, "sequence", json!(sequence));
    put(&mut payload, "vendor", json!(vendor));
    put(&mut payload, "request_id", json!(record.attributes.owned("request_id")));
    let use_id = ["tool_use_id", "call_id"].iter().find_map(|name| record.attributes.owned(name));
    put(&mut payload, "tool_use_id", json!(use_id));
    let kind = match &fact {
        Fact::ApiRequest(_) => EventKind::ModelCalled,
        Fact::ApiError(_) => EventKind::Other("model.failed".to_owned()),
        Fact::ToolResult(_) => EventKind::Other("tool.reported".to_owned()),
        Fact::ToolDecision(_) => EventKind::Other("tool.decided".to_owned()),
        Fact::UserPrompt { .. } => EventKind::Other("prompt.reported".to_owned()),
        Fact::SubagentCompleted { .. } => EventKind::Other("agent.reported".to_owned()),
        Fact::Other { name, .. } => named("otel", name),
    };
    let mut told = begin(ids, "log", (record.time_unix_nano, &record.attributes), kind, payload);
    told.actor = Actor {
        id: agent_id.or_else(|| session_id.clone()),
        name: Some(vendor.to_owned()),
        role: agent_name,
    };
    told.session = session_id;
    state(&mut told, fact);
    told
}

/// Gives each fact its columns.
fn state(told: &mut NewEvent, fact: Fact) {
    match fact {
        Fact::ApiRequest(request) => {
            told.status = Some(EventStatus::Success);
            (told.cost_micros, told.duration_ms) = (request.cost_usd_micros, request.duration_ms);
            told.tokens = Some(request.tokens.prompt().saturating_add(request.tokens.output));
            let ApiRequest { model, tokens, query_source, .. } = request;
            add(told, "model", json!(model));
            add(told, "usage", usage(tokens));
            add(told, "query_source", json!(query_source));
        }
        Fact::ApiError(failed) => {
            told.status = Some(EventStatus::Failure);
            (told.error, told.duration_ms) = (failed.error, failed.duration_ms);
            add(told, "model", json!(failed.model));
            add(told, "status_code", json!(failed.status));
        }
        Fact::ToolResult(result) => {
            told.decision = result.decision.as_deref().and_then(verdict);
            let status = |is_good| match (is_good, told.decision) {
                (true, _) => EventStatus::Success,
                (false, Some(Verdict::Deny)) => EventStatus::Denied,
                (false, _) => EventStatus::Failure,
            };
            told.status = result.success.map(status);
            (told.tool, told.error) = (Some(result.tool_name), result.error);
            told.duration_ms = result.duration_ms;
            add(told, "output_bytes", json!(result.result_bytes));
        }
        Fact::ToolDecision(decided) => {
            told.tool = Some(decided.tool_name);
            told.decision = verdict(&decided.decision);
            told.reason = decided.source;
        }
        Fact::SubagentCompleted { duration_ms, .. } => told.duration_ms = duration_ms,
        Fact::UserPrompt { .. } | Fact::Other { .. } => {}
    }
}

fn verdict(decision: &str) -> Option<Verdict> {
    match decision {
        "accept" => Some(Verdict::Allow),
        "reject" => Some(Verdict::Deny),
        _ => None,
    }
}

/// Spans, one event each.
pub(crate) fn traces(clean: Clean<'_>, spans: &[Span], project: &ProjectId) -> Vec<NewEvent> {
    let mut ids = Ids::new(clean, project);
    spans.iter().map(|span| trace(span, &mut ids)).collect()
}

fn trace(span: &Span, ids: &mut Ids<'_>) -> NewEvent {
    let mut payload = about(&span.origin, &span.attributes);
    for (name, value) in [("trace_id", &span.trace_id), ("span_id", &span.span_id), ("span", &span.name)] {
        put(&mut payload, name, json!(value));
    }
    put(&mut payload, "parent_span_id", json!(span.parent_span_id));
    put(&mut payload, "parent_agent_id", json!(span.attributes.owned("parent_agent_id")));
    put(&mut payload, "request_id", json!(span.attributes.owned("request_id")));
    let known = GenAiSpan::of(span);
    let is_claude = span.origin.scope.starts_with(CLAUDE) || span.attributes.get("span.type").is_some();
    // What these say of a request in a span they say in an event too, Claude Code there with its cost.
    let service = span.origin.resource.text("service.name").unwrap_or_default();
    let is_told_twice = is_claude || service.starts_with("gemini-cli") || service.starts_with("codex");
    let kind = match known.as_ref().map(|known| &known.operation) {
        Some(Operation::Model) if is_told_twice => EventKind::Other("model.traced".to_owned()),
        Some(Operation::Model) if known.as_ref().is_some_and(|known| known.error.is_some()) => {
            EventKind::Other("model.failed".to_owned())
        }
        Some(Operation::Model) => EventKind::ModelCalled,
        Some(Operation::Tool) => EventKind::Other("tool.reported".to_owned()),
        Some(Operation::Agent) => EventKind::Other("agent.traced".to_owned()),
        Some(Operation::Workflow | Operation::Other(_)) | None => EventKind::Other("otel.span".to_owned()),
    };
    let mut told = begin(ids, "span", (span.end_unix_nano, &span.attributes), kind, payload);
    told.duration_ms = Some(span.end_unix_nano.saturating_sub(span.start_unix_nano) / 1_000_000);
    told.error.clone_from(&span.error);
    told.session = span.attributes.owned("session.id").or_else(|| conversation(&span.attributes));
    let Some(known) = known else { return told };
    let vendor =
        if is_claude { Some("claude-code".to_owned()) } else { span.origin.resource.owned("service.name") };
    add(&mut told, "vendor", json!(vendor));
    told.actor = Actor {
        id: known.agent_id.clone().or_else(|| told.session.clone()),
        name: vendor,
        role: known.agent_name.clone(),
    };
    told.status = Some(if known.error.is_some() { EventStatus::Failure } else { EventStatus::Success });
    told.error = known.error;
    told.tool = known.tool_name.or_else(|| span.attributes.owned("tool_name"));
    let use_id = known.tool_use_id.or_else(|| span.attributes.owned("tool_use_id"));
    add(&mut told, "tool_use_id", json!(use_id));
    add(&mut told, "agent_id", json!(known.agent_id));
    add(&mut told, "agent_type", json!(known.agent_name));
    if known.operation == Operation::Model {
        told.tokens = Some(known.tokens.prompt().saturating_add(known.tokens.output));
        add(&mut told, "model", json!(known.model));
        add(&mut told, "message_id", json!(known.response_id));
        add(&mut told, "usage", usage(known.tokens));
    }
    told
}

/// Metrics, many points to an event.
pub(crate) fn metrics(clean: Clean<'_>, sums: &[Sum], project: &ProjectId) -> Vec<NewEvent> {
    let mut ids = Ids::new(clean, project);
    let each = sums.iter().flat_map(|sum| sum.points.iter().map(move |point| (sum, point)));
    let points: Vec<(u64, &Sum, Value)> = each
        .map(|(sum, point)| {
            let temporality = match sum.temporality {
                Temporality::Delta => "delta",
                Temporality::Cumulative => "cumulative",
                Temporality::Gauge => "gauge",
            };
            let mut said = json!({
                "name": sum.name, "unit": sum.unit, "temporality": temporality, "value": point.value,
                "start": point.start_unix_nano, "time": point.time_unix_nano,
                "attributes": point.attributes.json_without(&[]),
            });
            if let (Some(spread), Some(said)) = (&point.spread, said.as_object_mut()) {
                put(said, "count", json!(spread.count));
                put(said, "bounds", json!(spread.bounds));
                put(said, "buckets", json!(spread.buckets));
            }
            (point.time_unix_nano, sum, said)
        })
        .collect();
    let events = points.chunks(POINTS).filter_map(|some| {
        let (time, sum, first) = some.first()?;
        let mut payload = Map::new();
        put(&mut payload, "source", json!("otlp"));
        put(&mut payload, "resource", sum.origin.resource.json_without(&[]));
        put(&mut payload, "points", some.iter().map(|(_, _, said)| said.clone()).collect());
        let kind = EventKind::Other("otel.metrics".to_owned());
        let mut told = begin(&mut ids, "metrics", (*time, &Attributes::default()), kind, payload);
        told.session = first.pointer("/attributes/session.id").and_then(Value::as_str).map(str::to_owned);
        Some(told)
    });
    events.collect()
}

fn begin(
    ids: &mut Ids<'_>,
    signal: &str,
    (nanos, said): (u64, &Attributes),
    kind: EventKind,
    payload: Map<String, Value>,
) -> NewEvent {
    let time = Timestamp::from_micros(i64::try_from(nanos / 1000).unwrap_or(0));
    let payload = Value::Object(payload);
    let id = ids.id(signal, time, &json!([said.json_without(&[]), payload]));
    let resource = payload.get("resource");
    let place = |name: &str| resource?.get(name)?.as_str().map(str::to_owned);
    let (sandbox, run) = (place("belljar.sandbox.id"), place("belljar.run.id"));
    let mut told = NewEvent::new(id, time, ProjectId::default(), kind);
    // Claims, unless who sent them is known.
    told.sandbox = sandbox.and_then(|id| id.parse().ok());
    told.run = run.and_then(|id| id.parse().ok());
    told.payload = shortened(ids.clean, payload);
    told
}

fn about(origin: &Origin, attributes: &Attributes) -> Map<String, Value> {
    let mut fields = Map::new();
    put(&mut fields, "source", json!("otlp"));
    put(&mut fields, "scope", json!(origin.scope));
    put(&mut fields, "resource", origin.resource.json_without(&[]));
    put(&mut fields, "attributes", attributes.json_without(&PROMOTED));
    fields
}

fn conversation(attributes: &Attributes) -> Option<String> {
    attributes.owned("gen_ai.conversation.id").or_else(|| attributes.owned("conversation.id"))
}

fn put(fields: &mut Map<String, Value>, name: &str, value: Value) {
    let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
    if !is_empty {
        fields.insert(name.to_owned(), value);
    }
}

fn add(told: &mut NewEvent, name: &str, value: Value) {
    if let Value::Object(fields) = &mut told.payload {
        put(fields, name, value);
    }
}

fn usage(tokens: Tokens) -> Value {
    json!({
        "input": tokens.input, "output": tokens.output, "cache_read": tokens.cache_read,
        "cache_write_5m": tokens.cache_write_5m, "cache_write_1h": tokens.cache_write_1h,
    })
}

/// A kind under a family, of letters a kind may have.
fn named(family: &str, name: &str) -> EventKind {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).take(48).collect();
    EventKind::Other(format!("{family}.{name}"))
}
