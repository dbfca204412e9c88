//! Where reading stands: the text, the place in it, and how much work is left.
//!
//! Owns: looking and stepping, continuation lines, the jump over here-documents already read, spans, budgets.
//! Refuses: knowing any syntax beyond a backslash before a newline.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem;

use super::heredoc::{Body, Pending};
use crate::shell::ast::{Reason, Script, Span, Unknown};

/// How deep constructs may stand in one another.
pub(super) const DEPTH: u32 = 100;

/// Why reading cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) reason: Reason,
}

impl Stop {
    pub(super) const SYNTAX: Self = Self { reason: Reason::Syntax };
}

/// What reading gives.
pub(super) type Read<T> = Result<T, Stop>;

/// How places in a text are places in the script.
#[derive(Debug, Clone)]
pub(super) enum Map {
    /// They are the same.
    Same,
    /// All of it stands in one place.
    Whole(Span),
    /// From each first place on it runs along with each second one.
    Pieces(Vec<(usize, u32)>),
}

/// One text and what is known about it.
#[derive(Debug)]
pub(super) struct Input<'a> {
    pub(super) text: Cow<'a, [u8]>,
    pub(super) at: usize,
    pub(super) end: usize,
    map: Map,
    /// Where reading goes on behind a newline, when here-documents follow it.
    pub(super) jumps: HashMap<usize, usize>,
    /// The here-documents found, by the place of their operator.
    pub(super) bodies: HashMap<usize, Body>,
    /// Here-documents whose body is still to come.
    pub(super) pending: Vec<Pending>,
    /// Substitutions read while looking for the end of a word, by place: until the word is built.
    pub(super) scripts: HashMap<usize, Script>,
    /// Where those substitutions end.
    pub(super) ends: HashMap<usize, usize>,
    /// How many `$(` are open, within each of which a `)` may end a here-document.
    pub(super) substitutions: u32,
}

impl<'a> Input<'a> {
    pub(super) fn new(text: Cow<'a, [u8]>, map: Map) -> Self {
        let end = text.len();
        Self {
            text,
            at: 0,
            end,
            map,
            jumps: HashMap::new(),
            bodies: HashMap::new(),
            pending: Vec::new(),
            scripts: HashMap::new(),
            ends: HashMap::new(),
            substitutions: 0,
        }
    }
}

/// The reader.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    pub(super) input: Input<'a>,
    /// Whether `@(…)` is a pattern outside `[[ … ]]`.
    pub(super) extglob: bool,
    /// What was read but may mean something else than it seems to.
    pub(super) notes: Vec<Unknown>,
    steps: u64,
    /// Nothing is left to read with: every place looks like the end.
    pub(super) exhausted: bool,
    depth: u32,
}

impl<'a> Parser<'a> {
    pub(super) fn new(input: Input<'a>, steps: u64, extglob: bool) -> Self {
        Self { input, extglob, notes: Vec::new(), steps, exhausted: false, depth: 0 }
    }

    /// How many steps are left.
    pub(super) fn steps_left(&self) -> u64 {
        self.steps
    }

    /// Pays for work that is not stepping.
    pub(super) fn pay(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(u64::try_from(steps).unwrap_or(u64::MAX));
        self.exhausted |= self.steps == 0;
    }

    /// The byte at a place, if it is within what may be read.
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        if at < self.input.end && !self.exhausted { self.input.text.get(at).copied() } else { None }
    }

    /// The place after the byte at a place.
    pub(super) fn after(&self, at: usize) -> usize {
        if self.byte(at) == Some(b'\n')
            && let Some(resume) = self.input.jumps.get(&at)
        {
            return *resume;
        }
        at + 1
    }

    /// The first place from here on that is not a backslash before a newline.
    fn settle(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at = self.after(at + 1);
        }
        at
    }

    /// The next byte as it is written.
    pub(super) fn raw(&self) -> Option<u8> {
        self.byte(self.input.at)
    }

    /// The next byte, continuation lines joined.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let at = self.settle(self.input.at);
        if at != self.input.at {
            self.pay(at.saturating_sub(self.input.at));
            self.input.at = at;
        }
        self.raw()
    }

    /// The byte after the next, continuation lines joined.
    pub(super) fn second(&self) -> Option<u8> {
        let first = self.settle(self.input.at);
        self.byte(self.settle(self.after(first)))
    }

    /// What comes behind these bytes, if they come next, continuation lines joined.
    pub(super) fn behind(&self, bytes: &[u8]) -> Read<Option<u8>> {
        let mut at = self.settle(self.input.at);
        for byte in bytes {
            if self.byte(at) != Some(*byte) {
                return Err(Stop::SYNTAX);
            }
            at = self.settle(self.after(at));
        }
        Ok(self.byte(at))
    }

    /// Whether these bytes come next, continuation lines joined.
    pub(super) fn follows(&self, bytes: &[u8]) -> bool {
        self.behind(bytes).is_ok()
    }

    /// Steps over one byte.
    pub(super) fn bump(&mut self) {
        self.pay(1);
        if self.input.at < self.input.end {
            self.input.at = self.after(self.input.at);
        }
    }

    /// Steps over so many bytes, continuation lines joined.
    pub(super) fn bump_many(&mut self, count: usize) {
        for _ in 0..count {
            self.peek();
            self.bump();
        }
    }

    /// Steps over this byte, if it comes next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.bump();
        }
        found
    }

    /// The bytes between two places, continuation lines and here-documents left out.
    pub(super) fn slice(&self, start: usize, end: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(end.saturating_sub(start));
        let mut at = start;
        loop {
            at = self.settle(at);
            if at >= end {
                return bytes;
            }
            let Some(byte) = self.byte(at) else { return bytes };
            bytes.push(byte);
            at = self.after(at);
        }
    }

    /// Reads between two places only, and comes back.
    pub(super) fn within<T>(&mut self, start: usize, end: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = (self.input.at, self.input.end);
        self.input.at = start;
        self.input.end = end.min(self.input.end);
        let found = read(self);
        (self.input.at, self.input.end) = before;
        found
    }

    /// Reads another text, and comes back.
    pub(super) fn instead<T>(&mut self, text: Vec<u8>, map: Map, read: impl FnOnce(&mut Self) -> T) -> T {
        self.pay(text.len());
        let before = mem::replace(&mut self.input, Input::new(Cow::Owned(text), map));
        let found = read(self);
        self.input = before;
        found
    }

    /// Reads one level deeper.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEPTH {
            return Err(Stop { reason: Reason::Limit });
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Where a place in this text stands in the script.
    fn place(&self, at: usize) -> u32 {
        let same = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        match &self.input.map {
            Map::Same => same(at),
            Map::Whole(span) => span.start,
            Map::Pieces(pieces) => {
                let index = pieces.partition_point(|(from, _)| *from <= at);
                match index.checked_sub(1).and_then(|index| pieces.get(index)) {
                    Some((from, to)) => to.saturating_add(same(at - from)),
                    None => 0,
                }
            }
        }
    }

    /// The span between two places.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        match &self.input.map {
            Map::Whole(span) => *span,
            Map::Same | Map::Pieces(_) => {
                let start = self.place(start);
                Span { start, end: self.place(end).max(start) }
            }
        }
    }

    /// The span from a place to here.
    pub(super) fn span_from(&self, start: usize) -> Span {
        self.span(start, self.input.at)
    }

    /// Notes that what stands here may be something else than it was read as.
    pub(super) fn note(&mut self, reason: Reason, start: usize) {
        let span = self.span_from(start);
        self.notes.push(Unknown { reason, span });
    }
}
