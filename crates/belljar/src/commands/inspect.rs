//! `belljar inspect`: everything known about one sandbox.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Result;
use serde_json::Value;

use super::list::describe;
use crate::{args::Target, context::Context, output::print_json};

pub(crate) fn inspect(context: &Context, args: &Target) -> Result<ExitCode> {
    let provider = context.provider()?;
    let sandbox = context.find(&provider, &args.id)?;
    let mut object = describe(&sandbox.info());
    if let (Some(object), Ok(usage)) = (object.as_object_mut(), sandbox.usage()) {
        object.insert("usage".to_owned(), serde_json::to_value(usage)?);
    }
    if context.json {
        print_json(&object)?;
    } else {
        let mut out = io::stdout().lock();
        tell(&mut out, "", &object)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints nested values as indented `name: value` lines.
fn tell(out: &mut impl Write, indent: &str, value: &Value) -> io::Result<()> {
    let Value::Object(fields) = value else { return writeln!(out, "{indent}{value}") };
    for (name, value) in fields {
        match value {
            Value::Null => {}
            Value::Object(inner) if inner.is_empty() => {}
            Value::Object(_) => {
                writeln!(out, "{indent}{name}:")?;
                tell(out, &format!("{indent}  "), value)?;
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                writeln!(out, "{indent}{name}:")?;
                for item in items {
                    writeln!(out, "{indent}  - {}", one_line(item))?;
                }
            }
            Value::Array(items) if items.is_empty() => {}
            Value::Array(items) => {
                writeln!(out, "{indent}{name}: {}", items.iter().map(plain).collect::<Vec<_>>().join(" "))?;
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                writeln!(out, "{indent}{name}: {}", plain(value))?;
            }
        }
    }
    Ok(())
}

fn one_line(value: &Value) -> String {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| format!("{name}={}", plain(value)))
            .collect::<Vec<_>>()
            .join(", "),
        other => plain(other),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
