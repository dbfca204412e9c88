//! The one reader of export requests, over the shape of the JSON encoding.
//!
//! Owns: leniency where the encoding is lenient (64-bit numbers as text or number, enumerations by name or
//! number), bounds on counts and sizes, and the path of whatever is wrong.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{
    attributes::{AnyValue, Attributes},
    error::OtlpError,
    metrics::Temporality,
    signals::{LogRecord, Logs, Metrics, Origin, Point, Span, Spread, Sum, Traces},
};

/// Records of one request.
const RECORD_LIMIT: usize = 65_536;
/// Attributes of one record.
const ATTRIBUTE_LIMIT: usize = 1_024;
/// Bytes of one text.
const TEXT_LIMIT: usize = 4 * 1024 * 1024;
/// Buckets of one histogram.
const BUCKET_LIMIT: usize = 1_024;
const DEPTH_LIMIT: usize = 16;

pub(super) fn logs(request: &Value) -> Result<Logs, OtlpError> {
    let mut records = Vec::new();
    each(request, ["resourceLogs", "scopeLogs", "logRecords"], |record, origin, path| {
        let time = count(record, "timeUnixNano", path)?;
        records.push(LogRecord {
            time_unix_nano: if time == 0 { count(record, "observedTimeUnixNano", path)? } else { time },
            event_name: optional(record, "eventName", path)?,
            body: record
                .get("body")
                .map_or(Ok(AnyValue::Empty), |body| any(body, &format!("{path}.body"), 0))?,
            attributes: attributes(record, path)?,
            trace_id: optional(record, "traceId", path)?,
            span_id: optional(record, "spanId", path)?,
            origin: origin.clone(),
        });
        Ok(())
    })?;
    Ok(records)
}

pub(super) fn traces(request: &Value) -> Result<Traces, OtlpError> {
    let mut spans = Vec::new();
    each(request, ["resourceSpans", "scopeSpans", "spans"], |span, origin, path| {
        let status = span.get("status");
        let is_error = status
            .and_then(|status| status.get("code"))
            .is_some_and(|code| names(code, 2, "STATUS_CODE_ERROR"));
        let message =
            status.and_then(|status| status.get("message")).and_then(Value::as_str).unwrap_or_default();
        spans.push(Span {
            trace_id: text(span, "traceId", path)?,
            span_id: text(span, "spanId", path)?,
            parent_span_id: optional(span, "parentSpanId", path)?,
            name: text(span, "name", path)?,
            start_unix_nano: count(span, "startTimeUnixNano", path)?,
            end_unix_nano: count(span, "endTimeUnixNano", path)?,
            attributes: attributes(span, path)?,
            error: is_error.then(|| message.to_owned()),
            origin: origin.clone(),
        });
        Ok(())
    })?;
    Ok(spans)
}

/// Where each kind of metric has its data.
const METRICS: [&str; 5] = ["sum", "gauge", "histogram", "exponentialHistogram", "summary"];

pub(super) fn metrics(request: &Value) -> Result<Metrics, OtlpError> {
    let mut sums = Vec::new();
    each(request, ["resourceMetrics", "scopeMetrics", "metrics"], |metric, origin, path| {
        let found = METRICS.into_iter().find_map(|field| Some((field, metric.get(field)?)));
        let Some((field, data)) = found else { return Ok(()) };
        let path = format!("{path}.{field}");
        let temporality = match data.get("aggregationTemporality") {
            Some(value) if names(value, 1, "AGGREGATION_TEMPORALITY_DELTA") => Temporality::Delta,
            Some(value) if names(value, 2, "AGGREGATION_TEMPORALITY_CUMULATIVE") => Temporality::Cumulative,
            _ if field == "summary" => Temporality::Cumulative,
            _ => Temporality::Gauge,
        };
        let is_plain = matches!(field, "sum" | "gauge");
        let mut points = Vec::new();
        for (at, point) in list(data, "dataPoints", &path, RECORD_LIMIT)?.iter().enumerate() {
            let path = format!("{path}.dataPoints[{at}]");
            points.push(Point {
                start_unix_nano: count(point, "startTimeUnixNano", &path)?,
                time_unix_nano: count(point, "timeUnixNano", &path)?,
                value: if is_plain { value_of(point, &path)? } else { total(point, &path)? },
                spread: if is_plain { None } else { Some(spread(point, &path)?) },
                attributes: attributes(point, &path)?,
            });
        }
        let (name, unit) = (text(metric, "name", &path)?, text(metric, "unit", &path)?);
        sums.push(Sum { name, unit, temporality, points, origin: origin.clone() });
        Ok(())
    })?;
    Ok(sums)
}

fn total(point: &Value, path: &str) -> Result<f64, OtlpError> {
    let wrong = || OtlpError::Type { path: format!("{path}.sum"), expected: "a number" };
    point.get("sum").filter(|sum| !sum.is_null()).map_or(Ok(0.0), |sum| double(sum).ok_or_else(wrong))
}

fn spread(point: &Value, path: &str) -> Result<Spread, OtlpError> {
    let wrong = |name, expected| OtlpError::Type { path: format!("{path}.{name}"), expected };
    let bounds = list(point, "explicitBounds", path, BUCKET_LIMIT)?.iter().map(double);
    let bounds = bounds.collect::<Option<_>>().ok_or_else(|| wrong("explicitBounds", "a list of numbers"))?;
    let whole = |value: &Value| int(value).and_then(|count| u64::try_from(count).ok());
    let buckets = list(point, "bucketCounts", path, BUCKET_LIMIT + 1)?.iter().map(whole);
    let buckets =
        buckets.collect::<Option<_>>().ok_or_else(|| wrong("bucketCounts", "a list of whole numbers"))?;
    Ok(Spread { count: count(point, "count", path)?, bounds, buckets })
}

/// Walks resource, scope and record, whose names differ by signal alone.
fn each(
    request: &Value,
    [outer, middle, inner]: [&str; 3],
    mut take: impl FnMut(&Value, &Arc<Origin>, &str) -> Result<(), OtlpError>,
) -> Result<(), OtlpError> {
    let mut left = RECORD_LIMIT;
    for (i, of_resource) in list(request, outer, "", RECORD_LIMIT)?.iter().enumerate() {
        let path = format!("{outer}[{i}]");
        let resource = of_resource.get("resource").map_or(Ok(Attributes::default()), |resource| {
            attributes(resource, &format!("{path}.resource"))
        })?;
        for (j, of_scope) in list(of_resource, middle, &path, RECORD_LIMIT)?.iter().enumerate() {
            let path = format!("{path}.{middle}[{j}]");
            let scope = of_scope.get("scope").unwrap_or(&Value::Null);
            let (name, version) = (text(scope, "name", &path)?, text(scope, "version", &path)?);
            let origin = Arc::new(Origin { resource: resource.clone(), scope: name, version });
            for (k, record) in list(of_scope, inner, &path, RECORD_LIMIT)?.iter().enumerate() {
                let path = format!("{path}.{inner}[{k}]");
                left = left
                    .checked_sub(1)
                    .ok_or_else(|| too_many(&path, RECORD_LIMIT, "records in a request"))?;
                take(record, &origin, &path)?;
            }
        }
    }
    Ok(())
}

fn attributes(record: &Value, path: &str) -> Result<Attributes, OtlpError> {
    pairs(list(record, "attributes", path, ATTRIBUTE_LIMIT)?, &format!("{path}.attributes"), 0)
        .map(Attributes)
}

fn pairs(pairs: &[Value], path: &str, depth: usize) -> Result<BTreeMap<String, AnyValue>, OtlpError> {
    let mut found = BTreeMap::new();
    for (at, pair) in pairs.iter().enumerate() {
        let path = format!("{path}[{at}]");
        let value = pair
            .get("value")
            .map_or(Ok(AnyValue::Empty), |value| any(value, &format!("{path}.value"), depth))?;
        found.insert(text(pair, "key", &path)?, value);
    }
    Ok(found)
}

fn any(value: &Value, path: &str, depth: usize) -> Result<AnyValue, OtlpError> {
    if depth > DEPTH_LIMIT {
        return Err(too_many(path, DEPTH_LIMIT, "levels"));
    }
    let Some((kind, held)) = value.as_object().and_then(|fields| fields.iter().next()) else {
        return Ok(AnyValue::Empty);
    };
    let wrong = |expected| OtlpError::Type { path: format!("{path}.{kind}"), expected };
    Ok(match kind.as_str() {
        "stringValue" | "bytesValue" => AnyValue::Text(text(value, kind, path)?),
        "boolValue" => AnyValue::Bool(held.as_bool().ok_or_else(|| wrong("a boolean"))?),
        "intValue" => AnyValue::Int(int(held).ok_or_else(|| wrong("a whole number"))?),
        "doubleValue" => AnyValue::Double(double(held).ok_or_else(|| wrong("a number"))?),
        "arrayValue" => {
            let items = list(held, "values", path, ATTRIBUTE_LIMIT)?;
            let items =
                items.iter().enumerate().map(|(at, item)| any(item, &format!("{path}[{at}]"), depth + 1));
            AnyValue::List(items.collect::<Result<_, _>>()?)
        }
        "kvlistValue" => AnyValue::Map(pairs(list(held, "values", path, ATTRIBUTE_LIMIT)?, path, depth + 1)?),
        _ => AnyValue::Empty,
    })
}

fn list<'v>(holder: &'v Value, name: &str, path: &str, limit: usize) -> Result<&'v [Value], OtlpError> {
    let path = || if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match holder.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) if items.len() <= limit => Ok(items),
        Some(Value::Array(_)) => Err(too_many(&path(), limit, "elements")),
        Some(_) => Err(OtlpError::Type { path: path(), expected: "a list" }),
    }
}

fn text(holder: &Value, name: &str, path: &str) -> Result<String, OtlpError> {
    match holder.get(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) if text.len() <= TEXT_LIMIT => Ok(text.clone()),
        Some(Value::String(_)) => Err(too_many(&format!("{path}.{name}"), TEXT_LIMIT, "bytes")),
        Some(_) => Err(OtlpError::Type { path: format!("{path}.{name}"), expected: "text" }),
    }
}

fn optional(holder: &Value, name: &str, path: &str) -> Result<Option<String>, OtlpError> {
    text(holder, name, path).map(|text| Some(text).filter(|text| !text.is_empty()))
}

fn count(holder: &Value, name: &str, path: &str) -> Result<u64, OtlpError> {
    let wrong = || OtlpError::Type { path: format!("{path}.{name}"), expected: "a whole number" };
    match holder.get(name) {
        None | Some(Value::Null) => Ok(0),
        Some(Value::String(text)) => text.parse().ok().ok_or_else(wrong),
        Some(value) => value.as_u64().ok_or_else(wrong),
    }
}

fn value_of(point: &Value, path: &str) -> Result<f64, OtlpError> {
    let wrong = |name| OtlpError::Type { path: format!("{path}.{name}"), expected: "a number" };
    match (point.get("asDouble"), point.get("asInt")) {
        (Some(value), _) => double(value).ok_or_else(|| wrong("asDouble")),
        (None, Some(value)) => int(value).and_then(|int| double(&int.into())).ok_or_else(|| wrong("asInt")),
        (None, None) => Ok(0.0),
    }
}

fn int(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.parse().ok(),
        // Protobuf's fixed fields arrive unsigned.
        value => value.as_i64().or_else(|| value.as_u64().map(u64::cast_signed)),
    }
}

fn double(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_f64(),
    }
}

/// Whether an enumeration has this value, by number or by name.
fn names(value: &Value, number: u64, name: &str) -> bool {
    value.as_u64() == Some(number) || value.as_str() == Some(name)
}

fn too_many(path: &str, limit: usize, what: &'static str) -> OtlpError {
    OtlpError::TooMany { path: path.to_owned(), limit, what }
}
