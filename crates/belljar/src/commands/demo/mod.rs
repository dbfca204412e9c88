//! `belljar demo`: the product alive within a minute, without an account.
//!
//! Owns: a server on a temporary home, the project agents work on, and that nothing is left afterwards. Refuses: anything
//! of the user's own home, and pretence: sandboxes, commands, hooks, rulings and approvals are real; only what the agents
//! want is written beforehand.

mod actor;
mod cast;
mod contest;
mod project;
mod stage;

use std::{
    fs,
    io::{self, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, Result, bail};
use belljar_ports::SandboxProvider;
use belljar_server::Server;
use belljar_store::{SqliteStore, StoreConfig};
use serde_json::{Value, json};

use self::{cast::Part, stage::Stage};
use super::{
    composed::{Composed, Life},
    serve::{self, LISTEN, asked_to_end, serve_until},
};
use crate::{
    args::{Demo, DemoAgent},
    client::Client,
    config::Config,
    context::Context,
    output::{dollars, print_json},
    runtime,
};

/// Plays one agent's part, where `demo` has put it.
pub(crate) fn play(args: &DemoAgent) -> Result<ExitCode> {
    actor::play(args)
}

pub(crate) fn demo(context: &Context, args: &Demo) -> Result<ExitCode> {
    let parts = wanted(cast::everybody()?, &args.only)?;
    serve::start_logging(context, "error");
    let dir = tempfile::Builder::new().prefix("belljar-demo-").tempdir().context("make a temporary home")?;
    let context = at(context, &dir.path().join("home"));
    project::lay_out(&dir.path().join("tally"))?;
    let told = perform(&context, args, dir.path(), parts);
    dir.close().context("remove the temporary home")?;
    let told = told?;
    if context.json {
        print_json(&told)?;
    } else {
        say_goodbye(&told)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn wanted(all: Vec<Part>, only: &[String]) -> Result<Vec<Part>> {
    let names: Vec<String> = all.iter().map(|part| part.name.clone()).collect();
    if let Some(nobody) = only.iter().find(|name| !names.contains(name)) {
        bail!("nobody in the demonstration is called `{nobody}`; there are {}", names.join(", "));
    }
    Ok(all.into_iter().filter(|part| only.is_empty() || only.contains(&part.name)).collect())
}

/// The same caller in another home, with nothing set: what a user configured is for their own agents.
fn at(context: &Context, home: &Path) -> Context {
    let ours = |name: &str| name.starts_with("BELLJAR_");
    let env = context.env.iter().filter(|(name, _)| !ours(name)).map(|(n, v)| (n.clone(), v.clone()));
    Context { json: context.json, home: home.to_owned(), env: env.collect(), config: Config::default() }
}

/// Serves and plays until it is over; the answer is what happened.
fn perform(context: &Context, args: &Demo, dir: &Path, parts: Vec<Part>) -> Result<Value> {
    runtime::raise_file_limit();
    let provider: Arc<dyn SandboxProvider> = Arc::new(context.provider()?);
    fs::write(context.home.join("guardian.toml"), project::POLICY).context("write the policy")?;
    let store = SqliteStore::open(&context.home, StoreConfig::default()).context("open the store")?;
    // Sandboxes kept ready would have to be ended, and nobody waits for them here.
    let composed = Composed::open(context, provider, store, runtime::dir(context), 0, Life::Attended)?;
    let mut told = Ok(Value::Null);
    let served = serve_until(context, args.listen.unwrap_or_else(address), &composed, |server| {
        let asked = asked_to_end()?;
        announce(context, server)?;
        let mut stage = Stage::new(context, &composed.provider, dir, args)?;
        let done = stage.begin(parts);
        let told = &mut told;
        Ok(async move {
            tokio::select! {
                () = asked => {}
                _all = done => {}
            }
            // While the server still answers: it is asked to end what there is.
            *told = tokio::task::spawn_blocking(move || stage.end())
                .await
                .unwrap_or_else(|lost| Err(lost.into()));
        })
    });
    composed.close()?;
    served.and(told)
}

/// The usual address, if nobody has it.
fn address() -> SocketAddr {
    let is_free = TcpListener::bind(LISTEN).is_ok();
    if is_free { LISTEN } else { SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) }
}

fn announce(context: &Context, server: &Server) -> Result<()> {
    let login = server.login_link()?;
    if context.json {
        let mut line = serve::facts(server);
        if let Some(line) = line.as_object_mut() {
            line.extend([("login_url".to_owned(), json!(login)), ("home".to_owned(), json!(context.home))]);
        }
        return Ok(print_json(&line)?);
    }
    let mut out = io::stdout().lock();
    writeln!(out, "Agents at work under glass. Open this in a browser:\n\n  {login}\n")?;
    writeln!(
        out,
        "Everything is real but the models, and in a temporary home; Ctrl-C ends it and leaves nothing."
    )?;
    writeln!(out, "From another terminal:\n\n  export BELLJAR_HOME={}", context.home.display())?;
    writeln!(out, "  belljar events tail\n  belljar approvals watch\n")?;
    Ok(out.flush()?)
}

fn say_goodbye(told: &Value) -> Result<()> {
    let count = |name: &str| told.get(name).and_then(Value::as_u64).unwrap_or_default();
    let cost = told.get("cost_usd").and_then(Value::as_f64).unwrap_or_default();
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "belljar demo: {} sessions, {} calls, {} denied, {} failed, {} at list price; nothing is left of it",
        count("sessions"),
        count("calls"),
        count("denied"),
        count("failed"),
        dollars(cost),
    )?;
    Ok(())
}

/// What happened, by the server's own records.
fn tally(server: &Client) -> Result<Value> {
    let sessions = server.all_records("sessions", &[])?;
    let sum = |name: &str| {
        let count = |session: &Value| session.pointer(name).and_then(Value::as_u64).unwrap_or_default();
        sessions.iter().map(count).sum::<u64>()
    };
    let cost =
        |session: &Value| session.pointer("/spent/cost_usd").and_then(Value::as_f64).unwrap_or_default();
    Ok(json!({
        "sessions": sessions.len(),
        "calls": sum("/counts/calls"),
        "denied": sum("/counts/denied"),
        "failed": sum("/counts/failed"),
        "cost_usd": sessions.iter().map(cost).sum::<f64>(),
    }))
}
