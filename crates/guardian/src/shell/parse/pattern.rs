//! `~`, globs and `@(…)` in words.
//!
//! Owns: where bash looks for them and how far they reach. Refuses: matching anything.

use super::cursor::{Parser, Read};
use super::skip::{Group, Pair};
use super::word::{Looked, Mode, Parts, Tildes};
use crate::shell::ast::Part;

impl Parser<'_> {
    /// At a `~` where bash looks for one.
    pub(super) fn tilde(&mut self, parts: &mut Parts, mode: Mode) {
        let start = self.input.at;
        self.bump();
        let mut name = Vec::new();
        while let Some(byte) = self.peek() {
            let colon = byte == b':' && matches!(mode.tildes, Tildes::Value | Tildes::Assignment);
            if byte == b'/' || colon {
                break;
            }
            if matches!(
                byte,
                b'\\' | b'\'' | b'"' | b'`' | b'$' | b'*' | b'?' | b'[' | b'<' | b'>' | b'(' | b'|'
            ) {
                parts.byte(b'~', false);
                parts.text(&name, false);
                return;
            }
            if byte == b'{' && mode.braces == Looked::For {
                // Braces come first, and may make any name.
                parts.unknown(self.span_from(start));
                parts.text(&name, false);
                return;
            }
            name.push(byte);
            self.bump();
        }
        parts.list.push(Part::Tilde(name));
    }

    /// At a byte that may begin a glob; false if it does not.
    pub(super) fn glob(&mut self, parts: &mut Parts, byte: u8, mode: Mode) -> Read<bool> {
        if byte != b'[' && self.second() == Some(b'(') && (self.extglob || mode.extglob == Looked::For) {
            self.ext_glob(parts, byte, mode)?;
            return Ok(true);
        }
        match byte {
            b'*' | b'?' => {
                self.bump();
                push_glob(parts, &[byte]);
                Ok(true)
            }
            b'[' => Ok(self.bracket(parts, mode)),
            _ => Ok(false),
        }
    }

    /// At a `[`: the bracket up to its `]`, when there is one.
    fn bracket(&mut self, parts: &mut Parts, mode: Mode) -> bool {
        let start = self.input.at;
        let mut text = vec![b'['];
        let mut plain = true;
        self.bump();
        if matches!(self.peek(), Some(b'!' | b'^')) {
            text.extend(self.peek());
            self.bump();
        }
        let mut first = true;
        let closed = loop {
            let Some(byte) = self.peek() else { break false };
            match byte {
                b']' if !first => break true,
                // No bracket of a path reaches over a slash.
                b'/' if mode.braces == Looked::For => break false,
                b'[' if matches!(self.second(), Some(b':' | b'.' | b'=')) => {
                    let kind = self.second();
                    text.push(byte);
                    self.bump();
                    text.extend(kind);
                    self.bump_many(1);
                    while self.peek().is_some() && !(self.peek() == kind && self.second() == Some(b']')) {
                        text.extend(self.peek());
                        self.bump();
                    }
                    if self.peek().is_some() {
                        text.extend(self.peek());
                        text.push(b']');
                        self.bump_many(2);
                    }
                    first = false;
                    continue;
                }
                b'\\' | b'\'' | b'"' | b'`' | b'$' => plain = false,
                b'{' if mode.braces == Looked::For => plain = false,
                _ => {}
            }
            first = false;
            text.push(byte);
            self.bump();
        };
        if closed && plain {
            self.bump();
            text.push(b']');
            push_glob(parts, &text);
            return true;
        }
        self.input.at = start;
        if closed {
            // What is between the brackets is read as parts; that it is a glob must not be lost.
            self.bump();
            push_glob(parts, b"[");
        }
        closed
    }

    /// At `@(` and its kin.
    fn ext_glob(&mut self, parts: &mut Parts, operator: u8, mode: Mode) -> Read<()> {
        self.bump_many(2);
        let from = self.input.at;
        self.skip_group(Pair { open: b'(', close: b')', kind: Group::Pattern })?;
        let (end, behind) = (self.input.at - 1, self.input.at);
        let mode = Mode { tildes: Tildes::None, braces: Looked::Past, extglob: Looked::For, ..mode };
        let mut alternatives = Vec::new();
        let mut start = from;
        loop {
            let mut depth = 0_u32;
            let bar = self.within(start, end, |parser| {
                parser.upto(
                    |byte| {
                        match byte {
                            b'(' => depth += 1,
                            b')' => depth = depth.saturating_sub(1),
                            b'|' if depth == 0 => return true,
                            _ => {}
                        }
                        false
                    },
                    start,
                )
            });
            alternatives.push(self.word(start, bar, mode)?);
            if bar >= end {
                break;
            }
            start = bar + 1;
        }
        self.input.at = behind;
        parts.list.push(Part::ExtGlob { operator, alternatives });
        Ok(())
    }
}

fn push_glob(parts: &mut Parts, bytes: &[u8]) {
    match parts.list.last_mut() {
        Some(Part::Glob(before)) => before.extend_from_slice(bytes),
        _ => parts.list.push(Part::Glob(bytes.to_vec())),
    }
}
