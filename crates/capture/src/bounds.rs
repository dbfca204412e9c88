//! How much of a payload is taken: so many bytes, so many levels, so many findings.
//!
//! Refuses: to lose an event because a corner of it is too deep; the corner is cut off and named.

use serde_json::Value;

use crate::error::{CaptureError, Finding};

/// The largest payload that is taken. Tools that read or write files put them in it.
pub const MAX_PAYLOAD: usize = 8 << 20;
/// The deepest level that is kept. The parser itself gives up at twice that.
pub const MAX_DEPTH: usize = 64;
/// What stands in the place of what was too deep.
pub(crate) const CUT: &str = "[cut: too deep]";

/// Reads JSON of a size that is taken.
pub(crate) fn parse(payload: &[u8]) -> Result<Value, CaptureError> {
    if payload.len() > MAX_PAYLOAD {
        return Err(CaptureError::TooLarge { actual: payload.len(), limit: MAX_PAYLOAD });
    }
    serde_json::from_slice(payload).map_err(|error| CaptureError::NotJson(error.to_string()))
}

/// Cuts off what is deeper than is kept, and says where.
pub(crate) fn prune(value: &mut Value, path: &str, depth: usize, findings: &mut Vec<Finding>) {
    let children: Vec<(String, &mut Value)> = match value {
        Value::Object(map) => map.iter_mut().map(|(name, child)| (format!(".{name}"), child)).collect(),
        Value::Array(items) => {
            items.iter_mut().enumerate().map(|(at, child)| (format!("[{at}]"), child)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
    };
    if children.is_empty() {
        return;
    }
    if depth >= MAX_DEPTH {
        let problem = format!("deeper than {MAX_DEPTH} levels; cut off");
        findings.push(Finding { path: path.to_owned(), problem });
        *value = Value::String(CUT.to_owned());
        return;
    }
    for (step, child) in children {
        // Only what has children of its own can be too deep; a path for every leaf would be wasted.
        if child.is_object() || child.is_array() {
            prune(child, &format!("{path}{step}"), depth + 1, findings);
        }
    }
}

/// What a value is, in a word.
pub(crate) const fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> Vec<u8> {
        format!("{}1{}", "[".repeat(levels), "]".repeat(levels)).into_bytes()
    }

    #[test]
    fn what_is_too_deep_is_cut_and_named() {
        let mut value = parse(&nested(MAX_DEPTH + 10)).unwrap();
        let mut findings = Vec::new();
        prune(&mut value, "$", 0, &mut findings);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].path, format!("${}", "[0]".repeat(MAX_DEPTH)));
        assert!(value.to_string().contains(CUT));
    }

    #[test]
    fn what_is_deep_enough_stays_as_it_is() {
        let mut value = parse(&nested(MAX_DEPTH)).unwrap();
        let before = value.clone();
        let mut findings = Vec::new();
        prune(&mut value, "$", 0, &mut findings);
        assert!(findings.is_empty());
        assert_eq!(value, before);
    }

    #[test]
    fn bottomless_and_endless_payloads_are_errors() {
        assert!(matches!(parse(&nested(100_000)), Err(CaptureError::NotJson(_))));
        let long = vec![b' '; MAX_PAYLOAD + 1];
        assert_eq!(parse(&long), Err(CaptureError::TooLarge { actual: MAX_PAYLOAD + 1, limit: MAX_PAYLOAD }));
    }
}
