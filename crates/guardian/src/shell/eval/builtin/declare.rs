//! `declare`, `local`, `export`, `readonly`, `unset`, `let`: variables and what they are like.
//!
//! Owns: attributes and scopes. Refuses: knowing what is in a variable whose very name is not known: then it may be any.

use std::rc::Rc;

use super::super::machine::Machine;
use super::super::simple::{Elements, Job};
use super::super::state::{Content, Hidden, Letters, State, Variable};
use super::super::variables::{Index, is_name, subscripted};
use super::options;
use crate::effects::{Act, Datum, Effort, Stream, programs};
use crate::shell::ast::{Assigned, Assignment, Command, Kind, Link, Span};
use crate::shell::parse::parse;
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
        if scope == Scope::Local && state.locals.is_empty() {
            // Outside of a function there is nothing to be local to.
            return Some(1);
        }
        let options = options(job, b"", true);
        let is_option = |(_, letter, _): &(u8, u8, Option<Value>)| b"aAfFgiIlnprtux".contains(letter);
        if !options.letters.iter().all(is_option) {
            return Some(2);
        }
        let functions = options.has(b'f') || options.has(b'F');
        if options.rest.is_empty() || options.has(b'p') {
            let name = |name: &Value| Datum::Environment(Some(name.text().unwrap_or("some").to_owned()));
            let data = match options.rest {
                _ if functions => Vec::new(),
                [] => vec![Datum::Environment(None)],
                // Those the script itself has set it knows anyway.
                names => names.iter().filter(|name| !is_set(name, state)).map(name).collect(),
            };
            self.write(state, 1, Stream { text: None, data }, "declare", job.span);
            return if options.rest.is_empty() { Some(0) } else { None };
        }
        // What is no name, keeps what it has, or is no function, is told.
        let is_told = |argument: &Value| {
            let name = split(argument).map(|(name, ..)| name).unwrap_or_default();
            match functions {
                true => !state.functions.contains_key(&name),
                false => {
                    options.has(b'n')
                        || !is_name(&name)
                        || state.variables.get(&name).is_some_and(|variable| variable.readonly)
                }
            }
        };
        let status = if options.rest.iter().any(is_told) { None } else { Some(0) };
        for (place, argument) in options.rest.iter().enumerate() {
            if scope == Scope::Local && argument.bytes() == Some(b"-") {
                let options = state.options;
                if let Some(hidden) = state.locals.last_mut() {
                    hidden.options = Some(options);
                }
                continue;
            }
            if functions {
                match (scope, argument.bytes()) {
                    (Scope::Export, Some(name)) => {
                        Rc::make_mut(&mut state.exported).insert(name.to_vec());
                    }
                    (_, Some(name)) if scope == Scope::Readonly || options.has(b'r') => {
                        if state.functions.contains_key(name) {
                            Rc::make_mut(&mut state.kept).insert(name.to_vec());
                        }
                    }
                    (_, name) => {
                        let text = name.and_then(|name| written(name, state));
                        self.write(state, 1, Stream { text, data: Vec::new() }, "declare", job.span);
                    }
                }
                continue;
            }
            let array = job
                .arrays
                .iter()
                .find(|(at, _)| *at == options.taken + place)
                .map(|(_, values)| values.clone())
                .or_else(|| self.compound(argument, &options.letters, job.span, state));
            self.declare(argument, array, scope, &options.letters, job, state);
        }
        status
    }

    /// `declare -a 'a=(…)'`: such a value is read once more, whatever quotes it stood in.
    fn compound(
        &mut self,
        argument: &Value,
        letters: &[(u8, u8, Option<Value>)],
        span: Span,
        state: &mut State,
    ) -> Option<Elements> {
        let (name, _, value) = split(argument)?;
        let value = value.filter(|value| value.prefix().starts_with(b"("))?;
        let is_array = letters.iter().any(|(sign, letter, _)| *sign == b'-' && matches!(letter, b'a' | b'A'))
            || state.variables.get(&name).is_some_and(|variable| {
                matches!(variable.content, Content::Indexed(_) | Content::Named(_) | Content::Any(_))
            });
        if !is_array {
            return None;
        }
        let Some(bytes) = value.bytes() else {
            self.unknown("elements of an array that are read once more", span);
            return None;
        };
        let script = parse(&[b"a=", bytes].concat());
        let [Command { kind: Kind::Simple { assignments, words }, .. }] = script.commands.as_slice() else {
            return None;
        };
        match (assignments.as_slice(), words.as_slice(), script.unknown.as_slice()) {
            ([Assignment { value: Assigned::Array(elements), .. }], [], []) => {
                Some(self.elements(elements, state))
            }
            _ => None,
        }
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
        let is_told = matches!(scope, Scope::Export | Scope::Readonly)
            && job.environment.iter().any(|(other, _)| *other == name);
        if !is_told {
            self.passing(&name, job.span);
        }
        let global = letters.iter().any(|(_, letter, _)| *letter == b'g');
        let local = scope == Scope::Local || (scope == Scope::Declare && !global);
        if local {
            // What is readonly everywhere no function has for its own.
            let is_own = |hidden: &Hidden| hidden.variables.iter().any(|(other, _)| *other == name);
            if !state.locals.is_empty() && self.keeps(state, &name) && !state.locals.iter().any(is_own) {
                return;
            }
            hide(&name, state);
        }
        // What stands for no name is told, and the function's own is there all the same.
        let refers = letters.iter().any(|(sign, letter, _)| (*sign, *letter) == (b'-', b'n'));
        if refers
            && value
                .as_ref()
                .and_then(Value::bytes)
                .is_some_and(|to| !is_name(to) && subscripted(to).is_none())
        {
            return;
        }
        let (content, _) = self.content(state, &name);
        let known = state.variables.contains_key(&name);
        let mut variable = state.variables.get(&name).cloned().unwrap_or_default();
        if !known && value.is_none() && array.is_none() {
            variable.content = content;
        }
        attribute(&mut variable, letters, known);
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
            (None, Some(value)) if !reference => {
                self.assign(state, &name, &index, value, append, job.span);
            }
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
        if options.has(b'f') && options.has(b'v') {
            return Some(1);
        }
        let keeps = |name: &Value| {
            name.bytes().is_some_and(|name| {
                state.kept.contains(name)
                    || state.variables.get(name).is_some_and(|variable| variable.readonly)
            })
        };
        let is_told = |name: &Value| {
            let is_name = |name: &[u8]| is_name(name) || subscripted(name).is_some();
            !options.has(b'f') && !name.bytes().is_some_and(is_name)
        };
        let status = match options.rest.iter().any(is_told) {
            true => None,
            false => Some(i32::from(options.rest.iter().any(keeps))),
        };
        for argument in options.rest {
            let Some(written) = argument.bytes().map(<[u8]>::to_vec) else {
                self.unknown("the name of what is unset, whose index may run commands", job.span);
                continue;
            };
            if options.has(b'f') {
                if !state.kept.contains(&written) {
                    Rc::make_mut(&mut state.functions).remove(&written);
                }
                continue;
            }
            self.passing(&written, job.span);
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
                    && !options.has(b'v')
                    && !state.kept.contains(&written) =>
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
        status
    }

    /// A variable that is set for one command alone and declared or unset within it: bash has a rule of its own for each builtin.
    fn passing(&mut self, name: &[u8], span: Span) {
        if self.temporaries.iter().any(|other| other == name) {
            self.unknown("a variable that is set for one command, and declared in it", span);
        }
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

    /// Sets a variable named in an argument, as `read` and `printf -v` do: `name` or `name[index]`. Says whether bash takes it.
    pub(super) fn set_named(&mut self, written: &Value, value: Value, span: Span, state: &mut State) -> bool {
        let Some(name) = written.bytes().map(<[u8]>::to_vec) else {
            self.unknown("the name of what is set, whose index may run commands", span);
            return true;
        };
        match subscripted(&name) {
            Some((name, inner)) => {
                let index = self.index_text(&inner, span, state);
                self.assign(state, &name, &index, value, false, span)
            }
            None if is_name(&name) => self.assign(state, &name, &Index::None, value, false, span),
            None => false,
        }
    }
}

/// Gives a variable what the letters of a declaration say, and takes away what they take.
fn attribute(variable: &mut Variable, letters: &[(u8, u8, Option<Value>)], known: bool) {
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
                variable.content = match std::mem::take(&mut variable.content) {
                    Content::Scalar(value) if known || value.bytes().is_some() => {
                        Content::Indexed([(0, value)].into())
                    }
                    _ => Content::Indexed(Default::default()),
                };
            }
            _ => {}
        }
    }
}

/// Keeps what a name was outside of the function that makes it its own.
fn hide(name: &[u8], state: &mut State) {
    let before = state.variables.get(name).cloned();
    let Some(hidden) = state.locals.last_mut() else { return };
    if !hidden.variables.iter().any(|(other, _)| other == name) {
        hidden.variables.push((name.to_vec(), before));
        state.set(name, Default::default());
    }
}

fn is_set(name: &Value, state: &State) -> bool {
    name.bytes().is_some_and(|name| state.variables.contains_key(name))
}

/// A function as bash shows it, where it can be only one and is no more than simple commands.
fn written(name: &[u8], state: &State) -> Option<Value> {
    let [function] = state.functions.get(name)?.as_slice() else { return None };
    let Kind::Group(body) = &function.body.kind else { return None };
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for command in &body.commands {
        match &command.kind {
            Kind::List(parts) => {
                for (command, link) in parts {
                    lines.push(line(command, &function.source).filter(|_| *link == Link::Then)?);
                }
            }
            _ => lines.push(line(command, &function.source)?),
        }
    }
    let is_whole = body.unknown.is_empty() && function.redirects.is_empty();
    is_whole.then(|| {
        Value::known([name, b" () \n{ \n    ", &lines.join(b";\n    ".as_slice()), b"\n}\n"].concat())
    })
}

/// A simple command on a line of its own.
fn line(command: &Command, source: &[u8]) -> Option<Vec<u8>> {
    let Kind::Simple { assignments, words } = &command.kind else { return None };
    if !assignments.is_empty() || !command.redirects.is_empty() {
        return None;
    }
    let cut = |span: Span| source.get(usize::try_from(span.start).ok()?..usize::try_from(span.end).ok()?);
    let words: Option<Vec<&[u8]>> = words.iter().map(|word| cut(word.span)).collect();
    Some(words?.join(b" ".as_slice())).filter(|line| !line.contains(&b'\n'))
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
