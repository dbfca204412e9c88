//! Files: what goes in, what a sandbox changed, and what becomes of it.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Cp {
    /// From: a path, or SANDBOX:PATH.
    pub(crate) from: String,
    /// To: a path, or SANDBOX:PATH.
    pub(crate) to: String,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The sandbox: its id, the end of its id, or nothing for the last run.
    #[arg(default_value = "last", value_name = "SANDBOX")]
    pub(crate) id: String,
    /// Only how much changed in which file.
    #[arg(long)]
    pub(crate) stat: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// The sandbox: its id, the end of its id, or nothing for the last run.
    #[arg(default_value = "last", value_name = "SANDBOX")]
    pub(crate) id: String,
    /// Merge with what changed on the host since, by git.
    #[arg(long = "3way")]
    pub(crate) three_way: bool,
    /// Bring changes of git's hooks and configuration too; they can run code on this host.
    #[arg(long)]
    pub(crate) allow_git_internals: bool,
    /// Keep the sandbox's record afterwards.
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Discard {
    /// The sandbox: its id, the end of its id, or nothing for the last run.
    #[arg(default_value = "last", value_name = "SANDBOX", conflicts_with = "all")]
    pub(crate) id: String,
    /// Every sandbox that is over.
    #[arg(long)]
    pub(crate) all: bool,
}
