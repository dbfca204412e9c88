//! `belljar fork`: one task, several sandboxes, the best attempt.
//!
//! Owns: what is typed and written in task files, turned into one request; waiting; showing. Refuses: to carry a run out:
//! the server does, or the one in this process.

mod order;
mod progress;
mod swarm;
mod table;
mod task;
mod watch;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::{Result, bail};
use serde_json::Value;

pub(super) use self::{
    progress::Progress,
    watch::{Signals, Whose, follow},
};
use self::{swarm::Swarm, task::TaskFile};
use super::{
    embedded::{field, with_server},
    runs::{board, items, text},
};
use crate::{
    args::Fork,
    client::Client,
    context::Context,
    output::{plain, print_json},
};

/// What a shell calls a command that was interrupted.
const INTERRUPTED: u8 = 130;
/// What a shell calls a command whose terminal was closed.
const HUNG_UP: u8 = 129;
/// No attempt was good enough.
const NO_WINNER: u8 = 1;

pub(crate) fn fork(context: &Context, args: &Fork) -> Result<ExitCode> {
    let is_served = context.remote()?.is_some() || Client::at_home(&context.home).is_some();
    if args.keep_alive.is_some() && !is_served {
        bail!("--keep-alive needs a server, which shows what attempts serve: start one with `belljar serve`");
    }
    if args.detach && !is_served {
        bail!("--detach needs a server, which carries the run out: start one with `belljar serve`");
    }
    let whose = if is_served { Whose::Asked } else { Whose::Own };
    let file = order::task_file(args);
    if let Some(swarm) = file.map(Swarm::read).transpose()?.flatten() {
        return swarm::carry_out(context, args, swarm, whose);
    }
    let task = file.map(TaskFile::read).transpose()?.unwrap_or_default();
    let request = order::request(context, args, task, file)?;
    let signals = Signals::listen()?;
    with_server(context, |server| {
        let begun = server.order("POST", &["sandboxes", "fork"], Some(&request))?;
        if args.detach {
            return begun_alone(context, &begun);
        }
        let progress = Progress::choose(context, args.quiet);
        let Some(run) = follow(server, begun, whose, &signals, progress)? else {
            return Ok(ExitCode::from(HUNG_UP));
        };
        let code = finish(context, server, &run)?;
        if args.keep_alive.is_some() && !context.json {
            previews(server, &run)?;
        }
        Ok(code)
    })
}

/// A run that goes on by itself: its id is the answer.
fn begun_alone(context: &Context, run: &Value) -> Result<ExitCode> {
    if context.json {
        print_json(run)?;
    } else {
        writeln!(io::stdout(), "{}", text(run, "id"))?;
    }
    Ok(ExitCode::SUCCESS)
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
        match (urls.is_empty(), unserved(server, fork)) {
            (false, _) => writeln!(out, "attempt {number}: {}", urls.join(" "))?,
            (true, Some(why)) => writeln!(out, "attempt {number}: is not served: {}", plain(&why))?,
            (true, None) if id.is_empty() => {}
            (true, None) => {
                writeln!(out, "attempt {number}: serves nothing yet; `belljar ports {id}` looks again")?;
            }
        }
    }
    Ok(())
}

/// Why an attempt serves nothing and will not: its command could not be started, or is over.
fn unserved(server: &Client, fork: &Value) -> Option<String> {
    if let Some(why) = field(fork, "preview_error").as_str() {
        return Some(why.to_owned());
    }
    let (id, command) = (text(fork, "sandbox_id"), field(fork, "preview_execution_id").as_str()?);
    let command = server.records(&format!("sandboxes/{id}/executions/{command}"), &[]).ok()?;
    let code = field(&command, "exit_code").as_u64()?;
    Some(format!("its command exited with {code}; `belljar logs {id}` shows what it wrote"))
}

/// Shows how a run ended, and says it by the exit code.
pub(super) fn finish(context: &Context, server: &Client, run: &Value) -> Result<ExitCode> {
    let results = server.records(&format!("runs/{}/results", text(run, "id")), &[])?;
    let is_unbegun = || items(run, "forks").all(|fork| field(fork, "started_at").is_null());
    if context.json {
        print_json(&results)?;
    } else if text(run, "state") == "failed" && is_unbegun() {
        bail!("{}", text(&results, "reason"));
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
