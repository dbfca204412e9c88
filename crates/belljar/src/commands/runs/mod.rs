//! `belljar runs`: what became of tasks given to several sandboxes, and what is kept of it.

mod apply;
pub(super) mod board;
mod diff;
mod git;

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use belljar_engine::changes::Bundle;
use serde_json::{Value, json};

use super::{
    embedded::{field, with_server},
    fork::{Progress, Signals, Whose, finish, follow},
};
use crate::{
    args::Runs,
    client::Client,
    context::Context,
    output::{brief_text, dollars, print_json, print_table, remark},
};

/// How many runs are looked through for one somebody means.
const LOOKED_AT: &str = "1000";

pub(crate) fn runs(context: &Context, command: &Runs) -> Result<ExitCode> {
    let is_served = context.remote()?.is_some() || Client::at_home(&context.home).is_some();
    with_server(context, |server| match command {
        Runs::List { limit, task } => list(context, server, *limit, task.as_deref()),
        Runs::Show { run } => show(context, server, run),
        Runs::Diff(args) => diff::diff(context, server, args),
        Runs::Pick { run, fork, reason } => pick(context, server, run, *fork, reason),
        Runs::Apply(args) => apply::apply(context, server, args),
        Runs::Report { run, output, html } => report(context, server, run, output.as_deref(), *html),
        Runs::Wait { run } => watch(context, server, run, (is_served, true)),
        Runs::Attach { run } => watch(context, server, run, (is_served, false)),
        Runs::Stop { run } => {
            let id = find(server, run)?;
            let run = server.order("DELETE", &["runs", &id], None)?;
            said(context, &run, &format!("{id} stops"))
        }
        Runs::Stats => stats(context, server),
    })
}

/// A text of an answer; empty where there is none.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    field(value, name).as_str().unwrap_or_default()
}

/// Says whether a run is over.
pub(super) fn is_over(run: &Value) -> bool {
    !matches!(text(run, "state"), "preparing" | "running" | "judging")
}

/// Waits for a run that goes on by itself, and answers as `belljar fork` would have.
fn watch(
    context: &Context,
    server: &Client,
    name: &str,
    (is_served, quiet): (bool, bool),
) -> Result<ExitCode> {
    let id = find(server, name)?;
    let run = server.records(&format!("runs/{id}"), &[])?;
    if !is_over(&run) && !is_served {
        bail!("run {id} is under way, and no server is; `belljar serve` carries it on");
    }
    let signals = Signals::listen()?;
    match follow(server, run, Whose::Other, &signals, Progress::choose(context, quiet))? {
        Some(run) => finish(context, server, &run),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// A list of an answer.
pub(super) fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    field(value, name).as_array().into_iter().flatten()
}

/// The run a person means: its id, the end of its id, or the last one.
fn find(server: &Client, name: &str) -> Result<String> {
    if name.parse::<belljar_domain::RunId>().is_ok() {
        return Ok(name.to_owned());
    }
    let limit = if name == "last" { "1" } else { LOOKED_AT };
    let page = server.records("runs", &[("limit", limit)])?;
    let ids: Vec<&str> = items(&page, "items").map(|run| text(run, "id")).collect();
    let fits: Vec<&&str> =
        ids.iter().filter(|id| name == "last" || (name.len() >= 4 && id.ends_with(name))).collect();
    match fits.as_slice() {
        [one] => Ok((**one).to_owned()),
        [] if name == "last" => bail!("there is no run yet; `belljar fork -- CMD` begins one"),
        [] => bail!("there is no run `{name}`; `belljar runs list` shows what there is"),
        several => bail!("`{name}` fits {} runs; write the whole id", several.len()),
    }
}

/// What leads from one side of a run to another.
fn changes(server: &Client, run: &str, from: &str, to: &str) -> Result<Bundle> {
    let found = server.records(&format!("runs/{run}/changes"), &[("from", from), ("to", to)])?;
    serde_json::from_value(found).context("understand the changes")
}

fn list(context: &Context, server: &Client, limit: u16, task: Option<&str>) -> Result<ExitCode> {
    let limit = limit.to_string();
    let mut query = vec![("limit", limit.as_str())];
    query.extend(task.map(|task| ("task_id", task)));
    let page = server.records("runs", &query)?;
    if context.json {
        print_json(field(&page, "items"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = items(&page, "items").map(row).collect();
    if rows.is_empty() {
        remark("no runs yet; `belljar fork -n 3 --check 'cargo test' -- CMD` begins one");
    }
    print_table(&["RUN", "TASK", "STATE", "ATTEMPTS", "WINNER", "SCORE", "BEGAN"], &rows)?;
    Ok(ExitCode::SUCCESS)
}

fn row(run: &Value) -> Vec<String> {
    let id = text(run, "id");
    let number = |name: &str| field(run, name).as_u64().map_or_else(|| "-".to_owned(), |n| n.to_string());
    let picked = if field(run, "picked").is_null() { "" } else { " (picked)" };
    vec![
        id.get(id.len().saturating_sub(8)..).unwrap_or(id).to_owned(),
        brief_text(text(run, "task_id"), 40),
        text(run, "state").to_owned(),
        number("attempts"),
        format!("{}{picked}", number("winner_fork")),
        field(run, "winner_score").as_f64().map_or_else(|| "-".to_owned(), |score| format!("{score:.1}")),
        text(run, "created_at").get(..19).unwrap_or_default().replace('T', " "),
    ]
}

fn show(context: &Context, server: &Client, name: &str) -> Result<ExitCode> {
    let id = find(server, name)?;
    let run = server.records(&format!("runs/{id}"), &[])?;
    let results =
        if is_over(&run) { server.records(&format!("runs/{id}/results"), &[])? } else { Value::Null };
    if context.json {
        print_json(&json!({ "run": run, "results": results }))?;
    } else {
        board::print(context, &run, &results, board::Detail::Full)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn pick(context: &Context, server: &Client, name: &str, fork: u32, reason: &str) -> Result<ExitCode> {
    let id = find(server, name)?;
    let body = json!({ "fork": fork, "reason": reason });
    let run = server.order("POST", &["runs", &id, "select"], Some(&body))?;
    said(context, &run, &format!("attempt {fork} is the one to keep; `belljar runs apply {name}` does"))
}

fn report(
    context: &Context,
    server: &Client,
    name: &str,
    output: Option<&Path>,
    html: bool,
) -> Result<ExitCode> {
    let id = find(server, name)?;
    let named_so = output.and_then(Path::extension).is_some_and(|end| end == "html" || end == "htm");
    let format = if html || named_so { "html" } else { "markdown" };
    let page = server.page(&format!("runs/{id}/report"), &[("format", format)])?;
    match output {
        None if context.json => print_json(&json!({ "run": id, "format": format, "report": page }))?,
        None => write!(io::stdout(), "{page}")?,
        Some(file) => {
            fs::write(file, page).with_context(|| format!("write `{}`", file.display()))?;
            return said(
                context,
                &json!({ "run": id, "report": file }),
                &format!("wrote {}", file.display()),
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn stats(context: &Context, server: &Client) -> Result<ExitCode> {
    let stats = server.records("runs/stats", &[])?;
    if context.json {
        print_json(&stats)?;
        return Ok(ExitCode::SUCCESS);
    }
    let count = |name: &str| field(&stats, name).as_u64().unwrap_or(0).to_string();
    let rows = [
        ("runs", count("runs")),
        ("under way", count("under_way")),
        ("with a winner", count("with_winner")),
        ("overruled by a person", count("overruled")),
        ("attempts", count("attempts")),
        ("attempts that might have won", count("eligible")),
        ("spent", dollars(field(&stats, "cost").as_f64().unwrap_or(0.0))),
    ];
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    print_table(&["WHAT", "COUNT"], &rows)?;
    Ok(ExitCode::SUCCESS)
}

fn said(context: &Context, answer: &Value, words: &str) -> Result<ExitCode> {
    super::agents::said(context, answer, words)
}
