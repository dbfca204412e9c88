//! Compound commands: groups, loops, branches, functions, arithmetic.
//!
//! Owns: everything that begins with a reserved word or a parenthesis. Refuses: `[[ … ]]` (`condition`).

use super::cursor::{Parser, Read, Stop};
use super::lexer::Rules;
use super::skip::{Group, Pair};
use super::word::Mode;
use crate::shell::ast::{Arm, ArmEnd, Command, Kind, Reason, Script, Word};

impl Parser<'_> {
    /// The compound command that comes next, if one does.
    pub(super) fn compound(&mut self) -> Read<Option<Kind>> {
        let Some(word) = self.reserved() else {
            return if self.peek() == Some(b'(') { self.parenthesis().map(Some) } else { Ok(None) };
        };
        let kind = match word {
            b"if" => self.branches()?,
            b"while" | b"until" => {
                self.eat_word(word);
                let condition = self.compound_list()?;
                let body = self.loop_body(Braced::No)?;
                Kind::While { until: word == b"until", condition, body }
            }
            b"for" | b"select" => self.counted(word)?,
            b"case" => self.case()?,
            b"{" => Kind::Group(self.group()?),
            b"[[" => self.condition()?,
            b"function" => {
                self.eat_word(word);
                self.function()?
            }
            b"coproc" => {
                self.eat_word(word);
                self.coprocess()?
            }
            _ => return Err(Stop::SYNTAX),
        };
        Ok(Some(kind))
    }

    /// At a `(`: arithmetic if it is doubled and ends so, else a subshell.
    fn parenthesis(&mut self) -> Read<Kind> {
        let start = self.input.at;
        let doubled = self.second() == Some(b'(');
        if doubled && let Some(word) = self.arithmetic()? {
            return Ok(Kind::Arithmetic(word));
        }
        self.input.at = start;
        let bodies = self.input.bodies.len() + self.input.pending.len();
        self.bump();
        let script = self.compound_list()?;
        self.close(b')')?;
        if doubled && bodies != self.input.bodies.len() + self.input.pending.len() {
            // Bash has already read on to the closing parenthesis, so the body is not where it seems to be.
            self.note(Reason::Version, start);
        }
        Ok(Kind::Subshell(script))
    }

    /// At `((`: the expression, and over its `))`; none if it does not end so.
    fn arithmetic(&mut self) -> Read<Option<Word>> {
        self.bump_many(2);
        let from = self.input.at;
        self.skip_group(Pair { open: b'(', close: b')', kind: Group::Arithmetic })?;
        let to = self.input.at - 1;
        if self.raw() != Some(b')') {
            return Ok(None);
        }
        self.bump();
        self.word(from, to, Mode::ARITHMETIC).map(Some)
    }

    fn close(&mut self, byte: u8) -> Read<()> {
        self.blanks();
        if self.eat(byte) { Ok(()) } else { Err(Stop::SYNTAX) }
    }

    /// At `{`.
    fn group(&mut self) -> Read<Script> {
        self.expect_word(b"{")?;
        let script = self.compound_list()?;
        self.expect_word(b"}")?;
        Ok(script)
    }

    /// `do …; done`, or braces where they may stand for it.
    fn loop_body(&mut self, braced: Braced) -> Read<Script> {
        self.blanks();
        if braced == Braced::Yes && self.is_word(b"{") {
            return self.group();
        }
        self.expect_word(b"do")?;
        let script = self.compound_list()?;
        self.expect_word(b"done")?;
        Ok(script)
    }

    fn branches(&mut self) -> Read<Kind> {
        self.expect_word(b"if")?;
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.compound_list()?;
            self.expect_word(b"then")?;
            let body = self.compound_list()?;
            arms.push((condition, body));
            if self.eat_word(b"elif") {
                continue;
            }
            if self.eat_word(b"else") {
                otherwise = Some(self.compound_list()?);
            }
            self.expect_word(b"fi")?;
            return Ok(Kind::If { arms, otherwise });
        }
    }

    /// At `for` or `select`.
    fn counted(&mut self, word: &[u8]) -> Read<Kind> {
        self.eat_word(word);
        self.blanks();
        if word == b"for" && self.follows(b"((") {
            return self.for_arithmetic();
        }
        if !self.at_word() {
            return Err(Stop::SYNTAX);
        }
        let raw = self.raw_word(Rules::default())?;
        let name = self.slice(raw.start, raw.end);
        let select = word == b"select";
        self.blanks();
        let mut braced = Braced::No;
        if self.raw() == Some(b';') && !self.ends_arm() {
            self.bump();
            self.newlines();
            let body = self.loop_body(Braced::Yes)?;
            return Ok(Kind::For { select, name, words: None, body });
        }
        if self.raw() == Some(b'\n') {
            braced = Braced::Yes;
            self.newlines();
        }
        if !self.eat_word(b"in") {
            let body = self.loop_body(braced)?;
            return Ok(Kind::For { select, name, words: None, body });
        }
        let mut words = Vec::new();
        while self.at_word() {
            let raw = self.raw_word(Rules::default())?;
            words.push(self.argument(raw)?);
        }
        self.terminator()?;
        let body = self.loop_body(Braced::Yes)?;
        Ok(Kind::For { select, name, words: Some(words), body })
    }

    /// `;` or a newline, and newlines behind it.
    fn terminator(&mut self) -> Read<()> {
        self.blanks();
        match self.raw() {
            Some(b';') if !self.ends_arm() => self.bump(),
            Some(b'\n') | None => {}
            Some(_) => return Err(Stop::SYNTAX),
        }
        self.newlines();
        Ok(())
    }

    fn for_arithmetic(&mut self) -> Read<Kind> {
        self.bump_many(2);
        let from = self.input.at;
        self.skip_group(Pair { open: b'(', close: b')', kind: Group::Arithmetic })?;
        let to = self.input.at - 1;
        if self.raw() != Some(b')') {
            return Err(Stop::SYNTAX);
        }
        self.bump();
        let behind = self.input.at;
        let first = self.within(from, to, |parser| parser.upto(|byte| byte == b';', from));
        let second = self.within(first + 1, to, |parser| parser.upto(|byte| byte == b';', first + 1));
        if first >= to || second >= to {
            return Err(Stop::SYNTAX);
        }
        let third = self.within(second + 1, to, |parser| parser.upto(|byte| byte == b';', second + 1));
        if third < to {
            return Err(Stop::SYNTAX);
        }
        let parts = Box::new([
            self.word(from, first, Mode::ARITHMETIC)?,
            self.word(first + 1, second, Mode::ARITHMETIC)?,
            self.word(second + 1, to, Mode::ARITHMETIC)?,
        ]);
        self.input.at = behind;
        self.blanks();
        if matches!(self.raw(), Some(b';' | b'\n')) {
            self.terminator()?;
        }
        let body = self.loop_body(Braced::Yes)?;
        Ok(Kind::ForArithmetic { parts, body })
    }

    fn case(&mut self) -> Read<Kind> {
        self.expect_word(b"case")?;
        if !self.at_word() {
            return Err(Stop::SYNTAX);
        }
        let raw = self.raw_word(Rules::default())?;
        let subject = self.word(raw.start, raw.end, Mode::TEXT)?;
        self.newlines();
        self.expect_word(b"in")?;
        let mut arms = Vec::new();
        loop {
            self.newlines();
            if self.eat_word(b"esac") {
                return Ok(Kind::Case { subject, arms });
            }
            let (arm, ended) = self.arm()?;
            arms.push(arm);
            if !ended {
                self.newlines();
                self.expect_word(b"esac")?;
                return Ok(Kind::Case { subject, arms });
            }
        }
    }

    /// One arm of a `case`, and whether it was ended by `;;` or its kin.
    fn arm(&mut self) -> Read<(Arm, bool)> {
        self.eat(b'(');
        let mut patterns = Vec::new();
        loop {
            if !self.at_word() {
                return Err(Stop::SYNTAX);
            }
            let raw = self.raw_word(Rules::default())?;
            patterns.push(self.word(raw.start, raw.end, Mode::PATTERN)?);
            self.blanks();
            if self.peek() == Some(b'|') && !self.follows(b"||") && !self.follows(b"|&") {
                self.bump();
                continue;
            }
            self.close(b')')?;
            break;
        }
        let body = self.maybe_list()?;
        self.blanks();
        let ends: [(&[u8], ArmEnd); 3] =
            [(b";;&", ArmEnd::TestNext), (b";;", ArmEnd::Break), (b";&", ArmEnd::FallThrough)];
        for (text, end) in ends {
            if self.follows(text) {
                self.bump_many(text.len());
                return Ok((Arm { patterns, body, end }, true));
            }
        }
        Ok((Arm { patterns, body, end: ArmEnd::Break }, false))
    }

    /// Behind `function`.
    fn function(&mut self) -> Read<Kind> {
        if !self.at_word() {
            return Err(Stop::SYNTAX);
        }
        let raw = self.raw_word(Rules::default())?;
        let name = self.slice(raw.start, raw.end);
        self.blanks();
        let open = self.input.at;
        if self.raw() == Some(b'(') {
            self.bump();
            self.blanks();
            if !self.eat(b')') {
                self.input.at = open;
            }
        }
        self.function_body(name)
    }

    /// The body of a function, and the redirections of each call.
    pub(super) fn function_body(&mut self, name: Vec<u8>) -> Read<Kind> {
        self.newlines();
        let start = self.input.at;
        if matches!(self.reserved(), Some(b"function" | b"coproc")) {
            return Err(Stop::SYNTAX);
        }
        let kind = self.deeper(Self::compound)?.ok_or(Stop::SYNTAX)?;
        let redirects = self.redirects()?;
        let body = Box::new(Command { kind, redirects, span: self.span_from(start) });
        Ok(Kind::Function { name, body })
    }

    /// Behind `coproc`.
    fn coprocess(&mut self) -> Read<Kind> {
        self.blanks();
        let start = self.input.at;
        let mut name = None;
        if !self.compound_follows()? {
            if self.redirect_follows() || !self.at_word() {
                return self.coprocess_simple(start);
            }
            let raw = self.raw_word(Rules { subscripts: true, arrays: true, ..Rules::default() })?;
            let assigns = self.left_side(raw.start, raw.end).is_some();
            if assigns || !self.compound_follows()? {
                return self.coprocess_simple(start);
            }
            name = Some(self.word(raw.start, raw.end, Mode::TEXT)?);
        }
        let start = self.input.at;
        let kind = self.deeper(Self::compound)?.ok_or(Stop::SYNTAX)?;
        let redirects = self.redirects()?;
        let body = Box::new(Command { kind, redirects, span: self.span_from(start) });
        Ok(Kind::Coprocess { name, body })
    }

    fn coprocess_simple(&mut self, start: usize) -> Read<Kind> {
        self.input.at = start;
        let body = Box::new(self.simple()?);
        if matches!(body.kind, Kind::Function { .. }) {
            return Err(Stop::SYNTAX);
        }
        Ok(Kind::Coprocess { name: None, body })
    }

    fn redirect_follows(&mut self) -> bool {
        matches!(self.peek(), Some(b'<' | b'>')) && self.second() != Some(b'(')
    }

    /// Whether a compound command comes next; another reserved word there is an error.
    fn compound_follows(&mut self) -> Read<bool> {
        match self.reserved() {
            None | Some(b"time") => Ok(self.peek() == Some(b'(')),
            Some(b"if" | b"while" | b"until" | b"for" | b"select" | b"case" | b"{" | b"[[") => Ok(true),
            Some(_) => Err(Stop::SYNTAX),
        }
    }
}

/// Whether braces may stand for `do … done`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Braced {
    /// They may.
    Yes,
    /// They may not.
    No,
}
