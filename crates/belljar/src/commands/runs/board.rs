//! The board: who stands where, why, and what to do next.

use std::io::{self, IsTerminal, Write};

use anyhow::Result;
use belljar_domain::Span;
use serde_json::Value;

use super::{items, text};
use crate::{
    commands::embedded::field,
    context::Context,
    output::{dollars, many, plain, print_table},
};

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Detail {
    /// The ranking and the reason.
    Short,
    /// Every gate and every part of every score, too.
    Full,
}

/// Prints a run and how it was judged.
pub(in crate::commands) fn print(
    context: &Context,
    run: &Value,
    results: &Value,
    detail: Detail,
) -> Result<()> {
    if detail == Detail::Full {
        heading(run)?;
    }
    if results.is_null() {
        let rows: Vec<Vec<String>> = items(run, "forks").map(under_way).collect();
        print_table(&["ATTEMPT", "STATUS", "ACTIVITY"], &rows)?;
        return Ok(());
    }
    let mut standings: Vec<&Value> = items(results, "forks").collect();
    standings.sort_by_key(|standing| field(standing, "rank").as_u64());
    let winner = field(run, "winner_fork").as_u64();
    let rows: Vec<Vec<String>> = standings.iter().map(|standing| row(standing, winner)).collect();
    print_table(&["", "ATTEMPT", "STATUS", "SCORE", "TESTS", "QUALITY", "CHANGE", "TIME", "COST"], &rows)?;
    let mut out = io::stdout().lock();
    // Of a run that came to no end, nothing is to be learnt from what its attempts lack.
    let is_whole = detail == Detail::Full || text(run, "state") == "finished";
    for standing in standings.iter().filter(|_| is_whole) {
        explain(&mut out, standing, detail)?;
    }
    verdict(context, &mut out, run, results)?;
    Ok(())
}

fn heading(run: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "run {} · task {} · {}", text(run, "id"), plain(text(run, "task_id")), text(run, "state"))?;
    writeln!(out, "workspace {}", plain(text(run, "workspace")))?;
    if !text(run, "prompt").is_empty() {
        writeln!(out, "task: {}", crate::output::brief_text(text(run, "prompt"), 200))?;
    }
    writeln!(out)
}

fn under_way(fork: &Value) -> Vec<String> {
    vec![
        field(fork, "fork").to_string(),
        text(fork, "status").replace('_', " "),
        plain(field(fork, "activity").as_str().unwrap_or("-")),
    ]
}

fn row(standing: &Value, winner: Option<u64>) -> Vec<String> {
    let fork = field(standing, "fork").as_u64();
    let part = |name: &str| {
        let score = standing.pointer(&format!("/breakdown/{name}/score")).and_then(Value::as_f64);
        score.map_or_else(|| "-".to_owned(), |score| format!("{score:.0}"))
    };
    let count =
        |name: &str| standing.pointer(&format!("/diff_stat/{name}")).and_then(Value::as_u64).unwrap_or(0);
    vec![
        if fork == winner { "★" } else { "" }.to_owned(),
        fork.unwrap_or(0).to_string(),
        text(standing, "status").replace('_', " "),
        field(standing, "score").as_f64().map_or_else(|| "-".to_owned(), |score| format!("{score:.1}")),
        part("tests"),
        part("quality"),
        match usize::try_from(count("files")).unwrap_or(usize::MAX) {
            0 => "nothing".to_owned(),
            files => format!("{} +{} -{}", many(files, "file"), count("added"), count("removed")),
        },
        Span::millis(field(standing, "duration_ms").as_u64().unwrap_or(0)).to_string(),
        field(standing, "cost").as_f64().map_or_else(|| "-".to_owned(), dollars),
    ]
}

/// Why an attempt could not win; in full, what its score is made of.
fn explain(out: &mut dyn Write, standing: &Value, detail: Detail) -> io::Result<()> {
    let fork = field(standing, "fork");
    let failed: Vec<&Value> =
        items(standing, "gates").filter(|gate| text(gate, "result") == "failed").collect();
    let shown: Vec<&Value> = if detail == Detail::Full { items(standing, "gates").collect() } else { failed };
    let is_eligible = field(standing, "eligible").as_bool().unwrap_or(false);
    if detail == Detail::Short && is_eligible {
        return Ok(());
    }
    let is_sure = items(standing, "gates").all(|gate| text(gate, "result") == "passed");
    let lead = match (is_eligible, is_sure) {
        (true, true) => "passed every gate",
        (true, false) => "failed no gate (? is what nobody can tell)",
        (false, _) => "cannot win",
    };
    writeln!(out, "\nattempt {fork} {lead}:")?;
    for gate in shown {
        let (mark, reason) = (mark(text(gate, "result")), plain(text(gate, "reason")));
        writeln!(out, "  {mark} {} {}: {reason}", text(gate, "gate"), text(gate, "name"))?;
    }
    if detail == Detail::Full {
        for (name, part) in field(standing, "breakdown").as_object().into_iter().flatten() {
            let is_known = field(part, "score").as_f64().is_some();
            let points = field(part, "points").as_f64().filter(|_| is_known);
            let points = points.map_or_else(|| "-".to_owned(), |points| format!("{points:.1}"));
            writeln!(out, "  {points:>5} {name}: {}", plain(text(part, "note")))?;
        }
        for mover in items(standing, "movers") {
            let change = field(mover, "change").as_f64().unwrap_or(0.0);
            let message = mover.pointer("/finding/message").and_then(Value::as_str).unwrap_or_default();
            writeln!(out, "  {change:+5.1} {}", plain(message))?;
        }
        for note in items(standing, "notes").filter_map(Value::as_str) {
            writeln!(out, "  note: {}", plain(note))?;
        }
    }
    Ok(())
}

fn mark(result: &str) -> char {
    match result {
        "passed" => '✓',
        "failed" => '✗',
        _ => '?',
    }
}

fn verdict(context: &Context, out: &mut dyn Write, run: &Value, results: &Value) -> io::Result<()> {
    let colour = context.colour(io::stdout().is_terminal());
    let (bold, plain_again) = if colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    writeln!(out, "\n{bold}{}{plain_again}", plain(text(results, "reason")))?;
    if let Some(reason) = run.pointer("/picked/reason").and_then(Value::as_str) {
        let by = run.pointer("/picked/by").and_then(Value::as_str).unwrap_or("somebody");
        let fork = run.pointer("/picked/fork").and_then(Value::as_u64).unwrap_or(0);
        writeln!(out, "Picked by {}: attempt {fork}. {}", plain(by), plain(reason))?;
    }
    let id = text(run, "id");
    let id = id.get(id.len().saturating_sub(8)..).unwrap_or(id);
    match field(run, "winner_fork").as_u64() {
        Some(winner) => writeln!(
            out,
            "  belljar runs diff {id} {winner}   shows what it changed\n  belljar runs apply {id}    brings it into the workspace; --branch makes a branch of it"
        ),
        None => writeln!(
            out,
            "  belljar runs show {id}   shows every gate; belljar runs diff {id} what each changed"
        ),
    }
}
