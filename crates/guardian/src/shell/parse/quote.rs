//! Quotes: `'…'`, `$'…'`, backquotes.
//!
//! Owns: what their text comes to. Refuses: double quotes, which are made of parts.

use super::cursor::{Map, Parser, Read, Stop};
use super::word::{Mode, Parts, Quoting};
use crate::shell::ast::{Part, Script};

impl Parser<'_> {
    /// Behind an opening `'`: its text, and over its end.
    pub(super) fn single(&mut self) -> Read<Vec<u8>> {
        let mut text = Vec::new();
        loop {
            let byte = self.raw().ok_or(Stop::SYNTAX)?;
            self.bump();
            if byte == b'\'' {
                return Ok(text);
            }
            text.push(byte);
        }
    }

    /// Behind an opening `$'`: its text, decoded, and over its end.
    pub(super) fn ansi(&mut self) -> Read<Vec<u8>> {
        let mut text = Vec::new();
        loop {
            let byte = self.raw().ok_or(Stop::SYNTAX)?;
            self.bump();
            match byte {
                b'\'' => return Ok(decode(&text)),
                b'\\' => {
                    text.push(byte);
                    if let Some(next) = self.raw() {
                        self.bump();
                        text.push(next);
                    }
                }
                _ => text.push(byte),
            }
        }
    }

    /// From here to the end with the quotes taken away and nothing else done: the delimiter of a here-document.
    pub(super) fn unquoted(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        let mut double = false;
        while let Some(byte) = self.peek() {
            let next = self.second();
            match byte {
                b'\\' => {
                    self.bump();
                    let next = self.raw();
                    if double && !matches!(next, Some(b'$' | b'`' | b'"' | b'\\')) {
                        text.push(byte);
                    } else {
                        text.extend(next);
                        self.bump();
                    }
                }
                b'"' => {
                    double = !double;
                    self.bump();
                }
                b'\'' if !double => {
                    self.bump();
                    text.extend(self.single().unwrap_or_default());
                }
                b'$' if !double && next == Some(b'\'') => {
                    self.bump_many(2);
                    text.extend(self.ansi().unwrap_or_default());
                }
                b'$' if !double && next == Some(b'"') => self.bump(),
                _ => {
                    text.push(byte);
                    self.bump();
                }
            }
        }
        text
    }

    /// At a backquote: the command in it, which bash reads when it runs.
    pub(super) fn backquote(&mut self, parts: &mut Parts, mode: Mode) -> Read<()> {
        let start = self.input.at;
        self.bump();
        let mut text = Vec::new();
        loop {
            match self.peek().ok_or(Stop::SYNTAX)? {
                b'`' => break,
                b'\\' => {
                    self.bump();
                    let next = self.raw().ok_or(Stop::SYNTAX)?;
                    self.bump();
                    let quote = next == b'"' && matches!(mode.quoting, Quoting::Double);
                    if !matches!(next, b'$' | b'`' | b'\\') && !quote {
                        text.push(b'\\');
                    }
                    text.push(next);
                }
                byte => {
                    self.bump();
                    text.push(byte);
                }
            }
        }
        self.bump();
        let span = self.span_from(start);
        let script = self.later(text, Map::Whole(span))?;
        parts.list.push(Part::Command { script, quoted: mode.quoted(), span });
        Ok(())
    }

    /// A script bash first reads when it runs: its errors are its own.
    pub(super) fn later(&mut self, text: Vec<u8>, map: Map) -> Read<Script> {
        self.deeper(|parser| parser.instead(text, map, Self::script))
    }
}

/// Decodes the escapes of `$'…'`. A NUL ends the text.
fn decode(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let Some((escape, tail)) = rest.split_first() else {
            out.push(b'\\');
            break;
        };
        rest = tail;
        let simple = match escape {
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\\' | b'\'' | b'"' | b'?' => *escape,
            _ => {
                let Some(behind) = coded(*escape, rest, &mut out) else { break };
                rest = behind;
                continue;
            }
        };
        out.push(simple);
    }
    out
}

/// Decodes an escape with digits, or keeps it as it is; gives what is behind, or nothing when the text ends there.
fn coded<'t>(escape: u8, rest: &'t [u8], out: &mut Vec<u8>) -> Option<&'t [u8]> {
    let (value, behind) = match escape {
        b'0'..=b'7' => {
            let (value, behind) = digits(rest, 2, 8);
            (
                u32::from(escape - b'0')
                    * if behind.len() + 2 == rest.len() {
                        64
                    } else if behind.len() + 1 == rest.len() {
                        8
                    } else {
                        1
                    }
                    + value,
                behind,
            )
        }
        b'x' if rest.first() == Some(&b'{') => {
            let inner = rest.get(1..).unwrap_or_default();
            let (value, behind) = digits(inner, inner.len(), 16);
            (value, behind.strip_prefix(b"}").unwrap_or(behind))
        }
        b'x' => digits(rest, 2, 16),
        b'u' | b'U' => {
            let (value, behind) = digits(rest, if escape == b'u' { 4 } else { 8 }, 16);
            if behind.len() == rest.len() {
                out.extend([b'\\', escape]);
                return Some(rest);
            }
            if value == 0 {
                return None;
            }
            let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(behind);
        }
        b'c' => {
            let Some((control, behind)) = rest.split_first() else {
                out.extend(b"\\c");
                return Some(rest);
            };
            let behind =
                if *control == b'\\' { behind.strip_prefix(b"\\").unwrap_or(behind) } else { behind };
            let code = if *control == b'?' { 127 } else { control.to_ascii_uppercase() & 0x1f };
            (u32::from(code), behind)
        }
        _ => {
            out.extend([b'\\', escape]);
            return Some(rest);
        }
    };
    if escape == b'x' && behind.len() == rest.len() {
        out.extend(b"\\x");
        return Some(rest);
    }
    match u8::try_from(value & 0xff) {
        Ok(0) | Err(_) => None,
        Ok(byte) => {
            out.push(byte);
            Some(behind)
        }
    }
}

/// The number that at most so many digits say, and what is behind them.
fn digits(text: &[u8], most: usize, base: u32) -> (u32, &[u8]) {
    let mut value = 0_u32;
    let mut rest = text;
    for _ in 0..most {
        let Some((byte, tail)) = rest.split_first() else { break };
        let Some(digit) = char::from(*byte).to_digit(base) else { break };
        value = value.wrapping_mul(base).wrapping_add(digit);
        rest = tail;
    }
    (value, rest)
}
