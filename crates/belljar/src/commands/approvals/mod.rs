//! `belljar approvals`: calls that wait for a person, listed, shown, answered, watched.

mod card;
mod watch;

use std::{
    io::{self, Write as _},
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{ApprovalId, ApprovalState};
use serde_json::{Value, json};

use crate::{
    args::{Allow, Approvals, Deny, ListApprovals},
    client::{Approval, Client},
    context::Context,
    output::{brief_text, plain, print_json, print_table, remark},
};

/// How long to look whether an answer was delivered.
const DELIVERY: Duration = Duration::from_secs(2);
const BREATH: Duration = Duration::from_millis(20);

pub(crate) fn approvals(context: &Context, args: Approvals) -> Result<ExitCode> {
    let server = context.server()?;
    match args {
        Approvals::List(args) => list(context, &server, &args),
        Approvals::Show { id } => show(context, &server, id.as_deref()),
        Approvals::Allow(args) => allow(context, &server, &args),
        Approvals::Deny(args) => deny(context, &server, &args),
        Approvals::Link { id } => link(context, &server, id.as_deref()),
        Approvals::Watch(args) => watch::watch(context, &server, &args),
    }
}

fn list(context: &Context, server: &Client, args: &ListApprovals) -> Result<ExitCode> {
    let limit = args.limit.to_string();
    let mut query = vec![("limit", limit.as_str())];
    if !args.all {
        query.push(("state", "pending"));
    }
    query.extend(args.session.iter().map(|id| ("session_id", id.as_str())));
    query.extend(args.agent.iter().map(|id| ("agent_id", id.as_str())));
    let found = server.approvals(&query)?;
    if context.json {
        print_json(&Value::Array(found))?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> =
        found.into_iter().map(read).collect::<Result<Vec<_>>>()?.iter().map(row).collect();
    if rows.is_empty() {
        remark("nothing waits for a person");
    } else {
        print_table(&["APPROVAL", "STATE", "WHO", "RISK", "TOOL", "INPUT", "WHY"], &rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(approval: &Approval) -> Vec<String> {
    let state = match (approval.state, approval.delivered_at) {
        (ApprovalState::Pending, _) => format!("{} left", card::left(approval)),
        (state, Some(_)) => format!("{state}, delivered"),
        (state @ (ApprovalState::Allowed | ApprovalState::Denied), None) => format!("{state}, not delivered"),
        (state, None) => state.to_string(),
    };
    vec![
        approval.id.to_string(),
        state,
        card::who(approval).to_owned(),
        approval.risk.clone(),
        approval.tool.clone(),
        brief_text(&card::gist(&approval.input).unwrap_or_else(|| approval.input.to_string()), 48),
        brief_text(&approval.reason, 60),
    ]
}

fn show(context: &Context, server: &Client, id: Option<&str>) -> Result<ExitCode> {
    let value = server.approval(find(server, id)?)?;
    if context.json {
        print_json(&value)?;
    } else {
        io::stdout().write_all(card::whole(&read(value)?).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn allow(context: &Context, server: &Client, args: &Allow) -> Result<ExitCode> {
    let id = find(server, args.id.as_deref())?;
    let scope = match (args.session, args.always) {
        (true, _) => "session",
        (false, true) => "always",
        (false, false) => "once",
    };
    let body = json!({ "scope": scope, "input": args.edit, "reason": args.reason });
    answered(context, server, id, server.answer(id, "allow", &body)?)
}

fn deny(context: &Context, server: &Client, args: &Deny) -> Result<ExitCode> {
    let id = find(server, args.id.as_deref())?;
    answered(context, server, id, server.answer(id, "deny", &json!({ "reason": args.reason }))?)
}

fn link(context: &Context, server: &Client, id: Option<&str>) -> Result<ExitCode> {
    let link = server.approval_link(find(server, id)?)?;
    if context.json {
        print_json(&link)?;
    } else {
        writeln!(io::stdout(), "{}", plain(link.get("url").and_then(Value::as_str).unwrap_or_default()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows what became of an answer: whoever asked has it a moment later, or does not.
fn answered(context: &Context, server: &Client, id: ApprovalId, first: Value) -> Result<ExitCode> {
    let warning = first.get("warning").cloned().unwrap_or_default();
    let mut value = delivered(server, id).unwrap_or(first);
    if let (Some(fields), false) = (value.as_object_mut(), warning.is_null()) {
        fields.insert("warning".to_owned(), warning);
    }
    if context.json {
        print_json(&value)?;
    } else {
        writeln!(io::stdout(), "{}", card::outcome(&read(value)?))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// An approval once its answer was delivered, or as it stands after a while.
fn delivered(server: &Client, id: ApprovalId) -> Option<Value> {
    let until = Instant::now() + DELIVERY;
    loop {
        let value = server.approval(id).ok()?;
        let is_over = !value.get("delivered_at").is_none_or(Value::is_null);
        // What is made again is delivered only then.
        let is_held = value.get("vendor").is_some_and(Value::is_string);
        if is_over || !is_held || Instant::now() >= until {
            return Some(value);
        }
        thread::sleep(BREATH);
    }
}

fn read(value: Value) -> Result<Approval> {
    serde_json::from_value(value).context("read what the server says of an approval")
}

/// The approval a person means.
fn find(server: &Client, name: Option<&str>) -> Result<ApprovalId> {
    if let Some(id) = name.and_then(|name| name.parse().ok()) {
        return Ok(id);
    }
    let query: &[(&str, &str)] = &[("state", "pending"), ("limit", "1000")];
    let all =
        if name.is_some() { server.approvals(&[("limit", "1000")])? } else { server.approvals(query)? };
    let ids = all.iter().filter_map(|value| value.get("id")?.as_str()?.parse::<ApprovalId>().ok());
    let fits = |id: &ApprovalId| name.is_none_or(|tail| tail.len() >= 4 && id.to_string().ends_with(tail));
    let found: Vec<ApprovalId> = ids.filter(fits).collect();
    match (found.as_slice(), name) {
        ([one], _) => Ok(*one),
        ([], None) => bail!("nothing waits for a person"),
        ([], Some(name)) => {
            bail!("there is no approval `{name}`; `belljar approvals list --all` shows what there is")
        }
        (several, None) => {
            bail!("{} calls wait; say which, `belljar approvals list` shows them", several.len())
        }
        (several, Some(name)) => bail!("`{name}` fits {} approvals; write more of the id", several.len()),
    }
}
