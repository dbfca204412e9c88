//! Lists, pipelines and simple commands.
//!
//! Owns: what joins commands, and which words of a simple command are what. Refuses: compound commands (`compound`).

use super::cursor::{Parser, Read, Stop};
use super::lexer::Rules;
use crate::shell::ast::{Command, Descriptor, Kind, Link, Part, Reason, Redirect, Script, Target, Word};

/// Commands whose arguments may be whole arrays.
const DECLARING: [&[u8]; 8] =
    [b"alias", b"declare", b"eval", b"export", b"let", b"local", b"readonly", b"typeset"];

impl Parser<'_> {
    /// What stands on one line: commands joined by `;`, `&`, `&&`, `||`.
    pub(super) fn list(&mut self) -> Read<Command> {
        self.blanks();
        let start = self.input.at;
        let mut items = Vec::new();
        loop {
            let command = self.pipeline()?;
            self.blanks();
            let link = if self.follows(b"&&") {
                Link::And
            } else if self.follows(b"||") {
                Link::Or
            } else if self.peek() == Some(b'&') {
                Link::Background
            } else {
                Link::Then
            };
            items.push((command, link));
            match link {
                Link::And | Link::Or => {
                    self.bump_many(2);
                    self.newlines();
                }
                Link::Then if self.peek() != Some(b';') || self.ends_arm() => break,
                Link::Then | Link::Background => {
                    self.bump();
                    self.blanks();
                    if self.raw() == Some(b'\n') || self.closes() {
                        break;
                    }
                }
            }
        }
        if let [(_, Link::Then)] = items.as_slice()
            && let Some((command, _)) = items.pop()
        {
            return Ok(command);
        }
        Ok(Command { kind: Kind::List(items), redirects: Vec::new(), span: self.span_from(start) })
    }

    /// Lists on any number of lines, up to what closes them.
    pub(super) fn compound_list(&mut self) -> Read<Script> {
        let script = self.maybe_list()?;
        if script.commands.is_empty() { Err(Stop::SYNTAX) } else { Ok(script) }
    }

    /// The same, where nothing at all may stand too.
    pub(super) fn maybe_list(&mut self) -> Read<Script> {
        let mut script = Script::default();
        loop {
            self.newlines();
            if self.closes() {
                return Ok(script);
            }
            script.commands.push(self.list()?);
            self.blanks();
            if self.raw() != Some(b'\n') {
                return Ok(script);
            }
        }
    }

    /// Behind `$(`: the script, and over its `)`.
    pub(super) fn substitution(&mut self) -> Read<Script> {
        let pending = std::mem::take(&mut self.input.pending);
        self.input.substitutions += 1;
        let found = self.maybe_list().and_then(|script| {
            if self.peek() != Some(b')') {
                return Err(Stop::SYNTAX);
            }
            self.bump();
            if !self.input.pending.is_empty() {
                // Bodies that were not there before the `)` are behind the end of this line.
                let rest = self.input.text.get(self.input.at..).unwrap_or_default();
                let newline = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                self.gather(self.input.at + newline);
            }
            Ok(script)
        });
        self.input.substitutions -= 1;
        self.input.pending = pending;
        found
    }

    /// Whether what comes next can only close something.
    pub(super) fn closes(&mut self) -> bool {
        if let Some(word) = self.reserved() {
            return matches!(word, b"then" | b"else" | b"elif" | b"fi" | b"do" | b"done" | b"esac" | b"}");
        }
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => self.ends_arm(),
            Some(_) => false,
        }
    }

    /// Whether `;;`, `;&` or `;;&` comes next.
    pub(super) fn ends_arm(&self) -> bool {
        self.follows(b";;") || self.follows(b";&")
    }

    fn pipeline(&mut self) -> Read<Command> {
        self.blanks();
        let start = self.input.at;
        let (mut negated, mut prefixed) = (false, false);
        loop {
            if self.reserved() == Some(b"!") {
                self.bump();
                negated = !negated;
            } else if self.reserved() == Some(b"time") {
                self.bump_many(4);
                self.eat_word(b"-p");
                self.eat_word(b"--");
            } else {
                break;
            }
            prefixed = true;
        }
        let mut stages = Vec::new();
        self.blanks();
        if prefixed && (matches!(self.raw(), None | Some(b'\n' | b';')) && !self.ends_arm()) {
            return Ok(Command {
                kind: Kind::Pipeline { negated, stages },
                redirects: Vec::new(),
                span: self.span_from(start),
            });
        }
        stages.push(self.command()?);
        loop {
            self.blanks();
            if self.peek() != Some(b'|') || self.follows(b"||") {
                break;
            }
            let bar = self.input.at;
            self.bump();
            if self.eat(b'&')
                && let Some(stage) = stages.last_mut()
            {
                let span = self.span_from(bar);
                let one = Word { parts: vec![Part::Literal { text: b"1".to_vec(), quoted: false }], span };
                let target = Target::Duplicate(one, false);
                stage.redirects.push(Redirect { descriptor: Some(Descriptor::Number(2)), target, span });
            }
            self.newlines();
            stages.push(self.stage()?);
        }
        if !prefixed
            && stages.len() == 1
            && let Some(command) = stages.pop()
        {
            return Ok(command);
        }
        Ok(Command {
            kind: Kind::Pipeline { negated, stages },
            redirects: Vec::new(),
            span: self.span_from(start),
        })
    }

    /// A command behind a bar, where `time` is no longer a reserved word.
    fn stage(&mut self) -> Read<Command> {
        if self.reserved() == Some(b"time") { self.simple() } else { self.command() }
    }

    fn command(&mut self) -> Read<Command> {
        self.blanks();
        let start = self.input.at;
        let Some(found) = self.deeper(Self::compound)? else { return self.simple() };
        let mut redirects = Vec::new();
        if !matches!(found, Kind::Function { .. } | Kind::Coprocess { .. }) {
            redirects = self.redirects()?;
        }
        Ok(Command { kind: found, redirects, span: self.span_from(start) })
    }

    /// The redirections that come next.
    pub(super) fn redirects(&mut self) -> Read<Vec<Redirect>> {
        let mut redirects = Vec::new();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
        }
        Ok(redirects)
    }

    /// Assignments, words and redirections; or the definition of a function.
    pub(super) fn simple(&mut self) -> Read<Command> {
        self.blanks();
        let start = self.input.at;
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        // Where an assignment is looked for, and where a word may hold an array.
        let (mut position, mut arrays) = (true, false);
        loop {
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                position &= assignments.is_empty() && words.is_empty();
                arrays = false;
                continue;
            }
            if !self.at_word() {
                break;
            }
            let rules = Rules { subscripts: position, arrays: position || arrays, ..Rules::default() };
            let mut raw = self.raw_word(rules)?;
            if words.is_empty()
                && let Some(assignment) = self.assignment(&mut raw)?
            {
                assignments.push(assignment);
                continue;
            }
            if position && assignments.is_empty() && redirects.is_empty() {
                self.blanks();
                if self.raw() == Some(b'(') {
                    let name = self.slice(raw.start, raw.end);
                    return self.function_behind(name, start);
                }
            }
            if position {
                let name = self.slice(raw.start, raw.end);
                arrays = DECLARING.contains(&name.as_slice());
                if self.extglob && name.starts_with(b"!(") {
                    // A pattern only if extglob really is on; a negated subshell otherwise.
                    self.note(Reason::Expansion, raw.start);
                }
            }
            position = false;
            words.push(self.argument(raw)?);
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return Err(Stop::SYNTAX);
        }
        Ok(Command { kind: Kind::Simple { assignments, words }, redirects, span: self.span_from(start) })
    }

    /// At the `(` behind a name.
    fn function_behind(&mut self, name: Vec<u8>, start: usize) -> Read<Command> {
        self.bump();
        self.blanks();
        if !self.eat(b')') {
            return Err(Stop::SYNTAX);
        }
        let kind = self.function_body(name)?;
        Ok(Command { kind, redirects: Vec::new(), span: self.span_from(start) })
    }
}
