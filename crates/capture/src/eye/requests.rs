//! Requests to models: each counted once, whoever told of it and how often.
//!
//! Owns: the recipe of [`crate::cost::CostLedger`], for records that outlive the process. The agent's own telemetry is
//! believed first, then the transcript's last word on a message, then an estimate. What is told twice is one request; a
//! message replayed in another session's or agent's file belongs to whoever had it first.

use std::cmp::Ordering;

use belljar_domain::{
    EventKind, NewEvent, Timestamp, Tokens, Usd,
    eye::{Basis, ModelRequest, Shelf, Told},
};
use serde::Deserialize as _;

use super::Pass;

/// The model of what an agent writes itself, such as an error shown as an answer.
pub(super) const SYNTHETIC: &str = "<synthetic>";
/// Calls one request is known to have asked for.
const CALLS: usize = 256;

/// A request, as told.
#[derive(Debug, Clone)]
pub(super) struct Heard {
    pub(super) by: Told,
    pub(super) session: String,
    pub(super) agent: String,
    pub(super) request_id: Option<String>,
    pub(super) message_id: Option<String>,
    pub(super) model: String,
    pub(super) tokens: Tokens,
    pub(super) cost: Option<Usd>,
    pub(super) time: Timestamp,
    pub(super) duration_ms: Option<u64>,
}

impl<S: Shelf + ?Sized> Pass<'_, S> {
    /// A model was asked, as telemetry says.
    pub(super) fn model_called(&mut self) -> Result<(), S::Error> {
        let (what, said) = (&self.event.what, self.said);
        let usage = said.value("usage").and_then(|usage| Tokens::deserialize(usage).ok());
        // Told without its parts, what was used is taken for what was read.
        let whole = || Tokens { input: what.tokens.unwrap_or_default(), ..Tokens::default() };
        let is_direct = said.text("source").is_none();
        let heard = Heard {
            by: Told::Telemetry,
            session: said.session().to_owned(),
            agent: said.agent().to_owned(),
            // Whoever tells directly names an event; that is as good.
            request_id: said.owned("request_id").or_else(|| is_direct.then(|| what.id.to_string())),
            message_id: said.owned("message_id"),
            model: said.owned("model").unwrap_or_default(),
            tokens: usage.unwrap_or_else(whole),
            cost: what.cost_micros.map(Usd::from_micros),
            time: what.time,
            duration_ms: what.duration_ms,
        };
        self.hear(heard)
    }

    /// Money and tokens told beside something else are an estimate: they count where nothing better is known.
    pub(super) fn estimate(&mut self) -> Result<(), S::Error> {
        let what = &self.event.what;
        let is_told = what.cost_micros.is_some() || what.tokens.is_some();
        let is_own = what.kind != EventKind::ModelCalled && self.said.text("source").is_none();
        if !(is_told && is_own) {
            return Ok(());
        }
        self.hear(Heard {
            by: Told::Estimate,
            session: self.said.session().to_owned(),
            agent: self.said.agent().to_owned(),
            request_id: Some(what.id.to_string()),
            message_id: None,
            model: self.said.owned("model").unwrap_or_default(),
            tokens: Tokens { input: what.tokens.unwrap_or_default(), ..Tokens::default() },
            cost: what.cost_micros.map(Usd::from_micros),
            time: what.time,
            duration_ms: None,
        })
    }

    /// Hears of a request.
    pub(super) fn hear(&mut self, mut heard: Heard) -> Result<(), S::Error> {
        heard.tokens = heard.tokens.at_most(NewEvent::MOST_TOKENS);
        heard.cost = heard.cost.filter(|cost| cost.micros() <= NewEvent::MOST_MICROS);
        // It was never asked of a model.
        if heard.model == SYNTHETIC {
            return Ok(());
        }
        self.note_source(&heard)?;
        let project = self.project().clone();
        let mut known = None;
        if let Some(message) = &heard.message_id {
            known = self.shelf.request_by_message(&project, message)?;
        }
        if let (None, Some(name)) = (&known, &heard.request_id) {
            known = self.shelf.request_by_name(&project, name)?;
        }
        let (before, mut after) = match known {
            Some(before) => {
                let mut after = before.clone();
                revise(&mut after, heard);
                (Some(before), after)
            }
            None => {
                let id = self.next_id();
                let mut made = ModelRequest::new(id, project, &heard.session, &heard.agent, heard.time);
                revise(&mut made, heard);
                (None, made)
            }
        };
        fill_place(&mut after, self);
        self.settle(before.as_ref(), after)
    }

    /// Notes what kinds of tellings a session has; those believed less stop counting.
    fn note_source(&mut self, heard: &Heard) -> Result<(), S::Error> {
        let is_nameless =
            heard.by == Told::Telemetry && heard.request_id.is_none() && heard.message_id.is_none();
        let is_metered = heard.by > Told::Estimate;
        let project = self.project().clone();
        let Some(session) = self.shelf.session(&project, &heard.session)? else {
            return self.with_session(&heard.session, |session| {
                (session.nameless, session.metered) = (is_nameless, is_metered);
            });
        };
        let turns_nameless = is_nameless && !session.nameless;
        let turns_metered = is_metered && !session.metered;
        if !turns_nameless && !turns_metered {
            return Ok(());
        }
        self.with_session(&heard.session, |session| {
            session.nameless |= is_nameless;
            session.metered |= is_metered;
        })?;
        for id in self.shelf.counted_requests(&project, &heard.session)? {
            if let Some(request) = self.shelf.request(id)? {
                self.settle(Some(&request.clone()), request)?;
            }
        }
        Ok(())
    }

    /// Prices a request, counts it where it counts, and gives its calls their share.
    fn settle(&mut self, before: Option<&ModelRequest>, mut after: ModelRequest) -> Result<(), S::Error> {
        let project = self.project().clone();
        let session = self.shelf.session(&project, &after.session)?;
        let (nameless, metered) = session.map_or((false, false), |known| (known.nameless, known.metered));
        after.counted = match after.told {
            None => false,
            Some(Told::Estimate) => !metered,
            Some(Told::Transcript) => !nameless,
            Some(Told::Telemetry | Told::Hook | Told::Belljar) => true,
        };
        self.price(&mut after);
        if let Some(before) = before.filter(|before| before.counted) {
            let owner = (before.session.clone(), before.agent.clone());
            self.spend((&owner.0, &owner.1), before.spent(), belljar_domain::eye::Spent::default())?;
        }
        let owner = (after.session.clone(), after.agent.clone());
        self.spend((&owner.0, &owner.1), belljar_domain::eye::Spent::default(), after.spent())?;
        self.share(&after)?;
        self.shelf.put_request(after)
    }

    fn price(&self, request: &mut ModelRequest) {
        let told = request.told.unwrap_or(Told::Estimate);
        let reckoned = || self.prices.reckon(&request.model, request.tokens);
        (request.cost, request.basis, request.unpriced) = match (request.reported, told) {
            (Some(cost), Told::Telemetry) => (cost, Basis::Reported, false),
            (Some(cost), Told::Estimate) => (cost, Basis::Estimated, false),
            (_, told) => match reckoned() {
                Some((cost, true)) if told > Told::Estimate => (cost, Basis::ListPrice, false),
                Some((cost, _)) => (cost, Basis::Estimated, false),
                None => (Usd::default(), Basis::Estimated, true),
            },
        };
    }

    /// Gives each call its share of the cost.
    fn share(&mut self, request: &ModelRequest) -> Result<(), S::Error> {
        let (cost, tokens) = request.share().unzip();
        for id in &request.calls {
            if let Some(mut call) = self.shelf.call(*id)?
                && (call.cost, call.tokens, call.request) != (cost, tokens, Some(request.id))
            {
                (call.cost, call.tokens, call.request) = (cost, tokens, Some(request.id));
                self.shelf.put_call(call)?;
            }
        }
        Ok(())
    }

    /// Notes that a request, by its provider's name for it, asked for a call.
    pub(super) fn link(&mut self, call: u64, request_id: &str) -> Result<(), S::Error> {
        let project = self.project().clone();
        let known = self.shelf.request_by_name(&project, request_id)?;
        let request = match known {
            Some(request) => request,
            None => {
                let (session, agent) = (self.said.session(), self.said.agent());
                let id = self.next_id();
                let mut made = ModelRequest::new(id, project, session, agent, self.time());
                made.request_id = Some(request_id.to_owned());
                made
            }
        };
        self.attach(call, request)
    }

    /// Notes that the request of a message asked for a call.
    pub(super) fn link_message(&mut self, call: u64, message_id: &str) -> Result<(), S::Error> {
        let project = self.project().clone();
        match self.shelf.request_by_message(&project, message_id)? {
            Some(request) => self.attach(call, request),
            None => Ok(()),
        }
    }

    fn attach(&mut self, call: u64, mut request: ModelRequest) -> Result<(), S::Error> {
        if request.calls.contains(&call) || request.calls.len() >= CALLS {
            return Ok(());
        }
        request.calls.push(call);
        self.share(&request)?;
        self.shelf.put_request(request)
    }
}

/// Takes a telling of the same request, earlier ones having been taken.
fn revise(request: &mut ModelRequest, heard: Heard) {
    let is_same_place = heard.session == request.session && heard.agent == request.agent;
    match Some(heard.by).cmp(&request.told) {
        // Believed more: its numbers, and the owner it names.
        Ordering::Greater => {
            request.told = Some(heard.by);
            request.session = heard.session;
            if !heard.agent.is_empty() {
                request.agent = heard.agent;
            }
            request.request_id = heard.request_id.or(request.request_id.take());
            request.message_id = request.message_id.take().or(heard.message_id);
            (request.model, request.tokens, request.reported) = (heard.model, heard.tokens, heard.cost);
            (request.time, request.duration_ms) = (heard.time, heard.duration_ms);
        }
        // A message is written several times as it grows; its last record has the whole output. A replay elsewhere
        // says nothing new.
        Ordering::Equal if is_same_place => {
            (request.tokens, request.model) = (heard.tokens, heard.model);
            request.reported = heard.cost.or(request.reported);
        }
        Ordering::Equal | Ordering::Less => {
            request.message_id = request.message_id.take().or(heard.message_id);
        }
    }
}

fn fill_place<S: ?Sized>(request: &mut ModelRequest, pass: &Pass<'_, S>) {
    let what = &pass.event.what;
    request.sandbox = request.sandbox.or(what.sandbox);
    request.run = request.run.or(what.run);
    if request.prompt.is_none() {
        request.prompt = pass.said.owned("prompt_id");
    }
    if request.query_source.is_none() {
        request.query_source = pass.said.owned("query_source");
    }
}
