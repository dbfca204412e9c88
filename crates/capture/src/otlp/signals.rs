//! What a request holds, in types of our own.

use std::sync::Arc;

use super::{
    attributes::{AnyValue, Attributes},
    metrics::Temporality,
};

/// Who sent records: the process and the part of it. Shared by all records of one scope.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Origin {
    /// The resource: service, host, operating system.
    pub resource: Attributes,
    /// The instrumentation scope's name.
    pub scope: String,
    /// Its version.
    pub version: String,
}

/// Log records, in the order they were sent.
pub type Logs = Vec<LogRecord>;
/// Metrics, in the order they were sent.
pub type Metrics = Vec<Sum>;
/// Spans, in the order they were sent.
pub type Traces = Vec<Span>;

/// One log record or event.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRecord {
    /// Who sent it.
    pub origin: Arc<Origin>,
    /// When it happened, in nanoseconds; when it was observed, if that is all there is.
    pub time_unix_nano: u64,
    /// The event's name, where it is a field of its own.
    pub event_name: Option<String>,
    /// Its body.
    pub body: AnyValue,
    /// Its attributes.
    pub attributes: Attributes,
    /// The trace it belongs to.
    pub trace_id: Option<String>,
    /// The span it belongs to.
    pub span_id: Option<String>,
}

/// One span.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Who sent it.
    pub origin: Arc<Origin>,
    /// The trace it belongs to.
    pub trace_id: String,
    /// Its identifier.
    pub span_id: String,
    /// The span around it.
    pub parent_span_id: Option<String>,
    /// Its name.
    pub name: String,
    /// Begin, in nanoseconds.
    pub start_unix_nano: u64,
    /// End, in nanoseconds.
    pub end_unix_nano: u64,
    /// Its attributes.
    pub attributes: Attributes,
    /// Whether it ended in an error, and which.
    pub error: Option<String>,
}

/// A metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Sum {
    /// Who sent it.
    pub origin: Arc<Origin>,
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// How its points relate to those before.
    pub temporality: Temporality,
    /// Its points.
    pub points: Vec<Point>,
}

/// One point of a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Begin of what it counts, in nanoseconds.
    pub start_unix_nano: u64,
    /// When it was taken, in nanoseconds.
    pub time_unix_nano: u64,
    /// Its value; of a histogram or a summary the sum of what it counts.
    pub value: f64,
    /// How what it counts is spread, if it is more than one value.
    pub spread: Option<Spread>,
    /// Its attributes.
    pub attributes: Attributes,
}

/// What a histogram's point counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// How many there were.
    pub count: u64,
    /// The upper bounds of all buckets but the last; none where they are not told so.
    pub bounds: Vec<f64>,
    /// How many fell into each bucket, one more than there are bounds.
    pub buckets: Vec<u64>,
}
