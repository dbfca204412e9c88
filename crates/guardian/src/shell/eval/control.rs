//! `if`, `while`, `case`: every way they can go.
//!
//! Owns: branches, and loops that end on a condition. Refuses: endless loops; what changes from turn to turn becomes unknown, and
//! one more turn shows what is done with that.

use super::endless::is_flood;
use super::list::decided;
use super::machine::Machine;
use super::pattern::Pattern;
use super::state::{Content, Flow, State, Variable};
use super::worlds::{Worlds, settle};
use crate::effects::{Act, Effort, Power};
use crate::shell::ast::{Arm, ArmEnd, Script, Span, Word};
use crate::shell::value::{Value, Why};

/// Turns of a loop whose end is certain.
const CERTAIN: u32 = 256;
/// Turns of a loop whose end is not.
const UNCERTAIN: u32 = 2;

impl Machine<'_> {
    pub(super) fn branches(
        &mut self,
        arms: &[(Script, Script)],
        otherwise: Option<&Script>,
        state: State,
    ) -> Worlds {
        let mut waiting = vec![state];
        let mut after = Vec::new();
        for (condition, body) in arms {
            let mut failed = Vec::new();
            for state in std::mem::take(&mut waiting) {
                for state in self.as_condition(|machine| machine.script(condition, state)) {
                    if state.flow != Flow::Normal {
                        after.push(state);
                        continue;
                    }
                    let (yes, no) = decided(state);
                    failed.extend(no);
                    if let Some(state) = yes {
                        after.extend(self.script(body, state));
                    }
                }
            }
            waiting = settle(failed);
        }
        for mut state in waiting {
            match otherwise {
                Some(script) => after.extend(self.script(script, state)),
                None => {
                    state.status = Some(0);
                    after.push(state);
                }
            }
        }
        settle(after)
    }

    pub(super) fn repeat(
        &mut self,
        until: bool,
        condition: &Script,
        body: &Script,
        span: Span,
        state: State,
    ) -> Worlds {
        if is_flood(until, condition, body) {
            self.record(Act::Power(Power::Exhaust), "a loop", span, Effort::Done);
        }
        let mut is_begun = false;
        let turn = |machine: &mut Self, state: State, out: &mut Worlds| -> (Worlds, bool) {
            let mut next = Vec::new();
            let mut certain = true;
            let last = ended_with(&state, &mut is_begun);
            for state in machine.as_condition(|machine| machine.script(condition, state)) {
                if state.flow != Flow::Normal {
                    left(state, &mut next, out);
                    continue;
                }
                certain &= state.status.is_some();
                let (yes, no) = decided(state);
                let (go, stop) = if until { (no, yes) } else { (yes, no) };
                out.extend(stop.map(|mut state| {
                    state.status = last;
                    state
                }));
                if let Some(state) = go {
                    for state in machine.script(body, state) {
                        left(state, &mut next, out);
                    }
                }
            }
            (next, certain)
        };
        self.looped(state, span, turn)
    }

    /// Turns of a loop until nothing changes any more.
    pub(super) fn looped(
        &mut self,
        state: State,
        span: Span,
        mut turn: impl FnMut(&mut Self, State, &mut Worlds) -> (Worlds, bool),
    ) -> Worlds {
        let mut out = Vec::new();
        let mut going = vec![state];
        let (mut certain_turns, mut uncertain_turns) = (0, 0);
        while !going.is_empty() && certain_turns < CERTAIN && uncertain_turns < UNCERTAIN && !self.is_spent()
        {
            let mut next = Vec::new();
            let mut certain = true;
            for state in &going {
                let (states, sure) = turn(self, state.clone(), &mut out);
                certain &= sure;
                next.extend(states);
            }
            out = settle(out);
            next = settle(next);
            if next.iter().all(|state| going.contains(state)) {
                out.extend(next);
                return settle(out);
            }
            if certain {
                certain_turns += 1;
            } else {
                uncertain_turns += 1;
            }
            going = next;
        }
        self.step(span);
        for _ in 0..3 {
            if going.is_empty() || self.is_spent() {
                break;
            }
            let mut widened: Option<State> = None;
            let mut next = Vec::new();
            for state in &going {
                next.extend(turn(self, state.clone(), &mut out).0);
            }
            for state in going.iter().chain(&next) {
                widened = Some(match widened {
                    None => state.clone(),
                    Some(before) => before.join(state),
                });
            }
            out = settle(out);
            let Some(widened) = widened else { break };
            if going == [widened.clone()] {
                break;
            }
            going = vec![widened];
        }
        out.extend(going);
        settle(out)
    }

    pub(super) fn case(&mut self, subject: &Word, arms: &[Arm], mut state: State) -> Worlds {
        let subject = self.compared_word(subject, &mut state);
        let (is_over, mut after) = self.left_off();
        let mut waiting = if is_over { Vec::new() } else { vec![state] };
        let mut falling: Worlds = Vec::new();
        for arm in arms {
            let mut entering = std::mem::take(&mut falling);
            let mut staying = Vec::new();
            for mut state in std::mem::take(&mut waiting) {
                let fits = self.fits(&subject, &arm.patterns, &mut state);
                let (is_over, gone) = self.left_off();
                after.extend(gone);
                if is_over {
                    continue;
                }
                match fits {
                    Some(true) => entering.push(state),
                    Some(false) => staying.push(state),
                    None => {
                        staying.push(state.clone());
                        entering.push(state);
                    }
                }
            }
            waiting = staying;
            for mut state in settle(entering) {
                // The first command of an arm still sees how the one before `case` ended.
                if arm.body.commands.is_empty() {
                    state.status = Some(0);
                }
                for state in self.script(&arm.body, state) {
                    match (state.flow, arm.end) {
                        (Flow::Normal, ArmEnd::FallThrough) => falling.push(state),
                        (Flow::Normal, ArmEnd::TestNext) => waiting.push(state),
                        _ => after.push(state),
                    }
                }
            }
            waiting = settle(waiting);
        }
        after.extend(falling);
        after.extend(waiting.into_iter().map(|mut state| {
            state.status = Some(0);
            state
        }));
        settle(after)
    }

    fn fits(&mut self, subject: &Value, patterns: &[Word], state: &mut State) -> Option<bool> {
        let mut answer = Some(false);
        for word in patterns {
            let items = self.items(word, state);
            let pattern = Pattern::new(&items, state.options.extglob);
            let one = match (pattern, subject.bytes()) {
                (Some(pattern), _) if pattern.is_all() => Some(true),
                (Some(pattern), Some(bytes)) if state.options.nocasematch => {
                    pattern.lowered().matches(&bytes.to_ascii_lowercase())
                }
                (Some(pattern), Some(bytes)) => pattern.matches(bytes),
                _ => None,
            };
            match one {
                Some(true) => return Some(true),
                Some(false) => {}
                None => answer = None,
            }
        }
        answer
    }
}

/// What a loop that stops here ends with: its last turn's status, or success before the first.
pub(super) fn ended_with(state: &State, is_begun: &mut bool) -> Option<i32> {
    if std::mem::replace(is_begun, true) { state.status } else { Some(0) }
}

/// Where a state goes after one turn of a loop.
pub(super) fn left(mut state: State, next: &mut Worlds, out: &mut Worlds) {
    match state.flow {
        Flow::Normal => next.push(state),
        Flow::Break(0 | 1) => {
            state.flow = Flow::Normal;
            out.push(state);
        }
        Flow::Break(levels) => {
            state.flow = Flow::Break(levels - 1);
            out.push(state);
        }
        Flow::Continue(0 | 1) => {
            state.flow = Flow::Normal;
            next.push(state);
        }
        Flow::Continue(levels) => {
            state.flow = Flow::Continue(levels - 1);
            out.push(state);
        }
        Flow::Return | Flow::Discard | Flow::Exit => out.push(state),
    }
}

/// A variable that holds an array of which nothing is known.
pub(super) fn any_array(why: Why) -> Variable {
    Variable { content: Content::Any(why), ..Variable::default() }
}
