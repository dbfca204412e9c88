//! `belljar sessions`: conversations of agents, listed, shown, written down.

mod export;
mod html;
mod markdown;
mod show;
mod story;

use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::{
    args::{ListSessions, Sessions, word},
    client::{Client, MOST_OF_A_TRACE, Session, read},
    context::Context,
    output::{brief_text, count, dollars, print_json, print_table, remark},
};

pub(crate) fn sessions(context: &Context, command: &Sessions) -> Result<ExitCode> {
    match command {
        Sessions::List(args) => list(context, args),
        Sessions::Show { id } => show::show(context, id),
        Sessions::Export(args) => export::export(context, args),
    }
}

fn list(context: &Context, args: &ListSessions) -> Result<ExitCode> {
    let limit = args.limit.to_string();
    let states = args.state.iter().map(word).collect::<Vec<_>>().join(",");
    let since = args.since.map(|since| since.0.to_string());
    let mut query = vec![("limit", limit.as_str())];
    query.extend(args.app.as_deref().map(|app| ("app", app)));
    query.extend((!states.is_empty()).then_some(("state", states.as_str())));
    query.extend(since.as_deref().map(|since| ("from", since)));
    let found = context.server()?.sessions(&query)?;
    if context.json {
        print_json(&Value::Array(found))?;
        return Ok(ExitCode::SUCCESS);
    }
    let sessions = found.iter().map(read).collect::<Result<Vec<Session>, _>>()?;
    let heading = ["SESSION", "STATE", "APP", "BEGAN", "CALLS", "FAILED", "TOKENS", "COST", "TITLE"];
    print_table(&heading, &sessions.iter().map(row).collect::<Vec<_>>())?;
    if sessions.is_empty() {
        remark(if query.len() > 1 {
            "no session is like that; `belljar sessions list` shows all"
        } else {
            "no sessions yet; `belljar hooks install` has agents tell of theirs"
        });
    } else if sessions.len() == usize::from(args.limit) {
        remark("there may be more; --limit shows up to 1000");
    }
    Ok(ExitCode::SUCCESS)
}

fn row(session: &Session) -> Vec<String> {
    // Nothing told is not nothing spent.
    let known = |text: String| if session.spent.requests == 0 { "-".to_owned() } else { text };
    vec![
        // Most are UUIDs; what is longer is one's own fault.
        brief_text(&session.session_id, 64),
        session.state.clone(),
        session.app.clone().unwrap_or_else(|| "-".to_owned()),
        to_the_second(&session.began),
        count(session.counts.calls),
        count(session.counts.failed),
        known(count(session.spent.tokens.all())),
        known(dollars(session.spent.cost_usd)),
        brief_text(session.title.as_deref().unwrap_or("-"), 50),
    ]
}

/// A session as the server has it, and its trace.
fn find(server: &Client, id: &str) -> Result<(Value, Vec<Value>)> {
    // Without a name the server would hear the question for all.
    let found = if id.is_empty() { None } else { server.session(id)? };
    let Some(detail) = found else {
        bail!("there is no session `{id}`; `belljar sessions list` shows those there are");
    };
    let trace = server.trace(id)?;
    if trace.len() >= MOST_OF_A_TRACE {
        remark("this is the beginning; the rest is at /api/v1/sessions/{id}/trace");
    }
    Ok((detail, trace))
}

/// A moment without its fraction of a second.
fn to_the_second(time: &str) -> String {
    time.split_once('.').map_or_else(|| time.to_owned(), |(whole, _)| format!("{whole}Z"))
}

/// The time of day of a moment.
fn time_of_day(time: &str) -> String {
    time.get(11..19).unwrap_or(time).to_owned()
}
