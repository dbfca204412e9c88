//! Looking at sandboxes: which there are, what they use, say and did.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Ended ones too.
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Only those of an agent.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Only those with this tag.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) label: Vec<String>,
    /// More columns.
    #[arg(short, long)]
    pub(crate) detailed: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// The sandbox whose output to show: its id, the end of its id, or nothing for the last one.
    #[arg(value_name = "SANDBOX", conflicts_with_all = ["agent", "sandbox", "operation", "limit"])]
    pub(crate) id: Option<String>,
    /// Show what was done instead, by this agent.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Show what was done instead, in this sandbox.
    #[arg(long, value_name = "SANDBOX")]
    pub(crate) sandbox: Option<String>,
    /// Show what was done instead, of this type: `sandbox_create`, `command_execute` …, or a kind of event.
    #[arg(long, value_name = "TYPE")]
    pub(crate) operation: Option<String>,
    /// Show what was done instead, this much of it at most [default: 50].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: Option<u16>,
    /// Go on printing: output until the sandbox ends, what is done until interrupted.
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Look for words in what commands printed; a trailing `*` stands for any ending.
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["agent", "operation", "follow"])]
    pub(crate) search: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// The sandbox: its id or the end of its id; all running ones if absent.
    #[arg(value_name = "SANDBOX")]
    pub(crate) id: Option<String>,
    /// All running ones, which is what naming none means.
    #[arg(long, conflicts_with = "id")]
    pub(crate) all: bool,
    /// Samples of the past instead of now.
    #[arg(long, requires = "id")]
    pub(crate) history: bool,
    /// Print again every second until all have ended.
    #[arg(short, long)]
    pub(crate) follow: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Health {
    /// The sandbox: its id or the end of its id; all running and paused ones if absent.
    #[arg(value_name = "SANDBOX")]
    pub(crate) id: Option<String>,
    /// All of them, which is what naming none means.
    #[arg(long, conflicts_with = "id")]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Metrics {
    /// Only those of an agent.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Top {
    /// Print one frame as text and end.
    #[arg(long)]
    pub(crate) once: bool,
    /// Only those of an agent.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// How often to look.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) interval: belljar_domain::Span,
}
