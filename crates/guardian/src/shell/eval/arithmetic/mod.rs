//! Arithmetic: `$((…))`, `((…))`, `let`, indexes, `[[ -eq ]]`.
//!
//! Owns: numbers, and the danger in them: bash evaluates the *values* of variables again and runs the commands in their indexes,
//! so a value that is not known may run anything. Refuses: expansions in the text itself; they came before.

mod numbers;
mod places;
mod reader;

use self::{numbers::Wrong, reader::Number};
use super::machine::Machine;
use super::state::State;
use super::variables::{Index, number};
use crate::shell::ast::{Assignment, Kind, Span};
use crate::shell::value::{Piece, Value, Why};

/// Programs whose output is a number and nothing else.
const COUNTERS: [&str; 12] =
    ["wc", "nproc", "date", "stat", "id", "expr", "seq", "bc", "pgrep", "getconf", "tput", "awk"];

impl Machine<'_> {
    /// What an expression comes to, when it is known.
    pub(super) fn number(&mut self, expression: &Value, span: Span, state: &mut State) -> Option<i64> {
        match written(expression) {
            Some(bytes) => self.evaluated(&bytes, span, state).ok().flatten(),
            None => {
                self.suspicious(expression, span);
                None
            }
        }
    }

    /// The same, in the middle of a word: what bash refuses there takes more with it than the number.
    pub(super) fn number_within(&mut self, expression: &Value, span: Span, state: &mut State) -> Option<i64> {
        let value = self.number_value(expression, span, state);
        value.text().and_then(|text| text.parse().ok())
    }

    /// The same as text.
    pub(super) fn number_value(&mut self, expression: &Value, span: Span, state: &mut State) -> Value {
        let found = match written(expression) {
            Some(bytes) => self.evaluated(&bytes, span, state),
            None => Ok(self.number(expression, span, state)),
        };
        match found {
            Ok(Some(number)) => return Value::known(number.to_string()),
            Ok(None) => {}
            // Bash says so and gives up what the word stands in, and some of what is around it.
            Err(Wrong) => self.unknown("arithmetic bash would refuse", span),
        }
        Value::unknown(Why { construct: number(b"the result of arithmetic").construct, span })
    }

    /// Evaluates known text.
    fn evaluated(&mut self, text: &[u8], span: Span, state: &mut State) -> Number {
        if !self.step(span) {
            return Ok(None);
        }
        self.deeper(span, |machine| reader::evaluate(machine, state, text, span)).unwrap_or(Ok(None))
    }

    /// An unknown value that is evaluated as an expression may run commands, unless it surely is a number.
    pub(super) fn suspicious(&mut self, value: &Value, span: Span) {
        let tainted = value.pieces.iter().find_map(|piece| match piece {
            Piece::Unknown(why) if !harmless(why) => Some(why.construct.clone()),
            Piece::Unknown(_) | Piece::Known(_) | Piece::Glob(_) => None,
        });
        if let Some(construct) = tainted {
            self.unknown(format!("arithmetic on {construct}, which may run commands"), span);
        }
    }

    /// An index that came as text: expanded once more, commands in it too.
    pub(super) fn index_text(&mut self, inner: &[u8], span: Span, state: &mut State) -> Index {
        match inner {
            b"@" => Index::All { joined: false },
            b"*" => Index::All { joined: true },
            _ if inner.iter().any(|byte| matches!(byte, b'$' | b'`' | b'"' | b'\'' | b'\\')) => {
                Index::At(self.expanded_index(inner, span, state))
            }
            _ => Index::At(Value::known(inner)),
        }
    }

    /// An index as it would be between the brackets of an assignment.
    fn expanded_index(&mut self, text: &[u8], span: Span, state: &mut State) -> Value {
        let script = crate::shell::parse(&[b"a[".as_slice(), text, b"]="].concat());
        if let ([command], true) = (script.commands.as_slice(), script.unknown.is_empty())
            && let Kind::Simple { assignments, words } = &command.kind
            && let ([Assignment { index: Some(word), .. }], []) = (assignments.as_slice(), words.as_slice())
        {
            let anchor = self.anchor.replace(self.anchor.unwrap_or(span));
            let value = self.single(word, state);
            self.anchor = anchor;
            return value;
        }
        self.expanded_text(text, span, state)
    }

    /// Text that is expanded as if it stood in double quotes.
    pub(super) fn expanded_text(&mut self, text: &[u8], span: Span, state: &mut State) -> Value {
        let script = crate::shell::parse(&[b"((".as_slice(), text, b"))"].concat());
        if let ([command], true) = (script.commands.as_slice(), script.unknown.is_empty())
            && let Kind::Arithmetic(word) = &command.kind
        {
            let anchor = self.anchor.replace(self.anchor.unwrap_or(span));
            let value = self.single(word, state);
            self.anchor = anchor;
            return value;
        }
        self.unknown("text that is expanded when it is used", span);
        Value::unknown(Why { construct: "text that is expanded when it is used".to_owned(), span })
    }
}

/// The text of an expression; a star in it is one, for no file is called `n=k*3`.
fn written(expression: &Value) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for piece in &expression.pieces {
        match piece {
            Piece::Known(bytes) | Piece::Glob(bytes) => text.extend_from_slice(bytes),
            Piece::Unknown(_) => return None,
        }
    }
    Some(text)
}

/// Whether a value that is not known cannot hold commands: it is a number, or it came from the environment as it was.
fn harmless(why: &Why) -> bool {
    let construct = why.construct.trim_end_matches(", which is not empty");
    why.is_number()
        || (construct.starts_with("the variable ") && !construct.contains(','))
        || construct.strip_prefix("the output of ").is_some_and(|program| COUNTERS.contains(&program))
}
