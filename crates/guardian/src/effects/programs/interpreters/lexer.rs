//! Code told apart into words, signs and quoted text.
//!
//! Owns: quotes, comments, indentation, and marks for what the shell put in that nobody knows. Refuses: errors; whatever
//! cannot be told apart is a sign of its own, and the reader goes on.

use super::grammar::{Blocks, Grammar, Inside};
use super::quoted::{self, Part};
use crate::shell::value::{Piece, Value, Why};

/// What marks a place of unknown text.
pub(super) const MARK: u8 = 0x1a;
/// Tokens of one text that are read.
const MOST: usize = 40_000;

/// One of the things code is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name or a keyword, with its sigil.
    Word(String),
    Number(i64),
    /// Quoted text.
    Text(Vec<Part>),
    /// Text a shell is given.
    Command(Vec<Part>),
    /// A list of words: `qw(…)`.
    Words(Vec<String>),
    /// Code that stands within a quotation: the right side of `s///e`.
    Code(Vec<u8>),
    Sign(String),
    Open(u8),
    Close(u8),
    /// The end of a line where that matters.
    Line,
    Indent,
    Dedent,
    /// Something the shell put in.
    Hole(Why),
}

/// Code as text, with marks where the shell put in what nobody knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Source {
    pub text: Vec<u8>,
    pub holes: Vec<Why>,
}

impl Source {
    pub(super) fn of(value: &Value) -> Self {
        let mut source = Self::default();
        for piece in &value.pieces {
            match piece {
                Piece::Known(bytes) | Piece::Glob(bytes) => source.text.extend(bytes),
                Piece::Unknown(why) => {
                    source.text.push(MARK);
                    source.text.extend(source.holes.len().to_string().bytes());
                    source.text.push(MARK);
                    source.holes.push(why.clone());
                }
            }
        }
        source
    }

    /// The hole at a mark, and how long the mark is.
    pub(super) fn hole(&self, text: &[u8]) -> Option<(Why, usize)> {
        let rest = text.strip_prefix(&[MARK])?;
        let end = rest.iter().position(|byte| *byte == MARK)?;
        let number = std::str::from_utf8(rest.get(..end)?).ok()?.parse::<usize>().ok()?;
        Some((self.holes.get(number)?.clone(), end + 2))
    }
}

/// The words of a text.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    pub source: &'a Source,
    pub grammar: &'a Grammar,
    pub text: &'a [u8],
    pub at: usize,
    pub tokens: Vec<Token>,
    /// Here-documents whose bodies follow this line: where their tokens stand, their ends, whether they are plain.
    pub documents: Vec<(usize, Vec<u8>, Inside)>,
    nesting: usize,
    indents: Vec<usize>,
}

/// Tells a text apart; says whether there was more than is read.
pub(super) fn tokens(text: &[u8], source: &Source, grammar: &Grammar) -> (Vec<Token>, bool) {
    let mut lexer = Lexer {
        source,
        grammar,
        text,
        at: 0,
        tokens: Vec::new(),
        documents: Vec::new(),
        nesting: 0,
        indents: vec![0],
    };
    lexer.indentation();
    while lexer.at < text.len() && lexer.tokens.len() < MOST {
        lexer.token();
    }
    let whole = lexer.at >= text.len();
    lexer.tokens.push(Token::Line);
    for _ in 1..lexer.indents.len() {
        lexer.tokens.push(Token::Dedent);
    }
    (lexer.tokens, whole)
}

impl Lexer<'_> {
    pub(super) fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    pub(super) fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn token(&mut self) {
        let byte = self.peek(0);
        let grammar = self.grammar;
        if let Some((begin, end)) = grammar.spans
            && self.rest().starts_with(begin.as_bytes())
        {
            let length = find(self.rest(), end.as_bytes()).map_or(self.rest().len(), |at| at + end.len());
            self.at += length;
        } else if grammar.comments.iter().any(|begin| self.rest().starts_with(begin.as_bytes()))
            && !(byte == b'#' && self.peek(1) == b'{')
        {
            self.at += self.rest().iter().position(|byte| *byte == b'\n').unwrap_or(self.rest().len());
        } else if byte == b'\n' {
            self.line();
        } else if byte == b'\\' && self.peek(1) == b'\n' {
            self.at += 2;
        } else if byte.is_ascii_whitespace() {
            self.at += 1;
        } else if let Some((why, length)) = self.source.hole(self.rest()) {
            self.tokens.push(Token::Hole(why));
            self.at += length;
        } else if !(quoted::literal(self) || self.word() || self.number()) {
            self.sign();
        }
    }

    fn line(&mut self) {
        self.at += 1;
        if !self.documents.is_empty() {
            quoted::bodies(self);
        }
        if self.nesting == 0 || self.grammar.blocks != Blocks::Indented {
            self.tokens.push(Token::Line);
        }
        self.indentation();
    }

    fn indentation(&mut self) {
        if self.grammar.blocks != Blocks::Indented || self.nesting > 0 {
            return;
        }
        let width = self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let next = self.peek(width);
        if matches!(next, b'\n' | b'#' | b'\r' | 0) {
            return;
        }
        let current = self.indents.last().copied().unwrap_or(0);
        if width > current {
            self.indents.push(width);
            self.tokens.push(Token::Indent);
        }
        while self.indents.len() > 1 && width < self.indents.last().copied().unwrap_or(0) {
            self.indents.pop();
            self.tokens.push(Token::Dedent);
        }
    }

    pub(super) fn is_letter(&self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 || self.grammar.letters.contains(&byte)
    }

    fn word(&mut self) -> bool {
        let first = self.peek(0);
        let sigil = self.grammar.sigils.contains(&first);
        let mut length = 0;
        if sigil {
            while self.grammar.sigils.contains(&self.peek(length)) && length < 3 {
                length += 1;
            }
            let next = self.peek(length);
            let special = first == b'$' && matches!(next, b'_' | b'!' | b'0' | b'/' | b',' | b';' | b'&');
            if next == b'{' && matches!(first, b'$' | b'@') {
                return self.braced(length);
            }
            if !(next.is_ascii_alphabetic() || next == b'_' || special || next.is_ascii_digit()) {
                return false;
            }
            if special && !self.is_letter(next) {
                let name = self.text.get(self.at..self.at + length + 1).unwrap_or_default();
                self.tokens.push(Token::Word(String::from_utf8_lossy(name).into_owned()));
                self.at += length + 1;
                return true;
            }
        } else if !self.is_letter(first) || first.is_ascii_digit() || matches!(first, b'?' | b'!') {
            return false;
        }
        while self.is_letter(self.peek(length)) {
            length += 1;
            // `?` and `!` end a name.
            if matches!(self.peek(length - 1), b'?' | b'!') {
                if self.peek(length) == b'=' || (self.peek(length - 1) == b'?' && self.peek(length) == b'.') {
                    length -= 1;
                }
                break;
            }
        }
        let word = String::from_utf8_lossy(self.text.get(self.at..self.at + length).unwrap_or_default());
        self.tokens.push(Token::Word(word.into_owned()));
        self.at += length;
        true
    }

    /// `${name}`, `@{…}`.
    fn braced(&mut self, length: usize) -> bool {
        let inside = self.text.get(self.at + length + 1..).unwrap_or_default();
        let end = inside.iter().position(|byte| *byte == b'}').unwrap_or(inside.len());
        let name = inside.get(..end).unwrap_or_default();
        if name.is_empty() || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            self.at += length;
            return true;
        }
        self.tokens.push(Token::Word(format!("${}", String::from_utf8_lossy(name))));
        self.at += length + end + 2;
        true
    }

    fn number(&mut self) -> bool {
        if !self.peek(0).is_ascii_digit() {
            return false;
        }
        let length = self.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
        let length = length.count();
        let text: String = self
            .text
            .get(self.at..self.at + length)
            .unwrap_or_default()
            .iter()
            .filter(|byte| **byte != b'_')
            .map(|byte| char::from(*byte))
            .collect();
        let parsed = match text.get(..2) {
            Some("0x" | "0X") => i64::from_str_radix(text.get(2..).unwrap_or_default(), 16),
            Some("0o" | "0O") => i64::from_str_radix(text.get(2..).unwrap_or_default(), 8),
            Some("0b" | "0B") => i64::from_str_radix(text.get(2..).unwrap_or_default(), 2),
            _ => text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).parse(),
        };
        self.tokens.push(Token::Number(parsed.unwrap_or(0)));
        self.at += length;
        // What is behind the point does not matter here; `1..3` and `1.to_s` are no fractions.
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.at += self.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        }
        true
    }

    fn sign(&mut self) {
        const LONG: [&str; 36] = [
            "**=", "===", "!==", "<=>", "...", "?->", "||=", "&&=", "??=", "//=", ">>=", "<<=", "=>", "->",
            "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "::", "..", "+=", "-=", "*=", "/=", ".=", "%=",
            "<<", ">>", "**", "|>", "|&", "<>",
        ];
        let byte = self.peek(0);
        match byte {
            b'(' | b'[' | b'{' => {
                self.nesting += 1;
                self.tokens.push(Token::Open(byte));
                self.at += 1;
                return;
            }
            b')' | b']' | b'}' => {
                self.nesting = self.nesting.saturating_sub(1);
                self.tokens.push(Token::Close(byte));
                self.at += 1;
                return;
            }
            _ => {}
        }
        for two in ["++", "--", ":=", "<-", "=~", "!~", "&.", "x=", "@."] {
            if self.rest().starts_with(two.as_bytes()) && two != "x=" {
                self.tokens.push(Token::Sign(two.to_owned()));
                self.at += 2;
                return;
            }
        }
        if let Some(sign) = LONG.iter().find(|sign| self.rest().starts_with(sign.as_bytes())) {
            self.tokens.push(Token::Sign((*sign).to_owned()));
            self.at += sign.len();
            return;
        }
        self.tokens.push(Token::Sign(char::from(byte).to_string()));
        self.at += 1;
    }
}

/// Where a text is found in another.
pub(super) fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len().max(1)).position(|window| window == wanted)
}
