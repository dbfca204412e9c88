//! One file per command; each is a few calls.

mod agents;
mod apply;
mod approvals;
mod audit;
pub(crate) mod bench;
mod budget;
mod completions;
mod composed;
mod cost;
mod cp;
mod demo;
mod diff;
mod discard;
mod doctor;
mod embedded;
mod events;
mod exec;
mod extend;
mod follow;
mod fork;
mod guardian;
mod health;
mod hooks;
mod inspect;
mod killswitch;
mod list;
mod logs;
mod man;
mod mcp;
mod metrics;
mod pause;
mod ports;
mod quality;
mod report;
mod run;
mod runs;
mod serve;
mod sessions;
mod snapshot;
mod stats;
mod template;
mod terminate;
mod top;

pub(crate) use hooks::managed as managed_hooks;

use std::process::ExitCode;

use anyhow::Result;

use crate::{args::Command, context::Context};

/// Carries out a command.
pub(crate) fn run(context: &Context, command: Command) -> Result<ExitCode> {
    match command {
        Command::Run(args) => run::run(context, &args),
        Command::Fork(args) => fork::fork(context, &args),
        Command::Runs(args) => runs::runs(context, &args),
        Command::Exec(args) => exec::exec(context, args),
        Command::List(args) => list::list(context, &args),
        Command::Inspect(args) => inspect::inspect(context, &args),
        Command::Logs(args) => logs::logs(context, &args),
        Command::Cp(args) => cp::cp(context, &args),
        Command::Diff(args) => diff::diff(context, &args),
        Command::Apply(args) => apply::apply(context, &args),
        Command::Discard(args) => discard::discard(context, &args),
        Command::Pause(args) => pause::pause(context, &args),
        Command::Resume(args) => pause::resume(context, &args),
        Command::Snapshot(args) => snapshot::snapshot(context, &args),
        Command::Restore(args) => snapshot::restore(context, &args),
        Command::Serve(args) => serve::serve(context, &args),
        Command::Demo(args) => demo::demo(context, &args),
        Command::DemoAgent(args) => demo::play(&args),
        Command::Mcp(args) => mcp::mcp(context, &args),
        Command::Stats(args) => stats::stats(context, &args),
        Command::Health(args) => health::health(context, &args),
        Command::Metrics(args) => metrics::metrics(context, &args),
        Command::Top(args) => top::top(context, &args),
        Command::Extend(args) => extend::extend(context, &args),
        Command::Ports(args) => ports::ports(context, &args),
        Command::Terminate(args) => terminate::terminate(context, &args),
        Command::KillAgent(args) => killswitch::kill_agent(context, &args),
        Command::Killswitch(args) => killswitch::killswitch(context, &args),
        Command::Approvals(args) => approvals::approvals(context, args),
        Command::Agents(args) => agents::agents(context, args),
        Command::ApproveAgent(args) => agents::approve(context, &args),
        Command::RevokeAgent(args) => agents::revoke(context, &args),
        Command::Budget(args) => budget::budget(context, args),
        Command::Audit(args) => audit::audit(context, args),
        Command::Sessions(args) => sessions::sessions(context, &args),
        Command::Cost(args) => cost::cost(context, &args),
        Command::Report(args) => report::report(context, &args),
        Command::Quality(args) => quality::quality(context, &args),
        Command::Template(args) => template::template(context, args),
        Command::Hook(args) => Ok(crate::hook::run(args.words.into_iter())),
        Command::Events(args) => events::events(context, &args),
        Command::Guardian(args) => guardian::guardian(context, args),
        Command::GuardianStatus => guardian::count(context),
        Command::AddAcl(args) => guardian::give(context, &args),
        Command::Hooks(args) => hooks::hooks(context, &args),
        Command::Doctor(args) => doctor::doctor(context, &args),
        Command::Bench(args) => bench::bench(context, &args),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => man::man(&args),
        Command::Probe { name } => doctor::probe(&name),
    }
}
