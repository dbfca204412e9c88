//! `belljar inspect`: everything known about one sandbox.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Result;
use belljar_domain::Usage;
use serde_json::{Value, json};

use crate::{
    args::Target,
    context::Context,
    output::{self, print_json, timestamp},
    sandboxes::{Sandboxes, Seen},
};

pub(crate) fn inspect(context: &Context, args: &Target) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    let seen = sandboxes.find(&args.id)?;
    let usage = sandboxes.usage(seen.id).ok();
    let object = everything(context, &seen, usage.as_ref());
    if context.json {
        print_json(&object)?;
    } else {
        let mut out = io::stdout().lock();
        tell(&mut out, "", &object)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// All of it in one object: what `list` shows, and what is asked for most by its plain name.
pub(super) fn everything(context: &Context, seen: &Seen, usage: Option<&Usage>) -> Value {
    let mut object = seen.json();
    let spec = &seen.spec;
    let alerts = usage
        .map(|usage| context.config.thresholds.alerts(usage, usage, 0, &spec.limits))
        .unwrap_or_default();
    let kept = seen.kept.as_ref();
    let more = json!({
        "agent": spec.agent,
        "version": env!("CARGO_PKG_VERSION"),
        "last_activity": timestamp(kept.map_or(seen.created, |kept| kept.last_activity)),
        "expires": kept.and_then(|kept| kept.expires).map(timestamp),
        "container": seen.id,
        "image": spec.template,
        "work_dir": spec.workspace,
        "limits": spec.limits,
        "exit_code": seen.report.as_ref().map(belljar_domain::ExitReport::exit_code),
        "uptime_seconds": seen.age().as_secs(),
        "alerts": alerts,
        "usage": usage,
        "volumes": spec.mounts,
        "tags": spec.labels,
        "metadata": kept.map(|kept| &kept.metadata),
    });
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

/// Prints nested values as indented `name: value` lines.
pub(super) fn tell(out: &mut impl Write, indent: &str, value: &Value) -> io::Result<()> {
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
    value.as_str().map_or_else(|| value.to_string(), output::plain)
}
