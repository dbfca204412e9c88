//! One request to a model: what is paid for.

use serde::{Deserialize, Serialize};

use super::{Spent, Told};
use crate::{ProjectId, RunId, SandboxId, Timestamp, Tokens, Usd, word::words};

words! {
    /// What a cost rests on, worst first.
    Basis, "basis" {
        /// Some of it is an estimate, or priced like a relative.
        Estimated = "estimated",
        /// Tokens as recorded, at list price.
        ListPrice = "list_price",
        /// Dollars as the agent reported.
        Reported = "reported",
    }
}

/// One request to a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// Its identity among records; see [`super::record_id`].
    pub id: u64,
    /// Whose it is.
    pub project: ProjectId,
    /// The conversation.
    pub session: String,
    /// The subagent; empty for the session's own agent.
    #[serde(default)]
    pub agent: String,
    /// The prompt that led to it.
    #[serde(default)]
    pub prompt: Option<String>,
    /// The provider's name for the request.
    #[serde(default)]
    pub request_id: Option<String>,
    /// The provider's name for the answer.
    #[serde(default)]
    pub message_id: Option<String>,
    /// The model.
    #[serde(default)]
    pub model: String,
    /// What it used.
    pub tokens: Tokens,
    /// What it cost, if that was told.
    #[serde(default)]
    pub reported: Option<Usd>,
    /// What it cost.
    pub cost: Usd,
    /// What that rests on.
    pub basis: Basis,
    /// There is no price for the model.
    #[serde(default)]
    pub unpriced: bool,
    /// Who told of it; nobody yet, if only a call named it.
    #[serde(default)]
    pub told: Option<Told>,
    /// Whether it counts beside what else was told of its session.
    pub counted: bool,
    /// When it was answered.
    pub time: Timestamp,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: Option<u64>,
    /// Who asked: the main loop, a subagent, a helper.
    #[serde(default)]
    pub query_source: Option<String>,
    /// The sandbox it was made in.
    #[serde(default)]
    pub sandbox: Option<SandboxId>,
    /// The run it belongs to.
    #[serde(default)]
    pub run: Option<RunId>,
    /// The calls it asked for.
    #[serde(default)]
    pub calls: Vec<u64>,
}

impl ModelRequest {
    /// A request nothing is known of but whose it is.
    #[must_use]
    pub fn new(id: u64, project: ProjectId, session: &str, agent: &str, time: Timestamp) -> Self {
        Self {
            id,
            project,
            session: session.to_owned(),
            agent: agent.to_owned(),
            prompt: None,
            request_id: None,
            message_id: None,
            model: String::new(),
            tokens: Tokens::default(),
            reported: None,
            cost: Usd::default(),
            basis: Basis::Reported,
            unpriced: false,
            told: None,
            counted: false,
            time,
            duration_ms: None,
            query_source: None,
            sandbox: None,
            run: None,
            calls: Vec::new(),
        }
    }

    /// What it adds to sums; nothing if it does not count.
    #[must_use]
    pub fn spent(&self) -> Spent {
        if !self.counted {
            return Spent::default();
        }
        Spent {
            requests: 1,
            tokens: self.tokens,
            cost: self.cost,
            estimated: u64::from(self.basis == Basis::Estimated),
            at_list_price: u64::from(self.basis == Basis::ListPrice),
            unpriced: u64::from(self.unpriced),
        }
    }

    /// What each of its calls is given of its cost and tokens; the remainder of the division is nobody's.
    #[must_use]
    pub fn share(&self) -> Option<(Usd, Tokens)> {
        let calls = u64::try_from(self.calls.len()).unwrap_or(u64::MAX);
        (self.counted && calls > 0).then(|| (Usd(self.cost.0 / calls), self.tokens.shared(calls)))
    }
}
