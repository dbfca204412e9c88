//! What sessions spent while they are watched: each request to a model once, whoever told of it.
//!
//! Owns: the ledger of requests. An agent that sends telemetry says what a request cost as it is made; of one that does
//! not, its transcript tells, a few requests at a time. Refuses: prices, which are the list's.

use belljar_capture::{
    cost::{CostLedger, Prices, Request, Source, Totals, Usd},
    transcript::TranscriptFact,
};
use serde_json::{Value, json};

use super::source::Seen;
use crate::output::many;

/// Requests that are remembered.
const MOST: usize = 20_000;

/// See the module. Empty where the list of prices cannot be read.
#[derive(Debug)]
pub(super) struct Purse(Option<CostLedger>);

impl Default for Purse {
    fn default() -> Self {
        Self(Prices::embedded().ok().map(|prices| CostLedger::new(prices, MOST)))
    }
}

impl Purse {
    /// Takes an event and gives back what is to be shown of it: of a transcript only what is new in it and was paid for, and
    /// at a session's end what all of it came to.
    pub(super) fn take(&mut self, seen: Seen) -> Option<Seen> {
        match seen.kind.as_str() {
            "model.called" => {
                self.hear_telemetry(&seen);
                Some(seen)
            }
            "transcript.read" => self.read(seen),
            "session.archived" => Some(self.sum_up(seen)),
            _ => Some(seen),
        }
    }

    fn hear_telemetry(&mut self, seen: &Seen) {
        let (Some(ledger), Some(session)) = (&mut self.0, &seen.session_id) else { return };
        ledger.hear(Request {
            source: Source::Telemetry,
            session_id: session.clone(),
            agent_id: None,
            request_id: seen.said("/request_id").map(str::to_owned),
            message_id: None,
            model: seen.said("/model").unwrap_or_default().to_owned(),
            tokens: Default::default(),
            cost: seen.cost_micros.map(Usd::from_micros),
        });
    }

    fn read(&mut self, seen: Seen) -> Option<Seen> {
        let (ledger, session) = (self.0.as_mut()?, seen.session_id.clone()?);
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

    fn sum_up(&self, seen: Seen) -> Seen {
        let session = seen.session_id.as_deref().unwrap_or_default();
        let Totals { cost, .. } = self.0.as_ref().map(|ledger| ledger.session(session)).unwrap_or_default();
        let listed = |path: &str| seen.payload.pointer(path).and_then(Value::as_array).into_iter().flatten();
        let of = |name: &str| {
            let all = listed("/summary/tools").filter_map(|tool| tool.get(name)?.as_u64()).sum::<u64>();
            usize::try_from(all).unwrap_or(usize::MAX)
        };
        let (failed, subagents) = (of("failed"), listed("/summary/subagents").count());
        let mut words = vec![many(of("calls"), "call")];
        words.extend((failed > 0).then(|| format!("{failed} failed")));
        words.extend((subagents > 0).then(|| many(subagents, "subagent")));
        Seen { target: Some(words.join(", ")), cost_micros: Some(cost.micros()), ..seen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut purse = Purse::default();
        let shown = purse.take(read(&["a", "b"])).unwrap();
        assert_eq!((shown.kind.as_str(), shown.cost_micros), ("model.called", Some(6_000_000)));
        assert_eq!(shown.payload["requests"], 2);
        assert!(purse.take(read(&["b"])).is_none(), "told before");
        let archived = json!({"summary": {"tools": [{"calls": 3, "failed": 1}, {"calls": 1, "failed": 0}], "subagents": [{}]}});
        let end = purse.take(event("session.archived", &archived, None)).unwrap();
        assert_eq!(end.target.as_deref(), Some("4 calls, 1 failed, 1 subagent"));
        assert_eq!(end.cost_micros, Some(6_000_000));
    }

    #[test]
    fn what_telemetry_said_is_not_said_again() {
        let mut purse = Purse::default();
        let told = json!({"model": "claude-sonnet-4-5", "request_id": "req-a"});
        assert!(purse.take(event("model.called", &told, Some(5))).is_some());
        assert!(purse.take(read(&["a"])).is_none());
    }
}
