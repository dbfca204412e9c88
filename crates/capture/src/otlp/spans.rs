//! Spans by the `GenAI` conventions (1.41), made of what the ledger tells: for collectors that know nothing of ours.
//!
//! Owns: which events end a span, its names, its ids. Ids are made of what a span is about, so the same span told twice is
//! the same span, whoever tells it. A session is a trace; in it turns and subagents are `invoke_agent`, requests to models
//! `chat`, calls of tools `execute_tool`, or `tools/call` where a server elsewhere has the tool. What agents said and read goes along only if that is wanted.
//! Refuses: spans that came in as spans, which their sender exports itself.

use std::collections::{BTreeMap, VecDeque};

use belljar_domain::{Event, Timestamp};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// What has begun and not ended, and what ended lately; more than that is forgotten.
const MOST: usize = 20_000;
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.0";
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
/// What MCP calls a call of a tool.
const CALL: &str = "tools/call";

/// Makes spans out of events, in the ledger's order.
#[derive(Debug)]
pub struct Spans {
    /// Whether what went in and came out goes along.
    content: bool,
    open: BTreeMap<String, Timestamp>,
    over: VecDeque<String>,
}

impl Spans {
    /// None yet.
    #[must_use]
    pub const fn new(content: bool) -> Self {
        Self { content, open: BTreeMap::new(), over: VecDeque::new() }
    }

    /// The span an event ends, as OTLP's JSON writes it.
    pub fn take(&mut self, event: &Event) -> Option<Value> {
        let told = Told(event);
        let session = event.what.session.as_deref()?;
        let turn = format!("turn\0{session}\0{}", told.text("prompt_id").unwrap_or_default());
        let agent = told.text("agent_id").map(|id| format!("agent\0{session}\0{id}"));
        let call = told.text("tool_use_id").map(|id| format!("call\0{session}\0{id}"));
        let within = agent.clone().unwrap_or_else(|| turn.clone());
        match event.what.kind.as_str() {
            "prompt.submitted" => self.begin(turn, event),
            "agent.started" => self.begin(agent?, event),
            "tool.requested" => self.begin(call?, event),
            "turn.ended" | "turn.failed" if agent.is_none() => {
                return self.end(&turn, None, &told.turn(), event);
            }
            "agent.stopped" => return self.end(&agent?, Some(&turn), &told.agent(), event),
            "tool.finished" | "tool.failed" | "tool.reported" => {
                let call = call?;
                let facts = told.call(self.content)?;
                return self.end(&call, Some(&within), &facts, event);
            }
            "model.called" | "model.failed" => {
                let request = told.text("request_id").or_else(|| told.text("message_id"));
                let request = request.map_or_else(|| event.what.id.to_string(), str::to_owned);
                return self.end(
                    &format!("model\0{session}\0{request}"),
                    Some(&within),
                    &told.model(),
                    event,
                );
            }
            _ => {}
        }
        None
    }

    fn begin(&mut self, about: String, event: &Event) {
        if self.open.len() < MOST {
            self.open.entry(about).or_insert(event.what.time);
        }
    }

    fn end(&mut self, about: &str, within: Option<&str>, facts: &Facts, event: &Event) -> Option<Value> {
        let begun = self.open.remove(about);
        // What failed may be told of as finished, too, and telemetry tells what hooks have told.
        if begun.is_none() && self.over.iter().any(|over| over == about) {
            return None;
        }
        self.over.push_back(about.to_owned());
        if self.over.len() > MOST {
            self.over.pop_front();
        }
        let what = &event.what;
        let took = what.duration_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX).saturating_mul(1000));
        let end = what.time.as_micros();
        let start = took.map(|took| end.saturating_sub(took)).or(begun.map(Timestamp::as_micros));
        let nanos = |micros: i64| micros.max(0).saturating_mul(1000).to_string();
        let session = what.session.as_deref().unwrap_or_default();
        let mut span = json!({
            "traceId": id::<16>(&format!("session\0{session}")), "spanId": id::<8>(about), "name": facts.name,
            "kind": facts.kind, "startTimeUnixNano": nanos(start.unwrap_or(end).min(end)), "endTimeUnixNano": nanos(end),
            "attributes": Told(event).attributes(facts),
        });
        if let (Some(within), Some(span)) = (within, span.as_object_mut()) {
            span.insert("parentSpanId".to_owned(), json!(id::<8>(within)));
        }
        if let (Some(_), Some(span)) = (&facts.error, span.as_object_mut()) {
            let message = what.error.as_deref().filter(|_| self.content).unwrap_or_default();
            span.insert("status".to_owned(), json!({"code": 2, "message": message}));
        }
        Some(span)
    }
}

/// An `ExportTraceServiceRequest` of these spans.
#[must_use]
pub fn export(spans: &[Value], version: &str) -> Value {
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    json!({"resourceSpans": [{
        "resource": {"attributes": [text("service.name", "belljar"), text("service.version", version)]},
        "scopeSpans": [{"scope": {"name": "belljar", "version": version}, "schemaUrl": SCHEMA, "spans": spans}],
    }]})
}

/// What a span says.
#[derive(Debug)]
struct Facts {
    name: String,
    kind: u8,
    said: Vec<(&'static str, Value)>,
    error: Option<String>,
}

struct Told<'e>(&'e Event);

impl<'e> Told<'e> {
    fn text(&self, name: &str) -> Option<&'e str> {
        self.0.what.payload.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    fn count(&self, name: &str) -> u64 {
        self.0.what.payload.get("usage").and_then(|usage| usage.get(name)?.as_u64()).unwrap_or(0)
    }

    fn failure(&self) -> Option<String> {
        use belljar_domain::EventStatus::{Cancelled, Denied, Failure, Timeout};
        let failed = matches!(self.0.what.status?, Failure | Timeout | Denied | Cancelled);
        let code = self.0.what.payload.get("exit_code").and_then(Value::as_i64);
        failed.then(|| code.map_or_else(|| "_OTHER".to_owned(), |code| format!("exit_code_{code}")))
    }

    fn turn(&self) -> Facts {
        let name = self.0.what.actor.name.as_deref().unwrap_or("agent");
        let error = (self.0.what.kind.as_str() == "turn.failed").then(|| {
            self.0.what.error.as_deref().filter(|error| is_word(error)).unwrap_or("_OTHER").to_owned()
        });
        let said = vec![
            ("gen_ai.operation.name", json!("invoke_agent")),
            ("gen_ai.agent.name", json!(name)),
            ("gen_ai.agent.id", json!(self.0.what.session)),
        ];
        Facts { name: format!("invoke_agent {name}"), kind: INTERNAL, said, error }
    }

    fn agent(&self) -> Facts {
        let name = self.text("agent_type").unwrap_or("agent");
        let said = vec![
            ("gen_ai.operation.name", json!("invoke_agent")),
            ("gen_ai.agent.name", json!(name)),
            ("gen_ai.agent.id", json!(self.text("agent_id"))),
            (
                "belljar.agent.parent_id",
                json!(self.text("parent_agent_id").or(self.0.what.session.as_deref())),
            ),
        ];
        Facts { name: format!("invoke_agent {name}"), kind: INTERNAL, said, error: self.failure() }
    }

    fn call(&self, content: bool) -> Option<Facts> {
        let whole = self.0.what.tool.as_deref()?;
        // Agents call a tool of a server elsewhere `mcp__SERVER__TOOL`; the conventions have a span of its own for it.
        let elsewhere = whole.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
        let (sort, tool) = elsewhere.map_or(("function", whole), |(_, tool)| ("extension", tool));
        let mut said = vec![
            ("gen_ai.operation.name", json!("execute_tool")),
            ("gen_ai.tool.name", json!(tool)),
            ("mcp.method.name", json!(elsewhere.map(|_| CALL))),
            ("belljar.mcp.server", json!(elsewhere.map(|(server, _)| server))),
            ("gen_ai.tool.call.id", json!(self.text("tool_use_id"))),
            ("gen_ai.tool.type", json!(sort)),
            ("gen_ai.agent.id", json!(self.text("agent_id"))),
        ];
        if content {
            let text = |name: &str| self.0.what.payload.get(name).map(Value::to_string);
            said.push(("gen_ai.tool.call.arguments", json!(text("tool_input"))));
            said.push(("gen_ai.tool.call.result", json!(text("tool_response"))));
        }
        let (name, kind) = match elsewhere {
            Some(_) => (format!("{CALL} {tool}"), CLIENT),
            None => (format!("execute_tool {tool}"), INTERNAL),
        };
        Some(Facts { name, kind, said, error: self.failure() })
    }

    fn model(&self) -> Facts {
        let model = self.text("model").unwrap_or("unknown");
        let (read, written) =
            (self.count("cache_read"), self.count("cache_write_5m") + self.count("cache_write_1h"));
        let cost = self.0.what.cost_micros.map(|micros| json!({"doubleValue": dollars(micros)}));
        let said = vec![
            ("gen_ai.operation.name", json!("chat")),
            ("gen_ai.request.model", json!(self.text("model"))),
            ("gen_ai.response.id", json!(self.text("message_id"))),
            // The conventions count what came from the cache within the input.
            ("gen_ai.usage.input_tokens", json!(self.count("input") + read + written)),
            ("gen_ai.usage.output_tokens", json!(self.count("output"))),
            ("gen_ai.usage.cache_read.input_tokens", json!(read)),
            ("gen_ai.usage.cache_creation.input_tokens", json!(written)),
            ("gen_ai.agent.id", json!(self.text("agent_id"))),
            ("belljar.cost.usd", cost.unwrap_or_default()),
        ];
        Facts { name: format!("chat {model}"), kind: CLIENT, said, error: self.failure() }
    }

    /// A span's own attributes and those every span has; what is not known is left out.
    fn attributes(&self, facts: &Facts) -> Vec<Value> {
        let what = &self.0.what;
        let provider = match self.text("vendor") {
            Some("claude-code") => Some("anthropic"),
            Some("codex") => Some("openai"),
            Some("gemini") => Some("gcp.gemini"),
            _ => None,
        };
        let common = [
            ("gen_ai.provider.name", json!(provider)),
            ("gen_ai.conversation.id", json!(what.session)),
            ("session.id", json!(what.session)),
            ("belljar.project", json!(what.project.as_str())),
            ("belljar.sandbox.id", json!(what.sandbox.map(|id| id.to_string()))),
            ("belljar.run.id", json!(what.run.map(|id| id.to_string()))),
            ("belljar.decision", json!(what.decision.map(|verdict| verdict.to_string()))),
            ("error.type", json!(facts.error)),
        ];
        let all = facts.said.iter().chain(&common).filter(|(_, value)| !value.is_null());
        all.map(|(key, value)| {
            let value = match value {
                Value::String(text) => json!({"stringValue": text}),
                Value::Number(number) => json!({"intValue": number.to_string()}),
                other => other.clone(),
            };
            json!({"key": key, "value": value})
        })
        .collect()
    }
}

fn is_word(text: &str) -> bool {
    text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[expect(clippy::cast_precision_loss, reason = "far less money than a float can count")]
fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// An identifier made of what it stands for.
fn id<const BYTES: usize>(about: &str) -> String {
    Sha256::digest(about.as_bytes()).iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect()
}
