//! `${…}`: names, indices, and everything that can be made of a parameter.
//!
//! Owns: the language between the braces. Refuses: guessing at what bash calls a bad substitution.

use super::cursor::{Parser, Read, Stop};
use super::skip::{Group, Pair};
use super::word::{Looked, Mode, Parts, Quoting, Tildes};
use crate::shell::ast::{Operation, Part, Reason, Word};

impl Parser<'_> {
    /// Behind `${`: all of it, and over its `}`.
    pub(super) fn parameter(&mut self, parts: &mut Parts, mode: Mode, start: usize) -> Read<()> {
        let from = self.input.at;
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|' | b'(')) {
            // A command to later versions, an error to earlier ones.
            self.note(Reason::Version, start);
        }
        self.skip_braces()?;
        let end = self.input.at;
        let found = self.within(from, end - 1, |parser| parser.parameter_inside(mode));
        let span = self.span(start, end);
        match found {
            Ok((name, index, operation)) => {
                let index = index.map(Box::new);
                parts.list.push(Part::Parameter { name, index, operation, quoted: mode.quoted(), span });
            }
            Err(Stop { reason: Reason::Limit }) => return Err(Stop { reason: Reason::Limit }),
            Err(Stop { .. }) => parts.unknown(span),
        }
        Ok(())
    }

    fn parameter_inside(&mut self, mode: Mode) -> Read<(Vec<u8>, Option<Word>, Operation)> {
        let first = self.peek();
        let lone = self.second().is_none();
        if first == Some(b'#') && !lone && !self.hash_is_parameter() {
            self.bump();
            let (name, index) = self.reference()?;
            return if self.peek().is_none() {
                Ok((name, index, Operation::Length))
            } else {
                Err(Stop::SYNTAX)
            };
        }
        if first == Some(b'!') && !lone && self.indirect_follows() {
            self.bump();
            let (name, index) = self.reference()?;
            let everything = index.as_ref().is_some_and(is_everything);
            let last = (self.peek(), self.second());
            if matches!(last, (Some(b'@' | b'*'), None)) || (everything && last.0.is_none()) {
                return Ok((name, index, Operation::Names));
            }
            let operation = self.operation(mode)?;
            return Ok((name, index, Operation::Indirect(Box::new(operation))));
        }
        let (name, index) = self.reference()?;
        let operation = self.operation(mode)?;
        Ok((name, index, operation))
    }

    /// Whether `${#…` is about the parameter `#` and not a length: `${#-x}`, `${#:1}`, `${##x}`.
    fn hash_is_parameter(&self) -> bool {
        let Some(next) = self.second() else { return true };
        let third = self.behind(&[b'#', next]).ok().flatten();
        match next {
            b'-' | b'?' | b'#' | b'@' | b'*' | b'$' | b'!' => third.is_some() && next != b'@' && next != b'*',
            b':' | b'=' | b'+' | b'%' | b'/' | b'^' | b',' => true,
            _ => false,
        }
    }

    /// Whether `${!…` is indirection and not the parameter `!`.
    fn indirect_follows(&self) -> bool {
        let Some(next) = self.second() else { return false };
        next == b'_'
            || next.is_ascii_alphanumeric()
            || matches!(next, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
                && self.behind(&[b'!', next]).ok().flatten().is_none()
    }

    /// A name and its index.
    fn reference(&mut self) -> Read<(Vec<u8>, Option<Word>)> {
        let first = self.peek().ok_or(Stop::SYNTAX)?;
        let mut name = Vec::new();
        if first == b'_' || first.is_ascii_alphanumeric() {
            let number = first.is_ascii_digit();
            while let Some(byte) = self.peek()
                && (byte.is_ascii_digit() || (!number && (byte == b'_' || byte.is_ascii_alphabetic())))
            {
                name.push(byte);
                self.bump();
            }
        } else if b"@*#?-$!".contains(&first) {
            name.push(first);
            self.bump();
            return Ok((name, None));
        } else {
            return Err(Stop::SYNTAX);
        }
        if self.peek() != Some(b'[') {
            return Ok((name, None));
        }
        self.bump();
        let from = self.input.at;
        self.skip_group(Pair { open: b'[', close: b']', kind: Group::Subscript })?;
        if self.input.at - 1 == from {
            return Err(Stop::SYNTAX);
        }
        let index = self.word(from, self.input.at - 1, Mode::INDEX)?;
        Ok((name, Some(index)))
    }

    /// What is made of it: from here to the end.
    fn operation(&mut self, mode: Mode) -> Read<Operation> {
        let Some(byte) = self.peek() else { return Ok(Operation::Plain) };
        let next = self.second();
        let colon = byte == b':' && matches!(next, Some(b'-' | b'=' | b'?' | b'+'));
        let operator = if colon { next.unwrap_or(byte) } else { byte };
        self.bump_many(if colon { 2 } else { 1 });
        let twice = self.peek() == Some(byte);
        match operator {
            b'-' => Ok(Operation::Default(self.operand(mode)?, colon)),
            b'=' => Ok(Operation::Assign(self.operand(mode)?, colon)),
            b'?' => Ok(Operation::Require(self.operand(mode)?, colon)),
            b'+' => Ok(Operation::Alternative(self.operand(mode)?, colon)),
            b'#' | b'%' => {
                if twice {
                    self.bump();
                }
                let pattern = self.pattern()?;
                Ok(match operator {
                    b'#' => Operation::WithoutPrefix(pattern, twice),
                    _ => Operation::WithoutSuffix(pattern, twice),
                })
            }
            b'/' => self.replace(),
            b':' => self.slice_of(),
            b'^' | b',' | b'~' => {
                let mut written = vec![operator];
                if twice {
                    self.bump();
                    written.push(operator);
                }
                let pattern = if self.peek().is_some() { Some(self.pattern()?) } else { None };
                Ok(Operation::Case(written, pattern))
            }
            b'@' => match (self.peek(), self.second()) {
                (Some(letter), None) if b"UuLQEPAKak".contains(&letter) => Ok(Operation::Transform(letter)),
                _ => Err(Stop::SYNTAX),
            },
            _ => Err(Stop::SYNTAX),
        }
    }

    /// The rest, as the other value of `${x:-…}` and its kin.
    fn operand(&mut self, mode: Mode) -> Read<Box<Word>> {
        let mode = if mode.quoted() {
            Mode { quoting: Quoting::Operand, ..Mode::DOUBLE }
        } else {
            let tildes = if mode.tildes == Tildes::Value { Tildes::Value } else { Tildes::Start };
            Mode { globs: Looked::For, tildes, ..Mode::TEXT }
        };
        self.rest(mode)
    }

    /// The rest, as a pattern: quotes count even within double quotes.
    fn pattern(&mut self) -> Read<Box<Word>> {
        self.rest(Mode { extglob: Looked::For, ..Mode::PATTERN })
    }

    fn rest(&mut self, mode: Mode) -> Read<Box<Word>> {
        self.peek();
        Ok(Box::new(self.word(self.input.at, self.input.end, mode)?))
    }

    fn replace(&mut self) -> Read<Operation> {
        let kind = self.peek().filter(|byte| b"/#%".contains(byte));
        if kind.is_some() {
            self.bump();
        }
        let from = self.input.at;
        let to = self.upto(|byte| byte == b'/', from);
        let mode = Mode { extglob: Looked::For, ..Mode::PATTERN };
        let pattern = Box::new(self.word(from, to, mode)?);
        let with = if to < self.input.end {
            Some(Box::new(self.word(to + 1, self.input.end, Mode::TEXT)?))
        } else {
            None
        };
        Ok(Operation::Replace(pattern, with, kind))
    }

    fn slice_of(&mut self) -> Read<Operation> {
        let from = self.input.at;
        let mut questions = 0_u32;
        let mut depth = 0_u32;
        let to = self.upto(
            |byte| {
                match byte {
                    b'?' => questions += 1,
                    b'(' => depth += 1,
                    b')' => depth = depth.saturating_sub(1),
                    b':' if questions > 0 => questions -= 1,
                    b':' if depth == 0 => return true,
                    _ => {}
                }
                false
            },
            from,
        );
        let offset = Box::new(self.word(from, to, Mode::ARITHMETIC)?);
        let length = if to < self.input.end {
            Some(Box::new(self.word(to + 1, self.input.end, Mode::ARITHMETIC)?))
        } else {
            None
        };
        Ok(Operation::Slice(offset, length))
    }

    /// The first place from here on that is neither quoted nor in a group and that is asked for; or the end.
    pub(super) fn upto(&mut self, mut wanted: impl FnMut(u8) -> bool, from: usize) -> usize {
        let end = self.input.end;
        self.within(from, end, |parser| {
            while let Some(byte) = parser.peek() {
                let at = parser.input.at;
                let skipped = match byte {
                    b'\\' => {
                        parser.bump_many(1);
                        parser.bump();
                        Ok(())
                    }
                    b'\'' => {
                        parser.bump();
                        parser.skip_single()
                    }
                    b'"' => {
                        parser.bump();
                        parser.skip_double()
                    }
                    b'`' => {
                        parser.bump();
                        parser.skip_backquote()
                    }
                    b'$' if parser.second() == Some(b'\'') => {
                        parser.bump_many(2);
                        parser.skip_ansi()
                    }
                    b'$' => parser.skip_dollar(),
                    _ if wanted(byte) => return at,
                    _ => {
                        parser.bump();
                        Ok(())
                    }
                };
                if skipped.is_err() {
                    return end;
                }
            }
            end
        })
    }
}

/// Whether an index is `@` or `*`.
fn is_everything(index: &Word) -> bool {
    match index.parts.as_slice() {
        [Part::Literal { text, .. }] => matches!(text.as_slice(), b"@" | b"*"),
        _ => false,
    }
}
