//! What agents did, as one wants to see it: as it happens, by what it was, or all of it for another program.

use std::{path::PathBuf, str::FromStr, time::SystemTime};

use belljar_domain::{Span, Timestamp};
use clap::{Args, Subcommand, ValueEnum};

/// What agents did.
#[derive(Debug, Subcommand)]
pub(crate) enum Events {
    /// Watch what agents do, one line a call.
    Tail(TailEvents),
    /// Find events, newest first.
    Query(QueryEvents),
    /// Write events for another program, oldest first; what it ends with is where the next export begins.
    Export(ExportEvents),
    /// Tell the server what a server of the hook-observability project kept; what was imported before is there once.
    Import(ImportEvents),
}

/// Which events.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Selection {
    /// By this agent.
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// In this conversation.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// In this sandbox: its id.
    #[arg(long, value_name = "ID")]
    pub(crate) sandbox: Option<String>,
    /// Of this command in a sandbox.
    #[arg(long, value_name = "ID")]
    pub(crate) execution: Option<String>,
    /// Of this run of several attempts.
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Told by this program: `claude-code`, `codex`, …
    #[arg(long, value_name = "NAME")]
    pub(crate) app: Option<String>,
    /// Of this prompt.
    #[arg(long, value_name = "ID")]
    pub(crate) prompt: Option<String>,
    /// Of this call, by the agent's name for it.
    #[arg(long, value_name = "ID")]
    pub(crate) call: Option<String>,
    /// That have all these words in them.
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,
    /// Of this kind, or of kinds that begin with this word: `tool.failed`, `session`.
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub(crate) kind: Vec<String>,
    /// With this tool.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) tool: Vec<String>,
    /// That ended so: success, failure, timeout, denied or cancelled.
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<String>,
    /// That were judged so: allow, ask or deny.
    #[arg(long, value_name = "VERDICT")]
    pub(crate) decision: Option<String>,
    /// Since then: a time such as 2026-01-31T12:00:00Z, or how long ago, such as 15m.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Moment>,
    /// After this place in the ledger.
    #[arg(long, value_name = "PLACE")]
    pub(crate) after: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct TailEvents {
    #[command(flatten)]
    pub(crate) which: Selection,
    /// Begin with this many events that are over.
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub(crate) lines: u16,
    /// Show everything that happens, not what agents do alone.
    #[arg(long)]
    pub(crate) all: bool,
    /// End with what happened already.
    #[arg(long)]
    pub(crate) no_follow: bool,
}

#[derive(Debug, Args)]
pub(crate) struct QueryEvents {
    #[command(flatten)]
    pub(crate) which: Selection,
    /// Before then.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<Moment>,
    /// This many at most.
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
}

#[derive(Debug, Args)]
pub(crate) struct ExportEvents {
    #[command(flatten)]
    pub(crate) which: Selection,
    /// Before then.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<Moment>,
    /// How it is written.
    #[arg(long, value_enum, default_value_t = EventFormat::Jsonl)]
    pub(crate) format: EventFormat,
    /// Where to; standard output if absent.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportEvents {
    /// Its database, `events.db`.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// How events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    /// An object a line.
    Jsonl,
    /// A table with a heading.
    Csv,
    /// Spans by the `GenAI` conventions: requests in OTLP's JSON, one a line.
    Otlp,
}

/// A time, said either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment(pub(crate) Timestamp);

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(span) = text.parse::<Span>() {
            return Ok(Self(Timestamp::from(SystemTime::now()).minus(span.as_duration())));
        }
        let wrong = || {
            format!("`{text}` is neither a time such as 2026-01-31T12:00:00Z nor how long ago, such as 15m")
        };
        text.parse().map(Self).map_err(|_wrong| wrong())
    }
}
