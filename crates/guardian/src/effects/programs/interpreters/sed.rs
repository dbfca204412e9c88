//! sed's scripts: a small language that can write files and start commands.

use super::super::call::Call;
use super::lexer::Source;
use crate::effects::act::{Act, Change, Datum};
use crate::effects::invocation::Outcome;
use crate::shell::value::{Piece, Value};

/// What a script of sed does beside changing lines.
pub(in crate::effects::programs) fn commands(call: &Call<'_>, script: &Value, outcome: &mut Outcome) {
    Script { call, source: Source::of(script), at: 0 }.read(outcome);
}

struct Script<'a> {
    call: &'a Call<'a>,
    source: Source,
    at: usize,
}

impl Script<'_> {
    fn peek(&self) -> u8 {
        self.source.text.get(self.at).copied().unwrap_or(0)
    }

    fn read(&mut self, outcome: &mut Outcome) {
        while self.at < self.source.text.len() {
            let before = self.at;
            self.address();
            self.command(outcome);
            self.at = self.at.max(before + 1);
        }
    }

    fn address(&mut self) {
        loop {
            match self.peek() {
                b'/' => {
                    self.at += 1;
                    self.until(b'/');
                    while matches!(self.peek(), b'I' | b'M') {
                        self.at += 1;
                    }
                }
                b'\\' => {
                    let delimiter = self.source.text.get(self.at + 1).copied().unwrap_or(0);
                    self.at += 2;
                    self.until(delimiter);
                }
                b'0'..=b'9'
                | b'$'
                | b','
                | b'+'
                | b'~'
                | b'!'
                | b' '
                | b'\t'
                | b'\n'
                | b';'
                | b'{'
                | b'}' => self.at += 1,
                _ => break,
            }
        }
    }

    fn command(&mut self, outcome: &mut Outcome) {
        if let Some((why, length)) = self.source.hole(self.source.text.get(self.at..).unwrap_or_default()) {
            outcome.push(Act::Unknown(why));
            self.at += length;
            return;
        }
        let command = self.peek();
        self.at += 1;
        match command {
            b's' => self.substitution(outcome),
            b'y' => {
                let delimiter = self.peek();
                self.at += 1;
                self.until(delimiter);
                self.until(delimiter);
            }
            b'e' => {
                let line = self.line();
                if line.pieces.is_empty() {
                    self.runs_lines(outcome);
                } else {
                    outcome.next.push(self.call.shell(line));
                }
            }
            b'w' | b'W' => {
                let file = self.line();
                outcome.push(self.call.writes(&file, Change::Replace));
            }
            b'r' | b'R' => {
                let file = self.line();
                outcome.push(self.call.reads(&file));
                outcome.output.data.push(Datum::File(self.call.path(&file)));
            }
            b'a' | b'i' | b'c' => {
                while self.at < self.source.text.len() && self.peek() != b'\n' {
                    self.at += if self.peek() == b'\\' { 2 } else { 1 };
                }
            }
            b'b' | b't' | b'T' | b':' | b'#' => {
                while self.at < self.source.text.len() && !matches!(self.peek(), b'\n' | b';' | b'}') {
                    self.at += 1;
                }
            }
            _ => {}
        }
    }

    /// `s/…/…/flags`.
    fn substitution(&mut self, outcome: &mut Outcome) {
        let delimiter = self.peek();
        self.at += 1;
        let pattern = self.until(delimiter);
        let with = self.until(delimiter);
        loop {
            match self.peek() {
                b'e' => {
                    self.at += 1;
                    let whole = matches!(pattern.as_slice(), b".*" | b"^.*$" | b"^.*" | b".*$");
                    let plain = !with.contains(&b'&')
                        && !with.windows(2).any(|pair| matches!(pair, [b'\\', b'0'..=b'9']));
                    if whole && plain {
                        let text: Vec<u8> = unescaped(&with);
                        outcome.next.push(self.call.shell(self.value(&text)));
                    } else {
                        self.runs_lines(outcome);
                    }
                }
                b'w' => {
                    self.at += 1;
                    let file = self.line();
                    outcome.push(self.call.writes(&file, Change::Replace));
                    break;
                }
                b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9' => self.at += 1,
                _ => break,
            }
        }
    }

    fn runs_lines(&self, outcome: &mut Outcome) {
        outcome.push(self.call.unknown("lines sed runs as commands"));
    }

    /// Up to a delimiter that is not kept by a backslash or brackets.
    fn until(&mut self, delimiter: u8) -> Vec<u8> {
        let begin = self.at;
        while self.at < self.source.text.len() && self.peek() != delimiter {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        let end = self.at.min(self.source.text.len());
        self.at = end + 1;
        self.source.text.get(begin..end).unwrap_or_default().to_vec()
    }

    /// The rest of the line.
    fn line(&mut self) -> Value {
        let begin = self.at;
        while self.at < self.source.text.len() && self.peek() != b'\n' {
            self.at += 1;
        }
        let line = self.source.text.get(begin..self.at).unwrap_or_default().trim_ascii().to_vec();
        self.value(&line)
    }

    /// Text with its holes.
    fn value(&self, text: &[u8]) -> Value {
        let mut value = Value::default();
        let mut rest = text;
        while let Some(first) = rest.first() {
            let (piece, length) = match self.source.hole(rest) {
                Some((why, length)) => (Piece::Unknown(why), length),
                None => (Piece::Known(vec![*first]), 1),
            };
            value.push(piece);
            rest = rest.get(length..).unwrap_or_default();
        }
        value
    }
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => match bytes.next() {
                Some(b'n') => plain.push(b'\n'),
                Some(other) => plain.push(*other),
                None => {}
            },
            other => plain.push(*other),
        }
    }
    plain
}
