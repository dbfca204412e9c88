//! Assignments that stand on their own: `NAME=value` and `NAME=( … )`.
//!
//! Owns: what is expanded, in which order, and how many elements are followed. Refuses: how a value gets into a variable;
//! `variables` does.

use super::machine::Machine;
use super::simple::Elements;
use super::state::{Content, State};
use super::variables::Index;
use crate::shell::ast::{Assigned, Assignment, Span, Word};
use crate::shell::value::{Value, Why};

/// Elements of an array that are followed.
const ELEMENTS: usize = 512;

impl Machine<'_> {
    /// `NAME=value` on its own.
    pub(super) fn perform(&mut self, assignment: &Assignment, state: &mut State) {
        let flows = std::mem::take(&mut self.flows);
        let index = self.index(&assignment.name, assignment.index.as_ref(), state);
        let index = if assignment.index.is_none() { Index::None } else { index };
        match &assignment.value {
            Assigned::Scalar(word) => {
                let value = self.single(word, state);
                let taken =
                    self.assign(state, &assignment.name, &index, value, assignment.append, assignment.span);
                if !taken {
                    self.give_up(state);
                }
            }
            Assigned::Array(elements) => {
                let elements = self.elements(elements, state);
                if self.keeps(state, &assignment.name) {
                    self.give_up(state);
                }
                self.assign_array(state, &assignment.name, elements, assignment.append, assignment.span);
            }
        }
        self.flows = flows;
    }

    /// What stands between the brackets of `NAME=( … )`.
    pub(super) fn elements(&mut self, written: &[(Option<Word>, Word)], state: &mut State) -> Elements {
        let mut elements = Elements::default();
        for (key, word) in written {
            match key {
                Some(key) => {
                    let key = self.single(key, state);
                    elements.known.push((Some(key), self.single(word, state)));
                }
                None => {
                    let arguments = self.arguments([word], state);
                    elements.more = arguments.more.or(elements.more.take());
                    elements.known.extend(arguments.fields.into_iter().map(|value| (None, value)));
                }
            }
        }
        elements
    }

    /// `NAME=( … )`
    pub(super) fn assign_array(
        &mut self,
        state: &mut State,
        name: &[u8],
        elements: Elements,
        append: bool,
        span: Span,
    ) {
        let name = Self::referred(state, name);
        let mut variable = state.variables.get(&name).cloned().unwrap_or_default();
        if variable.readonly {
            return;
        }
        if !append {
            variable.content = if variable.named {
                Content::Named(Default::default())
            } else {
                Content::Indexed(Default::default())
            };
        } else if let Content::Scalar(value) = &variable.content {
            variable.content = Content::Indexed([(0, value.clone())].into());
        } else if variable.content == Content::Unset && !variable.named {
            variable.content = Content::Indexed(Default::default());
        }
        variable.data.clear();
        let before = match &variable.content {
            Content::Indexed(map) => map.len(),
            Content::Named(map) => map.len(),
            Content::Unset | Content::Scalar(_) | Content::Any(_) => 0,
        };
        if before + elements.known.len() > ELEMENTS {
            let construct = "an array of more than is followed".to_owned();
            variable.content = Content::Any(Why { construct, span });
            state.set(&name, variable);
            return;
        }
        let is_named = variable.named;
        let is_indexed = |(key, _): &(Option<Value>, Value)| key.is_some();
        if is_named
            && elements.known.first().is_some_and(|first| !is_indexed(first))
            && elements.known.iter().any(is_indexed)
        {
            let construct = "words and indexes in one array".to_owned();
            variable.content = Content::Any(Why { construct, span });
            state.set(&name, variable);
            return;
        }
        state.set(&name, variable);
        let values = if is_named { paired(elements.known) } else { elements.known };
        for (key, value) in values {
            // Bash refuses an element without an index and goes on.
            if key.as_ref().is_some_and(|key| key.bytes() == Some(b"")) {
                continue;
            }
            let key =
                key.unwrap_or_else(|| match state.variables.get(&name).map(|variable| &variable.content) {
                    Some(Content::Indexed(map)) => {
                        Value::known(map.keys().next_back().map_or(0, |last| last + 1).to_string())
                    }
                    _ => Value::known("0"),
                });
            self.assign(state, &name, &Index::At(key), value, false, span);
        }
        if let Some(why) = elements.more
            && let Some(mut variable) = state.variables.get(&name).cloned()
        {
            variable.content = Content::Any(why);
            state.set(&name, variable);
        }
    }
}

/// Words without indexes between the brackets of a named array are keys and values in turn; behind one with an index they
/// are refused.
fn paired(values: Vec<(Option<Value>, Value)>) -> Vec<(Option<Value>, Value)> {
    if values.first().is_some_and(|(key, _)| key.is_some()) {
        return values.into_iter().filter(|(key, _)| key.is_some()).collect();
    }
    let mut words = values.into_iter().map(|(_, word)| word);
    let mut pairs = Vec::new();
    while let Some(key) = words.next() {
        pairs.push((Some(key), words.next().unwrap_or_default()));
    }
    pairs
}
