//! The lines of a watch, in order: those that are final, those that may still learn what they cost, the calls under way.
//!
//! Owns: when a line is final. What a call cost is told a moment after it is over; so long its line stands below, to be
//! drawn anew. Refuses: drawing.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::{
    calls::{Calls, Row},
    purse::Purse,
    source::Seen,
};

/// How long a line waits for its cost.
const PATIENCE: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Debug)]
pub(super) struct Board {
    pub(super) calls: Calls,
    pub(super) purse: Purse,
    held: VecDeque<Held>,
}

/// A line that is over, but for its cost.
#[derive(Debug)]
struct Held {
    row: Row,
    bill: Bill,
    until: Instant,
}

/// Who pays for what.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Bill {
    /// Nothing is to be paid, or it is known.
    Settled,
    /// A call, by its name: its part of the request that asked for it.
    Call(String),
    /// The end of a turn: the request for its answer.
    Answer { session: String, agent: String },
    /// A request, which has a line only if it is shown on no other.
    Request(usize),
}

impl Board {
    pub(super) fn new(purse: Purse) -> Self {
        Self { calls: Calls::default(), purse, held: VecDeque::new() }
    }

    /// Takes an event; `is_wanted` is what lines there are to be, `spent` knows what a session came to.
    pub(super) fn take(
        &mut self,
        seen: Seen,
        is_wanted: impl Fn(&Seen) -> bool,
        spent: impl FnOnce(&str) -> Option<u64>,
    ) {
        let until = Instant::now() + PATIENCE;
        for (place, told) in self.purse.hear(&seen) {
            if is_wanted(&told) {
                self.held.push_back(Held {
                    row: Row::Done(Box::new(told)),
                    bill: Bill::Request(place),
                    until,
                });
            }
        }
        if matches!(seen.kind.as_str(), "model.called" | "transcript.read") || !is_wanted(&seen) {
            return;
        }
        let seen = if seen.kind == "session.archived" { self.purse.sum_up(seen, spent) } else { seen };
        for row in self.calls.take(seen) {
            let bill = Bill::of(&row);
            self.held.push_back(Held { row, bill, until });
        }
    }

    /// What is final now; at the end of what happened before, or where there is no `room` for more, all the rest.
    pub(super) fn settle(&mut self, now: Instant, room: usize) -> Vec<Row> {
        self.pay(now);
        let mut done = Vec::new();
        while let Some(first) = self.held.front() {
            let is_late = first.until <= now || self.held.len() > room;
            let is_placed = match &first.bill {
                Bill::Request(place) => self.purse.is_placed(*place, |call| self.awaits(call)),
                Bill::Settled => false,
                Bill::Call(_) | Bill::Answer { .. } if is_late => false,
                Bill::Call(_) | Bill::Answer { .. } => break,
            };
            if matches!(first.bill, Bill::Request(_)) && !is_placed && !is_late {
                break;
            }
            let Some(Held { mut row, bill, .. }) = self.held.pop_front() else { break };
            if is_placed {
                continue;
            }
            if let (Bill::Request(place), Row::Done(seen)) = (bill, &mut row) {
                seen.cost_micros = self.purse.show(place);
            }
            done.push(row);
        }
        done
    }

    /// Lines that are over and may change, as they are now.
    pub(super) fn held(&self) -> impl Iterator<Item = &Row> {
        self.held.iter().filter(|held| !matches!(held.bill, Bill::Request(_))).map(|held| &held.row)
    }

    /// Puts the cost on every line that can have one.
    fn pay(&mut self, now: Instant) {
        let Self { purse, held, .. } = self;
        for Held { row, bill, until } in held {
            let Row::Done(seen) = row else { continue };
            let cost = match bill {
                Bill::Call(id) => purse.share(id).inspect(|_| purse.share_is_shown(id)),
                Bill::Answer { session, agent } => purse.answer(session, agent, *until <= now),
                Bill::Settled | Bill::Request(_) => None,
            };
            if cost.is_some() {
                (seen.cost_micros, *bill) = (cost, Bill::Settled);
            }
        }
    }

    /// Whether a call will have a line, or has one that may change.
    fn awaits(&self, call: &str) -> bool {
        self.calls.is_open(call) || self.held.iter().any(|held| held.bill == Bill::Call(call.to_owned()))
    }
}

impl Bill {
    fn of(row: &Row) -> Self {
        let Row::Done(seen) = row else { return Self::Settled };
        let is_call = seen.kind.starts_with("tool.") || seen.kind == "permission.denied";
        let agent = || seen.said("/agent_id").unwrap_or_default().to_owned();
        match (seen.said("/tool_use_id"), seen.kind.as_str()) {
            _ if seen.cost_micros.is_some() => Self::Settled,
            (Some(id), _) if is_call => Self::Call(id.to_owned()),
            (_, "turn.ended" | "agent.stopped") => {
                let session = seen.session_id.clone().unwrap_or_default();
                Self::Answer { session, agent: agent() }
            }
            _ => Self::Settled,
        }
    }
}

#[cfg(test)]
mod tests {
    use belljar_capture::cost::Prices;
    use serde_json::{Value, json};

    use super::*;

    fn event(kind: &str, call: &str, payload: &Value) -> Seen {
        let mut payload = payload.clone();
        if !call.is_empty() {
            payload["tool_use_id"] = json!(call);
        }
        Seen::of(
            &json!({"seq": 1, "kind": kind, "time": "2026-01-01T00:00:00Z", "session_id": "s", "tool": "Bash",
            "cost_micros": payload["cost"], "payload": payload}),
        )
        .unwrap()
    }

    fn board() -> Board {
        Board::new(Purse::new(Prices::default()))
    }

    fn take(board: &mut Board, seen: Seen) {
        board.take(seen, |_| true, |_| None);
    }

    fn shown(rows: &[Row]) -> Vec<(String, Option<u64>)> {
        let done = rows.iter().map(|row| match row {
            Row::Done(seen) | Row::Lost(seen) => (seen.kind.clone(), seen.cost_micros),
        });
        done.collect()
    }

    fn line(kind: &str, cost: Option<u64>) -> (String, Option<u64>) {
        (kind.to_owned(), cost)
    }

    fn facts(facts: &Value) -> Seen {
        event("transcript.read", "", &json!({ "facts": facts }))
    }

    #[test]
    fn a_call_waits_for_its_cost_and_a_request_is_shown_once() {
        let (mut board, now) = (board(), Instant::now());
        take(&mut board, event("tool.requested", "a", &json!({})));
        take(
            &mut board,
            event("model.called", "", &json!({"model": "claude-sonnet-4-5", "request_id": "r", "cost": 70})),
        );
        take(&mut board, event("tool.finished", "a", &json!({})));
        assert!(board.settle(now, 9).is_empty(), "whose the request is, nobody said yet");
        assert_eq!(board.held().count(), 1, "its line is there all the same");
        let told = json!([{"fact": "usage", "message": "m", "request": "r", "model": "claude-sonnet-4-5", "session": "s",
            "tokens": {"input": 9}}, {"fact": "use", "id": "a", "tool": "Bash", "message": "m", "session": "s"}]);
        take(&mut board, facts(&told));
        assert_eq!(shown(&board.settle(now, 9)), [line("tool.finished", Some(70))]);
    }

    #[test]
    fn an_answer_is_paid_at_the_end_of_the_turn() {
        let (mut board, now) = (board(), Instant::now());
        take(&mut board, event("turn.ended", "", &json!({})));
        let told = json!([{"fact": "usage", "message": "m", "request": "r", "model": "claude-sonnet-4-5", "session": "s",
            "tokens": {"input": 1_000_000}}]);
        take(&mut board, facts(&told));
        take(&mut board, event("session.ended", "", &json!({})));
        assert_eq!(
            shown(&board.settle(now, 9)),
            [line("turn.ended", Some(3_000_000)), line("session.ended", None)]
        );
    }

    #[test]
    fn what_learns_nothing_in_time_is_shown_as_it_is() {
        let (mut board, now) = (board(), Instant::now());
        take(&mut board, event("tool.finished", "a", &json!({})));
        take(
            &mut board,
            event("model.called", "", &json!({"model": "gpt-5", "request_id": "r", "cost": 70})),
        );
        assert!(board.settle(now, 9).is_empty());
        let later = now + PATIENCE + PATIENCE;
        assert_eq!(
            shown(&board.settle(later, 9)),
            [line("tool.finished", None), line("model.called", Some(70))]
        );
        take(&mut board, event("tool.finished", "b", &json!({})));
        assert_eq!(shown(&board.settle(now, 0)), [line("tool.finished", None)], "there is no room to wait");
    }

    #[test]
    fn only_lines_that_are_wanted_are_shown_and_all_money_is_counted() {
        let mut board = board();
        let told = event("model.called", "", &json!({"model": "gpt-5", "request_id": "r", "cost": 70}));
        board.take(told, |seen| seen.kind == "tool.finished", |_| None);
        assert!(board.settle(Instant::now(), 0).is_empty());
        assert_eq!(board.purse.paid().micros, 70);
    }
}
