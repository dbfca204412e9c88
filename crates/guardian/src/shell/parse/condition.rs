//! Conditions: `[[ … ]]`.
//!
//! Owns: its little grammar. Refuses: nothing bash takes; newlines count only where bash says so.

use super::cursor::{Parser, Read, Stop};
use super::lexer::{Raw, Rules};
use super::word::Mode;
use crate::shell::ast::{Kind, Test};

/// The letters of unary operators.
const UNARY: &[u8] = b"abcdefghknoprstuvwxzGLORSN";

/// Binary operators that are words.
const BINARY: [&[u8]; 13] =
    [b"=", b"==", b"!=", b"=~", b"-eq", b"-ne", b"-lt", b"-le", b"-gt", b"-ge", b"-nt", b"-ot", b"-ef"];

impl Parser<'_> {
    /// At `[[`.
    pub(super) fn condition(&mut self) -> Read<Kind> {
        self.expect_word(b"[[")?;
        let test = self.test_or()?;
        self.expect_word(b"]]")?;
        Ok(Kind::Condition(test))
    }

    fn test_or(&mut self) -> Read<Test> {
        self.deeper(|parser| {
            let left = parser.test_and()?;
            if !parser.connective(b"||") {
                return Ok(left);
            }
            Ok(Test::Or(Box::new(left), Box::new(parser.test_or()?)))
        })
    }

    fn test_and(&mut self) -> Read<Test> {
        self.deeper(|parser| {
            let left = parser.test_term()?;
            if !parser.connective(b"&&") {
                return Ok(left);
            }
            Ok(Test::And(Box::new(left), Box::new(parser.test_and()?)))
        })
    }

    fn connective(&mut self, operator: &[u8]) -> bool {
        self.blanks();
        let found = self.follows(operator);
        if found {
            self.bump_many(2);
        }
        found
    }

    fn test_term(&mut self) -> Read<Test> {
        let mut negated = false;
        let term = loop {
            self.newlines();
            if self.peek() == Some(b'(') {
                self.bump();
                let inner = self.test_or()?;
                self.blanks();
                if !self.eat(b')') {
                    return Err(Stop::SYNTAX);
                }
                self.newlines();
                break inner;
            }
            let raw = self.operand_word(Rules::default())?;
            let text = self.slice(raw.start, raw.end);
            if text == b"!" {
                negated = !negated;
                continue;
            }
            break self.test_of(&raw, text)?;
        };
        Ok(if negated { Test::Not(Box::new(term)) } else { term })
    }

    /// A test that begins with this word.
    fn test_of(&mut self, raw: &Raw, text: Vec<u8>) -> Read<Test> {
        if let [b'-', letter] = text.as_slice()
            && UNARY.contains(letter)
        {
            let operand = self.operand_word(Rules::default())?;
            let word = self.word(operand.start, operand.end, Mode::TEXT)?;
            self.newlines();
            return Ok(Test::Unary(text, word));
        }
        let left = self.word(raw.start, raw.end, Mode::TEXT)?;
        self.blanks();
        if self.follows(b"&&") || self.follows(b"||") || self.peek() == Some(b')') || self.is_word(b"]]") {
            return Ok(Test::Word(left));
        }
        let operator = self.binary_operator()?;
        let regex = operator == b"=~";
        let pattern = matches!(operator.as_slice(), b"=" | b"==" | b"!=");
        let rules = Rules { regex, pattern, ..Rules::default() };
        self.blanks();
        let operand = if regex && !matches!(self.raw(), None | Some(b'\n')) && !self.is_word(b"]]") {
            self.raw_word(rules)?
        } else {
            self.operand_word(rules)?
        };
        let mode = if pattern { Mode::CONDITION } else { Mode::TEXT };
        let right = self.word(operand.start, operand.end, mode)?;
        self.newlines();
        Ok(Test::Binary(left, operator, right))
    }

    fn binary_operator(&mut self) -> Read<Vec<u8>> {
        if let Some(byte @ (b'<' | b'>')) = self.peek()
            && !matches!(self.second(), Some(b'<' | b'>' | b'&' | b'|' | b'('))
        {
            self.bump();
            return Ok(vec![byte]);
        }
        let raw = self.operand_word(Rules::default())?;
        let text = self.slice(raw.start, raw.end);
        if BINARY.contains(&text.as_slice()) { Ok(text) } else { Err(Stop::SYNTAX) }
    }

    /// A word of the test: not `]]`, and no descriptor.
    fn operand_word(&mut self, rules: Rules) -> Read<Raw> {
        if !self.at_word() || self.is_word(b"]]") {
            return Err(Stop::SYNTAX);
        }
        let raw = self.raw_word(rules)?;
        let digits = self.slice(raw.start, raw.end).iter().all(u8::is_ascii_digit);
        if digits && matches!(self.raw(), Some(b'<' | b'>')) {
            return Err(Stop::SYNTAX);
        }
        Ok(raw)
    }
}
