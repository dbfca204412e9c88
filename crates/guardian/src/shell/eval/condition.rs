//! `[[ … ]]` and `test`: true, false, or nobody knows; and what is so when they are true.
//!
//! Owns: the questions. Refuses: answers about files nobody looked at.

use super::machine::Machine;
use super::pattern::Pattern;
use super::state::{Content, Hint, State, Variable};
use super::variables::{is_name, is_opaque, subscripted};
use crate::effects::{FileKind, path};
use crate::shell::ast::{Span, Test, Word};
use crate::shell::value::{Piece, Value, Why};

/// An answer, and what it would mean.
type Answer = (Option<bool>, Hint);

impl Machine<'_> {
    /// What `[[ … ]]` answers.
    pub(super) fn condition(&mut self, test: &Test, state: &mut State) -> Answer {
        let span = Span::default();
        self.deeper(span, |machine| machine.asked(test, state)).unwrap_or_default()
    }

    fn asked(&mut self, test: &Test, state: &mut State) -> Answer {
        match test {
            Test::And(left, right) => {
                let (first, mut hint) = self.condition(left, state);
                if first == Some(false) {
                    return (first, Hint::default());
                }
                let (second, other) = self.condition(right, state);
                hint.filled.extend(other.filled);
                hint.unfilled.clear();
                let truth = match (first, second) {
                    (_, Some(false)) => Some(false),
                    (Some(true), other) => other,
                    _ => None,
                };
                (truth, hint)
            }
            Test::Or(left, right) => {
                let (first, mut hint) = self.condition(left, state);
                if first == Some(true) {
                    return (first, Hint::default());
                }
                let (second, other) = self.condition(right, state);
                hint.unfilled.extend(other.unfilled);
                hint.filled.clear();
                let truth = match (first, second) {
                    (_, Some(true)) => Some(true),
                    (Some(false), other) => other,
                    _ => None,
                };
                (truth, hint)
            }
            Test::Not(inner) => {
                let (truth, hint) = self.condition(inner, state);
                (
                    truth.map(|truth| !truth),
                    Hint { filled: hint.unfilled, unfilled: hint.filled, ..Hint::default() },
                )
            }
            Test::Unary(operator, word) => {
                let value = self.compared_word(word, state);
                self.unary(operator, &value, word.span, state)
            }
            Test::Word(word) => {
                let value = self.compared_word(word, state);
                self.unary(b"-n", &value, word.span, state)
            }
            Test::Binary(left, operator, right) => {
                (self.compared(left, operator, right, state), Hint::default())
            }
        }
    }

    fn compared(&mut self, left: &Word, operator: &[u8], right: &Word, state: &mut State) -> Option<bool> {
        let subject = self.compared_word(left, state);
        match operator {
            b"=" | b"==" | b"!=" => {
                let items = self.items(right, state);
                let pattern = Pattern::new(&items, true)?;
                let truth = match subject.bytes() {
                    _ if pattern.is_all() => Some(true),
                    Some(bytes) if state.options.nocasematch => {
                        pattern.lowered().matches(&bytes.to_ascii_lowercase())
                    }
                    Some(bytes) => pattern.matches(bytes),
                    None => None,
                };
                truth.map(|truth| truth == (operator != b"!="))
            }
            b"=~" => {
                self.items(right, state);
                let why = Why { construct: "what a regular expression found".to_owned(), span: left.span };
                state.set(b"BASH_REMATCH", super::control::any_array(why));
                None
            }
            b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge" => {
                let other = self.single(right, state);
                let first = self.number(&subject, left.span, state);
                let second = self.number(&other, right.span, state);
                Some(ordered(operator, first?, second?))
            }
            _ => {
                let other = self.single(right, state);
                binary(operator, &subject, &other)
            }
        }
    }

    /// `-n`, `-z`, `-v`, `-f` and all the others.
    pub(super) fn unary(&mut self, operator: &[u8], value: &Value, span: Span, state: &mut State) -> Answer {
        match operator {
            b"-n" | b"-z" => {
                let names = names_of(value, state);
                let full = match value.bytes() {
                    Some(bytes) => Some(!bytes.is_empty()),
                    None if value
                        .pieces
                        .iter()
                        .all(|piece| matches!(piece, Piece::Unknown(why) if why.may_be_empty())) =>
                    {
                        None
                    }
                    None => Some(true),
                };
                if operator == b"-n" {
                    (full, Hint { filled: names, ..Hint::default() })
                } else {
                    (full.map(|full| !full), Hint { unfilled: names, ..Hint::default() })
                }
            }
            b"-v" => (self.is_set(value, span, state), Hint::default()),
            b"-R" => {
                let variable = value.bytes().map(|name| state.variables.get(name));
                let is_reference =
                    |variable: Option<&Variable>| variable.is_some_and(|variable| variable.reference);
                (variable.map(is_reference).filter(|truth| !truth), Hint::default())
            }
            b"-o" | b"-t" => (None, Hint::default()),
            _ => {
                let kind = path::resolve(value, &state.cwd)
                    .bytes()
                    .and_then(|path| self.context.facts.get(path))
                    .map(|fact| fact.kind);
                let truth = match (operator, kind) {
                    _ if value.bytes() == Some(b"") => Some(false),
                    (_, Some(FileKind::Missing)) => Some(false),
                    (b"-e" | b"-a", Some(_)) => Some(true),
                    (b"-f", Some(kind)) => Some(kind == FileKind::File),
                    (b"-d", Some(kind)) => Some(kind == FileKind::Directory),
                    _ => None,
                };
                // A file the command itself makes may be there by then.
                let truth = if truth == Some(false) && value.bytes() != Some(b"") { None } else { truth };
                (truth, Hint { filled: names_of(value, state), ..Hint::default() })
            }
        }
    }

    fn is_set(&mut self, value: &Value, span: Span, state: &mut State) -> Option<bool> {
        let Some(name) = value.bytes().map(<[u8]>::to_vec) else {
            self.unknown("the name of a variable that is tested, whose index may run commands", span);
            return None;
        };
        if let Some((name, inner)) = subscripted(&name) {
            let index = self.index_text(&inner, span, state);
            if let (super::variables::Index::At(key), false) =
                (index, state.variables.get(&name).is_some_and(|variable| variable.named))
            {
                self.number(&key, span, state);
            }
            return None;
        }
        match self.content(state, &name) {
            (Content::Unset, true) => Some(false),
            (Content::Scalar(_), true) => Some(true),
            _ => None,
        }
    }

    /// What `test` and `[` answer about their arguments.
    pub(super) fn test(&mut self, arguments: &[Value], span: Span, state: &mut State) -> Answer {
        match arguments {
            [] => (Some(false), Hint::default()),
            [one] => self.unary(b"-n", one, span, state),
            [not, rest @ ..] if rest.len() < 4 && rest.len() != 2 && not.bytes() == Some(b"!") => {
                negated(self.test(rest, span, state))
            }
            [operator, value] if is_unary(operator) => {
                self.unary(operator.bytes().unwrap_or_default(), value, span, state)
            }
            [left, operator, right] if is_binary(operator) => {
                (self.plain(left, operator.bytes().unwrap_or_default(), right), Hint::default())
            }
            [not, rest @ ..] if rest.len() == 2 && not.bytes() == Some(b"!") => {
                negated(self.test(rest, span, state))
            }
            [open, inner @ .., close]
                if inner.len() < 3 && open.bytes() == Some(b"(") && close.bytes() == Some(b")") =>
            {
                self.test(inner, span, state)
            }
            _ => self.expression(arguments, span, state),
        }
    }

    /// More than four arguments: `-a` and `-o` join them.
    fn expression(&mut self, arguments: &[Value], span: Span, state: &mut State) -> Answer {
        for (operator, either) in [(b"-o", true), (b"-a", false)] {
            let place = arguments
                .iter()
                .position(|argument| argument.bytes() == Some(operator))
                .filter(|place| *place > 0);
            if let Some(place) = place {
                let (left, rest) = arguments.split_at(place);
                let (first, first_hint) = self.test(left, span, state);
                let (second, second_hint) = self.test(rest.get(1..).unwrap_or_default(), span, state);
                let truth = match (either, first, second) {
                    (true, Some(true), _) | (true, _, Some(true)) => Some(true),
                    (false, Some(false), _) | (false, _, Some(false)) => Some(false),
                    (_, Some(first), Some(_)) => Some(first),
                    _ => None,
                };
                let mut hint = Hint::default();
                if either {
                    hint.unfilled = [first_hint.unfilled, second_hint.unfilled].concat();
                } else {
                    hint.filled = [first_hint.filled, second_hint.filled].concat();
                }
                return (truth, hint);
            }
        }
        (None, Hint::default())
    }

    fn plain(&mut self, left: &Value, operator: &[u8], right: &Value) -> Option<bool> {
        match operator {
            b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge" => {
                // Not arithmetic: what is no number is an error, and errors are neither true nor false with certainty.
                let number = |value: &Value| value.text().and_then(|text| text.trim().parse::<i64>().ok());
                Some(ordered(operator, number(left)?, number(right)?))
            }
            b"=" | b"==" | b"!=" => {
                let same = left.bytes()? == right.bytes()?;
                Some(same == (operator != b"!="))
            }
            _ => binary(operator, left, right),
        }
    }
}

fn negated((truth, hint): Answer) -> Answer {
    (truth.map(|truth| !truth), Hint { filled: hint.unfilled, unfilled: hint.filled, ..Hint::default() })
}

fn is_unary(operator: &Value) -> bool {
    matches!(operator.bytes(), Some([b'-', letter]) if letter.is_ascii_alphabetic())
}

fn is_binary(operator: &Value) -> bool {
    matches!(
        operator.bytes(),
        Some(
            b"=" | b"=="
                | b"!="
                | b"<"
                | b">"
                | b"-eq"
                | b"-ne"
                | b"-lt"
                | b"-le"
                | b"-gt"
                | b"-ge"
                | b"-nt"
                | b"-ot"
                | b"-ef"
        )
    )
}

fn ordered(operator: &[u8], left: i64, right: i64) -> bool {
    match operator {
        b"-eq" => left == right,
        b"-ne" => left != right,
        b"-lt" => left < right,
        b"-le" => left <= right,
        b"-gt" => left > right,
        _ => left >= right,
    }
}

/// `<` and `>` are a matter of locale; only equality of what is known is certain.
fn binary(operator: &[u8], left: &Value, right: &Value) -> Option<bool> {
    match operator {
        b"<" | b">" if left.bytes()? == right.bytes()? => Some(false),
        _ => None,
    }
}

/// The variables that hold exactly this unknown value.
fn names_of(value: &Value, state: &State) -> Vec<Vec<u8>> {
    if value.pieces.len() != 1 || !is_opaque(value) {
        return Vec::new();
    }
    let mut names: Vec<Vec<u8>> = state
        .variables
        .iter()
        .filter(|(_, variable)| matches!(&variable.content, Content::Scalar(held) if held == value))
        .map(|(name, _)| name.clone())
        .collect();
    if let Some(name) = value.why().and_then(|why| why.construct.strip_prefix("the variable "))
        && is_name(name.as_bytes())
        && !state.variables.contains_key(name.as_bytes())
    {
        names.push(name.as_bytes().to_vec());
    }
    names
}
