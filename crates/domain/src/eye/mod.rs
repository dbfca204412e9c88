//! What agents did, put together from what hooks, telemetry and transcripts told: one record per call, per session, per
//! agent, per request to a model, per kind of error.
//!
//! Owns: the records, what each source is believed about, and sums that can be taken back. Refuses: to decide which
//! event means what; that is `capture`'s. Records are derived: they can be lost and made again from the ledger.

mod agent;
mod call;
mod error_group;
mod provenance;
mod request;
mod session;
mod shelf;
mod spread;

use serde::{Deserialize, Serialize};

pub use agent::{AgentRecord, Repetition};
pub use call::{Call, CallTold};
pub use error_group::{ErrorGroup, ErrorGroupState};
pub use provenance::Provenance;
pub use request::{Basis, ModelRequest};
pub use session::{Session, SessionState};
pub use shelf::{IndexEntry, Series, Shelf};
pub use spread::Spread;

use crate::{Tokens, Usd, word::words};

words! {
    /// Who told something, the least believed first.
    Told, "source" {
        /// Nobody; it was reckoned from what else is known.
        Estimate = "estimate",
        /// The agent's transcript.
        Transcript = "transcript",
        /// The agent's telemetry.
        Telemetry = "telemetry",
        /// The agent, through a hook.
        Hook = "hook",
        /// belljar itself.
        Belljar = "belljar",
    }
}

/// The identity of a record: the place of the first event that told of it, and which of the things in that event it is.
#[must_use]
pub const fn record_id(seq: u64, nth: u64) -> u64 {
    let nth = if nth > 4095 { 4095 } else { nth };
    seq.saturating_mul(4096).saturating_add(nth)
}

/// The place in the ledger an identity begins with.
#[must_use]
pub const fn place_of(id: u64) -> u64 {
    id / 4096
}

/// What was counted of a session or an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Events of any kind.
    pub events: u64,
    /// Prompts by a person.
    pub prompts: u64,
    /// Turns that came to an end.
    pub turns: u64,
    /// Turns that broke off.
    pub turns_failed: u64,
    /// Calls of tools.
    pub calls: u64,
    /// Calls that did what they should.
    pub succeeded: u64,
    /// Calls that failed, or took too long.
    pub failed: u64,
    /// Calls that were not allowed.
    pub denied: u64,
    /// Calls somebody interrupted.
    pub cancelled: u64,
    /// Requests to models that count.
    pub requests: u64,
    /// Requests that failed.
    pub requests_failed: u64,
    /// Times what the agent remembers was shortened.
    pub compactions: u64,
    /// Agents that worked for it.
    pub subagents: u64,
}

impl Counts {
    /// Calls that came to an end of their own.
    #[must_use]
    pub const fn decided(&self) -> u64 {
        self.succeeded.saturating_add(self.failed)
    }

    /// The sum.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            events: self.events.saturating_add(other.events),
            prompts: self.prompts.saturating_add(other.prompts),
            turns: self.turns.saturating_add(other.turns),
            turns_failed: self.turns_failed.saturating_add(other.turns_failed),
            calls: self.calls.saturating_add(other.calls),
            succeeded: self.succeeded.saturating_add(other.succeeded),
            failed: self.failed.saturating_add(other.failed),
            denied: self.denied.saturating_add(other.denied),
            cancelled: self.cancelled.saturating_add(other.cancelled),
            requests: self.requests.saturating_add(other.requests),
            requests_failed: self.requests_failed.saturating_add(other.requests_failed),
            compactions: self.compactions.saturating_add(other.compactions),
            subagents: self.subagents.saturating_add(other.subagents),
        }
    }
}

/// Tokens and money that can be added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Requests that count.
    pub requests: u64,
    /// Their tokens.
    pub tokens: Tokens,
    /// What they cost.
    pub cost: Usd,
    /// How many of them are estimated.
    pub estimated: u64,
    /// How many of them are tokens at list price.
    pub at_list_price: u64,
    /// How many are of models without a price; they cost nothing here.
    pub unpriced: u64,
}

impl Spent {
    /// What the sum rests on: the least certain of its parts.
    #[must_use]
    pub const fn basis(&self) -> Basis {
        if self.estimated > 0 {
            Basis::Estimated
        } else if self.at_list_price > 0 {
            Basis::ListPrice
        } else {
            Basis::Reported
        }
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            tokens: self.tokens.plus(other.tokens),
            cost: self.cost.plus(other.cost),
            estimated: self.estimated.saturating_add(other.estimated),
            at_list_price: self.at_list_price.saturating_add(other.at_list_price),
            unpriced: self.unpriced.saturating_add(other.unpriced),
        }
    }

    /// The difference; nothing falls below zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(other.requests),
            tokens: self.tokens.minus(other.tokens),
            cost: self.cost.minus(other.cost),
            estimated: self.estimated.saturating_sub(other.estimated),
            at_list_price: self.at_list_price.saturating_sub(other.at_list_price),
            unpriced: self.unpriced.saturating_sub(other.unpriced),
        }
    }
}
