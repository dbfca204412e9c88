//! What a person decides, as typed.

use clap::{Args, Subcommand};
use serde_json::Value;

#[derive(Debug, Subcommand)]
pub(crate) enum Approvals {
    /// List calls that wait for a person.
    #[command(visible_alias = "ls")]
    List(ListApprovals),
    /// Show everything about one.
    Show {
        /// The approval: its id, or the end of it; nothing for the only one that waits.
        #[arg(value_name = "APPROVAL")]
        id: Option<String>,
    },
    /// Say yes: to this call, or with a flag to more.
    Allow(Allow),
    /// Say no; the agent reads the reason.
    Deny(Deny),
    /// Print a link that shows the call to whoever has it, and takes their answer once.
    Link {
        /// The approval: its id, or the end of it; nothing for the only one that waits.
        #[arg(value_name = "APPROVAL")]
        id: Option<String>,
    },
    /// Show calls as they come, and answer each with a key.
    Watch(WatchApprovals),
}

#[derive(Debug, Args)]
pub(crate) struct ListApprovals {
    /// Those that are over as well.
    #[arg(short, long)]
    pub(crate) all: bool,
    /// In this session.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// By this agent.
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// At most this many.
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
}

#[derive(Debug, Args)]
pub(crate) struct Allow {
    /// The approval: its id, or the end of it; nothing for the only one that waits.
    #[arg(value_name = "APPROVAL")]
    pub(crate) id: Option<String>,
    /// Calls like this one too, for the rest of the session.
    #[arg(long, conflicts_with = "always")]
    pub(crate) session: bool,
    /// Calls like this one from now on: writes the narrowest rule into guardian.toml.
    #[arg(long)]
    pub(crate) always: bool,
    /// Give the tool this instead, whole, as JSON; it is judged again.
    #[arg(long, value_name = "JSON", value_parser = object)]
    pub(crate) edit: Option<Value>,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Deny {
    /// The approval: its id, or the end of it; nothing for the only one that waits.
    #[arg(value_name = "APPROVAL")]
    pub(crate) id: Option<String>,
    /// Why; the agent reads it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WatchApprovals {
    /// Only this session's.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Killswitch {
    /// Why; whoever is refused reads it.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["release", "status"])]
    pub(crate) reason: Option<String>,
    /// Let everybody act again who was not killed by name.
    #[arg(long, conflicts_with = "status")]
    pub(crate) release: bool,
    /// Show who is killed, and kill nobody.
    #[arg(long)]
    pub(crate) status: bool,
    /// Do not ask.
    #[arg(short, long)]
    pub(crate) force: bool,
}

fn object(text: &str) -> Result<Value, String> {
    let read: Value = serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))?;
    if read.is_object() {
        Ok(read)
    } else {
        Err("an input is a JSON object, such as {\"command\": \"ls\"}".to_owned())
    }
}
