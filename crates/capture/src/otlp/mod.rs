//! OTLP: what agents export about themselves, over HTTP, in either encoding.
//!
//! Owns: reading export requests for logs, metrics and traces into small types of our own, events of Claude Code, Codex
//! and Gemini CLI and the `GenAI` conventions as typed facts, and adding up metrics. Protobuf is first spelled out in the shape of
//! the JSON encoding by a table of fields (`schema`), so there is one reader, and both encodings agree.
//! Refuses: anything beyond its bounds, with the path of the field that was too much.

mod attributes;
mod claude;
mod error;
mod genai;
mod json;
mod metrics;
mod others;
mod protobuf;
mod reply;
mod schema;
mod signals;
mod spans;

pub use attributes::{AnyValue, Attributes};
pub use claude::{ApiError, ApiRequest, Context, Event, Fact, ToolDecision, ToolResult};
pub use error::OtlpError;
pub use genai::{GenAiSpan, Operation};
pub(crate) use metrics::Total;
pub use metrics::{Accumulator, Series, Temporality};
pub use signals::{LogRecord, Logs, Metrics, Origin, Point, Span, Spread, Sum, Traces};
pub use spans::{Spans, export};

use serde_json::Value;

/// How a request's body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// `application/x-protobuf`
    Protobuf,
    /// `application/json`
    Json,
}

/// The records of an `ExportLogsServiceRequest`.
pub fn logs(body: &[u8], encoding: Encoding) -> Result<Logs, OtlpError> {
    json::logs(&spelled(body, encoding, schema::LOGS)?)
}

/// The metrics of an `ExportMetricsServiceRequest`.
pub fn metrics(body: &[u8], encoding: Encoding) -> Result<Metrics, OtlpError> {
    json::metrics(&spelled(body, encoding, schema::METRICS)?)
}

/// The spans of an `ExportTraceServiceRequest`.
pub fn traces(body: &[u8], encoding: Encoding) -> Result<Traces, OtlpError> {
    json::traces(&spelled(body, encoding, schema::TRACES)?)
}

fn spelled(body: &[u8], encoding: Encoding, message: schema::Message) -> Result<Value, OtlpError> {
    match encoding {
        Encoding::Protobuf => protobuf::spelled(body, message),
        // Depth is bounded by the parser itself.
        Encoding::Json => serde_json::from_slice(body).map_err(OtlpError::Json),
    }
}
