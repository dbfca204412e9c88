//! What `belljar quality` is asked: which code, or which change, and what has to pass.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0; 1 if --gate or --fail-under is given and the code does not pass; 125 if belljar could not look."
)]
pub(crate) struct Quality {
    /// A directory or file to judge; with --diff, a directory of the repository.
    #[arg(default_value = ".", value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// Judge what changed between two commits; without HEAD, between BASE and the files as they are now.
    #[arg(long, value_name = "BASE..HEAD")]
    pub(crate) diff: Option<String>,
    /// Print SARIF 2.1.0, for code scanning.
    #[arg(long, conflicts_with = "json")]
    pub(crate) sarif: bool,
    /// Exit with 1 if a file scores below its threshold (70; auth and security 90, payment 95, database 80, api 75),
    /// or, with --diff, if the change brings a finding that is sure and of 5 points or more.
    #[arg(long)]
    pub(crate) gate: bool,
    /// Exit with 1 if any file scores less than this or, with --diff, if the change does.
    #[arg(long, value_name = "SCORE", value_parser = score)]
    pub(crate) fail_under: Option<f64>,
    /// Show every finding, hints as well, and every file.
    #[arg(long)]
    pub(crate) all: bool,
}

fn score(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|error| format!("`{text}` is not a number: {error}"))?;
    if (0.0..=100.0).contains(&number) { Ok(number) } else { Err("a score is between 0 and 100".to_owned()) }
}
