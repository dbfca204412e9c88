//! The host: serving, templates, and belljar itself.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

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
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// How many sandboxes to keep ready, so that making one takes no time [default: 2].
    #[arg(long, value_name = "COUNT")]
    pub(crate) pool: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where to listen [default: 127.0.0.1:7420, or any free port if that is taken].
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// How many times faster than people agents think.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = speed)]
    pub(crate) speed: f64,
    /// Play once and end, instead of beginning anew.
    #[arg(long)]
    pub(crate) once: bool,
    /// Let these agents alone play.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

/// One agent of the demonstration; `demo` starts it.
#[derive(Debug, Args)]
pub(crate) struct DemoAgent {
    /// Which.
    pub(crate) name: String,
    /// How many times faster than people it thinks.
    #[arg(long, default_value = "1", value_parser = speed)]
    pub(crate) speed: f64,
}

/// An address as people write it: with a name for loopback, or a port alone.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    match (text.parse(), port.parse::<u16>()) {
        (Ok(address), _) => Ok(address),
        (Err(_), Ok(port)) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        (Err(_), Err(_)) => {
            Err("write an address with a port, such as 127.0.0.1:7420, or a port alone".to_owned())
        }
    }
}

fn speed(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_wrong| format!("`{text}` is no number"))?;
    let is_sane = (0.1..=1000.0).contains(&number);
    is_sane.then_some(number).ok_or_else(|| "a speed is between 0.1 and 1000".to_owned())
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
    /// List what there is to start from.
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
