//! Reads and evaluates an expression, operator by operator, as bash does.
//!
//! Owns: precedence and short circuits. Refuses: a wrong expression; bash fails there too, and nothing comes of it.

use super::super::machine::Machine;
use super::super::state::State;
use super::numbers::{Wrong, based, binary};
use super::places::Place;
use crate::shell::ast::Span;

/// A number that may not be known.
pub(super) type Number = Result<Option<i64>, Wrong>;

/// Whether what is read is also done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Done,
    Perhaps,
    Skipped,
}

pub(super) struct Reader<'r, 'm, 'c> {
    pub(super) machine: &'m mut Machine<'c>,
    pub(super) state: &'m mut State,
    text: &'r [u8],
    pub(super) at: usize,
    pub(super) span: Span,
    pub(super) mode: Mode,
    depth: u32,
    /// A variable holds what is no expression.
    pub(super) is_wrong: bool,
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
    pub(super) fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    pub(super) fn rest(&self) -> &[u8] {
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
