//! What begins with a dollar: substitutions, arithmetic, plain parameters; and process substitutions.
//!
//! Owns: telling them apart, `$((` above all. Refuses: `${…}`, which is a language of its own (`parameter`).

use super::cursor::{Map, Parser, Read};
use super::skip::{Group, Pair};
use super::word::{Mode, Parts, Quoting};
use crate::shell::ast::{Operation, Part, Script};

impl Parser<'_> {
    /// At a `$`.
    pub(super) fn dollar(&mut self, parts: &mut Parts, mode: Mode) -> Read<()> {
        let start = self.input.at;
        let quoted = mode.quoted();
        let plain = matches!(mode.quoting, Quoting::None);
        match self.second() {
            Some(b'(') => self.command_or_arithmetic(parts, mode)?,
            Some(b'{') => {
                self.bump_many(2);
                self.deeper(|parser| parser.parameter(parts, mode, start))?;
            }
            Some(b'[') => {
                self.bump_many(2);
                let from = self.input.at;
                self.skip_group(Pair { open: b'[', close: b']', kind: Group::Arithmetic })?;
                let expression = Box::new(self.word(from, self.input.at - 1, Mode::ARITHMETIC)?);
                parts.list.push(Part::Arithmetic { expression, quoted, span: self.span_from(start) });
            }
            Some(b'\'') if plain => {
                self.bump_many(2);
                let text = self.ansi()?;
                parts.text(&text, true);
            }
            Some(b'\'') if mode.quoting == Quoting::Operand => {
                self.bump_many(2);
                let text = self.ansi()?;
                // Bash puts the decoded text in place of it and then looks at it again.
                if text.iter().any(|byte| b"$`\\\"}".contains(byte)) {
                    parts.unknown(self.span_from(start));
                } else {
                    parts.text(&text, true);
                }
            }
            Some(b'"') if plain || matches!(mode.quoting, Quoting::Operand | Quoting::Arithmetic) => {
                self.bump_many(2);
                self.double(parts)?;
            }
            Some(byte) if byte == b'_' || byte.is_ascii_alphanumeric() || b"@*#?-$!".contains(&byte) => {
                self.bump_many(1);
                let name = self.name();
                let span = self.span_from(start);
                parts.list.push(Part::Parameter {
                    name,
                    index: None,
                    operation: Operation::Plain,
                    quoted,
                    span,
                });
                parts.bare = Some(self.input.at);
            }
            Some(_) | None => {
                self.bump();
                parts.byte(b'$', quoted);
                parts.bare = Some(self.input.at);
            }
        }
        Ok(())
    }

    /// The name of a parameter behind a bare `$`: a whole name, or one byte.
    fn name(&mut self) -> Vec<u8> {
        let mut name = Vec::new();
        while let Some(byte) = self.peek() {
            let letter = byte == b'_' || byte.is_ascii_alphabetic();
            if !letter && (name.is_empty() || !byte.is_ascii_digit()) {
                break;
            }
            name.push(byte);
            self.bump();
        }
        if name.is_empty() {
            name.extend(self.peek());
            self.bump();
        }
        name
    }

    /// At `$(`.
    fn command_or_arithmetic(&mut self, parts: &mut Parts, mode: Mode) -> Read<()> {
        let start = self.input.at;
        let quoted = mode.quoted();
        if self.follows(b"$((") {
            self.skip_command(start)?;
            let end = self.input.at;
            if let Some((from, to)) = self.arithmetic_between(start, end) {
                let expression = Box::new(self.word(from, to, Mode::ARITHMETIC)?);
                parts.list.push(Part::Arithmetic { expression, quoted, span: self.span(start, end) });
                return Ok(());
            }
            self.input.at = start;
        }
        let script = self.script_at()?;
        parts.list.push(Part::Command { script, quoted, span: self.span_from(start) });
        Ok(())
    }

    /// At `<(` or `>(`.
    pub(super) fn process(&mut self, parts: &mut Parts, byte: u8) -> Read<()> {
        let start = self.input.at;
        let script = self.script_at()?;
        parts.list.push(Part::Process { output: byte == b'>', script, span: self.span_from(start) });
        Ok(())
    }

    /// At `$(`, `<(` or `>(`: the script in it, and over it.
    fn script_at(&mut self) -> Read<Script> {
        let start = self.input.at;
        if let Some(script) = self.input.scripts.remove(&start) {
            self.skip_command(start)?;
            return Ok(script);
        }
        self.bump_many(2);
        let from = self.input.at;
        if self.peek() == Some(b'(') {
            // Its end is found by counting, and what is in it is read when it runs.
            self.input.at = start;
            self.skip_command(start)?;
            let to = self.input.at - 1;
            let map = Map::Pieces(vec![(0, self.span(from, to).start)]);
            let text = self.slice(from, to);
            return self.later(text, map);
        }
        let script = self.deeper(|parser| parser.twice(Self::substitution))?;
        self.input.ends.insert(start, self.input.at);
        Ok(script)
    }

    /// Where the expression of `$((…))` begins and ends; none if it is a command after all.
    fn arithmetic_between(&mut self, start: usize, end: usize) -> Option<(usize, usize)> {
        self.within(start, end.checked_sub(1)?, |parser| {
            parser.bump_many(3);
            let from = parser.input.at;
            let inner = parser.input.text.get(from..parser.input.end)?;
            let to = from + inner.iter().rposition(|byte| *byte == b')')?;
            let cooked = parser.slice(to, parser.input.end);
            if cooked != b")" {
                return None;
            }
            parser.input.end = to;
            parser.balanced().then_some((from, to))
        })
    }

    /// Whether the parentheses from here to the end pair up.
    fn balanced(&mut self) -> bool {
        let mut count = 0_i64;
        while let Some(byte) = self.peek() {
            self.bump();
            match byte {
                b'(' => count += 1,
                b')' => count -= 1,
                b'\\' => self.bump(),
                b'\'' if self.skip_single().is_err() => return true,
                b'"' if self.skip_double().is_err() => return true,
                _ => {}
            }
            if count < 0 {
                return false;
            }
        }
        count == 0
    }
}
