//! What sessions spent while they are watched: each request to a model once, whoever told of it.
//!
//! Owns: the ledger of requests. An agent that sends telemetry says what a request cost as it is made; of one that does
//! not, its transcript tells, a few requests at a time. Refuses: prices, which are the list's.

use std::collections::BTreeSet;

use belljar_capture::{
    cost::{CostLedger, Prices, Request, Source, Tokens, Usd},
    transcript::TranscriptFact,
};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::source::Seen;
use crate::output::many;

/// Requests that are remembered.
const MOST: usize = 20_000;

/// See the module.
#[derive(Debug)]
pub(super) struct Purse {
    ledger: CostLedger,
    sessions: BTreeSet<String>,
}

impl Purse {
    pub(super) fn new(prices: Prices) -> Self {
        Self { ledger: CostLedger::new(prices, MOST), sessions: BTreeSet::new() }
    }

    /// Takes an event and gives back what is to be shown of it: of a transcript only what is new in it and was paid for, and
    /// at a session's end what all of it came to, also what was paid before it was watched; `spent` knows that.
    pub(super) fn take(&mut self, seen: Seen, spent: impl FnOnce(&str) -> Option<u64>) -> Option<Seen> {
        self.sessions.extend(seen.session_id.clone());
        match seen.kind.as_str() {
            "model.called" => Some(self.priced(seen)),
            "transcript.read" => self.read(seen),
            "session.archived" => Some(self.sum_up(seen, spent)),
            _ => Some(seen),
        }
    }

    /// What was paid while it was watched, in millionths of a dollar.
    pub(super) fn paid(&self) -> u64 {
        self.sessions.iter().map(|session| self.ledger.session(session).cost.micros()).sum()
    }

    /// A request as its agent tells of it, at list price where it does not say what it cost.
    fn priced(&mut self, seen: Seen) -> Seen {
        let Some(session) = seen.session_id.clone() else { return seen };
        let before = self.ledger.session(&session).cost;
        let usage = seen.payload.get("usage").and_then(|usage| Tokens::deserialize(usage).ok());
        self.ledger.hear(Request {
            source: Source::Telemetry,
            session_id: session.clone(),
            agent_id: None,
            request_id: seen.said("/request_id").map(str::to_owned),
            message_id: seen.said("/message_id").map(str::to_owned),
            model: seen.said("/model").unwrap_or_default().to_owned(),
            tokens: usage.unwrap_or_default(),
            cost: seen.cost_micros.map(Usd::from_micros),
        });
        let paid = self.ledger.session(&session).cost.minus(before).micros();
        Seen { cost_micros: seen.cost_micros.or(Some(paid).filter(|paid| *paid > 0)), ..seen }
    }

    fn read(&mut self, seen: Seen) -> Option<Seen> {
        let (ledger, session) = (&mut self.ledger, seen.session_id.clone()?);
        let before = ledger.session(&session);
        let mut model = None;
        for fact in TranscriptFact::unpack(seen.payload.get("facts")?) {
            if let TranscriptFact::Usage(usage) = fact {
                ledger.hear(usage.request());
                model = Some(usage.model);
            }
        }
        let after = ledger.session(&session);
        let requests = after.requests.saturating_sub(before.requests);
        let tokens = after.tokens.minus(before.tokens);
        let payload = json!({
            "model": model, "requests": requests, "agent_id": seen.said("/agent_id"),
        });
        (requests > 0).then(|| Seen {
            kind: "model.called".to_owned(),
            tokens: Some(tokens.prompt().saturating_add(tokens.output)),
            cost_micros: Some(after.cost.minus(before.cost).micros()),
            payload,
            ..seen
        })
    }

    fn sum_up(&self, seen: Seen, spent: impl FnOnce(&str) -> Option<u64>) -> Seen {
        let session = seen.session_id.as_deref().unwrap_or_default();
        let heard = self.ledger.session(session).cost.micros();
        // Records know the session from its beginning; what was heard since may not be in them yet.
        let cost = spent(session).max(Some(heard));
        let listed = |path: &str| seen.payload.pointer(path).and_then(Value::as_array).into_iter().flatten();
        let of = |name: &str| {
            let all = listed("/summary/tools").filter_map(|tool| tool.get(name)?.as_u64()).sum::<u64>();
            usize::try_from(all).unwrap_or(usize::MAX)
        };
        let (failed, subagents) = (of("failed"), listed("/summary/subagents").count());
        let mut words = vec![many(of("calls"), "call")];
        words.extend((failed > 0).then(|| format!("{failed} failed")));
        words.extend((subagents > 0).then(|| many(subagents, "subagent")));
        Seen { target: Some(words.join(", ")), cost_micros: cost, ..seen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(_session: &str) -> Option<u64> {
        None
    }

    fn read(messages: &[&str]) -> Seen {
        let usage = |id: &&str| {
            json!({"fact": "usage", "message": id, "request": format!("req-{id}"), "model": "claude-sonnet-4-5",
                "session": "s", "tokens": {"input": 1_000_000}})
        };
        let facts: Vec<Value> = messages.iter().map(usage).collect();
        event("transcript.read", &json!({"facts": facts}), None)
    }

    fn event(kind: &str, payload: &Value, cost: Option<u64>) -> Seen {
        Seen::of(&json!({"seq": 1, "kind": kind, "time": "2026-01-01T00:00:00Z", "session_id": "s",
            "cost_micros": cost, "payload": payload}))
        .unwrap()
    }

    #[test]
    fn a_transcript_is_shown_by_what_was_paid_and_once() {
        let mut purse = Purse::new(Prices::default());
        let shown = purse.take(read(&["a", "b"]), unknown).unwrap();
        assert_eq!((shown.kind.as_str(), shown.cost_micros), ("model.called", Some(6_000_000)));
        assert_eq!(shown.payload["requests"], 2);
        assert!(purse.take(read(&["b"]), unknown).is_none(), "told before");
        let archived = json!({"summary": {"tools": [{"calls": 3, "failed": 1}, {"calls": 1, "failed": 0}], "subagents": [{}]}});
        assert_eq!(purse.paid(), 6_000_000);
        let end = purse.take(event("session.archived", &archived, None), unknown).unwrap();
        assert_eq!(end.target.as_deref(), Some("4 calls, 1 failed, 1 subagent"));
        assert_eq!(end.cost_micros, Some(6_000_000));
        let end = purse.take(event("session.archived", &archived, None), |_| Some(9_000_000)).unwrap();
        assert_eq!(end.cost_micros, Some(9_000_000), "some was paid before anybody watched");
    }

    #[test]
    fn a_request_without_a_cost_is_shown_at_list_price() {
        let mut purse = Purse::new(Prices::default());
        let usage = json!({"input": 1_000_000, "output": 0, "cache_read": 0, "cache_write_5m": 0, "cache_write_1h": 0});
        let told = json!({"model": "gpt-5.3-codex", "usage": usage, "message_id": "m"});
        let first = purse.take(event("model.called", &told, None), unknown).unwrap();
        assert_eq!(first.cost_micros, Some(1_750_000));
        let again = purse.take(event("model.called", &told, None), unknown).unwrap();
        assert_eq!((again.cost_micros, purse.paid()), (None, 1_750_000));
    }

    #[test]
    fn what_telemetry_said_is_not_said_again() {
        let mut purse = Purse::new(Prices::default());
        let told = json!({"model": "claude-sonnet-4-5", "request_id": "req-a"});
        assert!(purse.take(event("model.called", &told, Some(5)), unknown).is_some());
        assert!(purse.take(read(&["a"]), unknown).is_none());
    }
}
