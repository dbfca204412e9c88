//! `declare`, `local`, `export`, `readonly`, `unset`, `let`: variables and what they are like.
//!
//! Owns: attributes and scopes. Refuses: knowing what is in a variable whose very name is not known: then it may be any.

use std::rc::Rc;

use super::super::machine::Machine;
use super::super::simple::{Elements, Job};
use super::super::state::{Content, Letters, State};
use super::super::variables::{Index, is_name, subscripted};
use super::options;
use crate::effects::{Act, Datum, Effort, Stream, programs};
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value};

/// Which of the four it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Scope {
    Declare,
    Local,
    Export,
    Readonly,
}

impl Machine<'_> {
    pub(super) fn run_declare(&mut self, job: &Job, scope: Scope, state: &mut State) -> Option<i32> {
        let options = options(job, b"", true);
        let functions = options.has(b'f') || options.has(b'F');
        if options.rest.is_empty() || options.has(b'p') {
            let data = if functions { Vec::new() } else { vec![Datum::Environment(None)] };
            self.write(state, 1, Stream { text: None, data }, "declare", job.span);
            return Some(0);
        }
        for (place, argument) in options.rest.iter().enumerate() {
            if functions {
                if let (Scope::Export, Some(name)) = (scope, argument.bytes()) {
                    Rc::make_mut(&mut state.exported).insert(name.to_vec());
                }
                continue;
            }
            let array = job
                .arrays
                .iter()
                .find(|(at, _)| *at == options.taken + place)
                .map(|(_, values)| values.clone());
            self.declare(argument, array, scope, &options.letters, job, state);
        }
        Some(0)
    }

    fn declare(
        &mut self,
        argument: &Value,
        array: Option<Elements>,
        scope: Scope,
        letters: &[(u8, u8, Option<Value>)],
        job: &Job,
        state: &mut State,
    ) {
        let Some((written, append, value)) = split(argument) else {
            return self.unknown("a declaration of something unknown", job.span);
        };
        let (name, index) = match subscripted(&written) {
            Some((name, inner)) => (name, self.index_text(&inner, job.span, state)),
            None => (written, Index::None),
        };
        if !is_name(&name) {
            return;
        }
        let global = letters.iter().any(|(_, letter, _)| *letter == b'g');
        let local = scope == Scope::Local || (scope == Scope::Declare && !global);
        let hidden =
            local && state.locals.last().is_some_and(|scope| !scope.iter().any(|(other, _)| *other == name));
        if hidden {
            let before = state.variables.get(&name).cloned();
            if let Some(scope) = state.locals.last_mut() {
                scope.push((name.clone(), before));
            }
            state.set(&name, Default::default());
        }
        let (content, _) = self.content(state, &name);
        let known = state.variables.contains_key(&name);
        let mut variable = state.variables.get(&name).cloned().unwrap_or_default();
        if !known && value.is_none() && array.is_none() {
            variable.content = content;
        }
        for (sign, letter, _) in letters {
            let on = *sign == b'-';
            match letter {
                b'i' => variable.integer = on,
                b'n' => variable.reference = on,
                b'x' => variable.exported = on,
                b'l' => variable.letters = on.then_some(Letters::Lower),
                b'u' => variable.letters = on.then_some(Letters::Upper),
                b'A' => {
                    variable.named = on;
                    if !matches!(variable.content, Content::Named(_)) {
                        variable.content = Content::Named(Default::default());
                    }
                }
                b'a' if !matches!(variable.content, Content::Indexed(_) | Content::Any(_)) => {
                    variable.content = match variable.content {
                        Content::Scalar(value) if value.bytes().is_some() => {
                            Content::Indexed([(0, value)].into())
                        }
                        _ => Content::Indexed(Default::default()),
                    };
                }
                _ => {}
            }
        }
        if scope == Scope::Export {
            variable.exported = !letters.iter().any(|(_, letter, _)| *letter == b'n');
            variable.reference = false;
        }
        if variable.exported && value.is_some() && programs::moves_guard(&name) {
            let how = format!("{} of all that is started from here", String::from_utf8_lossy(&name));
            self.record(Act::Tamper { how }, "bash", job.span, Effort::Done);
        }
        let reference = variable.reference;
        variable.reference = false;
        if reference && let Some(value) = &value {
            variable.content = Content::Scalar(value.clone());
        }
        state.set(&name, variable);
        self.flows.clone_from(&job.flows);
        match (array, value) {
            (Some(values), _) => self.assign_array(state, &name, values, append, job.span),
            (None, Some(value)) if !reference => self.assign(state, &name, &index, value, append, job.span),
            _ => {}
        }
        self.flows.clear();
        let readonly = scope == Scope::Readonly
            || letters.iter().any(|(sign, letter, _)| (*sign, *letter) == (b'-', b'r'));
        if let Some(mut variable) = state.variables.get(&name).cloned() {
            variable.reference = reference;
            variable.readonly |= readonly;
            state.set(&name, variable);
        }
    }

    pub(super) fn run_unset(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let options = options(job, b"", false);
        for argument in options.rest {
            let Some(written) = argument.bytes().map(<[u8]>::to_vec) else {
                self.unknown("the name of what is unset, whose index may run commands", job.span);
                continue;
            };
            if options.has(b'f') {
                Rc::make_mut(&mut state.functions).remove(&written);
                continue;
            }
            if options.has(b'n') {
                Rc::make_mut(&mut state.variables).insert(written, Default::default());
                continue;
            }
            match subscripted(&written) {
                Some((name, inner)) => {
                    let index = self.index_text(&inner, job.span, state);
                    self.unset(state, &name, &index, job.span);
                }
                None if !state.variables.contains_key(&written)
                    && state.functions.contains_key(&written)
                    && !options.has(b'v') =>
                {
                    Rc::make_mut(&mut state.functions).remove(&written);
                }
                None => {
                    if written == b"HISTFILE" {
                        self.forgets(job.span);
                    }
                    self.unset(state, &written, &Index::None, job.span);
                }
            }
        }
        Some(0)
    }

    /// From here on nobody can see which commands were given.
    pub(in super::super) fn forgets(&mut self, span: Span) {
        let how = "the history of commands is switched off".to_owned();
        self.record(Act::Tamper { how }, "bash", span, Effort::Done);
    }

    pub(super) fn run_let(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let mut last = None;
        for argument in job.argv.iter().skip(1) {
            last = self.number(argument, job.span, state);
        }
        last.map(|value| i32::from(value == 0))
    }

    /// Sets a variable named in an argument, as `read` and `printf -v` do: `name` or `name[index]`.
    pub(super) fn set_named(&mut self, written: &Value, value: Value, span: Span, state: &mut State) {
        let Some(name) = written.bytes().map(<[u8]>::to_vec) else {
            return self.unknown("the name of what is set, whose index may run commands", span);
        };
        match subscripted(&name) {
            Some((name, inner)) => {
                let index = self.index_text(&inner, span, state);
                self.assign(state, &name, &index, value, false, span);
            }
            None if is_name(&name) => self.assign(state, &name, &Index::None, value, false, span),
            None => {}
        }
    }
}

/// `name=value` and `name+=value`: the name, whether it is added, and the value.
fn split(argument: &Value) -> Option<(Vec<u8>, bool, Option<Value>)> {
    let Some((Piece::Known(first), rest)) = argument.pieces.split_first() else { return None };
    let Some(place) = first.iter().position(|byte| *byte == b'=') else {
        return rest.is_empty().then(|| (first.clone(), false, None));
    };
    let (name, value) = first.split_at(place);
    let mut held = Value::known(value.get(1..).unwrap_or_default());
    rest.iter().for_each(|piece| held.push(piece.clone()));
    match name.strip_suffix(b"+") {
        Some(name) => Some((name.to_vec(), true, Some(held))),
        None => Some((name.to_vec(), false, Some(held))),
    }
}
