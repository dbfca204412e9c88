//! `belljar events export`: events for another program, oldest first. What it ends with is where the next begins.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use belljar_capture::otlp::{Spans, export as export_request};
use belljar_domain::Event;
use serde_json::Value;

use super::source::{Seen, Source, place_of};
use crate::{
    args::{EventFormat, ExportEvents},
    context::Context,
};

/// The columns of a table, in this order.
const COLUMNS: [&str; 26] = [
    "seq",
    "time",
    "recv_time",
    "kind",
    "agent_id",
    "agent_name",
    "agent_role",
    "session_id",
    "sandbox_id",
    "execution_id",
    "run_id",
    "project_id",
    "operation",
    "tool",
    "target",
    "target_type",
    "decision",
    "reason",
    "risk",
    "status",
    "error",
    "cost_micros",
    "tokens",
    "duration_ms",
    "id",
    "payload",
];

pub(super) fn export(context: &Context, args: &ExportEvents) -> Result<ExitCode> {
    let source = Source::new(context, args.which.clone(), args.until.map(|moment| moment.0));
    let mut out: Box<dyn Write> = match &args.output {
        Some(path) => {
            let file = File::create(path).with_context(|| format!("write `{}`", path.display()))?;
            Box::new(BufWriter::new(file))
        }
        None => Box::new(BufWriter::new(io::stdout().lock())),
    };
    let mut place = args.which.after.unwrap_or(0);
    // A table that goes on has its heading already.
    if args.format == EventFormat::Csv && args.which.after.is_none() {
        writeln!(out, "{}", COLUMNS.join(","))?;
    }
    let (mut count, mut spans) = (0_u64, Spans::new(false));
    loop {
        let page = source.after(place)?;
        let Some(last) = page.last().and_then(place_of) else { break };
        place = last;
        let mut made = Vec::new();
        for event in page.iter().filter(|event| Seen::of(event).is_some_and(|seen| source.wants(&seen))) {
            match args.format {
                EventFormat::Jsonl => writeln!(out, "{event}")?,
                EventFormat::Csv => writeln!(out, "{}", row(event))?,
                EventFormat::Otlp => made.extend(whole(event).and_then(|event| spans.take(&event))),
            }
            count += 1;
        }
        if !made.is_empty() {
            writeln!(out, "{}", export_request(&made, env!("CARGO_PKG_VERSION")))?;
        }
    }
    out.flush().context("write the export")?;
    drop(out);
    let _unheard = writeln!(io::stderr(), "belljar: {count} events; go on with --after {place}");
    Ok(ExitCode::SUCCESS)
}

/// An event as the ledger has it, from the form in which it travels.
fn whole(event: &Value) -> Option<Event> {
    let mut fields = event.as_object()?.clone();
    for name in ["project", "session", "sandbox", "execution", "run"] {
        if let Some(value) = fields.remove(&format!("{name}_id")) {
            fields.insert(name.to_owned(), value);
        }
    }
    serde_json::from_value(Value::Object(fields)).ok()
}

fn row(event: &Value) -> String {
    let cells = COLUMNS.map(|name| match event.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => quoted(text),
        Some(other) => quoted(&other.to_string()),
    });
    cells.join(",")
}

/// A cell as RFC 4180 writes it.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let line = row(&json!({"seq": 3, "target": "say \"hi\", now\nor never", "payload": {"a": 1}}));
        assert!(line.starts_with("3,,,") && line.contains(r#","say ""hi"", now"#), "{line}");
        assert!(line.ends_with(r#","{""a"":1}""#), "{line}");
    }
}
