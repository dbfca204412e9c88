//! `$x` and `${x…}`: what a parameter comes to.
//!
//! Owns: finding parameters (special, positional, arrays, indirect) and the operations that ask whether there is a value.
//! Refuses: the operations that change a value; they are in `operation`.

use super::items::{Item, Origin, globbed, push_names, push_value, unnamed};
use super::machine::Machine;
use super::state::{Content, State};
use super::variables::{Index, in_bash_order, is_opaque, number, scalar_of, variable};
use crate::shell::ast::{Operation, Span, Word};
use crate::shell::value::{Piece, Value, Why};

/// A parameter where it is used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use<'w> {
    pub(super) name: &'w [u8],
    pub(super) index: Option<&'w Word>,
    pub(super) operation: &'w Operation,
    pub(super) quoted: bool,
    /// Whether nothing else is in the word.
    pub(super) is_apart: bool,
    pub(super) span: Span,
}

/// What was found under a name.
#[derive(Debug, Clone)]
pub(super) enum Found {
    Unset,
    One(Value),
    /// A value of the environment nobody can say is there.
    Perhaps(Value),
    Many {
        values: Vec<Value>,
        joined: bool,
    },
    Any(Why),
}

/// Whether there is a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Unset,
    Empty,
    Filled,
    /// Empty or not.
    Maybe,
    /// Unset, empty or not.
    Perhaps,
}

impl Machine<'_> {
    /// Expands a parameter into a word.
    pub(super) fn parameter(&mut self, used: &Use<'_>, state: &mut State, out: &mut Vec<Item>) {
        if let Operation::Indirect(inner) = used.operation {
            return self.indirect(used, inner, state, out);
        }
        if *used.operation == Operation::Names {
            return self.names(used, state, out);
        }
        let index = self.index(used.name, used.index, state);
        let found = self.find(used.name, &index, used.span, state);
        if state.options.nounset && is_missed(used.operation, &found) {
            self.may_quit(state);
        }
        // Whether there is a value, and how long it is, is not the value.
        if !matches!(used.operation, Operation::Length | Operation::Alternative(..)) {
            self.flows_from(state, used.name);
        }
        self.operated(used, &index, found, state, out);
    }

    /// What stands in the brackets behind a name.
    pub(super) fn index(&mut self, name: &[u8], index: Option<&Word>, state: &mut State) -> Index {
        let Some(word) = index else {
            return match name {
                b"@" => Index::All { joined: false },
                b"*" => Index::All { joined: true },
                _ => Index::None,
            };
        };
        let value = self.single(word, state);
        match value.bytes() {
            Some(b"@") => Index::All { joined: false },
            Some(b"*") => Index::All { joined: true },
            _ => Index::At(value),
        }
    }

    pub(super) fn find(&mut self, name: &[u8], index: &Index, span: Span, state: &mut State) -> Found {
        match name {
            b"@" | b"*" => match &state.more {
                Some(why) => Found::Any(why.clone()),
                None => Found::Many { values: state.positional.clone(), joined: name == b"*" },
            },
            b"#" if state.more.is_none()
                && !state.zero.has_glob()
                && !state.positional.iter().any(Value::has_glob) =>
            {
                Found::One(Value::known(state.positional.len().to_string()))
            }
            b"#" => Found::One(Value::unknown(number(b"of arguments"))),
            b"?" => Found::One(
                state
                    .status
                    .filter(|status| *status >= 0)
                    .map_or_else(|| Value::unknown(number(b"$?")), |status| Value::known(status.to_string())),
            ),
            b"$" => Found::One(Value::unknown(number(b"$$"))),
            b"!" if !self.has_left => Found::Unset,
            // Another shell, or another way to here, may have left something behind.
            b"!" if !state.has_left && self.choose(2) == 0 => Found::Unset,
            b"!" => Found::One(Value::unknown(number(b"$!"))),
            b"-" => Found::One(Value::unknown(
                Why { construct: "the options of the shell".to_owned(), span }.filled(),
            )),
            b"0" => Found::One(Value::clone(&state.zero)),
            b"_" => Found::One(Value::clone(&state.last)),
            _ if name.iter().all(u8::is_ascii_digit) => positional(name, state),
            _ => self.find_variable(name, index, span, state),
        }
    }

    fn find_variable(&mut self, name: &[u8], index: &Index, span: Span, state: &mut State) -> Found {
        let (content, decided) = self.content(state, name);
        match (index, content) {
            (Index::None, content) => match scalar_of(content) {
                None => Found::Unset,
                Some(value) if !decided && value.bytes().is_none() => Found::Perhaps(value),
                Some(value) => Found::One(value),
            },
            (Index::All { joined }, content) => match content {
                Content::Unset => Found::Many { values: Vec::new(), joined: *joined },
                Content::Scalar(value) if !decided && is_opaque(&value) => Found::Any(variable(name)),
                Content::Scalar(value) => Found::Many { values: vec![value], joined: *joined },
                Content::Indexed(map) => Found::Many { values: map.into_values().collect(), joined: *joined },
                Content::Named(map) => {
                    let values = in_bash_order(map).into_iter().map(|(_, value)| value).collect();
                    Found::Many { values, joined: *joined }
                }
                Content::Any(why) => Found::Any(why),
            },
            (Index::At(key), Content::Named(map)) => match key.bytes() {
                Some(key) => map.get(key).cloned().map_or(Found::Unset, Found::One),
                None => Found::One(Value::unknown(variable(name))),
            },
            (Index::At(key), content) => {
                let place = self.number(key, span, state);
                match (content, place) {
                    // How many names a glob comes to is not known, so what stands behind it may stand anywhere.
                    (Content::Indexed(map), Some(place))
                        if map.range(..place).any(|(_, value)| value.has_glob())
                            || place < 0 && map.values().any(Value::has_glob) =>
                    {
                        Found::Perhaps(Value::unknown(variable(name)))
                    }
                    (Content::Indexed(map), Some(place)) => {
                        let last = map.keys().next_back().copied().unwrap_or(-1);
                        let place =
                            if place < 0 { last.saturating_add(1).saturating_add(place) } else { place };
                        map.get(&place).cloned().map_or(Found::Unset, Found::One)
                    }
                    (Content::Scalar(value), Some(0 | -1)) => Found::One(value),
                    (Content::Unset, _) => Found::Unset,
                    (Content::Scalar(value), Some(_)) if value.bytes().is_some() => Found::Unset,
                    _ => Found::One(Value::unknown(variable(name))),
                }
            }
        }
    }

    /// The operations that ask whether there is a value; the others change it.
    pub(super) fn operated(
        &mut self,
        used: &Use<'_>,
        index: &Index,
        found: Found,
        state: &mut State,
        out: &mut Vec<Item>,
    ) {
        match used.operation {
            Operation::Default(word, colon) => match self.lacks(used.name, &found, *colon, state) {
                true => self.operand(word, used.quoted, state, out),
                false => self.emit(filled(found), used, state, out),
            },
            Operation::Assign(word, colon) => {
                if self.lacks(used.name, &found, *colon, state) {
                    let value = self.single(word, state);
                    if !self.assign(state, used.name, index, value.clone(), false, used.span) {
                        self.give_up(state);
                    }
                    push_value(out, value, used.quoted);
                } else {
                    self.emit(filled(found), used, state, out);
                }
            }
            Operation::Require(word, colon) => {
                let missing = matches!(presence(&found), Presence::Unset)
                    || (*colon && presence(&found) == Presence::Empty);
                // Unless it surely is there, what is said of it may be said, and what is in that may run.
                if missing || matches!(presence(&found), Presence::Perhaps | Presence::Maybe) {
                    self.may_quit(state);
                }
                if missing {
                    self.single(word, state);
                } else if presence(&found) != Presence::Filled {
                    self.single(word, &mut state.clone());
                }
                let why = variable(used.name).filled();
                let found = if missing {
                    Found::One(Value::unknown(why))
                } else if *colon {
                    filled(found)
                } else {
                    found
                };
                self.emit(found, used, state, out);
            }
            Operation::Alternative(word, colon) => {
                if !self.lacks(used.name, &found, *colon, state) {
                    self.operand(word, used.quoted, state, out);
                } else if used.quoted {
                    out.push(Item::Text(Vec::new(), Origin::Quoted));
                }
            }
            Operation::Plain => self.emit(found, used, state, out),
            Operation::Length
            | Operation::Indirect(_)
            | Operation::Names
            | Operation::WithoutPrefix(..)
            | Operation::WithoutSuffix(..)
            | Operation::Replace(..)
            | Operation::Slice(..)
            | Operation::Case(..)
            | Operation::Transform(_) => {
                let changed = self.operate(used, found, state);
                self.emit(changed, used, state, out);
            }
        }
    }

    /// Whether a word stands in for the value. Where both may be, both are tried.
    fn lacks(&mut self, name: &[u8], found: &Found, colon: bool, state: &mut State) -> bool {
        match (presence(found), colon) {
            (Presence::Unset, _) | (Presence::Empty, true) => true,
            (Presence::Filled, _) | (Presence::Empty | Presence::Maybe, false) => false,
            // Nobody sets it where it is not known to be set.
            (Presence::Perhaps, _) if name == b"TMPDIR" => true,
            (Presence::Perhaps, _) | (Presence::Maybe, true) => {
                let lacks = self.choose(2) == 1;
                if let (Found::One(value) | Found::Perhaps(value), true) =
                    (found, super::variables::is_name(name))
                {
                    let mut variable = state.variables.get(name).cloned().unwrap_or_default();
                    let may_be_unset = presence(found) == Presence::Perhaps;
                    variable.content = match (lacks, colon) {
                        // Who sets it does not set it to nothing.
                        (true, true) if !may_be_unset => Content::Scalar(Value::default()),
                        (true, _) => Content::Unset,
                        (false, true) => Content::Scalar(not_empty(value.clone())),
                        (false, false) => Content::Scalar(value.clone()),
                    };
                    state.set(name, variable);
                }
                lacks
            }
        }
    }

    /// The word of an operation: in double quotes it stays together, outside of them it is split.
    fn operand(&mut self, word: &Word, quoted: bool, state: &mut State, out: &mut Vec<Item>) {
        if quoted {
            out.push(Item::Text(Vec::new(), Origin::Quoted));
        }
        for item in self.items(word, state) {
            out.push(match item {
                Item::Text(bytes, Origin::Written) if quoted => Item::Text(bytes, Origin::Quoted),
                Item::Text(bytes, Origin::Written) => Item::Text(bytes, Origin::Expanded),
                Item::Text(bytes, Origin::Expanded) if quoted => Item::Text(bytes, Origin::Quoted),
                Item::Unknown(why, _) if quoted => Item::Unknown(why, Origin::Quoted),
                Item::Glob(bytes, Origin::Written) if quoted => Item::Text(bytes, Origin::Quoted),
                other => other,
            });
        }
    }

    /// Puts what was found into a word.
    pub(super) fn emit(&mut self, found: Found, used: &Use<'_>, state: &State, out: &mut Vec<Item>) {
        let quoted = used.quoted;
        match found {
            Found::Unset => push_value(out, Value::default(), quoted),
            Found::One(value) | Found::Perhaps(value) => push_value(out, value, quoted),
            Found::Any(why) => out.push(Item::Any(why)),
            Found::Many { values, joined: true } if quoted => {
                let separator: Vec<u8> = self.separators(state).iter().copied().take(1).collect();
                let mut value = Value::default();
                for (place, next) in values.into_iter().enumerate() {
                    if place > 0 {
                        value.push(Piece::Known(separator.clone()));
                    }
                    value.append(next);
                }
                push_value(out, unnamed(value), true);
            }
            // Text beside them is beside the first name or the last.
            Found::Many { values, .. } if !used.is_apart && values.iter().any(Value::has_glob) => {
                out.push(Item::Any(globbed()));
            }
            Found::Many { values, joined } => {
                let between = match joined {
                    true => self.separators(state).iter().copied().take(1).collect(),
                    false => b" ".to_vec(),
                };
                for (place, value) in values.into_iter().enumerate() {
                    if place > 0 {
                        out.push(Item::Break(between.clone()));
                    }
                    push_names(out, value, quoted);
                }
            }
        }
    }
}

/// Whether `set -u` may end the shell here.
fn is_missed(operation: &Operation, found: &Found) -> bool {
    let is_asked = matches!(
        operation,
        Operation::Default(..)
            | Operation::Assign(..)
            | Operation::Require(..)
            | Operation::Alternative(..)
            | Operation::Names
    );
    !is_asked && matches!(found, Found::Unset | Found::Perhaps(_))
}

fn positional(name: &[u8], state: &State) -> Found {
    let place: usize =
        std::str::from_utf8(name).ok().and_then(|name| name.parse().ok()).unwrap_or(usize::MAX);
    // How many names a glob comes to is not known, so what stands behind it may stand anywhere.
    if place > 0 && (state.zero.has_glob() || state.positional.iter().take(place - 1).any(Value::has_glob)) {
        let why = Why { construct: "an argument behind a glob".to_owned(), span: Span::default() };
        return Found::Perhaps(Value::unknown(why));
    }
    match (state.positional.get(place.wrapping_sub(1)), &state.more) {
        (_, Some(why)) => Found::Perhaps(Value::unknown(why.clone())),
        (Some(value), None) => Found::One(value.clone()),
        (None, None) => Found::Unset,
    }
}

fn presence(found: &Found) -> Presence {
    let of = |value: &Value, opaque: Presence| match value.bytes() {
        Some([]) => Presence::Empty,
        Some(_) => Presence::Filled,
        None if value
            .pieces
            .iter()
            .all(|piece| matches!(piece, Piece::Unknown(why) if why.may_be_empty())) =>
        {
            opaque
        }
        None => Presence::Filled,
    };
    match found {
        Found::Unset => Presence::Unset,
        Found::One(value) => of(value, Presence::Maybe),
        Found::Perhaps(value) => of(value, Presence::Perhaps),
        Found::Any(_) => Presence::Perhaps,
        Found::Many { values, .. } => match values.as_slice() {
            [] => Presence::Unset,
            [one] => of(one, Presence::Maybe),
            _ => Presence::Filled,
        },
    }
}

fn filled(found: Found) -> Found {
    match found {
        Found::One(value) | Found::Perhaps(value) => Found::One(not_empty(value)),
        other @ (Found::Unset | Found::Many { .. } | Found::Any(_)) => other,
    }
}

/// The same value, known not to be empty.
pub(super) fn not_empty(mut value: Value) -> Value {
    if let [Piece::Unknown(why)] = value.pieces.as_mut_slice() {
        *why = why.clone().filled();
    }
    value
}
