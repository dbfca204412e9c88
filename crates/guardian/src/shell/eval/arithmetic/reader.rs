//! Reads and evaluates an expression, operator by operator, as bash does.
//!
//! Owns: precedence, assignments, short circuits. Refuses: a wrong expression; bash fails there too, and nothing comes of it.

use super::super::machine::Machine;
use super::super::state::{Content, State};
use super::super::variables::{Index, number, scalar_of, variable};
use super::numbers::{Wrong, based, binary};
use crate::shell::ast::Span;
use crate::shell::value::Value;

/// A number that may not be known.
pub(super) type Number = Result<Option<i64>, Wrong>;

/// Whether what is read is also done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Done,
    Perhaps,
    Skipped,
}

struct Reader<'r, 'm, 'c> {
    machine: &'m mut Machine<'c>,
    state: &'m mut State,
    text: &'r [u8],
    at: usize,
    span: Span,
    mode: Mode,
    depth: u32,
    /// A variable holds what is no expression.
    is_wrong: bool,
}

/// A variable that can be assigned to.
struct Place {
    name: Vec<u8>,
    index: Index,
}

/// Binary operators from the loosest to the tightest; assignments, `?:` and `**` are read on their own.
const LEVELS: [&[&[u8]]; 10] = [
    &[b"||"],
    &[b"&&"],
    &[b"|"],
    &[b"^"],
    &[b"&"],
    &[b"==", b"!="],
    &[b"<=", b">=", b"<", b">"],
    &[b"<<", b">>"],
    &[b"+", b"-"],
    &[b"*", b"/", b"%"],
];

const ASSIGNMENTS: [&[u8]; 11] =
    [b"<<=", b">>=", b"*=", b"/=", b"%=", b"+=", b"-=", b"&=", b"^=", b"|=", b"="];

/// The value of an expression; none when it is not known.
pub(super) fn evaluate(machine: &mut Machine<'_>, state: &mut State, text: &[u8], span: Span) -> Number {
    let mut reader =
        Reader { machine, state, text, at: 0, span, mode: Mode::Done, depth: 0, is_wrong: false };
    reader.blanks();
    if reader.at >= text.len() {
        return Ok(Some(0));
    }
    let value = reader.comma()?;
    reader.blanks();
    if reader.at == text.len() && !reader.is_wrong { Ok(value) } else { Err(Wrong) }
}

impl Reader<'_, '_, '_> {
    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, operator: &[u8]) -> bool {
        self.blanks();
        let found = self.rest().starts_with(operator);
        if found {
            self.at += operator.len();
        }
        found
    }

    /// What lies deeper is not looked at, and may run commands.
    fn too_deep(&mut self) -> Number {
        self.machine.unknown("arithmetic nested too deep", self.span);
        Err(Wrong)
    }

    fn comma(&mut self) -> Number {
        let mut value = self.assignment()?;
        while self.take(b",") {
            value = self.assignment()?;
        }
        Ok(value)
    }

    fn assignment(&mut self) -> Number {
        self.depth += 1;
        if self.depth > 40 {
            return self.too_deep();
        }
        let start = self.at;
        let value = match self.place()? {
            Some(place) => match self.assigning() {
                Some(operator) => self.assigned(&place, operator)?,
                None => {
                    self.at = start;
                    self.ternary()?
                }
            },
            None => self.ternary()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn assigning(&mut self) -> Option<&'static [u8]> {
        self.blanks();
        let operator = ASSIGNMENTS.into_iter().find(|operator| self.rest().starts_with(operator))?;
        if operator == b"=" && self.rest().starts_with(b"==") {
            return None;
        }
        self.at += operator.len();
        Some(operator)
    }

    fn assigned(&mut self, place: &Place, operator: &[u8]) -> Number {
        let right = self.assignment()?;
        let value = match operator.strip_suffix(b"=") {
            Some(b"") | None => right,
            Some(operator) => {
                let left = self.value_of(place);
                binary(operator, left, right)?
            }
        };
        self.put(place, value);
        Ok(value)
    }

    fn put(&mut self, place: &Place, value: Option<i64>) {
        let value = match (self.mode, value) {
            (Mode::Skipped, _) => return,
            (Mode::Done, Some(value)) => Value::known(value.to_string()),
            // Of what is no number nothing comes, and the variable stays as it is.
            (Mode::Done, None) if self.is_text(place) => Value::unknown(variable(&place.name)),
            (Mode::Done, None) | (Mode::Perhaps, _) => Value::unknown(number(&place.name)),
        };
        self.machine.assign(self.state, &place.name, &place.index, value, false, self.span);
    }

    /// Whether a variable holds text that is known and no number.
    fn is_text(&self, place: &Place) -> bool {
        let value = self.machine.scalar(self.state, &place.name);
        value
            .as_ref()
            .and_then(Value::bytes)
            .is_some_and(|bytes| !bytes.is_empty() && !bytes.iter().all(u8::is_ascii_digit))
    }

    fn ternary(&mut self) -> Number {
        let condition = self.level(0)?;
        if !self.take(b"?") {
            return Ok(condition);
        }
        let before = self.mode;
        self.mode = branch(before, condition.map(|value| value != 0));
        let yes = self.comma()?;
        if !self.take(b":") {
            return Err(Wrong);
        }
        self.mode = branch(before, condition.map(|value| value == 0));
        let no = self.assignment()?;
        self.mode = before;
        Ok(match condition {
            Some(0) => no,
            Some(_) => yes,
            None => None,
        })
    }

    fn level(&mut self, level: usize) -> Number {
        let Some(operators) = LEVELS.get(level) else { return self.power() };
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let before = self.mode;
            match operator {
                b"&&" => self.mode = branch(before, left.map(|value| value != 0)),
                b"||" => self.mode = branch(before, left.map(|value| value == 0)),
                _ => {}
            }
            let right = self.level(level + 1)?;
            if matches!(operator, b"/" | b"%") && right == Some(0) && self.mode == Mode::Done {
                return Err(Wrong);
            }
            self.mode = before;
            left = binary(operator, left, right)?;
        }
        Ok(left)
    }

    fn operator(&mut self, operators: &[&'static [u8]]) -> Option<&'static [u8]> {
        self.blanks();
        let rest = self.rest();
        let operator = operators.iter().find(|operator| rest.starts_with(operator))?;
        let after = rest.get(operator.len()..).unwrap_or_default();
        let next = after.first();
        let other = match *operator {
            b"|" | b"&" => next == operator.first() || next == Some(&b'='),
            b"<" | b">" => next == operator.first(),
            b"*" => matches!(next, Some(b'*' | b'=')),
            b"+" | b"-" | b"/" | b"%" | b"^" | b"<<" | b">>" => next == Some(&b'='),
            _ => false,
        };
        if other {
            return None;
        }
        self.at += operator.len();
        Some(operator)
    }

    fn power(&mut self) -> Number {
        let base = self.unary()?;
        if !self.take(b"**") {
            return Ok(base);
        }
        self.depth += 1;
        if self.depth > 40 {
            return self.too_deep();
        }
        let exponent = self.power()?;
        self.depth -= 1;
        match (base, exponent) {
            (_, Some(exponent)) if exponent < 0 && self.mode == Mode::Done => Err(Wrong),
            (Some(base), Some(exponent)) => {
                Ok(Some(u32::try_from(exponent).map_or(0, |exponent| base.wrapping_pow(exponent))))
            }
            _ => Ok(None),
        }
    }

    fn unary(&mut self) -> Number {
        self.depth += 1;
        if self.depth > 60 {
            return self.too_deep();
        }
        self.blanks();
        let value = match (self.rest().first().copied(), self.rest().get(1).copied()) {
            (Some(sign @ (b'+' | b'-')), Some(second)) if sign == second && self.counts_before() => {
                self.at += 2;
                let place = self.place()?.ok_or(Wrong)?;
                let value = self.value_of(&place).map(|value| step(value, sign));
                self.put(&place, value);
                value
            }
            (Some(b'+'), _) => self.after_sign()?,
            (Some(b'-'), _) => self.after_sign()?.map(i64::wrapping_neg),
            (Some(b'!'), next) if next != Some(b'=') => self.after_sign()?.map(|value| i64::from(value == 0)),
            (Some(b'~'), _) => self.after_sign()?.map(|value| !value),
            _ => self.primary()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn after_sign(&mut self) -> Number {
        self.at += 1;
        self.unary()
    }

    /// Whether `++` or `--` stands before a name; before a number it is two signs.
    fn counts_before(&self) -> bool {
        let after = self.text.get(self.at + 2..).unwrap_or_default();
        after
            .iter()
            .find(|byte| !byte.is_ascii_whitespace())
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
    }

    fn primary(&mut self) -> Number {
        self.blanks();
        match self.rest().first() {
            Some(b'(') => {
                self.at += 1;
                let value = self.comma()?;
                if self.take(b")") { Ok(value) } else { Err(Wrong) }
            }
            Some(byte) if byte.is_ascii_digit() => self.literal(),
            Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' => {
                let place = self.place()?.ok_or(Wrong)?;
                let value = self.value_of(&place);
                self.blanks();
                for sign in [b'+', b'-'] {
                    if self.rest().starts_with(&[sign, sign]) {
                        self.at += 2;
                        self.put(&place, value.map(|value| step(value, sign)));
                        break;
                    }
                }
                Ok(value)
            }
            _ => Err(Wrong),
        }
    }

    fn literal(&mut self) -> Number {
        let length = self
            .rest()
            .iter()
            .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'#' | b'@' | b'_')));
        let length = length.unwrap_or(self.rest().len());
        let text = String::from_utf8_lossy(self.rest().get(..length).unwrap_or_default()).into_owned();
        self.at += length;
        based(&text).map(Some).ok_or(Wrong)
    }

    /// A name, with its index when it has one.
    fn place(&mut self) -> Result<Option<Place>, Wrong> {
        self.blanks();
        let rest = self.rest();
        if !rest.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
            return Ok(None);
        }
        let length = rest
            .iter()
            .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
            .unwrap_or(rest.len());
        let name = rest.get(..length).unwrap_or_default().to_vec();
        self.at += length;
        if self.rest().first() != Some(&b'[') {
            return Ok(Some(Place { name, index: Index::None }));
        }
        let mut depth = 0_u32;
        let end = self.rest().iter().position(|byte| {
            match byte {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let end = end.ok_or(Wrong)?;
        let inner = self.rest().get(1..end).unwrap_or_default().to_vec();
        self.at += end + 1;
        // Commands in an index run even in a branch that is not taken.
        let index = self.machine.index_text(&inner, self.span, self.state);
        Ok(Some(Place { name, index }))
    }

    /// The value of a variable, evaluated again.
    fn value_of(&mut self, place: &Place) -> Option<i64> {
        let (content, decided) = self.machine.content(self.state, &place.name);
        let value = match (&place.index, content) {
            (Index::None, content) => scalar_of(content).unwrap_or_default(),
            (Index::At(key), Content::Named(map)) => map.get(key.bytes()?)?.clone(),
            (Index::At(key), content) => {
                let at = self.machine.number(key, self.span, self.state);
                match (content, at) {
                    (Content::Indexed(map), Some(at)) => map.get(&at).cloned().unwrap_or_default(),
                    (Content::Scalar(value), Some(0)) => value,
                    (Content::Unset, _) => Value::default(),
                    _ => return None,
                }
            }
            (Index::All { .. }, _) => return None,
        };
        match value.bytes() {
            Some([]) => Some(0),
            Some(bytes) => {
                let bytes = bytes.to_vec();
                let value = self.machine.evaluated(&bytes, self.span, self.state);
                self.is_wrong |= value.is_err() && self.mode != Mode::Skipped;
                value.ok().flatten()
            }
            None => {
                if decided {
                    self.machine.suspicious(&value, self.span);
                }
                None
            }
        }
    }
}

fn step(value: i64, sign: u8) -> i64 {
    if sign == b'+' { value.wrapping_add(1) } else { value.wrapping_sub(1) }
}

fn branch(mode: Mode, taken: Option<bool>) -> Mode {
    match (mode, taken) {
        (Mode::Skipped, _) | (_, Some(false)) => Mode::Skipped,
        (Mode::Perhaps, _) | (Mode::Done, None) => Mode::Perhaps,
        (Mode::Done, Some(true)) => Mode::Done,
    }
}
