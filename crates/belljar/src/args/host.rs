//! The host: serving, templates, and belljar itself.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Leave sandboxes running when the client goes; with a server up they always are.
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen; port 0 takes a free one. Only this machine's loopback is allowed [default: 127.0.0.1:7420].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// How many sandboxes to keep ready, so that making one takes no time [default: 2].
    #[arg(long, value_name = "COUNT")]
    pub(crate) pool: Option<usize>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Template {
    /// Import a directory, tar, OCI layout or `docker save` archive under a name.
    Import {
        /// The name.
        name: String,
        /// Where it is.
        source: PathBuf,
    },
    /// List imported templates.
    List,
    /// Remove a name.
    Remove {
        /// The name.
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// For which shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print only the commands that give this user control groups.
    #[arg(long, conflicts_with = "apparmor_profile")]
    pub(crate) delegate_commands: bool,
    /// Print only belljar's AppArmor profile, for this program's place.
    #[arg(long)]
    pub(crate) apparmor_profile: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Where to; without it the main page is printed.
    pub(crate) dir: Option<PathBuf>,
}
