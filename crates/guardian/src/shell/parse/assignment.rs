//! Assignments: `NAME=value`, `NAME[i]+=value`, `NAME=(…)`.
//!
//! Owns: telling an assignment from a word, and the elements of arrays. Refuses: deciding where assignments may stand.

use super::cursor::{Parser, Read, Stop};
use super::lexer::{Raw, Rules};
use super::skip::{Group, Pair};
use super::word::Mode;
use crate::shell::ast::{Assigned, Assignment, Part, Reason, Unknown, Word};

/// The elements of an array, each with its index when it has one.
pub(super) type Elements = Vec<(Option<Word>, Word)>;

/// The left side of an assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Left {
    name: Vec<u8>,
    index: Option<(usize, usize)>,
    append: bool,
    /// Where the value begins.
    pub(super) value: usize,
}

impl Parser<'_> {
    /// The left side of the assignment between two places, if it is one.
    pub(super) fn left_side(&mut self, start: usize, end: usize) -> Option<Left> {
        let first = self.byte(start)?;
        if !self.input.text.get(start..end).is_some_and(|text| text.contains(&b'=')) {
            return None;
        }
        if !(first.is_ascii_alphabetic() || first == b'_' || first == b'\\') {
            return None;
        }
        self.within(start, end, |parser| {
            let mut name = Vec::new();
            while let Some(byte) = parser.peek()
                && (byte == b'_' || byte.is_ascii_alphabetic() || (!name.is_empty() && byte.is_ascii_digit()))
            {
                name.push(byte);
                parser.bump();
            }
            if name.is_empty() { None } else { parser.left_side_behind(name) }
        })
    }

    /// The rest of the left side, behind its name.
    fn left_side_behind(&mut self, name: Vec<u8>) -> Option<Left> {
        let mut index = None;
        if self.peek() == Some(b'[') {
            self.bump();
            let from = self.input.at;
            self.skip_group(Pair { open: b'[', close: b']', kind: Group::Subscript }).ok()?;
            index = Some((from, self.input.at - 1));
        }
        let append = self.eat(b'+');
        if !self.eat(b'=') {
            return None;
        }
        Some(Left { name, index, append, value: self.input.at })
    }

    /// Whether what was read of a word so far is the left side of an assignment but for its `=`.
    pub(super) fn names_variable(&mut self, start: usize) -> bool {
        let equals = self.after(self.input.at);
        self.left_side(start, equals).is_some_and(|left| left.value == equals)
    }

    /// The assignment a word is, if it is one.
    pub(super) fn assignment(&mut self, raw: &mut Raw) -> Read<Option<Assignment>> {
        let Some(left) = self.left_side(raw.start, raw.end) else { return Ok(None) };
        let span = self.span(raw.start, raw.end);
        let value = match raw.array.take() {
            Some((from, to, elements)) if from == left.value && to == raw.end => Assigned::Array(elements),
            Some(_) => Assigned::Scalar(self.unreadable(raw.start, raw.end)),
            None => Assigned::Scalar(self.word(left.value, raw.end, Mode::VALUE)?),
        };
        let index = left.index.map(|(from, to)| self.word(from, to, Mode::INDEX)).transpose()?;
        Ok(Some(Assignment { name: left.name, index, append: left.append, value, span }))
    }

    /// A word of which nothing can be said.
    pub(super) fn unreadable(&self, start: usize, end: usize) -> Word {
        let span = self.span(start, end);
        Word { parts: vec![Part::Unknown(Unknown { reason: Reason::Expansion, span })], span }
    }

    /// Behind the `(` of an array: its elements, and over its `)`.
    pub(super) fn elements(&mut self) -> Read<Elements> {
        self.deeper(|parser| {
            let mut elements = Vec::new();
            loop {
                parser.newlines();
                if parser.eat(b')') {
                    return Ok(elements);
                }
                if !parser.at_word() {
                    return Err(Stop::SYNTAX);
                }
                let raw = parser.raw_word(Rules { element: true, ..Rules::default() })?;
                elements.push(parser.element(&raw)?);
            }
        })
    }

    fn element(&mut self, raw: &Raw) -> Read<(Option<Word>, Word)> {
        let left = self.within(raw.start, raw.end, |parser| {
            if parser.peek() == Some(b'[') { parser.left_side_behind(Vec::new()) } else { None }
        });
        let Some(Left { index: Some((from, to)), append, value, .. }) = left else {
            return Ok((None, self.word(raw.start, raw.end, Mode::ARGUMENT)?));
        };
        let index = self.word(from, to, Mode::INDEX)?;
        let mut word = self.word(value, raw.end, Mode::VALUE)?;
        if append {
            // What is there already stays in front, and is not known.
            let unknown = Unknown { reason: Reason::Expansion, span: word.span };
            word.parts.insert(0, Part::Unknown(unknown));
        }
        Ok((Some(index), word))
    }
}
