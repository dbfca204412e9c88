//! The lives of sandboxes: frozen, kept, given more time, ended.

use belljar_domain::{SnapshotId, Span};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Target {
    /// The sandbox: its id, the end of its id, or nothing for the last one.
    #[arg(default_value = "last", value_name = "SANDBOX")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct Snapshot {
    /// The sandbox: its id, the end of its id, or nothing for the last one.
    #[arg(default_value = "last", value_name = "SANDBOX")]
    pub(crate) id: String,
    /// A name for people.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// List snapshots instead.
    #[arg(long, conflicts_with_all = ["name", "remove"])]
    pub(crate) list: bool,
    /// Remove a snapshot instead.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) remove: Option<SnapshotId>,
}

#[derive(Debug, Args)]
pub(crate) struct Extend {
    /// The sandbox: its id or the end of its id.
    #[arg(value_name = "SANDBOX")]
    pub(crate) id: String,
    /// How long it may live from now, such as 30m.
    #[arg(value_name = "TIME")]
    pub(crate) ttl: Span,
}

#[derive(Debug, Args)]
pub(crate) struct Terminate {
    /// The sandbox: its id or the end of its id.
    #[arg(value_name = "SANDBOX", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) id: Option<String>,
    /// Every running sandbox.
    #[arg(long)]
    pub(crate) all: bool,
    /// Do not ask.
    #[arg(short, long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KillAgent {
    /// The agent's name; of one outside of sandboxes also the id of its session.
    pub(crate) agent: String,
    /// Why; whoever is refused reads it.
    #[arg(long, value_name = "TEXT", conflicts_with = "release")]
    pub(crate) reason: Option<String>,
    /// Let the agent act again.
    #[arg(long)]
    pub(crate) release: bool,
    /// Do not ask.
    #[arg(short, long)]
    pub(crate) force: bool,
}
