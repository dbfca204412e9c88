//! Where everything is in a settings file: its values with their places, so that one can be changed and the rest stays as it
//! was written.
//!
//! Owns: reading JSON, with comments where an agent reads them. Refuses: anything else, with the line that is wrong.

use std::{iter, ops::Range};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::document::{MARK, Node};

/// How deep values may be in each other.
const DEEPEST: usize = 100;

/// A value and its place in the text.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) place: Range<usize>,
    pub(super) shape: Shape,
}

/// What a value is made of.
#[derive(Debug)]
pub(super) enum Shape {
    /// Each with the place its name begins at.
    Object(Vec<(String, usize, Piece)>),
    List(Vec<Piece>),
    Leaf(Value),
}

impl Piece {
    /// Reads a whole text.
    pub(super) fn read(text: &str, comments: bool) -> Result<Self> {
        let at = if text.starts_with(MARK) { MARK.len_utf8() } else { 0 };
        let mut scan = Scan { text, at, comments };
        scan.gap()?;
        let piece = scan.value(0)?;
        scan.gap()?;
        if scan.at < text.len() {
            bail!(scan.wrong("nothing more was expected"));
        }
        Ok(piece)
    }

    pub(super) fn node(&self) -> Node {
        match &self.shape {
            Shape::Object(pairs) => {
                Node::Object(pairs.iter().map(|(name, _, piece)| (name.clone(), piece.node())).collect())
            }
            Shape::List(items) => Node::List(items.iter().map(Self::node).collect()),
            Shape::Leaf(value) => Node::Leaf(value.clone()),
        }
    }
}

/// Where the comma behind a place is, if one is next.
pub(super) fn comma_after(text: &str, place: usize) -> Option<usize> {
    let mut scan = Scan { text, at: place, comments: true };
    scan.gap().ok()?;
    (scan.peek() == Some(b',')).then_some(scan.at)
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    comments: bool,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn wrong(&self, what: &str) -> String {
        let line = self.text.bytes().take(self.at).filter(|byte| *byte == b'\n').count() + 1;
        format!("{what} in line {line}")
    }

    /// Passes over what says nothing.
    fn gap(&mut self) -> Result<()> {
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let said = rest.get(blank..).unwrap_or_default();
            let comment = if said.starts_with("//") {
                said.find('\n').unwrap_or(said.len())
            } else if said.starts_with("/*") {
                said.find("*/").with_context(|| self.wrong("a comment has no end"))? + 2
            } else {
                0
            };
            self.at += blank;
            if comment > 0 && !self.comments {
                bail!(self.wrong("there is a comment, which this agent does not read,"));
            }
            if blank + comment == 0 {
                return Ok(());
            }
            self.at += comment;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Piece> {
        if depth > DEEPEST {
            bail!(self.wrong("values are too deep in each other"));
        }
        let start = self.at;
        let shape = match self.peek() {
            Some(b'{') => Shape::Object(self.object(depth)?),
            Some(b'[') => Shape::List(self.list(depth)?),
            Some(b'"') => Shape::Leaf(Value::String(self.string()?)),
            Some(_) => {
                let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}' | '/');
                let rest = self.rest();
                let word = rest.get(..rest.find(is_end).unwrap_or(rest.len())).unwrap_or_default();
                let value = serde_json::from_str(word).with_context(|| self.wrong("a value is expected"))?;
                self.at += word.len();
                Shape::Leaf(value)
            }
            None => bail!(self.wrong("it ends too early")),
        };
        Ok(Piece { place: start..self.at, shape })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<(String, usize, Piece)>> {
        let mut pairs = Vec::new();
        self.each(b'}', |scan| {
            let start = scan.at;
            if scan.peek() != Some(b'"') {
                bail!(scan.wrong("a name in quotes is expected"));
            }
            let name = scan.string()?;
            scan.gap()?;
            if scan.peek() != Some(b':') {
                bail!(scan.wrong("a colon is expected"));
            }
            scan.at += 1;
            scan.gap()?;
            pairs.push((name, start, scan.value(depth + 1)?));
            Ok(())
        })?;
        Ok(pairs)
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Piece>> {
        let mut items = Vec::new();
        self.each(b']', |scan| {
            items.push(scan.value(depth + 1)?);
            Ok(())
        })?;
        Ok(items)
    }

    /// What is between brackets, one after the other.
    fn each(&mut self, close: u8, mut take: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.at += 1;
        self.gap()?;
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            take(self)?;
            self.gap()?;
            let next = self.peek();
            if next != Some(b',') && next != Some(close) {
                bail!(self.wrong("a comma or the end of the list is expected"));
            }
            self.at += 1;
            if next == Some(close) {
                return Ok(());
            }
            self.gap()?;
        }
    }

    fn string(&mut self) -> Result<String> {
        let mut is_escaped = false;
        let inside = self.rest().bytes().skip(1);
        let length = inside.chain(iter::once(b'"')).take_while(|byte| {
            let is_end = *byte == b'"' && !is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            !is_end
        });
        let end = self.at + length.count() + 2;
        let text = self.text.get(self.at..end).with_context(|| self.wrong("a text has no end"))?;
        let read = serde_json::from_str(text).with_context(|| self.wrong("a text is not one"))?;
        self.at = end;
        Ok(read)
    }
}
