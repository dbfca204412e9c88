//! `belljar completions`: for the user's shell.

use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;

use crate::args::{Cli, Completions};

pub(crate) fn completions(args: &Completions) -> Result<ExitCode> {
    clap_complete::generate(args.shell, &mut Cli::command(), "belljar", &mut std::io::stdout());
    Ok(ExitCode::SUCCESS)
}
