//! Agents and their hooks, as typed.

use std::{ffi::OsString, path::PathBuf};

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
    /// Put belljar's hooks into agents' settings, beside what is there; those of the agents found here if none is named.
    Install(Settings),
    /// Take belljar's hooks out of agents' settings, and nothing else.
    Uninstall(Settings),
    /// Show where hooks are installed, whether a server listens, and what waits for one.
    Status(Target),
    /// List the events an agent is given hooks for: what each is for, and whether it may hold the agent up.
    List(Trial),
    /// Fire every event of an agent through `belljar hook` and show its reply and its time.
    Test(Trial),
    /// Hand what was said while no server was there to the server, oldest first.
    Replay,
    /// Keys with which senders sign what they tell, so that whose it is can be verified.
    #[command(subcommand)]
    Keys(SenderKeys),
}

/// Keys of senders.
#[derive(Debug, Subcommand)]
pub(crate) enum SenderKeys {
    /// Make a key for a sender and print it, once.
    Add {
        /// Letters, digits, `-` and `_`.
        name: String,
    },
    /// List the senders that have one.
    List,
    /// Take a sender's key away; what it signs is refused from then on.
    Remove {
        /// The sender.
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Settings {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Show what would change, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Whose settings.
#[derive(Debug, Default, Args)]
pub(crate) struct Target {
    /// Of claude-code, codex, gemini, cursor or opencode.
    #[arg(long, value_name = "AGENT", value_delimiter = ',')]
    pub(crate) agent: Vec<String>,
    /// This user's, for all projects; the default.
    #[arg(long, group = "scope")]
    pub(crate) user: bool,
    /// This directory's, shared with whoever works on it.
    #[arg(long, group = "scope")]
    pub(crate) project: bool,
    /// This directory's, for this user alone.
    #[arg(long, group = "scope")]
    pub(crate) local: bool,
    /// The machine's, which users cannot change; there an agent stops if belljar cannot be run.
    #[arg(long, group = "scope")]
    pub(crate) managed: bool,
    /// What stands before `/etc`, such as the root of an image, for `--managed`.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Trial {
    /// Of claude-code, codex, gemini, cursor or opencode [default: claude-code].
    #[arg(long, value_name = "AGENT", value_delimiter = ',')]
    pub(crate) agent: Vec<String>,
}
