//! `belljar bench`: what sandboxes cost on this machine. One file per question.

mod best_of;
mod create;
mod exec;
mod fork;
mod ground;
mod report;
mod run;
mod series;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use self::ground::Ground;
use crate::context::Context;

/// What is to be measured.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Measure `belljar run -- true` as a whole, each a process of its own.
    Run(Count),
    /// Measure `true` in one running sandbox: from this process, and as `belljar exec`.
    Exec(Count),
    /// Measure making a sandbox and removing it while others are running.
    Create(Create),
    /// Measure sandboxes started from one snapshot, all running at the same time.
    Fork(Count),
    /// Measure runs as `belljar fork` makes them: how soon all attempts run, and whether several take longer than one.
    BestOf(Count),
}

/// How often.
#[derive(Debug, Args)]
pub(crate) struct Count {
    /// How often, or how many [default: 100].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
}

impl Count {
    fn get(&self) -> u32 {
        self.count.unwrap_or(100)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    #[command(flatten)]
    count: Count,
    /// How many others are running meanwhile; several, ascending, as in 10,100.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "0")]
    live: Vec<u32>,
}

/// Measures, prints, and leaves nothing behind, also when interrupted.
pub(crate) fn bench(context: &Context, bench: &Bench) -> Result<ExitCode> {
    let ground = Ground::prepare(context)?;
    let report = match bench {
        Bench::Run(args) => run::measure(&ground, args.get())?,
        Bench::Exec(args) => exec::measure(&ground, args.get())?,
        Bench::Create(args) => create::measure(&ground, args.count.get(), &args.live)?,
        Bench::Fork(args) => fork::measure(&ground, args.get())?,
        Bench::BestOf(args) => best_of::measure(context, &ground, args.count.unwrap_or(9))?,
    };
    report.print(context.json)?;
    Ok(ground.verdict(&report))
}
