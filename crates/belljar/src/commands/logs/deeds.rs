//! What was done, as the ledger has it: the columns of an audit log.

use std::{
    io::{self, Write as _},
    process::ExitCode,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use belljar_ports::{
    Store,
    store::{EventFilter, PAGE_LIMIT},
};
use serde_json::{Value, json};

use crate::{
    args::Logs,
    client::{Client, Event, Happening},
    context::Context,
    output::{plain, print_json},
    sandboxes::{Sandboxes, read_store},
};

const DEFAULT: u16 = 50;
/// How often to look into a store no server can tell of.
const OFTEN: Duration = Duration::from_millis(500);

pub(super) fn deeds(context: &Context, sandboxes: &Sandboxes, args: &Logs) -> Result<ExitCode> {
    let filter = EventFilter {
        agent: args.agent.clone(),
        sandbox: args.sandbox.as_deref().map(|name| sandboxes.find(name).map(|seen| seen.id)).transpose()?,
        // Kinds are dotted words; types of operation have underscores.
        operation: args.operation.clone().filter(|word| word.contains('_')),
        kinds: args.operation.iter().filter(|word| !word.contains('_')).cloned().collect(),
        ..EventFilter::default()
    };
    let limit = args.limit.unwrap_or(DEFAULT);
    let mut events = match sandboxes.server() {
        Some(server) => {
            let (limit, sandbox) = (limit.to_string(), filter.sandbox.map(|id| id.to_string()));
            let mut query = query(&filter, sandbox.as_deref());
            query.push(("limit", &limit));
            server.events(&query)?
        }
        None => recorded(context, &filter, limit)?,
    };
    events.reverse();
    let last = events.last().map_or(0, |event| event.seq);
    if context.json && !args.follow {
        print_json(&Value::Array(events.iter().map(describe).collect()))?;
    } else {
        if !context.json {
            print(&[])?;
        }
        show(context, &events)?;
    }
    match (args.follow, sandboxes.server()) {
        (false, _) => Ok(ExitCode::SUCCESS),
        (true, Some(server)) => follow(context, server, &filter, last),
        (true, None) => watch(context, &filter, last),
    }
}

fn recorded(context: &Context, filter: &EventFilter, limit: u16) -> Result<Vec<Event>> {
    let Some(store) = read_store(&context.home)? else { return Ok(Vec::new()) };
    let newest = store.events_before(filter, u64::MAX, limit.into()).context("read the ledger")?;
    Ok(newest.into_iter().map(Event::from).collect())
}

fn query<'a>(filter: &'a EventFilter, sandbox: Option<&'a str>) -> Vec<(&'static str, &'a str)> {
    let mut query: Vec<(&str, &str)> = Vec::new();
    query.extend(sandbox.map(|id| ("sandbox_id", id)));
    query.extend(filter.agent.as_deref().map(|agent| ("agent_id", agent)));
    query.extend(filter.operation.as_deref().map(|operation| ("operation", operation)));
    query.extend(filter.kinds.first().map(|kind| ("kind", kind.as_str())));
    query
}

/// Goes on from the last event until interrupted or the server ends.
fn follow(context: &Context, server: &Client, filter: &EventFilter, last: u64) -> Result<ExitCode> {
    let since = last.to_string();
    let sandbox = filter.sandbox.map(|id| id.to_string());
    let mut query = query(filter, sandbox.as_deref());
    // The stream does not know it.
    query.retain(|(name, _)| *name != "operation");
    query.push(("since", &since));
    let mut stream = server.follow(&query)?;
    loop {
        match stream.next()? {
            Happening::Event(event) if filter.operation.is_none() || event.operation == filter.operation => {
                show(context, std::slice::from_ref(&event))?;
            }
            Happening::Event(_) => {}
            Happening::Over => bail!("the server ended"),
        }
    }
}

fn watch(context: &Context, filter: &EventFilter, mut last: u64) -> Result<ExitCode> {
    loop {
        if let Some(store) = read_store(&context.home)? {
            let events = store.events(filter, last, PAGE_LIMIT).context("read the ledger")?;
            let events: Vec<_> = events.into_iter().map(Event::from).collect();
            last = events.last().map_or(last, |event| event.seq);
            show(context, &events)?;
        }
        thread::sleep(OFTEN);
    }
}

fn show(context: &Context, events: &[Event]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for event in events {
        if context.json {
            writeln!(out, "{}", describe(event))?;
        } else {
            writeln!(out, "{}", line(event))?;
        }
    }
    out.flush()
}

/// Prints events as lines below a heading.
pub(in crate::commands) fn print(events: &[Event]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let heading = ["TIME", "AGENT", "SANDBOX", "OPERATION", "STATUS", "DURATION", "DETAILS"];
    writeln!(out, "{}", columns(heading.map(str::to_owned)))?;
    events.iter().try_for_each(|event| writeln!(out, "{}", line(event)))
}

fn line(event: &Event) -> String {
    let dash = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let short = event.sandbox_id.as_deref().map(|id| id.get(id.len().saturating_sub(8)..).unwrap_or(id));
    columns([
        event.time.to_string(),
        dash(event.agent_id.as_deref()),
        dash(short),
        event.operation.clone().unwrap_or_else(|| event.kind.clone()),
        dash(event.status.as_deref()),
        event.duration_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms}ms")),
        details(event),
    ])
}

/// The widths are fixed, for more may follow.
fn columns(cells: [String; 7]) -> String {
    let [time, agent, sandbox, operation, status, duration, details] = cells.map(|cell| plain(&cell));
    let text = format!(
        "{time:<27}  {agent:<12}  {sandbox:<8}  {operation:<18}  {status:<9}  {duration:<8}  {details}"
    );
    text.trim_end().to_owned()
}

/// What an event was about, in a few words.
pub(in crate::commands) fn details(event: &Event) -> String {
    let parts = [event.target.as_deref(), event.reason.as_deref(), event.error.as_deref()];
    let text: Vec<_> = parts.into_iter().flatten().collect();
    text.join(": ").chars().take(120).collect()
}

/// An event with the columns audit logs have.
pub(in crate::commands) fn describe(event: &Event) -> Value {
    json!({
        "seq": event.seq,
        "id": event.id,
        "timestamp": event.time,
        "kind": event.kind,
        "agent_id": event.agent_id,
        "sandbox_id": event.sandbox_id,
        "execution_id": event.execution_id,
        "operation_type": event.operation,
        "status": event.status,
        "details": details(event),
        "resource_usage": event.payload.get("usage"),
        "duration_ms": event.duration_ms,
        "error_message": event.error,
        "metadata": event.payload,
    })
}
