//! `belljar run`: a fresh sandbox, one command, its changes kept apart; by the server where one is up, else by itself.

mod maker;

use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{ByteSize, Clocks, ExecSpec, ExitReport, Limits, NetworkMode, Outcome, SandboxSpec};
use belljar_engine::changes::{self, ApplyOptions};
use belljar_ports::{Keep, Level, Sandbox, SandboxInfo};
use serde_json::json;

use self::maker::Maker;
use super::follow::{self, Done, View};
use crate::{
    args::{Run, Shape, host_path},
    config::Config,
    context::{Context, labels, new_sandbox_id, variables},
    killswitch,
    observe::{self, Heard, Observer},
    output::{explain, print_json},
    sandboxes::Seen,
    secrets,
};

pub(crate) fn run(context: &Context, args: &Run) -> Result<ExitCode> {
    let spec = sandbox_spec(context, &args.shape)?;
    if args.observe && !observe::has_hooks(&spec) && !args.quiet {
        let _unheard =
            writeln!(io::stderr(), "belljar: agents in this template tell by telemetry, not by hooks");
    }
    if args.plan {
        let mut spec = spec;
        if args.observe {
            observe::prepare(context, &mut spec)?;
        }
        let plan = context.provider()?.plan(new_sandbox_id(), &spec)?;
        let mut out = io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, &plan)?;
        writeln!(out)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.command.is_empty() && !args.keep {
        bail!("no command was given; write it after --, as in `belljar run -- npm test`");
    }
    killswitch::spares(&context.home, spec.agent.as_deref())?;
    let maker = Maker::choose(context, args);
    let keep = if args.keep { Keep::Alive } else { Keep::WithMaker };
    let sandbox = maker.make(context, &spec, keep, args.observe)?;
    // Who is killed while it is made does not see it begin.
    if let Err(refusal) = killswitch::spares(&context.home, spec.agent.as_deref()) {
        maker.destroy(&*sandbox)?;
        return Err(refusal.into());
    }
    if args.shape.require_all
        && let Err(refusal) = require_all(&sandbox.info())
    {
        maker.destroy(&*sandbox)?;
        return Err(refusal);
    }
    if args.command.is_empty() {
        return announce(context, &*sandbox);
    }
    let observer = match begin(context, args, &*sandbox) {
        Ok(observer) => observer,
        Err(error) => {
            maker.destroy(&*sandbox)?;
            return Err(error);
        }
    };
    let exec = ExecSpec {
        argv: args.command.clone(),
        cwd: args.workdir.clone(),
        env: observer.as_ref().map(|observer| observer.env(&spec)).unwrap_or_default(),
        user: args.user.clone(),
        terminal: None,
        timeout: Some(args.timeout.unwrap_or(spec.clocks.exec_timeout)),
    };
    let view = View::choose(context, args.tty);
    let execution = observer.as_ref().map(Observer::execution);
    let done = match maker.follow(context, &*sandbox, (execution, exec), view) {
        Ok(done) => done,
        Err(error) => {
            // A sandbox whose command never ran has nothing worth keeping.
            maker.destroy(&*sandbox)?;
            return Err(error);
        }
    };
    let heard = observer.map(Observer::end);
    finish(context, args, (&maker, sandbox), &done, view, heard)
}

fn begin(context: &Context, args: &Run, sandbox: &dyn Sandbox) -> Result<Option<Observer>> {
    args.observe.then(|| Observer::begin(context, sandbox)).transpose()
}

/// Refuses a sandbox that keeps less than every promise. An open network was asked for, so it is none.
fn require_all(info: &SandboxInfo) -> Result<()> {
    let asked_for = |level: &Level| level.promise == "network" && info.spec.network == NetworkMode::Open;
    let broken: Vec<_> = info
        .levels
        .iter()
        .filter(|level| !level.enforced && !asked_for(level))
        .map(|level| format!("  {}: {}", level.promise, level.by))
        .collect();
    if broken.is_empty() {
        return Ok(());
    }
    bail!(
        "nothing was run: --require-all was given, and this host cannot enforce\n{}\n  hint: run belljar as root or have control groups delegated to this user, or leave out --require-all",
        broken.join("\n")
    )
}

/// Turns flags into what is asked of a provider.
pub(crate) fn sandbox_spec(context: &Context, shape: &Shape) -> Result<SandboxSpec> {
    if shape.provider != "process" {
        bail!("there is no provider `{}`; this version has `process`", shape.provider);
    }
    let workspace = match &shape.workspace {
        Some(path) if path == Path::new("none") => None,
        Some(path) => Some(host_path(path)?),
        None => Some(host_path(Path::new("."))?),
    };
    let Config { limits, clocks, network, profile, .. } = &context.config;
    Ok(SandboxSpec {
        template: shape.template.clone(),
        workspace,
        profile: shape.profile.unwrap_or(*profile),
        network: shape.net.unwrap_or(*network),
        limits: limits.patched(&shape.limits()),
        clocks: Clocks {
            ttl: shape.ttl.unwrap_or(clocks.ttl),
            idle: shape.idle.unwrap_or(clocks.idle),
            ..*clocks
        },
        mounts: shape.mount.clone(),
        etc: std::collections::BTreeMap::new(),
        env: variables(&shape.env, &context.env)?,
        agent: shape.agent.clone(),
        labels: labels(&shape.label)?,
    })
}

/// A kept sandbox without a command: its id is the answer.
fn announce(context: &Context, sandbox: &dyn Sandbox) -> Result<ExitCode> {
    let id = sandbox.info().id;
    if context.json {
        print_json(&json!({"sandbox": id, "status": "running"}))?;
    } else {
        writeln!(io::stdout(), "{id}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is left after the command: its changes, applied, kept, or none.
fn finish(
    context: &Context,
    args: &Run,
    (maker, sandbox): (&Maker, Box<dyn Sandbox>),
    done: &Done,
    view: View,
    heard: Option<Heard>,
) -> Result<ExitCode> {
    let report = &done.report;
    let touched = !sandbox.is_untouched().unwrap_or(false);
    let stat = if touched { Some(summary(&*sandbox)?) } else { None };
    let changed = stat.as_ref().is_some_and(|stat| stat.files > 0);
    if let Some(cause) = report.cause {
        killswitch::tell(&context.config.handlers, &Seen::from(sandbox.info()), cause, Some(report));
    }
    let applied = args.apply && changed && report.is_success();
    if applied {
        changes::apply(&sandbox.changes()?, ApplyOptions::default())
            .context("apply the changes; they are kept, see `belljar diff`")?;
    }
    if args.keep || (changed && !applied) {
        sandbox.note(&secrets::command(&context.home, &args.command)?, Some(report))?;
    }
    let (id, limits) = {
        let info = sandbox.info();
        (info.id, info.spec.limits)
    };
    match (args.keep, changed && !applied) {
        (true, _) => {}
        (false, true) => maker.stop(&*sandbox, report.cause)?,
        (false, false) => maker.abandon(sandbox)?,
    }
    if view == View::Json {
        let files = stat.as_ref().map_or(0, |stat| stat.files);
        let mut extra = json!({"changed_files": files, "applied": applied, "kept": args.keep});
        if let (Some(extra), Some(heard)) = (extra.as_object_mut(), heard) {
            let Heard { told, spooled, lost } = heard;
            extra.insert("observed".to_owned(), json!({"told": told, "spooled": spooled, "lost": lost}));
        }
        follow::print_done(id, done, extra)?;
    } else if !args.quiet {
        if let Some(heard) = heard {
            tell_heard(heard)?;
        }
        tell(report, &limits, stat.as_ref(), applied, args.keep.then(|| id.short()))?;
    }
    Ok(ExitCode::from(follow::told_whole(done, view)?))
}

struct Summary {
    files: usize,
    text: String,
}

fn summary(sandbox: &dyn Sandbox) -> Result<Summary> {
    let found = sandbox.changes()?;
    let value = changes::json(&found)?;
    let total = |name: &str| {
        value.pointer(&format!("/totals/{name}")).and_then(serde_json::Value::as_u64).unwrap_or(0)
    };
    let files = found.changes.len();
    let noun = if files == 1 { "change" } else { "changes" };
    Ok(Summary { files, text: format!("{files} {noun} (+{} -{})", total("additions"), total("deletions")) })
}

/// What an agent said that nobody heard yet is worth a word.
fn tell_heard(heard: Heard) -> io::Result<()> {
    let mut err = io::stderr().lock();
    if heard.spooled > 0 {
        let count = heard.spooled;
        writeln!(err, "belljar: {count} events wait for a server; `belljar serve` takes them")?;
    }
    if heard.lost > 0 {
        writeln!(err, "belljar: {} events were lost: the spool is full", heard.lost)?;
    }
    Ok(())
}

/// The last words, on standard error: always why something was killed, the rest only for people.
fn tell(
    report: &ExitReport,
    limits: &Limits,
    stat: Option<&Summary>,
    applied: bool,
    kept: Option<String>,
) -> io::Result<()> {
    let mut err = io::stderr().lock();
    if let Some(cause) = report.cause {
        writeln!(err, "belljar: killed ({cause}): {}", explain(cause, limits))?;
    }
    for reached in &report.reached {
        writeln!(err, "belljar: limit reached ({reached}): {}", explain(*reached, limits))?;
    }
    if !io::stderr().is_terminal() {
        return Ok(());
    }
    let outcome = match report.outcome {
        Outcome::Code(code) => format!("exit {code}"),
        Outcome::Signal(signal) => format!("signal {signal}"),
    };
    let peak = report.usage.memory_peak_bytes.map(|bytes| format!(" · peak {}", ByteSize::bytes(bytes)));
    let changes = stat.map_or("nothing changed".to_owned(), |stat| stat.text.clone());
    let next = match (applied, stat.is_some_and(|stat| stat.files > 0), kept) {
        (true, ..) => " · applied".to_owned(),
        (_, _, Some(id)) => format!(" · running: belljar exec {id} -- …"),
        (_, true, None) => " · belljar diff | apply | discard".to_owned(),
        (_, false, None) => String::new(),
    };
    let peak = peak.unwrap_or_default();
    writeln!(err, "\x1b[2mbelljar: {outcome} · {}{peak} · {changes}{next}\x1b[0m", report.duration)
}
