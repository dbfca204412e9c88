//! What an event can be found by: every promoted field as a tag, and its words.

use belljar_domain::{Event, Timestamp, eye::IndexEntry};
use serde_json::Value;

/// Bytes of words kept of one event; the event itself has them all.
const WORDS: usize = 2_048;
/// Bytes of one text in it.
const TEXT: usize = 512;
/// Microseconds.
pub const HOUR: i64 = 3_600_000_000;
/// Microseconds.
pub const DAY: i64 = 24 * HOUR;

/// Parts of a payload that hold words people look for.
const WORDY: [&str; 10] = [
    "prompt",
    "message",
    "tool_input",
    "text",
    "detail",
    "body",
    "attributes",
    "rest",
    "tool_response",
    "context",
];

/// The tag of a moment's day.
#[must_use]
pub fn day_tag(time: Timestamp) -> String {
    (time.as_micros().div_euclid(DAY)).to_string()
}

/// The tag of a moment's hour.
#[must_use]
pub fn hour_tag(time: Timestamp) -> String {
    (time.as_micros().div_euclid(HOUR)).to_string()
}

pub(super) fn entry(event: &Event) -> IndexEntry {
    let what = &event.what;
    let kind = what.kind.as_str();
    let mut tags = vec![("project", what.project.as_str().to_owned()), ("kind", kind.to_owned())];
    // Whoever asks for `tool` wants `tool.finished` as well.
    let dots = kind.match_indices('.').map(|(at, _)| at);
    tags.extend(dots.filter_map(|at| Some(("kind", kind.get(..at)?.to_owned()))));
    tags.extend([("day", day_tag(what.time)), ("hour", hour_tag(what.time))]);
    // Whoever looks for a time without an end must find those with a wrong clock too.
    if event.received.as_micros().abs_diff(what.time.as_micros()) > DAY.unsigned_abs() {
        tags.push(("clock", "odd".to_owned()));
    }
    let payload = |name: &str| what.payload.get(name).and_then(Value::as_str).map(str::to_owned);
    let each = [
        ("session", what.session.clone()),
        ("agent", what.actor.id.clone()),
        ("app", what.actor.name.clone()),
        ("role", what.actor.role.clone()),
        ("tool", what.tool.clone()),
        ("sandbox", what.sandbox.map(|id| id.to_string())),
        ("execution", what.execution.map(|id| id.to_string())),
        ("run", what.run.map(|id| id.to_string())),
        ("operation", what.operation.clone()),
        ("decision", what.decision.map(|decision| decision.to_string())),
        ("status", what.status.map(|status| status.to_string())),
        ("tool_use", payload("tool_use_id")),
        ("prompt", payload("prompt_id")),
    ];
    tags.extend(each.into_iter().filter_map(|(name, value)| Some((name, value?))));
    IndexEntry { tags, words: words(event) }
}

fn words(event: &Event) -> String {
    let what = &event.what;
    let mut out = String::new();
    for text in [&what.tool, &what.target, &what.error, &what.reason].into_iter().flatten() {
        add(&mut out, text);
    }
    for part in WORDY {
        if let Some(value) = what.payload.get(part) {
            leaves(&mut out, value);
        }
    }
    out
}

fn leaves(out: &mut String, value: &Value) {
    match value {
        Value::String(text) => add(out, text),
        Value::Array(items) => items.iter().for_each(|item| leaves(out, item)),
        Value::Object(fields) => fields.values().for_each(|field| leaves(out, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn add(out: &mut String, text: &str) {
    let room = WORDS.saturating_sub(out.len()).min(TEXT);
    let kept = text.get(..text.floor_char_boundary(room.min(text.len()))).unwrap_or_default();
    if !kept.is_empty() {
        out.push_str(kept);
        out.push('\n');
    }
}
