//! `belljar report`: on one page what agents did, how well, what it cost, and where they got nowhere.

use std::{cmp::Reverse, collections::BTreeMap, io, io::Write, process::ExitCode, time::Duration};

use anyhow::Result;
use serde_json::{Value, json};

use super::cost;
use crate::{
    args::Report,
    client::{AgentMetrics, Client, CostReport, Detection, ErrorGroup, Session, ToolUsage, read},
    context::Context,
    output::{brief, brief_text, count, dollars, percent, plain, print_json, print_table, remark, took},
};

/// The most lines of a section.
const LINES: usize = 5;

/// Everything on the page, as the server told it.
struct Told {
    sessions: Vec<Value>,
    cost: Value,
    tools: Value,
    errors: Vec<Value>,
    agents: Value,
    detections: Vec<Value>,
}

pub(crate) fn report(context: &Context, args: &Report) -> Result<ExitCode> {
    let since = args.since.0.to_string();
    let told = ask(&context.server()?, &since)?;
    if context.json {
        print_json(&json!({
            "since": since,
            "sessions": {"count": told.sessions.len(), "by_state": states(&sessions(&told)?)},
            "cost": told.cost,
            "tools": told.tools.get("items"),
            "errors": told.errors,
            "agents": told.agents.get("items"),
            "detections": told.detections,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let day: String = since.chars().take(10).collect();
    let tools: Vec<ToolUsage> = items(&told.tools)?;
    if told.sessions.is_empty() && tools.is_empty() {
        remark(&format!(
            "no agent told of anything since {day}; `belljar hooks install` has them tell, --since 30d looks further back"
        ));
        return Ok(ExitCode::SUCCESS);
    }
    summary(&day, &sessions(&told)?, &tools, &read(&told.cost)?)?;
    slowest(tools)?;
    failures(&told.errors)?;
    scores(&items(&told.agents)?)?;
    nowhere(&told.detections)?;
    Ok(ExitCode::SUCCESS)
}

fn ask(server: &Client, since: &str) -> Result<Told> {
    let from = [("from", since)];
    let detections = server.records("detections", &[])?;
    let mut found: Vec<Value> = items(&detections)?;
    // Moments as the server writes them sort as text.
    found.retain(|one| one.get("last").and_then(Value::as_str).is_none_or(|last| last >= since));
    Ok(Told {
        sessions: server.all_records("sessions", &from)?,
        cost: server.records("cost", &[("by", "day"), ("from", since)])?,
        tools: server.records("tools/usage", &from)?,
        errors: server.all_records("errors", &from)?,
        agents: server.records("agents/metrics", &[("by", "agent"), ("limit", "10"), ("from", since)])?,
        detections: found,
    })
}

fn items<T: serde::de::DeserializeOwned>(answer: &Value) -> Result<Vec<T>> {
    let items = answer.get("items").and_then(Value::as_array);
    Ok(items.into_iter().flatten().map(read).collect::<Result<_, _>>()?)
}

fn sessions(told: &Told) -> Result<Vec<Session>> {
    Ok(told.sessions.iter().map(read).collect::<Result<_, _>>()?)
}

fn states(sessions: &[Session]) -> BTreeMap<&str, usize> {
    let mut states = BTreeMap::new();
    for session in sessions {
        *states.entry(session.state.as_str()).or_insert(0) += 1;
    }
    states
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs a few digits")]
fn summary(day: &str, sessions: &[Session], tools: &[ToolUsage], spent: &CostReport) -> io::Result<()> {
    let sum = |of: fn(&ToolUsage) -> u64| tools.iter().map(of).fold(0, u64::saturating_add);
    let (calls, good) = (sum(|tool| tool.calls), sum(|tool| tool.succeeded));
    let (bad, refused) = (sum(|tool| tool.failed), sum(|tool| tool.denied));
    let ended = good.saturating_add(bad);
    let rate = (ended > 0).then(|| good as f64 / ended as f64);
    let states: Vec<_> =
        states(sessions).iter().map(|(state, many)| format!("{many} {}", plain(state))).collect();
    let total = cost::total(spent);
    let mut out = io::stdout().lock();
    writeln!(out, "What agents did since {day}\n")?;
    let states = if states.is_empty() { "none began".to_owned() } else { states.join(", ") };
    writeln!(out, "sessions  {} ({states})", sessions.len())?;
    writeln!(out, "calls     {} ({} failed, {} denied)", count(calls), count(bad), count(refused))?;
    writeln!(out, "success   {}", percent(rate))?;
    if total.requests == 0 {
        return writeln!(out, "cost      no request to a model is known");
    }
    let (requests, tokens) = (count(total.requests), count(total.tokens.all()));
    let (money, basis) = (dollars(total.cost_usd), plain(&total.basis).replace('_', " "));
    writeln!(out, "cost      {money} ({basis}; requests: {requests}, tokens: {tokens})")
}

fn section(title: &str) -> io::Result<()> {
    writeln!(io::stdout(), "\n{title}")
}

fn slowest(mut tools: Vec<ToolUsage>) -> io::Result<()> {
    tools.retain(|tool| tool.p95_ms.is_some());
    tools.sort_by_key(|tool| Reverse(tool.p95_ms));
    section("Slowest tools")?;
    let row = |tool: &ToolUsage| {
        let success = percent(tool.success_rate);
        vec![brief_text(&tool.tool, 40), count(tool.calls), success, took(tool.p50_ms), took(tool.p95_ms)]
    };
    let rows: Vec<_> = tools.iter().take(LINES).map(row).collect();
    table(&["TOOL", "CALLS", "SUCCESS", "P50", "P95"], &rows, "no call's time is known")
}

fn failures(errors: &[Value]) -> Result<()> {
    let mut errors = errors.iter().map(read).collect::<Result<Vec<ErrorGroup>, _>>()?;
    errors.sort_by_key(|error| Reverse(error.count));
    section("Most frequent errors")?;
    let row = |error: &ErrorGroup| {
        let what = error.tool.as_ref().unwrap_or(&error.what);
        let last: String = error.last_seen.chars().take(10).collect();
        vec![
            count(error.count),
            brief_text(what, 24),
            error.state.clone(),
            last,
            brief_text(&error.title, 70),
        ]
    };
    let rows: Vec<_> = errors.iter().take(LINES).map(row).collect();
    Ok(table(&["COUNT", "OF", "STATE", "LAST", "ERROR"], &rows, "no errors")?)
}

fn scores(agents: &[AgentMetrics]) -> io::Result<()> {
    section("Busiest agents, scored from 0 to 100")?;
    let row = |agent: &AgentMetrics| {
        let kind = agent.agent_type.as_ref().or(agent.app.as_ref()).map_or("-", String::as_str);
        let score = agent.score.overall.map_or_else(|| "-".to_owned(), |score| format!("{score:.0}"));
        let success = percent(agent.success_rate);
        let spent = &agent.spent;
        let money = if spent.requests == 0 { "-".to_owned() } else { dollars(spent.cost_usd) };
        vec![agent.key.clone(), brief_text(kind, 24), count(agent.counts.calls), success, money, score]
    };
    let rows: Vec<_> = agents.iter().map(row).collect();
    table(&["AGENT", "KIND", "CALLS", "SUCCESS", "COST", "SCORE"], &rows, "no agents")
}

fn nowhere(detections: &[Value]) -> Result<()> {
    section("Getting nowhere")?;
    let detections = detections.iter().map(read).collect::<Result<Vec<Detection>, _>>()?;
    let row = |one: &Detection| {
        let what = match (one.times, &one.tool) {
            (Some(times), Some(tool)) => {
                format!("{} {times} times in a row, {} failed", brief_text(tool, 24), one.failed.unwrap_or(0))
            }
            _ => format!("silent for {}", brief(Duration::from_secs(one.silent_seconds))),
        };
        let last: String = one.last.chars().take(19).collect();
        vec![one.kind.clone(), one.agent_id.clone().unwrap_or_else(|| one.session_id.clone()), last, what]
    };
    let rows: Vec<_> = detections.iter().map(row).collect();
    Ok(table(&["KIND", "AGENT", "LAST", "WHAT"], &rows, "nobody")?)
}

/// A table, or the words for an empty one.
fn table(heading: &[&str], rows: &[Vec<String>], none: &str) -> io::Result<()> {
    if rows.is_empty() { writeln!(io::stdout(), "{none}") } else { print_table(heading, rows) }
}
