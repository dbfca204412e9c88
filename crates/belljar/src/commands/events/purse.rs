//! What sessions spent while they are watched: each request to a model once, whoever told of it, and which calls it asked
//! for.
//!
//! Owns: the ledger of requests, and on which line each is shown. An agent that sends telemetry says what a request cost as
//! it is made; what it asked for is in its transcript, and so are the requests of one that sends none. Refuses: prices,
//! which are the list's.

use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    asked: BTreeMap<usize, Asked>,
    by_message: HashMap<String, usize>,
    by_request: HashMap<String, usize>,
    by_call: HashMap<String, usize>,
    /// What was paid before anybody watched.
    before: Paid,
}

/// What was used and paid, in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Paid {
    pub(super) micros: u64,
    pub(super) tokens: u64,
}

/// A request to a model.
#[derive(Debug, Default)]
struct Asked {
    session: String,
    agent: String,
    /// The calls it asked for.
    calls: BTreeSet<String>,
    /// Whether the transcript has told of it: only then having no calls means that it asked for none.
    is_read: bool,
    shown: Shown,
}

/// Where what a request cost is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Shown {
    #[default]
    Nowhere,
    /// Beside the calls it asked for.
    Shared,
    /// On a line of its own, or at the end of a turn.
    Whole,
}

impl Purse {
    pub(super) fn new(prices: Prices) -> Self {
        Self {
            ledger: CostLedger::new(prices, MOST),
            sessions: BTreeSet::new(),
            asked: BTreeMap::new(),
            by_message: HashMap::new(),
            by_request: HashMap::new(),
            by_call: HashMap::new(),
            before: Paid::default(),
        }
    }

    /// Takes an event that tells of money, and gives back the requests nobody had told of before, each as an event of its
    /// own.
    pub(super) fn hear(&mut self, seen: &Seen) -> Vec<(usize, Seen)> {
        match seen.kind.as_str() {
            "model.called" => self.called(seen).into_iter().collect(),
            "transcript.read" => self.read(seen),
            // Telemetry of a call names the request that asked for it.
            "tool.decided" | "tool.reported" => {
                let place = seen.said("/request_id").and_then(|name| self.by_request.get(name)).copied();
                place
                    .zip(seen.said("/tool_use_id"))
                    .into_iter()
                    .for_each(|(place, call)| self.link(place, call));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn link(&mut self, place: usize, call: &str) {
        if let Some(asked) = self.asked.get_mut(&place) {
            asked.calls.insert(call.to_owned());
            self.by_call.insert(call.to_owned(), place);
        }
    }

    /// At a session's end what all of it came to, also what was paid before it was watched; `spent` knows that.
    pub(super) fn sum_up(&self, seen: Seen, spent: impl FnOnce(&str) -> Option<u64>) -> Seen {
        let session = seen.session_id.as_deref().unwrap_or_default();
        let heard = self.ledger.session(session).cost.micros();
        // Records know the session from its beginning; what was heard since may not be in them yet.
        let cost = spent(session).max(Some(heard));
        let listed = |path: &str| seen.payload.pointer(path).and_then(Value::as_array).into_iter().flatten();
        let of = |name: &str| {
            let all = listed("/summary/tools").filter_map(|tool| tool.get(name)?.as_u64()).sum::<u64>();
            usize::try_from(all).unwrap_or(usize::MAX)
        };
        let (failed, denied, subagents) = (of("failed"), of("denied"), listed("/summary/subagents").count());
        let mut words = vec![many(of("calls"), "call")];
        words.extend((failed > 0).then(|| format!("{failed} failed")));
        words.extend((denied > 0).then(|| format!("{denied} denied")));
        words.extend((subagents > 0).then(|| many(subagents, "subagent")));
        Seen { target: Some(words.join(", ")), cost_micros: cost, ..seen }
    }

    /// What is known so far was paid before anybody watched.
    pub(super) fn begin(&mut self) {
        self.before = self.paid_ever();
    }

    /// What was paid while it was watched.
    pub(super) fn paid(&self) -> Paid {
        let (all, before) = (self.paid_ever(), self.before);
        let Paid { micros, tokens } = all;
        Paid { micros: micros.saturating_sub(before.micros), tokens: tokens.saturating_sub(before.tokens) }
    }

    fn paid_ever(&self) -> Paid {
        let all = self.sessions.iter().map(|session| self.ledger.session(session));
        all.fold(Paid::default(), |paid, of| Paid {
            micros: paid.micros.saturating_add(of.cost.micros()),
            tokens: paid.tokens.saturating_add(of.tokens.prompt()).saturating_add(of.tokens.output),
        })
    }

    /// A call's part of what the request cost that asked for it, if that is known.
    pub(super) fn share(&self, call: &str) -> Option<u64> {
        let place = self.by_call.get(call)?;
        let asked = self.asked.get(place).filter(|asked| asked.shown != Shown::Whole)?;
        let cost = self.ledger.nth(*place).cost.micros();
        (cost > 0).then(|| cost.div_ceil(asked.calls.len().max(1) as u64))
    }

    /// A call's line is final, with its part of the cost.
    pub(super) fn share_is_shown(&mut self, call: &str) {
        let asked = self.by_call.get(call).and_then(|place| self.asked.get_mut(place));
        asked.into_iter().for_each(|asked| asked.shown = Shown::Shared);
    }

    /// What an agent's requests cost that asked for nothing and are shown nowhere yet: its answer. Those of which no
    /// transcript told are among them when there is no more time to wait.
    pub(super) fn answer(&mut self, session: &str, agent: &str, is_late: bool) -> Option<u64> {
        let is_answer = |asked: &Asked| {
            let is_open = asked.shown == Shown::Nowhere && asked.calls.is_empty();
            is_open && (asked.is_read || is_late) && asked.session == session && asked.agent == agent
        };
        let found: Vec<usize> =
            self.asked.iter().filter(|(_, asked)| is_answer(asked)).map(|(place, _)| *place).collect();
        self.asked
            .iter_mut()
            .filter(|(place, _)| found.contains(place))
            .for_each(|(_, asked)| asked.shown = Shown::Whole);
        let cost = found.iter().map(|place| self.ledger.nth(*place).cost.micros()).sum::<u64>();
        (cost > 0).then_some(cost)
    }

    /// Whether a request is shown somewhere, or will be: beside a call that is not over.
    pub(super) fn is_placed(&self, place: usize, is_awaited: impl Fn(&str) -> bool) -> bool {
        let Some(asked) = self.asked.get(&place) else { return true };
        asked.shown != Shown::Nowhere || asked.calls.iter().any(|call| is_awaited(call))
    }

    /// A request has a line of its own; says what it cost.
    pub(super) fn show(&mut self, place: usize) -> Option<u64> {
        self.asked.get_mut(&place)?.shown = Shown::Whole;
        Some(self.ledger.nth(place).cost.micros()).filter(|cost| *cost > 0)
    }

    /// A request as its agent tells of it, at list price where it does not say what it cost.
    fn called(&mut self, seen: &Seen) -> Option<(usize, Seen)> {
        let usage = seen.payload.get("usage").and_then(|usage| Tokens::deserialize(usage).ok());
        let request = Request {
            source: Source::Telemetry,
            session_id: seen.session_id.clone()?,
            agent_id: seen.said("/agent_id").map(str::to_owned),
            request_id: seen.said("/request_id").map(str::to_owned),
            message_id: seen.said("/message_id").map(str::to_owned),
            model: seen.said("/model").unwrap_or_default().to_owned(),
            tokens: usage.unwrap_or_default(),
            cost: seen.cost_micros.map(Usd::from_micros),
        };
        let place = self.enter(request)?;
        Some((place, seen.clone()))
    }

    fn read(&mut self, seen: &Seen) -> Vec<(usize, Seen)> {
        let facts = seen.payload.get("facts").map(TranscriptFact::unpack).unwrap_or_default();
        let (mut new, mut uses) = (Vec::new(), Vec::new());
        for fact in facts {
            match fact {
                TranscriptFact::Usage(usage) => {
                    let request = usage.request();
                    let told = Self::told(seen, &request);
                    let place = self.enter(request);
                    new.extend(place.map(|place| (place, told)));
                    if let Some(asked) = self.by_message.get(&usage.message_id).copied()
                        && let Some(asked) = self.asked.get_mut(&asked)
                    {
                        asked.is_read = true;
                        asked.agent = usage.agent_id.unwrap_or_default();
                    }
                }
                TranscriptFact::ToolUse { tool_use_id, message_id, .. } => {
                    uses.extend(message_id.map(|message| (message, tool_use_id)));
                }
                TranscriptFact::ToolResult { .. } => {}
            }
        }
        for (message, call) in uses {
            let place = self.by_message.get(&message).copied();
            place.into_iter().for_each(|place| self.link(place, &call));
        }
        new
    }

    /// What a transcript says of a request, as if somebody had told of it.
    fn told(seen: &Seen, request: &Request) -> Seen {
        Seen {
            kind: "model.called".to_owned(),
            tokens: Some(request.tokens.prompt().saturating_add(request.tokens.output)),
            payload: json!({ "model": request.model, "agent_id": request.agent_id }),
            ..seen.clone()
        }
    }

    /// Enters a request; says which one it is if nobody had told of it before.
    fn enter(&mut self, request: Request) -> Option<usize> {
        let session = request.session_id.clone();
        let (message, name) = (request.message_id.clone(), request.request_id.clone());
        let agent = request.agent_id.clone().unwrap_or_default();
        let place = self.ledger.hear(request)?;
        self.sessions.insert(session.clone());
        self.by_message.extend(message.map(|message| (message, place)));
        self.by_request.extend(name.map(|name| (name, place)));
        if self.asked.contains_key(&place) {
            return None;
        }
        self.asked.insert(place, Asked { session, agent, ..Asked::default() });
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(facts: &[Value]) -> Seen {
        event("transcript.read", &json!({ "facts": facts }), None)
    }

    fn usage(id: &str) -> Value {
        json!({"fact": "usage", "message": id, "request": format!("req-{id}"), "model": "claude-sonnet-4-5",
            "session": "s", "tokens": {"input": 1_000_000}})
    }

    fn used(call: &str, message: &str) -> Value {
        json!({"fact": "use", "id": call, "tool": "Bash", "message": message, "session": "s"})
    }

    fn event(kind: &str, payload: &Value, cost: Option<u64>) -> Seen {
        Seen::of(&json!({"seq": 1, "kind": kind, "time": "2026-01-01T00:00:00Z", "session_id": "s",
            "cost_micros": cost, "payload": payload}))
        .unwrap()
    }

    #[test]
    fn calls_of_one_request_share_its_cost_and_an_answer_has_its_own() {
        let mut purse = Purse::new(Prices::default());
        let new = purse.hear(&read(&[used("a", "m"), usage("m"), used("b", "m"), usage("n")]));
        assert_eq!(new.len(), 2);
        assert_eq!(
            (purse.share("a"), purse.share("b"), purse.share("c")),
            (Some(1_500_000), Some(1_500_000), None)
        );
        assert_eq!(purse.answer("s", "", false), Some(3_000_000));
        assert_eq!(purse.answer("s", "", true), None, "shown once");
        assert!(purse.hear(&read(&[usage("n")])).is_empty(), "told before");
        assert_eq!(purse.paid(), Paid { micros: 6_000_000, tokens: 2_000_000 });
        purse.begin();
        assert_eq!(purse.paid(), Paid::default());
    }

    #[test]
    fn telemetry_waits_for_the_transcript_to_say_what_a_request_asked_for() {
        let mut purse = Purse::new(Prices::default());
        let told = json!({"model": "claude-sonnet-4-5", "request_id": "req-m"});
        let new = purse.hear(&event("model.called", &told, Some(50)));
        let [(place, _)] = &new[..] else { panic!("{new:?}") };
        assert_eq!(purse.answer("s", "", false), None, "it may have asked for a call");
        assert!(!purse.is_placed(*place, |_| true));
        assert!(purse.hear(&read(&[usage("m"), used("a", "m")])).is_empty(), "it is the same");
        assert_eq!(purse.share("a"), Some(50));
        assert!(purse.is_placed(*place, |call| call == "a") && !purse.is_placed(*place, |_| false));
        purse.share_is_shown("a");
        assert!(purse.is_placed(*place, |_| false));
        assert_eq!(purse.answer("s", "", true), None);
    }

    #[test]
    fn telemetry_of_a_call_names_its_request() {
        let mut purse = Purse::new(Prices::default());
        purse.hear(&event(
            "model.called",
            &json!({"model": "claude-sonnet-4-5", "request_id": "r"}),
            Some(50),
        ));
        let decided = json!({"source": "otlp", "request_id": "r", "tool_use_id": "a"});
        assert!(purse.hear(&event("tool.decided", &decided, None)).is_empty());
        assert_eq!(purse.share("a"), Some(50));
    }

    #[test]
    fn what_has_a_line_of_its_own_is_on_no_other() {
        let mut purse = Purse::new(Prices::default());
        let usage = json!({"input": 1_000_000, "output": 0, "cache_read": 0, "cache_write_5m": 0, "cache_write_1h": 0});
        let told = json!({"model": "gpt-5.3-codex", "usage": usage, "message_id": "m"});
        let new = purse.hear(&event("model.called", &told, None));
        assert_eq!(purse.show(new[0].0), Some(1_750_000), "at list price");
        assert!(purse.hear(&event("model.called", &told, None)).is_empty());
        purse.hear(&read(&[used("a", "m")]));
        assert_eq!(
            (purse.share("a"), purse.answer("s", "", true), purse.paid().micros),
            (None, None, 1_750_000)
        );
    }

    #[test]
    fn the_end_of_a_session_says_what_all_of_it_came_to() {
        let mut purse = Purse::new(Prices::default());
        purse.hear(&read(&[usage("m")]));
        let tools = json!([{"calls": 3, "failed": 1, "denied": 1}, {"calls": 1, "failed": 0}]);
        let archived =
            event("session.archived", &json!({"summary": {"tools": tools, "subagents": [{}]}}), None);
        let end = purse.sum_up(archived.clone(), |_| None);
        assert_eq!(end.target.as_deref(), Some("4 calls, 1 failed, 1 denied, 1 subagent"));
        assert_eq!(end.cost_micros, Some(3_000_000));
        let end = purse.sum_up(archived, |_| Some(9_000_000));
        assert_eq!(end.cost_micros, Some(9_000_000), "some was paid before anybody watched");
    }
}
