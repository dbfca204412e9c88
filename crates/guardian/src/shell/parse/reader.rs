//! The way in: a whole script, or one line after another.
//!
//! Owns: limits, and what becomes of errors. Refuses: any grammar.

use std::borrow::Cow;

use super::cursor::{Input, Map, Parser, Read, Stop};
use crate::shell::ast::{Command, Kind, Link, Part, Reason, Script, Span, Unknown, Word};

/// The longest script that is read, in bytes.
pub const LONGEST: usize = 256 * 1024;

/// What is known of the shell before the script begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// `shopt -s extglob` is in force.
    pub extglob: bool,
}

/// Reads a script, minding `shopt -s extglob` on lines of its own.
#[must_use]
pub fn parse(bytes: &[u8]) -> Script {
    let mut reader = Reader::new(bytes, Options::default());
    let mut whole = Script::default();
    while let Some(line) = reader.next_line() {
        for command in &line.commands {
            if let Some(extglob) = sets_extglob(command) {
                reader.set_extglob(extglob);
            }
        }
        whole.commands.extend(line.commands);
        whole.unknown.extend(line.unknown);
    }
    whole
}

/// Reads a script line by line: bash reads a whole line, with all it spans, before it runs any of it.
#[derive(Debug)]
pub struct Reader<'a> {
    parser: Parser<'a>,
    /// What is known to be wrong with all of it.
    refused: Option<Reason>,
    done: bool,
}

impl<'a> Reader<'a> {
    /// Begins to read.
    #[must_use]
    pub fn new(bytes: &'a [u8], options: Options) -> Self {
        let refused = if bytes.len() > LONGEST {
            Some(Reason::Limit)
        } else if bytes.contains(&0) {
            Some(Reason::Nul)
        } else {
            None
        };
        // Far more than any real script takes; it is there for those made to take long.
        let steps = 100_000 + 200 * u64::try_from(bytes.len()).unwrap_or(u64::MAX / 200);
        let parser = Parser::new(Input::new(Cow::Borrowed(bytes), Map::Same), steps, options.extglob);
        Self { parser, refused, done: false }
    }

    /// Whether `@(…)` is a pattern on the lines to come.
    pub fn set_extglob(&mut self, extglob: bool) {
        self.parser.extglob = extglob;
    }

    /// How many steps of work are left; none means that reading stopped for that.
    #[must_use]
    pub fn steps_left(&self) -> u64 {
        self.parser.steps_left()
    }

    /// The next line: the command on it, or what could not be understood. None at the end.
    pub fn next_line(&mut self) -> Option<Script> {
        if self.done {
            return None;
        }
        let whole = self.parser.input.text.len();
        if let Some(reason) = self.refused {
            self.done = true;
            let span = Span { start: 0, end: u32::try_from(whole).unwrap_or(u32::MAX) };
            return Some(Script { commands: Vec::new(), unknown: vec![Unknown { reason, span }] });
        }
        let start = self.parser.input.at;
        let found = self.parser.unit();
        let mut unknown = std::mem::take(&mut self.parser.notes);
        let reason = match (&found, self.parser.exhausted) {
            (_, true) => Some(Reason::Limit),
            (Err(stop), false) => Some(stop.reason),
            (Ok(_), false) => None,
        };
        if let Some(reason) = reason {
            self.done = true;
            unknown.push(Unknown { reason, span: self.parser.span(start, whole) });
            return Some(Script { commands: Vec::new(), unknown });
        }
        match found {
            Ok(Some(command)) => Some(Script { commands: vec![command], unknown }),
            Ok(None) | Err(_) => {
                self.done = true;
                (!unknown.is_empty()).then(|| Script { commands: Vec::new(), unknown })
            }
        }
    }
}

impl Parser<'_> {
    /// All of the text as a script of its own, its errors in it.
    pub(super) fn script(&mut self) -> Read<Script> {
        let mut script = Script::default();
        loop {
            let start = self.input.at;
            match self.unit() {
                Ok(Some(command)) => script.commands.push(command),
                Ok(None) => return Ok(script),
                Err(Stop { reason: Reason::Limit }) => return Err(Stop { reason: Reason::Limit }),
                Err(Stop { reason }) => {
                    let span = self.span(start, self.input.end);
                    script.unknown.push(Unknown { reason, span });
                    return Ok(script);
                }
            }
        }
    }

    /// One line with all it spans; none at the end.
    fn unit(&mut self) -> Read<Option<Command>> {
        self.newlines();
        if self.peek().is_none() {
            return Ok(None);
        }
        self.twice(|parser| {
            parser.input.pending.clear();
            let command = parser.list()?;
            if parser.newline() {
                return Ok(Some(command));
            }
            if parser.peek().is_some() {
                return Err(Stop::SYNTAX);
            }
            if !parser.input.pending.is_empty() {
                parser.gather(parser.input.text.len());
            }
            Ok(Some(command))
        })
    }
}

/// Whether a line certainly turns extglob on or off.
fn sets_extglob(command: &Command) -> Option<bool> {
    match &command.kind {
        Kind::Simple { words, .. } => {
            let mut words = words.iter().map(literal);
            let flag = match (words.next()??, words.next()??) {
                (b"shopt", b"-s") => true,
                (b"shopt", b"-u") => false,
                _ => return None,
            };
            words.any(|word| word == Some(b"extglob")).then_some(flag)
        }
        Kind::List(items) => {
            let mut last = None;
            for (index, (command, link)) in items.iter().enumerate() {
                let reached = index.checked_sub(1).and_then(|before| items.get(before));
                let certain =
                    reached.is_none_or(|(_, link)| *link == Link::Then) && *link != Link::Background;
                if certain {
                    last = sets_extglob(command).or(last);
                }
            }
            last
        }
        _ => None,
    }
}

/// The bytes of a word that is only text.
fn literal(word: &Word) -> Option<&[u8]> {
    match word.parts.as_slice() {
        [Part::Literal { text, .. }] => Some(text),
        _ => None,
    }
}
