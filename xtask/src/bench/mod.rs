//! `cargo xtask bench`: belljar beside bubblewrap and Docker, measured in one run on this machine.
//!
//! Contestants take turns in random order, so that a busy moment of the machine falls on all of them. One file per
//! question; [`page`] writes the answers to `docs/benchmarks.md`.

mod contestant;
mod crowd;
mod dashboard;
mod docker;
mod growth;
mod hooks;
mod host;
mod idle;
mod ingest;
mod judgement;
mod ledger;
mod page;
mod records;
mod rounds;
mod runs;
mod service;
mod site;
mod target;
mod times;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use self::{docker::Docker, page::Findings, service::Servers, site::Site};
use crate::shell::{self, Workspace};

/// How long to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A few rounds and few sandboxes, to see that everything works; the numbers are not kept.
    #[arg(long)]
    quick: bool,
    /// Only what is asked of a server, beside a plain spawn and bubblewrap; the numbers are not kept.
    #[arg(long)]
    service: bool,
    /// Only what agents tell and people watch: hooks beside a plain spawn, events, readers; the numbers are not kept.
    #[arg(long)]
    eye: bool,
    /// Only the page, in a browser, with a server of its own; the numbers are not kept.
    #[arg(long)]
    dashboard: bool,
    /// Only best of N and the analysis of a large repository; the numbers are not kept.
    #[arg(long)]
    runs: bool,
    /// Measures this program instead of building one; the numbers are not kept.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Extent {
    rounds: usize,
    creations: u32,
    live: &'static [u32],
    forks: u32,
    idle: usize,
    events: usize,
}

const FULL: Extent = Extent {
    rounds: 100,
    creations: 40,
    live: &[10, 100, 500, 1000],
    forks: 100,
    idle: 50,
    events: 1_000_000,
};
const QUICK: Extent = Extent { rounds: 8, creations: 8, live: &[10, 50], forks: 20, idle: 5, events: 20_000 };

/// Builds the product, measures, prints, and rewrites the page.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let extent = if options.quick { QUICK } else { FULL };
    let built = workspace.target().join("release/belljar");
    if options.program.is_none() {
        shell::run(&mut workspace.cargo(&["build", "--release", "--package", "belljar"]))?;
    }
    if options.dashboard {
        return dashboard::measure(workspace, options.program.as_deref().unwrap_or(&built));
    }
    let host = host::describe(workspace)?;
    let site = Site::prepare(options.program.as_deref().unwrap_or(&built))?;
    if options.service {
        return service_alone(&site, extent.rounds);
    }
    if options.eye {
        return eye_alone(&site, extent.rounds);
    }
    if options.runs {
        println!("\n{}", page::runs(&runs::measure(&site)?));
        return Ok(());
    }
    // Declared after the site, so that it stops before its directory goes.
    let docker = Docker::start(&site);
    let docker = docker.inspect_err(|error| shout(&format!("Docker is not measured: {error:#}"))).ok();

    let live = site.keep_one()?;
    let servers = Servers::start(&site).context("start belljar's servers")?;
    let mut contestants = contestant::all(&site, docker.as_ref(), &live);
    contestants.extend(servers.contestants()?);
    contestants.extend(hooks::contestants(&site, &servers.plain)?);
    let races = rounds::race(contestants, extent.rounds)?;
    for race in races.iter().filter(|race| race.times.failures() > 0) {
        shout(&format!("{} failed {} times", race.name, race.times.failures()));
    }
    site.clear()?;
    let ingest = ingest::measure(&servers.plain).context("measure ingest")?;
    let crowd = crowd::measure(&servers.plain).context("measure readers")?;
    drop((docker, servers));
    let ledger = ledger::measure(workspace).context("measure the ledger")?;
    let judgement = judgement::measure(workspace).context("measure judgements")?;
    let idle = idle::measure(&site, extent.idle).context("measure idle sandboxes")?;
    let growth = growth::creation(&site, extent.live, extent.creations).context("measure creation")?;
    let forks = growth::forks(&site, extent.forks).context("measure forks")?;
    let runs = runs::measure(&site).context("measure runs")?;

    let records = records::measure(workspace, extent.events).context("measure records")?;

    let findings = Findings {
        host: host.finish(),
        rounds: extent.rounds,
        races,
        idle,
        growth,
        forks,
        runs,
        ledger,
        judgement,
        ingest,
        crowd,
        records,
    };
    let text = page::render(&findings);
    println!("\n{text}");
    if options.quick || options.program.is_some() {
        println!("this run is not one to keep; docs/benchmarks.md stays as it is");
        return Ok(());
    }
    page::store(&workspace.root.join("docs/benchmarks.md"), &text)
}

/// A life, a command and events over HTTP: what to look at while working on just these.
fn service_alone(site: &Site, rounds: usize) -> anyhow::Result<()> {
    let servers = Servers::start(site).context("start belljar's servers")?;
    let mut contestants = contestant::yardsticks(site);
    contestants.extend(servers.contestants()?);
    let races = rounds::race(contestants, rounds)?;
    println!("\n{}", page::races(&races, rounds));
    ingest::measure(&servers.plain).context("measure ingest")?;
    Ok(())
}

/// What an agent waits for at every call, and what those who watch wait for.
fn eye_alone(site: &Site, rounds: usize) -> anyhow::Result<()> {
    let server = service::Server::start(site, "plain", "0").context("start belljar's server")?;
    let mut contestants = contestant::yardsticks(site);
    contestants.extend(hooks::contestants(site, &server)?);
    let races = rounds::race(contestants, rounds)?;
    println!("\n{}", page::races(&races, rounds));
    println!("{}", page::crowd(&crowd::measure(&server).context("measure readers")?));
    Ok(())
}

/// What must not be overlooked between lines of progress.
fn shout(text: &str) {
    eprintln!("\n*** {text}\n");
}
