//! Budgets, as they are named and set.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum Budget {
    /// Show how far budgets are used.
    Status {
        /// Those of this agent, its role's included.
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// Those of this session.
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
    },
    /// Set a budget: SCOPE:SUBJECT:PERIOD, such as agent:coder:day, role:tester:session, session:*:total, global:*:day.
    Set(SetBudget),
    /// Begin a budget anew, and let go on what it had paused.
    Reset {
        /// The budget.
        #[arg(value_name = "BUDGET")]
        id: String,
    },
    /// Remove a budget that was set.
    Remove {
        /// The budget.
        #[arg(value_name = "BUDGET")]
        id: String,
    },
    /// Show what was spent and refused, newest first.
    History {
        /// Of this agent.
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// Of this session.
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// Only what was refused.
        #[arg(long)]
        blocked: bool,
        /// This many at most.
        #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SetBudget {
    /// Scope agent, role, session, run, project or global; a subject, or * for each; period operation, session, day, total.
    #[arg(value_name = "BUDGET")]
    pub(crate) id: String,
    /// The most money, in dollars: 25, 0.50.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub(crate) cost: Option<Micros>,
    /// The most tokens: 200000, 200k, 1.5M.
    #[arg(long, value_name = "COUNT", value_parser = tokens)]
    pub(crate) tokens: Option<u64>,
    /// From which percentage on it is told [default: 80].
    #[arg(long, value_name = "PERCENT")]
    pub(crate) notify: Option<u8>,
    /// From which percentage on sandboxes are frozen and calls wait for a person [default: 100].
    #[arg(long, value_name = "PERCENT")]
    pub(crate) pause: Option<u8>,
    /// From which percentage on sandboxes are ended [default: never].
    #[arg(long, value_name = "PERCENT")]
    pub(crate) terminate: Option<u8>,
}

/// Millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Micros(pub(crate) u64);

fn dollars(text: &str) -> Result<Micros, String> {
    belljar_guardian::budget::dollars(text)
        .map(Micros)
        .ok_or_else(|| format!("`{text}` is no amount of dollars; write 25 or 0.50"))
}

fn tokens(text: &str) -> Result<u64, String> {
    belljar_guardian::budget::tokens(text)
        .ok_or_else(|| format!("`{text}` is no number of tokens; write 200000, 200k or 1.5M"))
}
