//! The fields of OTLP that we read: number, name, kind. Everything else is skipped.
//!
//! From opentelemetry-proto 1.x, whose field numbers never change.

/// A message's fields.
pub(super) type Message = &'static [Field];

/// One field of a message.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u64,
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// How a field's bytes become JSON.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Text,
    /// Bytes in hexadecimal: identifiers of traces and spans.
    Hex,
    Bool,
    /// A varint.
    Int,
    Fixed64,
    Double,
    /// Many of them, one after the other without tags between.
    Fixed64s,
    Doubles,
    One(Message),
    Many(Message),
    /// A value that may hold values.
    Value,
    Values,
}

const fn field(number: u64, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind }
}

const PAIR: Message = &[field(1, "key", Kind::Text), field(2, "value", Kind::Value)];
/// What an `AnyValue` may be.
pub(super) const ANY: Message = &[
    field(1, "stringValue", Kind::Text),
    field(2, "boolValue", Kind::Bool),
    field(3, "intValue", Kind::Int),
    field(4, "doubleValue", Kind::Double),
    field(5, "arrayValue", Kind::One(&[field(1, "values", Kind::Values)])),
    field(6, "kvlistValue", Kind::One(&[field(1, "values", Kind::Many(PAIR))])),
    field(7, "bytesValue", Kind::Hex),
];
const RESOURCE: Field = field(1, "resource", Kind::One(&[field(1, "attributes", Kind::Many(PAIR))]));
const SCOPE: Field =
    field(1, "scope", Kind::One(&[field(1, "name", Kind::Text), field(2, "version", Kind::Text)]));

const RECORD: Message = &[
    field(1, "timeUnixNano", Kind::Fixed64),
    field(2, "severityNumber", Kind::Int),
    field(3, "severityText", Kind::Text),
    field(5, "body", Kind::Value),
    field(6, "attributes", Kind::Many(PAIR)),
    field(9, "traceId", Kind::Hex),
    field(10, "spanId", Kind::Hex),
    field(11, "observedTimeUnixNano", Kind::Fixed64),
    field(12, "eventName", Kind::Text),
];
const SPAN: Message = &[
    field(1, "traceId", Kind::Hex),
    field(2, "spanId", Kind::Hex),
    field(4, "parentSpanId", Kind::Hex),
    field(5, "name", Kind::Text),
    field(6, "kind", Kind::Int),
    field(7, "startTimeUnixNano", Kind::Fixed64),
    field(8, "endTimeUnixNano", Kind::Fixed64),
    field(9, "attributes", Kind::Many(PAIR)),
    field(15, "status", Kind::One(&[field(2, "message", Kind::Text), field(3, "code", Kind::Int)])),
];
const POINT: Message = &[
    field(2, "startTimeUnixNano", Kind::Fixed64),
    field(3, "timeUnixNano", Kind::Fixed64),
    field(4, "asDouble", Kind::Double),
    field(6, "asInt", Kind::Fixed64),
    field(7, "attributes", Kind::Many(PAIR)),
];
const SPREAD: Message = &[
    field(2, "startTimeUnixNano", Kind::Fixed64),
    field(3, "timeUnixNano", Kind::Fixed64),
    field(4, "count", Kind::Fixed64),
    field(5, "sum", Kind::Double),
    field(6, "bucketCounts", Kind::Fixed64s),
    field(7, "explicitBounds", Kind::Doubles),
    field(9, "attributes", Kind::Many(PAIR)),
];
/// The same without buckets that are told by their bounds. Those of an exponential histogram have other numbers, and its
/// attributes the first.
const EXPONENTIAL: Message = &[
    field(1, "attributes", Kind::Many(PAIR)),
    field(2, "startTimeUnixNano", Kind::Fixed64),
    field(3, "timeUnixNano", Kind::Fixed64),
    field(4, "count", Kind::Fixed64),
    field(5, "sum", Kind::Double),
];
const SUMMARY: Message = &[
    field(2, "startTimeUnixNano", Kind::Fixed64),
    field(3, "timeUnixNano", Kind::Fixed64),
    field(4, "count", Kind::Fixed64),
    field(5, "sum", Kind::Double),
    field(7, "attributes", Kind::Many(PAIR)),
];
const TEMPORALITY: Field = field(2, "aggregationTemporality", Kind::Int);
const METRIC: Message = &[
    field(1, "name", Kind::Text),
    field(3, "unit", Kind::Text),
    field(5, "gauge", Kind::One(&[field(1, "dataPoints", Kind::Many(POINT))])),
    field(
        7,
        "sum",
        Kind::One(&[
            field(1, "dataPoints", Kind::Many(POINT)),
            TEMPORALITY,
            field(3, "isMonotonic", Kind::Bool),
        ]),
    ),
    field(9, "histogram", Kind::One(&[field(1, "dataPoints", Kind::Many(SPREAD)), TEMPORALITY])),
    field(
        10,
        "exponentialHistogram",
        Kind::One(&[field(1, "dataPoints", Kind::Many(EXPONENTIAL)), TEMPORALITY]),
    ),
    field(11, "summary", Kind::One(&[field(1, "dataPoints", Kind::Many(SUMMARY))])),
];

/// `ExportLogsServiceRequest`
pub(super) const LOGS: Message = &[field(
    1,
    "resourceLogs",
    Kind::Many(&[
        RESOURCE,
        field(2, "scopeLogs", Kind::Many(&[SCOPE, field(2, "logRecords", Kind::Many(RECORD))])),
    ]),
)];
/// `ExportMetricsServiceRequest`
pub(super) const METRICS: Message = &[field(
    1,
    "resourceMetrics",
    Kind::Many(&[
        RESOURCE,
        field(2, "scopeMetrics", Kind::Many(&[SCOPE, field(2, "metrics", Kind::Many(METRIC))])),
    ]),
)];
/// `ExportTraceServiceRequest`
pub(super) const TRACES: Message = &[field(
    1,
    "resourceSpans",
    Kind::Many(&[
        RESOURCE,
        field(2, "scopeSpans", Kind::Many(&[SCOPE, field(2, "spans", Kind::Many(SPAN))])),
    ]),
)];
