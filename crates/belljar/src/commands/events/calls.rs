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
    pub(super) fn take(&mut self, mut seen: Seen) -> Vec<Row> {
        if is_said_twice(&seen) {
            return Vec::new();
        }
        let id = seen.said("/tool_use_id").map(str::to_owned);
        match seen.kind.as_str() {
            "tool.requested" => {
                if let Some(id) = id {
                    self.by_id.insert(id, seen.seq);
                }
                self.open.insert(seen.seq, Open { seen, heard: Instant::now() });
                if self.open.len() > MOST { self.give_up_oldest() } else { Vec::new() }
            }
            "tool.finished" | "tool.failed" | "permission.denied" => {
                if id.as_ref().is_some_and(|id| self.over.contains(id)) {
                    return Vec::new();
                }
                self.count(&seen, id.clone());
                let asked = id.and_then(|id| self.by_id.remove(&id)).and_then(|seq| self.open.remove(&seq));
                if let Some(asked) = asked {
                    let took = seen.time.as_micros().saturating_sub(asked.seen.time.as_micros()) / 1000;
                    seen.duration_ms = seen.duration_ms.or_else(|| u64::try_from(took).ok());
                    seen.target = seen.target.or(asked.seen.target);
                    seen.tool = seen.tool.or(asked.seen.tool);
                }
                vec![Row::Done(Box::new(seen))]
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
}
