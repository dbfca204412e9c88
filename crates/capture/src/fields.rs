//! A payload taken apart field by field. What is taken is gone from it; what is left is the rest.
//!
//! Refuses: to lose a field. One of the wrong type stays in the rest and becomes a finding.

use serde_json::{Map, Value};

use crate::{bounds::name_of, error::Finding};

/// The most findings of one payload; more would say nothing new.
const MAX_FINDINGS: usize = 32;

#[derive(Debug)]
pub(crate) struct Fields {
    map: Map<String, Value>,
    findings: Vec<Finding>,
}

impl Fields {
    pub(crate) fn new(map: Map<String, Value>, findings: Vec<Finding>) -> Self {
        Self { map, findings }
    }

    /// A field as it is; null is none.
    pub(crate) fn json(&mut self, name: &str) -> Option<Value> {
        self.map.remove(name).filter(|value| !value.is_null())
    }

    /// A field of text.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        match self.json(name)? {
            Value::String(text) => Some(text),
            other => self.wrong(name, "text", other),
        }
    }

    /// The first of several names that is there as text; vendors rename.
    pub(crate) fn text_of(&mut self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.text(name))
    }

    /// Text that says something; an empty name is no name and stays where it is.
    pub(crate) fn word(&mut self, name: &str) -> Option<String> {
        if self.peek(name).and_then(Value::as_str) == Some("") {
            return None;
        }
        self.text(name)
    }

    /// A whole number that is not negative; a fraction is rounded down.
    pub(crate) fn count(&mut self, name: &str) -> Option<u64> {
        let value = self.json(name)?;
        let whole = value.as_u64().or_else(|| value.as_f64().and_then(floor));
        if whole.is_some() { whole } else { self.wrong(name, "a number that is not negative", value) }
    }

    /// A field that may be JSON itself or JSON written as text, as some vendors have it.
    pub(crate) fn json_or_text(&mut self, name: &str) -> Option<Value> {
        let value = self.json(name)?;
        let spelled = value.as_str().map(serde_json::from_str::<Value>);
        Some(match spelled {
            Some(Ok(inner)) if inner.is_object() || inner.is_array() => inner,
            Some(_) | None => value,
        })
    }

    /// A look without taking.
    pub(crate) fn peek(&self, name: &str) -> Option<&Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// Moves what is inside an object up to its side; names that are taken already stay where they are.
    pub(crate) fn lift(&mut self, name: &str) {
        let Some(Value::Object(inner)) = self.map.get_mut(name) else { return };
        let inner = std::mem::take(inner);
        self.map.remove(name);
        let mut kept = Map::new();
        for (key, value) in inner {
            if self.map.contains_key(&key) {
                kept.insert(key, value);
            } else {
                self.map.insert(key, value);
            }
        }
        if !kept.is_empty() && !self.map.contains_key(name) {
            self.map.insert(name.to_owned(), Value::Object(kept));
        }
    }

    /// What was not taken, and what was found wrong.
    pub(crate) fn finish(self) -> (Map<String, Value>, Vec<Finding>) {
        (self.map, self.findings)
    }

    pub(crate) fn note(&mut self, path: String, problem: String) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(Finding { path, problem });
        }
    }

    fn wrong<T>(&mut self, name: &str, wanted: &str, value: Value) -> Option<T> {
        self.note(format!("$.{name}"), format!("is {}, not {wanted}", name_of(&value)));
        self.map.insert(name.to_owned(), value);
        None
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked just before, and a fraction of a unit is of no interest"
)]
fn floor(number: f64) -> Option<u64> {
    (0.0..=9.0e15).contains(&number).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(value: Value) -> Fields {
        let Value::Object(map) = value else { panic!("an object") };
        Fields::new(map, Vec::new())
    }

    #[test]
    fn what_has_the_wrong_type_is_kept_and_named() {
        let mut fields = fields(json!({"a": 1, "b": "x", "c": null, "d": -1, "e": 2.9, "f": []}));
        assert_eq!(fields.text("a"), None);
        assert_eq!(fields.text("b").as_deref(), Some("x"));
        assert_eq!((fields.text("c"), fields.count("d"), fields.count("e")), (None, None, Some(2)));
        assert_eq!(fields.count("f"), None);
        let (rest, findings) = fields.finish();
        assert_eq!(Value::Object(rest), json!({"a": 1, "d": -1, "f": []}));
        let said: Vec<_> = findings.iter().map(|f| format!("{} {}", f.path, f.problem)).collect();
        assert_eq!(said[0], "$.a is a number, not text");
        assert_eq!(said[2], "$.f is a list, not a number that is not negative");
    }

    #[test]
    fn lifting_hides_nothing() {
        let mut fields = fields(json!({"in": {"a": 1, "b": 2}, "b": 3}));
        fields.lift("in");
        assert_eq!(Value::Object(fields.finish().0), json!({"a": 1, "b": 3, "in": {"b": 2}}));
    }

    #[test]
    fn findings_are_bounded() {
        let mut fields = fields(json!({"a": 1}));
        for _ in 0..1000 {
            assert_eq!(fields.text("a"), None);
        }
        assert_eq!(fields.finish().1.len(), MAX_FINDINGS);
    }
}
