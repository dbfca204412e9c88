//! Cutting the text into blanks, newlines, reserved words and words.
//!
//! Owns: where a word begins and ends. Refuses: what is in it (`word`), and whether it may stand there (`command`).

use super::assignment::Elements;
use super::cursor::{Parser, Read, Stop};
use super::skip::{Group, Pair};

/// A word as it was cut out.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether any of it is quoted.
    pub(super) quoted: bool,
    /// Whether there is a `$` in it.
    pub(super) dollar: bool,
    /// Whether there is a group in it: `${`, `$(`, a backquote.
    pub(super) grouped: bool,
    /// The array of `NAME=(…)` and where it begins and ends, as often as there is one.
    pub(super) array: Option<(usize, usize, Elements)>,
}

/// What may be in a word, by where it stands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rules {
    /// `NAME[…]`: where assignments are.
    pub(super) subscripts: bool,
    /// `NAME=(…)`: where assignments are, and behind `declare` and its kin.
    pub(super) arrays: bool,
    /// `[…]` at the very start: in an array.
    pub(super) element: bool,
    /// Parentheses and bars belong to it: behind `=~`.
    pub(super) regex: bool,
    /// `@(…)` belongs to it even though extglob is off: behind `==` in `[[ … ]]`.
    pub(super) pattern: bool,
}

/// Words that are syntax where a command may begin.
pub(super) const RESERVED: [&[u8]; 22] = [
    b"if",
    b"then",
    b"else",
    b"elif",
    b"fi",
    b"case",
    b"esac",
    b"for",
    b"select",
    b"while",
    b"until",
    b"do",
    b"done",
    b"in",
    b"function",
    b"time",
    b"{",
    b"}",
    b"!",
    b"[[",
    b"]]",
    b"coproc",
];

/// Whether a byte ends a word.
pub(super) fn breaks(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'(' | b')' | b'<' | b'>' | b';' | b'&' | b'|')
}

impl Parser<'_> {
    /// Over blanks and a comment.
    pub(super) fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.bump();
        }
        if self.raw() == Some(b'#') {
            while self.raw().is_some_and(|byte| byte != b'\n') {
                self.bump();
            }
        }
    }

    /// Over a newline and the here-documents behind it, if one comes next.
    pub(super) fn newline(&mut self) -> bool {
        self.blanks();
        if self.raw() != Some(b'\n') {
            return false;
        }
        if !self.input.pending.is_empty() {
            self.gather(self.input.at);
        }
        self.bump();
        true
    }

    /// Over any number of newlines.
    pub(super) fn newlines(&mut self) {
        while self.newline() {}
    }

    /// The reserved word that comes next, if one does. Only to be asked where a command may begin.
    pub(super) fn reserved(&mut self) -> Option<&'static [u8]> {
        self.blanks();
        let first = self.raw()?;
        RESERVED.iter().find(|word| word.first() == Some(&first) && self.is_word(word)).copied()
    }

    /// Whether this very word comes next, unquoted.
    pub(super) fn is_word(&self, word: &[u8]) -> bool {
        match self.behind(word) {
            Ok(None) => true,
            // With extglob `!(…)` is a pattern.
            Ok(Some(b'(')) if word == b"!" => !self.extglob,
            Ok(Some(byte)) => breaks(byte),
            Err(Stop { .. }) => false,
        }
    }

    /// Over this very word, if it comes next.
    pub(super) fn eat_word(&mut self, word: &[u8]) -> bool {
        self.blanks();
        let found = self.is_word(word);
        if found {
            self.bump_many(word.len());
        }
        found
    }

    /// Over this very word; anything else is an error.
    pub(super) fn expect_word(&mut self, word: &[u8]) -> Read<()> {
        if self.eat_word(word) { Ok(()) } else { Err(Stop::SYNTAX) }
    }

    /// Whether a word comes next.
    pub(super) fn at_word(&mut self) -> bool {
        self.blanks();
        match self.peek() {
            None => false,
            Some(b'<' | b'>') => self.second() == Some(b'('),
            Some(byte) => !breaks(byte),
        }
    }

    /// A word; its end, and what is needed to say what kind of word it is.
    pub(super) fn raw_word(&mut self, rules: Rules) -> Read<Raw> {
        self.blanks();
        let mut raw = Raw { start: self.input.at, ..Raw::default() };
        self.letters();
        while let Some(byte) = self.peek() {
            if byte == b'(' && rules.regex {
                self.bump();
                self.skip_group(Pair { open: b'(', close: b')', kind: Group::Pattern })?;
            } else if breaks(byte) && !(byte == b'|' && rules.regex) && !self.at_process() {
                break;
            } else if self.raw_special(byte, rules, &mut raw)? {
                continue;
            } else {
                self.bump();
            }
        }
        raw.end = self.input.at;
        Ok(raw)
    }

    /// Over bytes that mean nothing wherever they stand in a word, all at once.
    fn letters(&mut self) {
        let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_./:,%".contains(byte);
        let rest = self.input.text.get(self.input.at..self.input.end).unwrap_or_default();
        let count = rest.iter().take_while(is_letter).count();
        self.pay(count);
        self.input.at += count;
    }

    /// Over a construct within a word; false if there is none.
    fn raw_special(&mut self, byte: u8, rules: Rules, raw: &mut Raw) -> Read<bool> {
        let start = self.input.at;
        match byte {
            b'\\' => {
                raw.quoted = true;
                self.bump();
                self.bump();
            }
            b'\'' => {
                raw.quoted = true;
                self.bump();
                self.skip_single()?;
            }
            b'"' => {
                raw.quoted = true;
                self.bump();
                self.skip_double()?;
            }
            b'`' => {
                raw.grouped = true;
                self.bump();
                self.skip_backquote()?;
            }
            b'$' => {
                raw.dollar = true;
                return self.raw_dollar(raw);
            }
            b'<' | b'>' => {
                (raw.dollar, raw.grouped) = (true, true);
                self.skip_command(start)?;
            }
            b'@' | b'*' | b'+' | b'?' | b'!'
                if (self.extglob || rules.pattern) && self.second() == Some(b'(') =>
            {
                self.bump_many(2);
                self.skip_group(Pair { open: b'(', close: b')', kind: Group::Pattern })?;
            }
            b'[' if self.subscript_here(rules, raw.start) => {
                self.bump();
                self.skip_group(Pair { open: b'[', close: b']', kind: Group::Subscript })?;
            }
            b'=' if rules.arrays && self.second() == Some(b'(') && self.names_variable(raw.start) => {
                self.bump_many(2);
                let elements = self.elements()?;
                raw.array = Some((start + 1, self.input.at, elements));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn raw_dollar(&mut self, raw: &mut Raw) -> Read<bool> {
        match self.second() {
            Some(b'\'') => {
                raw.quoted = true;
                self.bump_many(2);
                self.skip_ansi()?;
            }
            Some(b'"') => {
                raw.quoted = true;
                self.bump_many(2);
                self.skip_double()?;
            }
            Some(b'(' | b'{' | b'[') => {
                raw.grouped = true;
                self.skip_dollar()?;
            }
            Some(b'$') => self.bump_many(2),
            Some(_) | None => return Ok(false),
        }
        Ok(true)
    }

    fn at_process(&self) -> bool {
        self.follows(b"<(") || self.follows(b">(")
    }

    fn subscript_here(&self, rules: Rules, start: usize) -> bool {
        if start == self.input.at {
            return rules.element;
        }
        rules.subscripts && is_name(&self.slice(start, self.input.at))
    }
}

/// Whether this can be the name of a variable.
pub(super) fn is_name(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}
