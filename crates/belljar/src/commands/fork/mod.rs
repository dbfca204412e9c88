//! `belljar fork`: one task, several sandboxes, the best attempt.
//!
//! Owns: what is typed and written in task files, turned into one request; waiting; showing. Refuses: to carry a run out:
//! the server does, or the one in this process.

mod order;
mod progress;
mod task;

use std::{
    io::{self, Write as _},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use self::progress::Progress;
use super::{
    embedded::{field, with_server},
    runs::{board, items, text},
};
use crate::{args::Fork, client::Client, context::Context, output::print_json};

/// What a shell calls a command that was interrupted.
const INTERRUPTED: u8 = 130;
/// No attempt was good enough.
const NO_WINNER: u8 = 1;

pub(crate) fn fork(context: &Context, args: &Fork) -> Result<ExitCode> {
    let request = order::request(context, args)?;
    if args.keep_alive.is_some() && context.remote()?.is_none() && Client::at_home(&context.home).is_none() {
        bail!("--keep-alive needs a server, which shows what attempts serve: start one with `belljar serve`");
    }
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("listen for signals")?;
    }
    with_server(context, |server| {
        let begun = server.order("POST", &["sandboxes", "fork"], Some(&request))?;
        let progress = Progress::choose(context, args.quiet);
        let run = follow(server, begun, &stop, progress)?;
        let code = finish(context, server, &run)?;
        if args.keep_alive.is_some() && !context.json {
            previews(server, &run)?;
        }
        Ok(code)
    })
}

/// Watches a run to its end. Whoever interrupts stops the run, and is told how that ended.
fn follow(server: &Client, mut run: Value, stop: &AtomicBool, mut progress: Progress) -> Result<Value> {
    let id = text(&run, "id").to_owned();
    let mut stopping = false;
    loop {
        progress.show(&run);
        if is_over(&run) {
            progress.end();
            return Ok(run);
        }
        if stop.load(Ordering::Relaxed) && !stopping {
            stopping = true;
            progress.say("stopping …");
            server.order("DELETE", &["runs", &id], None)?;
        }
        let version = field(&run, "version").to_string();
        let query = [("version", version.as_str()), ("timeout_seconds", "1")];
        run = server.records(&format!("runs/{id}/wait"), &query)?;
    }
}

/// Where each attempt that lives serves what it made.
fn previews(server: &Client, run: &Value) -> Result<()> {
    let mut out = io::stdout().lock();
    for fork in items(run, "forks") {
        let id = text(fork, "sandbox_id");
        // One that ended meanwhile serves nothing.
        let ports = id.parse().ok().and_then(|id| server.ports(id).ok()).unwrap_or_default();
        let urls: Vec<&str> = ports.iter().map(|port| port.url.as_str()).collect();
        let number = field(fork, "fork");
        match urls.is_empty() {
            false => writeln!(out, "attempt {number}: {}", urls.join(" "))?,
            true if id.is_empty() => {}
            true => writeln!(out, "attempt {number}: serves nothing yet; `belljar ports {id}` looks again")?,
        }
    }
    Ok(())
}

fn is_over(run: &Value) -> bool {
    !matches!(text(run, "state"), "preparing" | "running" | "judging")
}

fn finish(context: &Context, server: &Client, run: &Value) -> Result<ExitCode> {
    let results = server.records(&format!("runs/{}/results", text(run, "id")), &[])?;
    if context.json {
        print_json(&results)?;
    } else {
        board::print(context, run, &results, board::Detail::Short)?;
    }
    Ok(match (text(run, "state"), field(&results, "winner_fork").is_null()) {
        ("finished", false) => ExitCode::SUCCESS,
        ("finished", true) => ExitCode::from(NO_WINNER),
        ("cancelled", _) => ExitCode::from(INTERRUPTED),
        _ => ExitCode::from(belljar_domain::EXIT_BELLJAR_FAILED),
    })
}
