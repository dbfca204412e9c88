//! What agents did, as it is asked for.

use std::{path::PathBuf, str::FromStr, time::SystemTime};

use belljar_domain::{Span, Timestamp};
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// List sessions, newest first.
    #[command(visible_alias = "ls")]
    List(ListSessions),
    /// Show one: its agents as a tree, each with its calls, and what it came to.
    Show {
        /// The session, as `belljar sessions list` shows it.
        #[arg(value_name = "SESSION")]
        id: String,
    },
    /// Write one down, for people or for programs.
    Export(SessionExport),
}

#[derive(Debug, Args)]
pub(crate) struct ListSessions {
    /// Only those of agents of this program: `claude-code`, `codex` …
    #[arg(long, value_name = "NAME")]
    pub(crate) app: Option<String>,
    /// Only those in one of these states.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) state: Vec<State>,
    /// Only those that began then or later: how long ago (`7d`, `12h`), a day, or a moment.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Since>,
    /// This many at most.
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
}

#[derive(Debug, Args)]
pub(crate) struct SessionExport {
    /// The session, as `belljar sessions list` shows it.
    #[arg(value_name = "SESSION")]
    pub(crate) id: String,
    /// How it is written.
    #[arg(long, value_enum, default_value_t = SessionFormat::Json)]
    pub(crate) format: SessionFormat,
    /// Where to; standard output if absent.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// How a session is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SessionFormat {
    /// Its messages, tokens, agents and tools, for programs.
    Json,
    /// To be read, and to be put into a pull request.
    Markdown,
    /// One page without scripts, to be read in a browser.
    Html,
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum State {
    Working,
    Waiting,
    Idle,
    Done,
    Failed,
}

#[derive(Debug, Args)]
pub(crate) struct Cost {
    /// What to put together by.
    #[arg(long, value_enum, default_value_t = By::Day)]
    pub(crate) by: By,
    /// From that day on: how long ago (`7d`, `12h`), a day, or a moment.
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub(crate) since: Since,
}

/// What money is put together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    Day,
    Project,
    Session,
    Agent,
    Model,
    Tool,
    Run,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// From that day on: how long ago (`7d`, `12h`), a day, or a moment.
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub(crate) since: Since,
}

/// A value as it is typed, which is also how the server calls it.
pub(crate) fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// A moment as people say it: how long ago, the beginning of a day, or exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Since(pub(crate) Timestamp);

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(span) = text.parse::<Span>() {
            return Ok(Self(Timestamp::from(SystemTime::now()).minus(span.as_duration())));
        }
        let moment = text.parse().or_else(|_no_moment| format!("{text}T00:00:00Z").parse());
        moment.map(Self).map_err(|_no_day| {
            format!("`{text}` is no time; write how long ago (7d, 12h), a day (2026-01-31) or a moment (2026-01-31T12:00:00Z)")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_people_say_it() {
        let read = |text: &str| text.parse::<Since>().map(|since| since.0.to_string());
        assert_eq!(read("2026-01-31").unwrap(), "2026-01-31T00:00:00.000000Z");
        assert_eq!(read("2026-01-31T12:00:00Z").unwrap(), "2026-01-31T12:00:00.000000Z");
        assert!(read("7d").unwrap() < Timestamp::from(SystemTime::now()).to_string());
        assert!(read("yesterday").unwrap_err().contains("write how long ago"));
    }
}
