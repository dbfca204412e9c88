//! Redaction of JSON values, where names and values are already apart.
//!
//! Owns: keys that tell, at any depth; `{"name": …, "value": …}` pairs; options and their values in a list of
//! arguments. Every other string is redacted as text.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{
    Redactor,
    marker::is_marker,
    names::{self, Tells},
    value,
};

/// Deeper values are dropped; no reader of ours makes any.
const DEPTH_LIMIT: usize = 128;

pub(super) fn redact(redactor: &Redactor, value: &mut Value) {
    below(redactor, value, None, 0);
}

fn below(redactor: &Redactor, value: &mut Value, told: Option<Tells>, depth: usize) {
    if depth > DEPTH_LIMIT {
        *value = Value::Null;
        return;
    }
    match value {
        Value::String(text) => string(redactor, text, told),
        Value::Number(number) if told == Some(Tells::Password) => {
            *value = Value::String(redactor.fingerprints.marker("password", number.to_string().as_bytes()));
        }
        Value::Array(items) => array(redactor, items, told, depth),
        Value::Object(fields) => object(redactor, fields, told, depth),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn string(redactor: &Redactor, text: &mut String, told: Option<Tells>) {
    if let Some(tells) = told.filter(|tells| hides(text.as_bytes(), *tells)) {
        *text = redactor.fingerprints.marker(tells.kind(), text.as_bytes());
    } else if let Cow::Owned(clean) = redactor.text(text) {
        *text = clean;
    }
}

fn hides(text: &[u8], tells: Tells) -> bool {
    if value::is_placeholder(text) || value::is_reference(text) || is_marker(text) {
        return false;
    }
    match tells {
        Tells::Password => true,
        Tells::Token => text.len() >= 8 && (!value::is_words(text) || text.len() >= 32),
        Tells::Maybe => value::is_dense(text, 20),
    }
}

fn array(redactor: &Redactor, items: &mut [Value], told: Option<Tells>, depth: usize) {
    let mut flag = None;
    for item in items {
        let next =
            item.as_str().filter(|text| text.starts_with('-')).and_then(|text| names::tells(text.as_bytes()));
        below(redactor, item, told.or(flag), depth + 1);
        flag = next;
    }
}

fn object(redactor: &Redactor, fields: &mut Map<String, Value>, told: Option<Tells>, depth: usize) {
    let called = ["name", "key", "header", "variable"].iter().find_map(|field| fields.get(*field)?.as_str());
    let called = called.and_then(|name| names::tells(name.as_bytes()));
    let mut betrayed = Vec::new();
    for (name, value) in fields.iter_mut() {
        let holds = matches!(name.as_str(), "value" | "data" | "plaintext" | "content" | "default");
        let by_pair = told.or(called).filter(|_| holds);
        below(redactor, value, names::tells(name.as_bytes()).or(by_pair), depth + 1);
        // A name can be a secret too: a map from tokens to people.
        if let Cow::Owned(clean) = redactor.text(name) {
            betrayed.push((name.clone(), clean));
        }
    }
    for (name, clean) in betrayed {
        if let Some(value) = fields.remove(&name) {
            fields.insert(clean, value);
        }
    }
}
