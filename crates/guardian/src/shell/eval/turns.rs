//! `for` and `select`: a turn for each word, or as long as numbers say.
//!
//! Owns: loops that count. Refuses: the belief that an unknown word is one turn: it may be any number of them, and none.

use super::control::{ended_with, left};
use super::list::decided;
use super::machine::Machine;
use super::state::State;
use super::variables::{Index, is_name};
use super::worlds::{Worlds, settle};
use crate::shell::ast::{Script, Span, Word};
use crate::shell::value::{Piece, Value, Why};

impl Machine<'_> {
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
        if !is_name(name) {
            // Bash says so, and runs nothing of it.
            state.status = Some(1);
            return vec![state];
        }
        let (mut values, more) = match words {
            Some(words) => {
                let arguments = self.arguments(words, &mut state);
                (arguments.fields, arguments.more)
            }
            None => (state.positional.clone(), state.more.clone()),
        };
        values.extend(more.clone().filter(|_| values.is_empty()).map(Value::unknown));
        let flows = std::mem::take(&mut self.flows);
        let (is_over, mut out) = self.left_off();
        if is_over {
            return out;
        }
        if self.keeps(&state, name) {
            state.status = Some(1);
            out.push(state);
            return out;
        }
        if select {
            out.extend(self.select(name, &values, body, span, state));
            return out;
        }
        if may_be_none(&values, more.is_some(), &state) {
            let mut without = state.clone();
            without.status = Some(0);
            out.push(without);
        }
        if values.is_empty() {
            return out;
        }
        let mut going = vec![state];
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
                    None => {
                        self.assign(&mut state, name, &Index::None, value.clone(), false, span);
                    }
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

    /// `select`: any of the words, as often as somebody answers.
    fn select(&mut self, name: &[u8], values: &[Value], body: &Script, span: Span, state: State) -> Worlds {
        let turn = |machine: &mut Self, state: State, out: &mut Worlds| {
            let mut next = Vec::new();
            // An answer that is none of them makes it empty.
            for value in values.iter().chain([&Value::default()]) {
                let mut state = state.clone();
                machine.assign(&mut state, name, &Index::None, value.clone(), false, span);
                machine.assign(&mut state, b"REPLY", &Index::None, Value::unknown(answer(span)), false, span);
                for state in machine.script(body, state) {
                    left(state, &mut next, out);
                }
            }
            out.push(state);
            (next, false)
        };
        self.looped(state, span, turn)
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
        let (is_over, gone) = self.left_off();
        if is_over {
            return gone;
        }
        self.number(&text, span, &mut state);
        let mut is_begun = false;
        let turn = |machine: &mut Self, mut state: State, out: &mut Worlds| {
            let mut next = Vec::new();
            let last = ended_with(&state, &mut is_begun);
            let before = state.status;
            let text = machine.single(condition, &mut state);
            let (is_over, gone) = machine.left_off();
            out.extend(gone);
            if is_over {
                return (next, true);
            }
            let value = if text.bytes().is_some_and(|bytes| bytes.iter().all(u8::is_ascii_whitespace)) {
                Some(1)
            } else {
                machine.number(&text, span, &mut state)
            };
            state.status = value.map(|value| i32::from(value == 0));
            let certain = value.is_some();
            let (yes, no) = decided(state);
            out.extend(no.map(|mut state| {
                // What is no number ends it too, and is told.
                state.status = last.filter(|_| certain);
                state
            }));
            if let Some(mut state) = yes {
                // A body sees how the command before it ended; the condition is none.
                state.status = before;
                for state in machine.script(body, state) {
                    left(state, &mut next, out);
                }
            }
            for state in &mut next {
                let text = machine.single(step, state);
                machine.number(&text, span, state);
                out.extend(machine.left_off().1);
            }
            (next, certain)
        };
        let mut worlds = self.looped(state, span, turn);
        worlds.extend(gone);
        worlds
    }
}

/// Whether a loop over these words may have no turn at all.
fn may_be_none(values: &[Value], more: bool, state: &State) -> bool {
    values.iter().all(|value| {
        value.pieces.iter().all(|piece| match piece {
            Piece::Known(_) => state.options.nullglob && value.has_glob(),
            Piece::Glob(_) => state.options.nullglob,
            Piece::Unknown(why) => more && why.may_be_empty(),
        }) && !value.pieces.is_empty()
    })
}

fn answer(span: Span) -> Why {
    Why { construct: "the answer to a question".to_owned(), span }
}
