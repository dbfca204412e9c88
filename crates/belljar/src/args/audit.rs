//! The ledger, as an auditor asks for it.

use std::path::PathBuf;

use belljar_domain::{Digest, SandboxId, Timestamp};
use belljar_ports::store::{EventFilter, ExportFormat, Head};
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Compute the whole ledger again; exits with 1 if anything was changed, dropped or reordered.
    Verify(Verify),
    /// Write events to a file or to standard output, oldest first.
    Export(Export),
    /// Count what there is.
    Stats,
    /// Show the newest events.
    List(Recent),
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// A head noted earlier, as `verify` prints it: the ledger must still contain it.
    #[arg(long, value_name = "SEQ:HASH", value_parser = head)]
    pub(crate) head: Option<Head>,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// How it is written.
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub(crate) format: Format,
    /// Where to; standard output if absent.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) which: Which,
}

#[derive(Debug, Args)]
pub(crate) struct Recent {
    /// This much at most.
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) which: Which,
}

/// Which events.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// That happened then or later, such as 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// That happened before.
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
    /// Of this kind, or of kinds that begin with this word: `execution.ended`, `sandbox`.
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kind: Vec<String>,
    /// In this sandbox.
    #[arg(long, value_name = "SANDBOX")]
    sandbox: Option<SandboxId>,
    /// By this agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

impl Which {
    pub(crate) fn filter(&self) -> EventFilter {
        EventFilter {
            kinds: self.kind.clone(),
            sandbox: self.sandbox,
            agent: self.agent.clone(),
            from: self.since,
            until: self.until,
            ..EventFilter::default()
        }
    }
}

/// How an export is written.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object a line.
    Jsonl,
    /// For spreadsheets, with a header line.
    Csv,
}

impl From<Format> for ExportFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Jsonl => Self::JsonLines,
            Format::Csv => Self::Csv,
        }
    }
}

fn head(text: &str) -> Result<Head, String> {
    let wrong = || format!("`{text}` is no head; write SEQ:HASH, as `belljar audit verify` prints it");
    let (seq, hash) = text.split_once(':').ok_or_else(wrong)?;
    let hash: Digest = hash.parse().map_err(|_unreadable| wrong())?;
    Ok(Head { seq: seq.parse().map_err(|_unreadable| wrong())?, hash })
}
