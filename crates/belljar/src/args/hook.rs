//! Agents and their hooks, as typed.

use std::ffi::OsString;

use clap::{Args, Subcommand};

/// Read leniently by the hook itself; described here for those who look it up.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
pub(crate) struct Hook {
    /// `--agent NAME` (else told from the payload), `--event NAME`, `--notify JSON` in the place of standard input,
    /// `--wait SECONDS` for an answer, `--no-spool`, `--verbose`.
    #[arg(value_name = "FLAG", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

/// Agents' settings, and what their hooks said.
#[derive(Debug, Subcommand)]
pub(crate) enum Hooks {
    /// Hand what was said while no server was there to the server, oldest first.
    Replay,
}
