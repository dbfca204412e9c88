//! Here-documents: where their bodies are and what they say.
//!
//! Owns: delimiters, lines, tabs, the end. Refuses: expanding; an unquoted body is read as a word like any other.
//!
//! A body comes after the rest of its line, so a line that has one is read twice: once to find the bodies, once to
//! build the tree with them.

use super::cursor::{Map, Parser, Read, Stop};
use super::lexer::Raw;
use super::word::Mode;
use crate::shell::ast::{HereDocument, Part, Reason, Span, Word};

/// Bash gives up on more.
const MOST: usize = 16;

/// A here-document whose body is still to come.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    operator: usize,
    delimiter: Vec<u8>,
    quoted: bool,
    strip: bool,
}

/// A body that was found.
#[derive(Debug, Clone)]
pub(super) struct Body {
    text: Vec<u8>,
    pieces: Vec<(usize, u32)>,
    quoted: bool,
    span: Span,
}

/// One line of a body: its bytes, and where each stands.
#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    places: Vec<usize>,
}

impl Parser<'_> {
    /// Reads something, and if here-documents turned up in it, reads it again with their bodies.
    pub(super) fn twice<T>(&mut self, read: impl Fn(&mut Self) -> Read<T>) -> Read<T> {
        let (at, bodies, notes) = (self.input.at, self.input.bodies.len(), self.notes.len());
        let first = read(self)?;
        if self.input.bodies.len() == bodies {
            return Ok(first);
        }
        drop(first);
        self.input.at = at;
        self.notes.truncate(notes);
        self.input.scripts.clear();
        self.input.ends.clear();
        read(self)
    }

    /// A here-document whose operator and delimiter were just read.
    pub(super) fn here_document(&mut self, operator: usize, strip: bool, raw: &Raw) -> Read<HereDocument> {
        let Some(body) = self.input.bodies.get(&operator).cloned() else {
            if self.input.pending.len() >= MOST {
                return Err(Stop::SYNTAX);
            }
            let delimiter = self.delimiter(raw);
            self.input.pending.push(Pending { operator, delimiter, quoted: raw.quoted, strip });
            return Ok(HereDocument { strip, quoted: raw.quoted, body: Word::default() });
        };
        let word = if body.quoted {
            let text = body.text;
            let parts = if text.is_empty() { Vec::new() } else { vec![Part::Literal { text, quoted: true }] };
            Word { parts, span: body.span }
        } else {
            let end = body.text.len();
            self.instead(body.text, Map::Pieces(body.pieces), |parser| parser.word(0, end, Mode::HERE))?
        };
        Ok(HereDocument { strip, quoted: body.quoted, body: Word { span: body.span, ..word } })
    }

    /// The delimiter a word stands for: nothing of it is expanded, only its quotes go.
    fn delimiter(&mut self, raw: &Raw) -> Vec<u8> {
        if raw.dollar && raw.grouped {
            // Bash compares with such a word as it would print it, which differs between versions.
            self.note(Reason::Version, raw.start);
        }
        if !raw.quoted {
            return self.slice(raw.start, raw.end);
        }
        self.within(raw.start, raw.end, Self::unquoted)
    }

    /// Reads all bodies that are due; the first begins behind the newline at this place.
    pub(super) fn gather(&mut self, newline: usize) {
        let mut at = if newline < self.input.text.len() { self.after(newline) } else { newline };
        for pending in std::mem::take(&mut self.input.pending) {
            let start = at;
            let (mut text, mut pieces) = (Vec::new(), Vec::new());
            loop {
                let line_start = at;
                let mut line = Line::default();
                at = self.body_line(at, pending.quoted, &mut line);
                if line.bytes.is_empty() {
                    at = line_start.max(at);
                    break;
                }
                if is_delimiter(&line.bytes, &pending.delimiter) {
                    break;
                }
                let tabs =
                    if pending.strip { line.bytes.iter().take_while(|b| **b == b'\t').count() } else { 0 };
                let rest = line.bytes.get(tabs..).unwrap_or_default();
                if is_delimiter(rest, &pending.delimiter) {
                    break;
                }
                if self.input.substitutions > 0
                    && let Some(behind) = rest.strip_prefix(pending.delimiter.as_slice())
                    && behind.contains(&b')')
                {
                    // In a substitution `E)` ends it too, and reading goes on at the parenthesis.
                    at = line.places.get(tabs + pending.delimiter.len()).copied().unwrap_or(at);
                    break;
                }
                for (place, byte) in line.places.iter().zip(&line.bytes).skip(tabs) {
                    let along = self.span(*place, *place).start;
                    let runs_on = pieces.last().is_some_and(|(from, to): &(usize, u32)| {
                        u32::try_from(text.len() - from).ok().and_then(|by| to.checked_add(by)) == Some(along)
                    });
                    if !runs_on {
                        pieces.push((text.len(), along));
                    }
                    text.push(*byte);
                }
            }
            let span = self.span(start, at);
            self.input.bodies.insert(pending.operator, Body { text, pieces, quoted: pending.quoted, span });
        }
        self.input.jumps.insert(newline, at);
    }

    /// Reads one line of a body, its newline too; gives the place behind it.
    fn body_line(&mut self, mut at: usize, quoted: bool, line: &mut Line) -> usize {
        loop {
            self.pay(1);
            let Some(byte) = self.whole(at) else {
                if !line.bytes.is_empty() {
                    line.bytes.push(b'\n');
                    line.places.push(at);
                }
                return at;
            };
            if byte == b'\\' && !quoted {
                match self.whole(at + 1) {
                    Some(b'\n') => {
                        at += 2;
                        continue;
                    }
                    Some(next) => {
                        line.bytes.extend([byte, next]);
                        line.places.extend([at, at + 1]);
                        at += 2;
                        continue;
                    }
                    None => {}
                }
            }
            line.bytes.push(byte);
            line.places.push(at);
            at += 1;
            if byte == b'\n' {
                return at;
            }
        }
    }

    /// The byte at a place, wherever reading may end: bodies lie behind the line, not in it.
    fn whole(&self, at: usize) -> Option<u8> {
        if self.exhausted { None } else { self.input.text.get(at).copied() }
    }
}

fn is_delimiter(line: &[u8], delimiter: &[u8]) -> bool {
    line.strip_prefix(delimiter) == Some(b"\n")
}
