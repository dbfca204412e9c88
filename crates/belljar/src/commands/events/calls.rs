//! A call has two halves: that it is asked for, and what came of it. Here they become one.
//!
//! Owns: which calls are under way, and how many are over. What is told of a call by telemetry as well is left out, and so is
//! what an agent says twice of how it came out. Refuses: drawing.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    time::Instant,
};

use super::source::Seen;

/// The most calls under way at one time; the oldest is given up.
const MOST: usize = 1000;

/// What is to be shown of an event.
#[derive(Debug, Clone)]
pub(super) enum Row {
    /// A line that is final.
    Done(Box<Seen>),
    /// A call nobody said the end of.
    Lost(Box<Seen>),
}

/// A call under way.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) seen: Seen,
    /// When we heard of it, by our own clock.
    pub(super) heard: Instant,
    /// Whether a person has to say whether it may be made.
    pub(super) asks: bool,
}

/// What is under way.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: BTreeMap<u64, Open>,
    by_id: HashMap<String, u64>,
    /// The last that are over, by their names.
    over: VecDeque<String>,
    pub(super) count: Count,
}

/// How many calls are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Count {
    pub(super) calls: usize,
    pub(super) failed: usize,
    pub(super) denied: usize,
}

impl Calls {
    /// Takes an event and says what is to be shown of it.
    pub(super) fn take(&mut self, seen: Seen) -> Vec<Row> {
        if is_said_twice(&seen) {
            return Vec::new();
        }
        let id = seen.said("/tool_use_id").map(str::to_owned);
        match seen.kind.as_str() {
            "tool.requested" if is_refused(&seen) => self.end(Seen { status: denied(), ..seen }, id),
            "tool.requested" => self.begin(seen, id),
            "tool.finished" | "tool.failed" | "permission.denied" => self.end(seen, id),
            "permission.asked" | "approval.requested" => self.ask(seen, id.as_deref()),
            "approval.answered" | "approval.expired" | "approval.cancelled" => {
                self.answer(seen, id.as_deref())
            }
            "turn.ended" | "turn.failed" | "session.ended" => {
                let session = seen.session_id.clone();
                let mut rows = self.give_up(|open| open.session_id == session && open.seq < seen.seq);
                rows.push(Row::Done(Box::new(seen)));
                rows
            }
            _ => vec![Row::Done(Box::new(seen))],
        }
    }

    fn begin(&mut self, seen: Seen, id: Option<String>) -> Vec<Row> {
        self.by_id.extend(id.map(|id| (id, seen.seq)));
        let asks = seen.decision.as_deref() == Some("ask") && is_held(&seen);
        self.open.insert(seen.seq, Open { seen, heard: Instant::now(), asks });
        if self.open.len() > MOST { self.give_up_oldest() } else { Vec::new() }
    }

    fn end(&mut self, mut seen: Seen, id: Option<String>) -> Vec<Row> {
        if id.as_ref().is_some_and(|id| self.over.contains(id)) {
            return Vec::new();
        }
        self.count(&seen, id.clone());
        let asked = id.and_then(|id| self.by_id.remove(&id)).and_then(|seq| self.open.remove(&seq));
        if let Some(asked) = asked {
            let took = seen.time.as_micros().saturating_sub(asked.seen.time.as_micros()) / 1000;
            let took = u64::try_from(took).ok().filter(|_| seen.status.as_deref() != Some("denied"));
            seen.duration_ms = seen.duration_ms.or(took);
            seen.target = seen.target.or(asked.seen.target);
            seen.tool = seen.tool.or(asked.seen.tool);
        }
        vec![Row::Done(Box::new(seen))]
    }

    /// Somebody is asked about a call; of one that is under way its own line says so.
    fn ask(&mut self, seen: Seen, id: Option<&str>) -> Vec<Row> {
        let Some(place) = self.find(&seen, id) else { return vec![Row::Done(Box::new(seen))] };
        if is_refused(&seen) {
            return self.refuse(place, seen);
        }
        let is_settled = seen.decision.as_deref() == Some("allow");
        self.open.get_mut(&place).into_iter().for_each(|open| open.asks = !is_settled);
        Vec::new()
    }

    fn answer(&mut self, seen: Seen, id: Option<&str>) -> Vec<Row> {
        let Some(place) = self.find(&seen, id) else { return vec![Row::Done(Box::new(seen))] };
        if is_refused(&seen) {
            return self.refuse(place, seen);
        }
        self.open.get_mut(&place).into_iter().for_each(|open| open.asks = false);
        Vec::new()
    }

    /// A call under way will not be made.
    fn refuse(&mut self, place: u64, why: Seen) -> Vec<Row> {
        let Some(open) = self.open.get(&place) else { return Vec::new() };
        let id = open.seen.said("/tool_use_id").map(str::to_owned);
        let Seen { time, decision, reason, .. } = why;
        self.end(Seen { time, decision, reason, status: denied(), ..open.seen.clone() }, id)
    }

    /// The call under way that an event is about: by its name, else the last that is alike.
    fn find(&self, seen: &Seen, id: Option<&str>) -> Option<u64> {
        let alike = |open: &Open| {
            let of = |seen: &Seen| (seen.session_id.clone(), seen.tool.clone(), seen.target.clone());
            of(&open.seen) == of(seen)
        };
        let last = || self.open.iter().rev().find(|(_, open)| alike(open)).map(|(place, _)| *place);
        id.map_or_else(last, |id| self.by_id.get(id).copied())
    }

    /// Whether a call is under way.
    pub(super) fn is_open(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    fn count(&mut self, seen: &Seen, id: Option<String>) {
        let is_denied = seen.kind == "permission.denied" || seen.status.as_deref() == Some("denied");
        let is_failed = seen.kind == "tool.failed" || seen.status.as_deref() == Some("failure");
        self.count.calls += 1;
        self.count.denied += usize::from(is_denied);
        self.count.failed += usize::from(is_failed && !is_denied);
        self.over.extend(id);
        if self.over.len() > MOST {
            self.over.pop_front();
        }
    }

    /// Those under way, oldest first.
    pub(super) fn open(&self) -> impl Iterator<Item = &Open> {
        self.open.values()
    }

    fn give_up(&mut self, which: impl Fn(&Seen) -> bool) -> Vec<Row> {
        let lost: Vec<u64> =
            self.open.iter().filter(|(_, open)| which(&open.seen)).map(|(seq, _)| *seq).collect();
        lost.into_iter().filter_map(|seq| self.lose(seq)).collect()
    }

    fn give_up_oldest(&mut self) -> Vec<Row> {
        let oldest = self.open.keys().next().copied();
        oldest.and_then(|seq| self.lose(seq)).into_iter().collect()
    }

    fn lose(&mut self, seq: u64) -> Option<Row> {
        self.by_id.retain(|_, known| *known != seq);
        self.open.remove(&seq).map(|open| Row::Lost(Box::new(open.seen)))
    }
}

fn denied() -> Option<String> {
    Some("denied".to_owned())
}

/// Whether what was decided holds anybody up.
fn is_held(seen: &Seen) -> bool {
    seen.payload.get("observed_only").is_none()
}

/// Whether an event says that a call is not made. Nothing is told of it afterwards.
fn is_refused(seen: &Seen) -> bool {
    seen.decision.as_deref() == Some("deny") && is_held(seen)
}

/// Telemetry tells again what hooks told, all but what models did.
fn is_said_twice(seen: &Seen) -> bool {
    let is_model = matches!(seen.kind.as_str(), "model.called" | "model.failed");
    seen.said("/source") == Some("otlp") && !is_model
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(seq: u64, kind: &str, id: &str) -> Seen {
        Seen::of(&json!({
            "seq": seq, "kind": kind, "time": format!("2026-01-01T00:00:0{}Z", seq % 10), "session_id": "s",
            "tool": "Bash", "payload": {"tool_use_id": id},
        }))
        .unwrap()
    }

    #[test]
    fn two_halves_are_one_line_with_the_time_between() {
        let mut calls = Calls::default();
        assert!(calls.take(event(1, "tool.requested", "a")).is_empty());
        assert!(calls.take(event(2, "tool.requested", "b")).is_empty());
        assert_eq!(calls.open().count(), 2);
        let rows = calls.take(event(4, "tool.finished", "a"));
        let [Row::Done(done)] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!(done.duration_ms, Some(3000));
        assert!(calls.take(event(4, "tool.failed", "a")).is_empty(), "said before");
        assert_eq!(calls.count, Count { calls: 1, failed: 0, denied: 0 });
        let mut again = event(5, "tool.reported", "a");
        again.payload = json!({"source": "otlp"});
        assert!(calls.take(again).is_empty());
        let rows = calls.take(event(6, "turn.ended", ""));
        let [Row::Lost(lost), Row::Done(turn)] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((lost.seq, turn.seq), (2, 6));
        assert_eq!(calls.open().count(), 0);
    }

    #[test]
    fn a_call_that_is_denied_is_over_at_once() {
        let mut calls = Calls::default();
        let refused = Seen { decision: Some("deny".to_owned()), ..event(1, "tool.requested", "a") };
        let rows = calls.take(refused.clone());
        let [Row::Done(done)] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((done.status.as_deref(), done.duration_ms), (Some("denied"), None));
        assert_eq!((calls.open().count(), calls.count), (0, Count { calls: 1, failed: 0, denied: 1 }));
        let watched = Seen { payload: json!({"tool_use_id": "b", "observed_only": true}), ..refused };
        assert!(calls.take(watched).is_empty(), "it is made all the same");
        assert!(calls.is_open("b"));
    }

    #[test]
    fn a_call_that_waits_for_a_person_says_so_until_it_is_answered() {
        let mut calls = Calls::default();
        let asks = |calls: &Calls| calls.open().map(|open| open.asks).collect::<Vec<_>>();
        calls.take(Seen { decision: Some("ask".to_owned()), ..event(1, "tool.requested", "a") });
        assert!(calls.take(event(2, "approval.requested", "a")).is_empty());
        assert_eq!(asks(&calls), [true]);
        calls.take(Seen { decision: Some("allow".to_owned()), ..event(3, "approval.answered", "a") });
        assert_eq!(asks(&calls), [false]);
        // The agent's own question has no name for the call.
        let mut own = event(4, "permission.asked", "");
        own.payload = json!({});
        assert!(calls.take(own.clone()).is_empty());
        assert_eq!(asks(&calls), [true]);
        let rows =
            calls.take(Seen { decision: Some("deny".to_owned()), reason: Some("no".to_owned()), ..own });
        let [Row::Done(done)] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((done.kind.as_str(), done.reason.as_deref()), ("tool.requested", Some("no")));
        assert_eq!(calls.count, Count { calls: 1, failed: 0, denied: 1 });
    }
}
