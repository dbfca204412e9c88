//! Operands of code: texts, lists, tables, small functions.
//!
//! Owns: what stands between brackets, and what is put into text. Refuses: operators around it.

use std::rc::Rc;

use super::grammar::Blocks;
use super::lexer::Token;
use super::parser::{Parser, Stop, program};
use super::quoted::Part;
use super::tree::{Expr, Function, Repeat};

impl Parser<'_> {
    pub(super) fn interpolated(&mut self, parts: &[Part]) -> Vec<Expr> {
        let mut all = Vec::new();
        for part in parts {
            match part {
                Part::Known(bytes) => all.push(Expr::Known(bytes.clone())),
                Part::Hole(why) => all.push(Expr::Hole(why.clone())),
                Part::Code(code) => {
                    let (mut tree, whole) = program(code, self.source, self.grammar, self.depth + 1);
                    self.lost |= !whole;
                    all.push(match tree.len() {
                        1 => tree.pop().unwrap_or(Expr::Nothing),
                        _ => Expr::Block(tree, Repeat::Perhaps),
                    });
                }
            }
        }
        all
    }

    pub(super) fn primary(&mut self) -> Expr {
        let Some(token) = self.peek().cloned() else { return Expr::Nothing };
        match token {
            Token::Number(number) => {
                self.at += 1;
                Expr::Number(number)
            }
            Token::Text(parts) => {
                self.at += 1;
                let mut all = self.interpolated(&parts);
                // Texts side by side are one.
                while self.grammar.prefixed
                    && let Some(Token::Text(more)) = self.peek().cloned()
                {
                    self.at += 1;
                    all.extend(self.interpolated(&more));
                }
                Expr::Text(all)
            }
            Token::Command(parts) => {
                self.at += 1;
                Expr::Command(self.interpolated(&parts))
            }
            Token::Words(words) => {
                self.at += 1;
                Expr::List(
                    words.into_iter().map(|word| Expr::Text(vec![Expr::Known(word.into_bytes())])).collect(),
                )
            }
            Token::Code(code) => {
                self.at += 1;
                let (tree, whole) = program(&code, self.source, self.grammar, self.depth + 1);
                self.lost |= !whole;
                Expr::Block(tree, Repeat::Loop)
            }
            Token::Hole(why) => {
                self.at += 1;
                Expr::Hole(why)
            }
            Token::Open(b'{') if self.heading => Expr::Nothing,
            Token::Open(b'{') => self.braces(),
            Token::Open(open) => {
                self.at += 1;
                let heading = std::mem::replace(&mut self.heading, false);
                let printing = std::mem::replace(&mut self.printing, false);
                let entries = self.entries(if open == b'(' { b')' } else { b']' });
                (self.heading, self.printing) = (heading, printing);
                match <[Expr; 1]>::try_from(entries) {
                    Ok([one]) if open == b'(' && !self.heading => one,
                    Ok([one]) => Expr::List(vec![one]),
                    Err(entries) => Expr::List(entries),
                }
            }
            Token::Word(word) => self.name(word),
            Token::Sign(sign) if sign == "<" && self.grammar.sigils.contains(&b'@') => {
                // `<STDIN>`, `<*.txt>`.
                self.at += 1;
                let mut name = String::new();
                while !matches!(self.peek(), None | Some(Token::Line)) && !self.take_sign(">") {
                    if let Some(Token::Word(word) | Token::Sign(word)) = self.peek() {
                        name.push_str(word);
                    }
                    self.at += 1;
                }
                Expr::Call(Box::new(Expr::Name("readline".to_owned())), vec![Expr::Name(name)])
            }
            Token::Sign(sign) if sign == "->" && self.grammar.blocks == Blocks::Ended => {
                self.at += 1;
                self.function()
            }
            Token::Sign(_) | Token::Close(_) | Token::Line | Token::Indent | Token::Dedent => Expr::Nothing,
        }
    }

    /// `{ … }`: a table, or statements.
    pub(super) fn braces(&mut self) -> Expr {
        self.at += 1;
        if self.is_sign("|") {
            return self.closure();
        }
        let heading = std::mem::replace(&mut self.heading, false);
        let entries = self.entries(b'}');
        self.heading = heading;
        Expr::Table(entries)
    }

    /// What is between braces or words as a function: `|x| …`.
    pub(super) fn closure(&mut self) -> Expr {
        let ended = !matches!(self.tokens.get(self.at.wrapping_sub(1)), Some(Token::Open(b'{')));
        let mut params = Vec::new();
        if self.take_sign("|") {
            while !matches!(self.peek(), None | Some(Token::Line)) && !self.take_sign("|") {
                if let Some(Token::Word(word)) = self.peek() {
                    params.push(Expr::Name(word.clone()));
                }
                self.at += 1;
            }
        } else if params.is_empty() {
            params.push(Expr::Name("it".to_owned()));
        }
        let heading = std::mem::replace(&mut self.heading, false);
        let body = self.sequence(if ended { Stop::End } else { Stop::Close });
        self.heading = heading;
        Expr::Function(Rc::new(Function { name: None, params, body }))
    }

    /// What stands between brackets, with commas or without.
    pub(super) fn entries(&mut self, close: u8) -> Vec<Expr> {
        self.grouped += 1;
        let all = self.entries_inside(close);
        self.grouped -= 1;
        all
    }

    pub(super) fn entries_inside(&mut self, close: u8) -> Vec<Expr> {
        let mut all = Vec::new();
        while let Some(token) = self.peek() {
            match token {
                Token::Close(found) => {
                    self.at += usize::from(*found == close || all.len() < 10_000);
                    break;
                }
                Token::Line | Token::Indent | Token::Dedent => self.at += 1,
                Token::Sign(sign) if matches!(sign.as_str(), "," | ";") => self.at += 1,
                _ => {
                    let before = self.at;
                    let value = self.entry();
                    all.push(value);
                    self.at = self.at.max(before + 1);
                }
            }
        }
        all
    }

    pub(super) fn entry(&mut self) -> Expr {
        // Statements may stand in braces too.
        let value = if matches!(
            self.word(),
            Some("if" | "for" | "foreach" | "while" | "return" | "unless" | "until")
        ) {
            self.statement()
        } else {
            self.expression()
        };
        if self.take_sign(":") || self.take_sign("=>") {
            self.lines();
            let right = if matches!(self.peek(), Some(Token::Close(_))) || self.is_sign(",") {
                Expr::Nothing
            } else {
                self.expression()
            };
            let pair = Expr::Pair(Box::new(value), Box::new(right));
            return self.comprehension(pair);
        }
        if let Expr::Assign(sign, target, right) = value {
            return match (sign.as_str(), *target) {
                ("=", Expr::Name(name)) if !self.grammar.sigils.contains(&b'@') => {
                    Expr::Pair(Box::new(Expr::Name(name)), right)
                }
                (_, target) => Expr::Assign(sign, Box::new(target), right),
            };
        }
        self.comprehension(value)
    }

    /// `x for y in z if w`.
    pub(super) fn comprehension(&mut self, value: Expr) -> Expr {
        if self.grammar.blocks != Blocks::Indented || !matches!(self.word(), Some("for" | "async")) {
            return value;
        }
        self.take_word(&["async"]);
        self.take_word(&["for"]);
        let heading = std::mem::replace(&mut self.heading, true);
        let mut targets = vec![self.operand()];
        while self.take_sign(",") {
            targets.push(self.operand());
        }
        self.heading = heading;
        self.take_word(&["in"]);
        let over = self.binary(3);
        let mut conditions = Vec::new();
        while self.take_word(&["if"]) {
            conditions.push(self.binary(2));
        }
        let target =
            if targets.len() == 1 { targets.pop().unwrap_or(Expr::Nothing) } else { Expr::List(targets) };
        let inner = self.comprehension(value);
        conditions.push(inner);
        Expr::Each(Box::new(target), Box::new(over), conditions)
    }
}
