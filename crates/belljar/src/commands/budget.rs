//! `belljar budget`: what may be spent, how far that is used, and what was refused.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::{
    agents::said,
    embedded::{field, with_server},
};
use crate::{
    args::{Budget, SetBudget},
    client::Client,
    context::Context,
    output::{count, dollars, plain, print_json, print_table, remark},
};

pub(crate) fn budget(context: &Context, command: Budget) -> Result<ExitCode> {
    with_server(context, |server| match command {
        Budget::Status { agent, session } => {
            let query = [("agent", agent.as_deref()), ("session_id", session.as_deref())];
            let query: Vec<_> = query.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
            show(context, &server.records("budgets", &query)?)
        }
        Budget::Set(args) => {
            show(context, &server.order("PUT", &["budgets", &args.id], Some(&wanted(&args)))?)
        }
        Budget::Reset { id } => {
            let answer = server.order("POST", &["budgets", &id, "reset"], Some(&json!({})))?;
            said(context, &answer, &format!("{id} begins anew"))
        }
        Budget::Remove { id } => {
            server.order("DELETE", &["budgets", &id], None)?;
            said(context, &json!({ "removed": id }), &format!("removed {id}"))
        }
        Budget::History { agent, session, blocked, limit } => {
            let (limit, blocked) = (limit.to_string(), blocked.to_string());
            let query = [
                ("agent", agent.as_deref()),
                ("session_id", session.as_deref()),
                ("blocked", Some(blocked.as_str())),
                ("limit", Some(limit.as_str())),
            ];
            let query: Vec<_> = query.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
            history(context, server, &query)
        }
    })
}

/// A budget as the server takes it.
#[expect(clippy::cast_precision_loss, reason = "the server rounds to the same millionth")]
fn wanted(args: &SetBudget) -> Value {
    let mut order = Map::new();
    order.extend(args.tokens.map(|tokens| ("tokens".to_owned(), json!(tokens))));
    order.extend(args.cost.map(|cost| ("cost_usd".to_owned(), json!(cost.0 as f64 / 1e6))));
    if args.notify.or(args.pause).or(args.terminate).is_some() {
        let steps = json!({
            "notify": args.notify.or(Some(80)), "pause": args.pause.or(Some(100)), "terminate": args.terminate,
        });
        order.insert("steps".to_owned(), steps);
    }
    Value::Object(order)
}

fn show(context: &Context, answer: &Value) -> Result<ExitCode> {
    if context.json {
        print_json(answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let items = field(answer, "items").as_array().cloned().unwrap_or_default();
    let row = |line: &Value| {
        let amount = |name: &str, part: &str| field(field(line, name), part);
        let money = |used: f64, limit: Option<f64>| {
            let limit = limit.map_or_else(|| "-".to_owned(), dollars);
            format!("{} / {limit}", dollars(used))
        };
        let tokens = |used: u64, limit: Option<u64>| {
            format!("{} / {}", count(used), limit.map_or_else(|| "-".to_owned(), count))
        };
        let cost = amount("spent", "cost_usd").as_f64().unwrap_or_default()
            + amount("reserved", "cost_usd").as_f64().unwrap_or_default();
        let used = amount("spent", "tokens").as_u64().unwrap_or_default()
            + amount("reserved", "tokens").as_u64().unwrap_or_default();
        vec![
            text(line, "budget"),
            text(line, "subject"),
            text(line, "span"),
            money(cost, field(line, "cost_usd").as_f64()),
            tokens(used, field(line, "tokens").as_u64()),
            format!("{} %", field(line, "percent")),
            field(line, "blocked").to_string(),
            text(line, "set_by"),
        ]
    };
    let rows: Vec<_> = items.iter().map(row).collect();
    print_table(&["BUDGET", "OF", "SPAN", "MONEY", "TOKENS", "USED", "REFUSED", "SET BY"], &rows)?;
    if rows.is_empty() {
        remark("no budget is set; `belljar budget set agent:*:day --cost 25` limits every agent");
    }
    Ok(ExitCode::SUCCESS)
}

fn text(line: &Value, name: &str) -> String {
    let text = field(line, name).as_str().unwrap_or_default();
    if text.is_empty() { "-".to_owned() } else { plain(text) }
}

fn history(context: &Context, server: &Client, query: &[(&str, &str)]) -> Result<ExitCode> {
    let answer = server.records("budgets/history", query)?;
    if context.json {
        print_json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |event: &Value| {
        let payload = field(event, "payload");
        let lines = field(payload, "budgets").as_array().cloned().unwrap_or_default();
        let names: Vec<String> = lines.iter().map(|line| text(line, "budget")).collect();
        let of = |at: &str| {
            let line = lines.first().map(|line| field(line, at).clone()).unwrap_or_default();
            format!("{} tokens", count(field(&line, "tokens").as_u64().unwrap_or_default()))
        };
        let kind = field(event, "kind").as_str().unwrap_or_default().trim_start_matches("budget.").to_owned();
        let change =
            if lines.is_empty() { "-".to_owned() } else { format!("{} → {}", of("before"), of("after")) };
        let budgets = if names.is_empty() { text(event, "target") } else { names.join(", ") };
        let time = field(event, "time").as_str().unwrap_or_default();
        vec![
            time.get(..19).unwrap_or(time).replace('T', " "),
            kind,
            text(event, "agent_id"),
            text(event, "tool"),
            budgets,
            change,
        ]
    };
    let items = field(&answer, "items").as_array().cloned().unwrap_or_default();
    let rows: Vec<_> = items.iter().map(row).collect();
    print_table(&["TIME", "WHAT", "AGENT", "FOR", "BUDGETS", "SPENT"], &rows)?;
    if rows.is_empty() {
        remark("nothing was spent that counts for a budget");
    }
    Ok(ExitCode::SUCCESS)
}
