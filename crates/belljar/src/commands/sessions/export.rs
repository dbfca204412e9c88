//! A session written down: for programs as a transcript of messages, for people as a page.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Write},
    path::Path,
    process::ExitCode,
    time::SystemTime,
};

use anyhow::{Context as _, Result};
use belljar_domain::Timestamp;
use serde_json::{Value, json};

use super::{
    find, html, markdown,
    story::{self, Story},
};
use crate::{
    args::{SessionExport, SessionFormat, word},
    client::{Call, SessionDetail, TraceItem, read},
    context::Context,
    output::print_json,
};

pub(super) fn export(context: &Context, args: &SessionExport) -> Result<ExitCode> {
    let (detail, trace) = find(&context.server()?, &args.id)?;
    let detail: SessionDetail = read(&detail)?;
    let trace = trace.iter().map(read).collect::<Result<Vec<TraceItem>, _>>()?;
    let text = match args.format {
        SessionFormat::Json => format!("{:#}\n", transcript(&detail, &trace)),
        SessionFormat::Markdown => markdown::write(&Story::of(&detail, &trace)),
        SessionFormat::Html => html::write(&Story::of(&detail, &trace)),
    };
    let format = word(&args.format);
    match &args.output {
        Some(path) => {
            keep(path, &text)?;
            if context.json {
                print_json(&json!({"session_id": args.id, "format": format, "file": path}))?;
            } else {
                writeln!(io::stdout(), "{} is in {}", crate::output::plain(&args.id), path.display())?;
            }
        }
        None if context.json && args.format != SessionFormat::Json => {
            print_json(&json!({"session_id": args.id, "format": format, "text": text}))?;
        }
        None => io::stdout().write_all(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A copy that is not on the disk is none.
fn keep(path: &Path, text: &str) -> Result<()> {
    let doing = || format!("write `{}`", path.display());
    let mut file = File::create(path).with_context(doing)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).with_context(doing)
}

/// The session as a chat.
fn transcript(detail: &SessionDetail, trace: &[TraceItem]) -> Value {
    let names: BTreeSet<_> = detail.agents.iter().filter_map(|agent| agent.agent_id.as_deref()).collect();
    let messages: Vec<Value> = trace.iter().filter_map(|item| message(item, &names)).collect();
    let tools = trace.iter().filter_map(|item| match item {
        TraceItem::Call(call) => call.tool.as_deref(),
        TraceItem::Event(_) | TraceItem::Other => None,
    });
    json!({
        "session_id": detail.session.session_id,
        "messages": messages,
        "total_tokens": detail.session.spent.tokens.all(),
        "agent_count": detail.agents.len().max(1),
        "tools_used": tools.collect::<BTreeSet<_>>(),
        "timestamp": Timestamp::from(SystemTime::now()),
    })
}

fn message(item: &TraceItem, names: &BTreeSet<&str>) -> Option<Value> {
    match item {
        TraceItem::Event(event) => {
            let (role, content) = story::said(event)?;
            let agent = story::subagent(event, names);
            Some(json!({"role": role, "content": content, "timestamp": event.time, "agent_id": agent}))
        }
        TraceItem::Call(call) => Some(used(call)),
        TraceItem::Other => None,
    }
}

fn used(call: &Call) -> Value {
    json!({
        "role": "tool",
        "content": call.error,
        "timestamp": call.began.as_ref().unwrap_or(&call.received),
        "agent_id": call.agent_id,
        "tool_use_id": call.tool_use_id,
        "tool_name": call.tool,
        "tool_input": call.input,
        "outcome": story::outcome(call),
        "duration_ms": call.duration_ms,
        "cost_usd": call.cost_usd,
    })
}
