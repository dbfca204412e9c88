//! The ledger of requests: each counted once, whoever told of it and how often.
//!
//! Owns: which telling wins. The agent's own telemetry is believed first, then the transcript's last word on a
//! message, then an estimate. A request told of in telemetry and transcript is one request; a message replayed
//! in another session or agent's file belongs to whoever had it first.

use std::collections::{BTreeMap, BTreeSet};

use super::{Prices, Tokens, Usd};

/// Where a request was heard of, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Somebody reckoned from what was seen.
    Estimate,
    /// A transcript's record.
    Transcript,
    /// An `api_request` event.
    Telemetry,
}

/// What a total rests on, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// Some of it is an estimate, or priced like a relative.
    Estimated,
    /// Tokens as recorded, at list price.
    ListPrice,
    /// Dollars as the agent reported.
    Reported,
}

/// One request to a model, as told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Who told.
    pub source: Source,
    /// The session.
    pub session_id: String,
    /// The subagent; none for the session's own.
    pub agent_id: Option<String>,
    /// The provider's identifier of the request.
    pub request_id: Option<String>,
    /// The identifier of the answer.
    pub message_id: Option<String>,
    /// The model.
    pub model: String,
    /// What it used.
    pub tokens: Tokens,
    /// What it cost, if that was told.
    pub cost: Option<Usd>,
}

/// What requests came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// How many.
    pub requests: u64,
    /// Their tokens.
    pub tokens: Tokens,
    /// Their cost.
    pub cost: Usd,
    /// What the cost rests on.
    pub basis: Basis,
    /// Requests of models without any price, which cost nothing here.
    pub unpriced: u64,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            requests: 0,
            tokens: Tokens::default(),
            cost: Usd::default(),
            basis: Basis::Reported,
            unpriced: 0,
        }
    }
}

/// Every request heard of.
#[derive(Debug)]
pub struct CostLedger {
    prices: Prices,
    requests: Vec<Request>,
    by_message: BTreeMap<String, usize>,
    by_request: BTreeMap<String, usize>,
    /// Sessions whose telemetry does not name requests, so that transcripts cannot be matched with it.
    nameless: BTreeSet<String>,
    /// Sessions of which more than estimates is known.
    known: BTreeSet<String>,
    parents: BTreeMap<String, String>,
    limit: usize,
    refused: u64,
}

impl CostLedger {
    /// An empty ledger with these prices that keeps at most `limit` requests, and as many agents.
    pub fn new(prices: Prices, limit: usize) -> Self {
        Self {
            prices,
            requests: Vec::new(),
            by_message: BTreeMap::new(),
            by_request: BTreeMap::new(),
            nameless: BTreeSet::new(),
            known: BTreeSet::new(),
            parents: BTreeMap::new(),
            limit,
            refused: 0,
        }
    }

    /// Hears of a request and says which one it is; what is left out is none.
    pub fn hear(&mut self, told: Request) -> Option<usize> {
        // What the agent writes itself, such as an error shown as an answer, was never asked of a model.
        if told.model == "<synthetic>" {
            return None;
        }
        if told.source == Source::Telemetry && told.request_id.is_none() && told.message_id.is_none() {
            self.nameless.insert(told.session_id.clone());
        }
        if told.source > Source::Estimate {
            self.known.insert(told.session_id.clone());
        }
        let of = |names: &BTreeMap<String, usize>, name: &Option<String>| names.get(name.as_ref()?).copied();
        let known = of(&self.by_message, &told.message_id).or_else(|| of(&self.by_request, &told.request_id));
        let is_full = self.requests.len() >= self.limit;
        let at = match known.and_then(|at| Some((at, self.requests.get_mut(at)?))) {
            Some((at, before)) => {
                before.revise(told.clone());
                at
            }
            None if is_full => {
                self.refused += 1;
                return None;
            }
            None => {
                self.requests.push(told.clone());
                self.requests.len() - 1
            }
        };
        if let Some(id) = told.message_id {
            self.by_message.entry(id).or_insert(at);
        }
        if let Some(id) = told.request_id {
            self.by_request.entry(id).or_insert(at);
        }
        Some(at)
    }

    /// Notes that an agent was started by another.
    pub fn adopt(&mut self, agent: &str, parent: &str) {
        if agent != parent && (self.parents.len() < self.limit || self.parents.contains_key(agent)) {
            self.parents.insert(agent.to_owned(), parent.to_owned());
        }
    }

    /// A session with all its subagents.
    pub fn session(&self, session: &str) -> Totals {
        self.sum(|request| request.session_id == session)
    }

    /// A session's own requests, without its subagents'.
    pub fn session_own(&self, session: &str) -> Totals {
        self.sum(|request| request.session_id == session && request.agent_id.is_none())
    }

    /// A subagent's own requests.
    pub fn agent_own(&self, agent: &str) -> Totals {
        self.sum(|request| request.agent_id.as_deref() == Some(agent))
    }

    /// A subagent with all those it started.
    pub fn agent(&self, agent: &str) -> Totals {
        self.sum(|request| request.agent_id.as_deref().is_some_and(|of| self.descends(of, agent)))
    }

    /// What one request came to.
    pub fn request(&self, request_id: &str) -> Option<Totals> {
        let request = self.requests.get(*self.by_request.get(request_id)?)?;
        Some(self.priced(request))
    }

    /// What one request came to, by what [`CostLedger::hear`] called it; nothing if it does not count beside others.
    pub fn nth(&self, place: usize) -> Totals {
        let request = self.requests.get(place).filter(|request| self.counts(request));
        request.map_or_else(Totals::default, |request| self.priced(request))
    }

    /// How many requests were left out for want of room; totals are too low by them.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    fn descends(&self, agent: &str, ancestor: &str) -> bool {
        let mut at = agent;
        // As many steps as there are parents: a circle ends too.
        for _ in 0..=self.parents.len() {
            if at == ancestor {
                return true;
            }
            let Some(parent) = self.parents.get(at) else { return false };
            at = parent;
        }
        false
    }

    fn sum(&self, is: impl Fn(&Request) -> bool) -> Totals {
        let counted = self.requests.iter().filter(|request| is(request) && self.counts(request));
        counted.fold(Totals::default(), |sum, request| sum.plus(self.priced(request)))
    }

    /// Whether a request counts beside what else was told of its session.
    fn counts(&self, request: &Request) -> bool {
        match request.source {
            Source::Telemetry => true,
            Source::Transcript => !self.nameless.contains(&request.session_id),
            Source::Estimate => !self.known.contains(&request.session_id),
        }
    }

    fn priced(&self, request: &Request) -> Totals {
        let reckoned = || self.prices.reckon(&request.model, request.tokens);
        let (cost, basis, unpriced) = match (request.cost, request.source) {
            (Some(cost), Source::Telemetry) => (cost, Basis::Reported, 0),
            (_, source) => match reckoned() {
                Some((cost, true)) if source > Source::Estimate => (cost, Basis::ListPrice, 0),
                Some((cost, _)) => (cost, Basis::Estimated, 0),
                None => (Usd::default(), Basis::Estimated, 1),
            },
        };
        Totals { requests: 1, tokens: request.tokens, cost, basis, unpriced }
    }
}

impl Request {
    /// Takes a later telling of the same request.
    fn revise(&mut self, told: Self) {
        let is_same_place = told.session_id == self.session_id && told.agent_id == self.agent_id;
        match told.source.cmp(&self.source) {
            // Believed more: its numbers, and the owner it names.
            std::cmp::Ordering::Greater => {
                let message_id = self.message_id.take().or(told.message_id.clone());
                *self = Self { message_id, agent_id: told.agent_id.clone().or(self.agent_id.take()), ..told };
            }
            // A message is written several times as it grows; its last record has the whole output. A replay
            // elsewhere says nothing new.
            std::cmp::Ordering::Equal if is_same_place => {
                (self.tokens, self.model) = (told.tokens, told.model);
                self.cost = told.cost.or(self.cost);
            }
            std::cmp::Ordering::Equal | std::cmp::Ordering::Less => {
                self.message_id = self.message_id.take().or(told.message_id);
            }
        }
    }
}

impl Totals {
    fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            tokens: self.tokens.plus(other.tokens),
            cost: self.cost.plus(other.cost),
            basis: self.basis.min(other.basis),
            unpriced: self.unpriced + other.unpriced,
        }
    }
}
