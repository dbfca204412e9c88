//! `if`, `while`, `for`, `case`: every way they can go.
//!
//! Owns: branches and loops. Refuses: endless loops; what changes from turn to turn becomes unknown, and one more turn shows what
//! is done with that.

use super::endless::is_flood;
use super::list::decided;
use super::machine::{Machine, Worlds, settle};
use super::pattern::Pattern;
use super::state::{Content, Flow, State, Variable};
use super::variables::Index;
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
                for state in self.script(condition, state) {
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
        let turn = |machine: &mut Self, state: State, out: &mut Worlds| -> (Worlds, bool) {
            let mut next = Vec::new();
            let mut certain = true;
            for state in machine.script(condition, state) {
                if state.flow != Flow::Normal {
                    left(state, &mut next, out);
                    continue;
                }
                certain &= state.status.is_some();
                let (yes, no) = decided(state);
                let (go, stop) = if until { (no, yes) } else { (yes, no) };
                out.extend(stop.map(|mut state| {
                    state.status = Some(0);
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
    fn looped(
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

    pub(super) fn for_each(
        &mut self,
        select: bool,
        name: &[u8],
        words: Option<&[Word]>,
        body: &Script,
        span: Span,
        mut state: State,
    ) -> Worlds {
        self.flows.clear();
        let (values, more) = match words {
            Some(words) => {
                let arguments = self.arguments(words, &mut state);
                (arguments.fields, arguments.more)
            }
            None => (state.positional.clone(), state.more.clone()),
        };
        let flows = std::mem::take(&mut self.flows);
        if select {
            let turn = |machine: &mut Self, state: State, out: &mut Worlds| {
                let mut next = Vec::new();
                // An answer that is none of them makes it empty.
                for value in values.iter().chain([&Value::default()]) {
                    let mut state = state.clone();
                    machine.assign(&mut state, name, &Index::None, value.clone(), false, span);
                    machine.assign(
                        &mut state,
                        b"REPLY",
                        &Index::None,
                        Value::unknown(answer(span)),
                        false,
                        span,
                    );
                    for state in machine.script(body, state) {
                        left(state, &mut next, out);
                    }
                }
                out.push(state);
                (next, false)
            };
            return self.looped(state, span, turn);
        }
        let mut going = vec![state];
        let mut out = Vec::new();
        for value in &values {
            let mut next = Vec::new();
            for mut state in going {
                self.flows.clone_from(&flows);
                match state.variables.get(name).filter(|variable| variable.reference).cloned() {
                    // A name that stands for another stands for the next one.
                    Some(reference) => {
                        let content = super::state::Content::Scalar(value.clone());
                        state.set(name, super::state::Variable { content, ..reference });
                    }
                    None => self.assign(&mut state, name, &Index::None, value.clone(), false, span),
                }
                self.flows.clear();
                for state in self.script(body, state) {
                    left(state, &mut next, &mut out);
                }
            }
            going = settle(next);
            // A glob or something unknown may stand for any number of turns.
            if more.is_some() || value.bytes().is_none() {
                going = self.again(going, name, value, body, &mut out);
            }
            if self.is_spent() {
                break;
            }
        }
        out.extend(going);
        settle(out)
    }

    /// A further turn with what an earlier one has left behind.
    fn again(
        &mut self,
        going: Worlds,
        name: &[u8],
        value: &Value,
        body: &Script,
        out: &mut Worlds,
    ) -> Worlds {
        let mut all = going.clone();
        let mut joined: Option<State> = None;
        for state in going {
            joined = Some(match joined {
                None => state,
                Some(before) => before.join(&state),
            });
        }
        let Some(mut state) = joined else { return all };
        self.assign(&mut state, name, &Index::None, value.clone(), false, Span::default());
        let before = state.clone();
        let mut next = Vec::new();
        for state in self.script(body, state) {
            left(state, &mut next, out);
        }
        for state in next {
            if state != before {
                let widened = before.clone().join(&state);
                for state in self.script(body, widened) {
                    left(state, &mut all, out);
                }
            }
        }
        settle(all)
    }

    pub(super) fn for_count(
        &mut self,
        parts: &[Word; 3],
        body: &Script,
        span: Span,
        mut state: State,
    ) -> Worlds {
        let [first, condition, step] = parts;
        let text = self.single(first, &mut state);
        self.number(&text, span, &mut state);
        let turn = |machine: &mut Self, mut state: State, out: &mut Worlds| {
            let mut next = Vec::new();
            let text = machine.single(condition, &mut state);
            let value = if text.bytes().is_some_and(|bytes| bytes.iter().all(u8::is_ascii_whitespace)) {
                Some(1)
            } else {
                machine.number(&text, span, &mut state)
            };
            state.status = value.map(|value| i32::from(value == 0));
            let certain = value.is_some();
            let (yes, no) = decided(state);
            out.extend(no);
            if let Some(state) = yes {
                for state in machine.script(body, state) {
                    left(state, &mut next, out);
                }
            }
            for state in &mut next {
                let text = machine.single(step, state);
                machine.number(&text, span, state);
            }
            (next, certain)
        };
        self.looped(state, span, turn)
    }

    pub(super) fn case(&mut self, subject: &Word, arms: &[Arm], mut state: State) -> Worlds {
        let subject = self.single(subject, &mut state);
        let mut waiting = vec![state];
        let mut falling: Worlds = Vec::new();
        let mut after = Vec::new();
        for arm in arms {
            let mut entering = std::mem::take(&mut falling);
            let mut staying = Vec::new();
            for mut state in std::mem::take(&mut waiting) {
                match self.fits(&subject, &arm.patterns, &mut state) {
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

fn answer(span: Span) -> Why {
    Why { construct: "the answer to a question".to_owned(), span }
}

/// Where a state goes after one turn of a loop.
fn left(mut state: State, next: &mut Worlds, out: &mut Worlds) {
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
        Flow::Return | Flow::Exit => out.push(state),
    }
}

/// A variable that holds an array of which nothing is known.
pub(super) fn any_array(why: Why) -> Variable {
    Variable { content: Content::Any(why), ..Variable::default() }
}
