//! The chores of this repository, run as `cargo xtask <chore>`.
//!
//! One file per chore. Refuses: anything the product needs at run time; no crate depends on this one.
#![forbid(unsafe_code)]

mod bench;
mod check;
mod needs;
mod prepare;
mod shell;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::shell::Workspace;

/// The chores of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Prepare this machine, check the code, run every test.
    Test(test::Options),
    /// Format, lints, repository rules, documentation, licences.
    Check,
    /// The repository's own rules alone.
    Tidy,
    /// Measure belljar beside bubblewrap and Docker.
    Bench(bench::Options),
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> anyhow::Result<()> {
    let workspace = Workspace::locate()?;
    match &cli.chore {
        Chore::Test(options) => test::run(&workspace, options),
        Chore::Check => check::run(&workspace),
        Chore::Tidy => tidy::run(&workspace),
        Chore::Bench(options) => bench::run(&workspace, options),
    }
}
