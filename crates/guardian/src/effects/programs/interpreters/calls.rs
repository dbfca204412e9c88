//! Calls and members of code, with and without parentheses.
//!
//! Owns: where arguments end when nothing says so, blocks behind calls, indices. Refuses: knowing names; a word is a name until it is
//! evaluated.

use std::rc::Rc;

use super::expression::INFIX;
use super::grammar::Blocks;
use super::lexer::Token;
use super::parser::Parser;
use super::tree::{Expr, Function, Repeat};

impl Parser<'_> {
    pub(super) fn name(&mut self, word: String) -> Expr {
        self.at += 1;
        match word.as_str() {
            "function" | "def" | "sub" | "fn" | "func" | "lambda" | "proc" | "defp"
                if !(matches!(self.peek(), Some(Token::Sign(_))))
                    || word == "lambda"
                    || word == "function" =>
            {
                if word == "lambda" && self.grammar.blocks == Blocks::Indented {
                    let mut params = Vec::new();
                    while !matches!(self.peek(), None | Some(Token::Line)) && !self.take_sign(":") {
                        if let Some(Token::Word(word)) = self.peek() {
                            params.push(Expr::Name(word.clone()));
                        }
                        self.at += 1;
                    }
                    let body = vec![self.expression()];
                    return Expr::Function(Rc::new(Function { name: None, params, body }));
                }
                if matches!(word.as_str(), "lambda" | "proc") && self.is_open(b'{') {
                    return self.braces();
                }
                return self.function();
            }
            "do" | "eval" if self.is_open(b'{') => return self.block(Repeat::Perhaps),
            "true" | "True" | "TRUE" => return Expr::Number(1),
            "false" | "False" | "FALSE" => return Expr::Number(0),
            _ => {}
        }
        let name = Expr::Name(word);
        if self.grammar.bare { self.bare(name) } else { name }
    }

    /// A call without parentheses, if it is one.
    pub(super) fn bare(&mut self, name: Expr) -> Expr {
        let Expr::Name(word) = &name else { return name };
        let is_variable = word.bytes().next().is_some_and(|byte| self.grammar.sigils.contains(&byte));
        let takes_block = matches!(word.as_str(), "map" | "grep" | "sort" | "first" | "any" | "all")
            && self.grammar.sigils.contains(&b'@');
        if takes_block && self.is_open(b'{') {
            let body = self.body();
            self.take_sign(",");
            let mut args = vec![Expr::Function(Rc::new(Function {
                name: None,
                params: vec![Expr::Name("$_".to_owned())],
                body,
            }))];
            args.extend(self.arguments());
            return Expr::Call(Box::new(name), args);
        }
        let printing = matches!(word.as_str(), "print" | "printf") && self.grammar.juxtaposed;
        if printing {
            let before = std::mem::replace(&mut self.printing, true);
            let args = self.arguments();
            self.printing = before;
            return Expr::Call(Box::new(name), args);
        }
        // `[` behind a blank may begin an argument, a sign is an operator.
        if is_variable || self.grammar.juxtaposed || !self.begins() || self.heading && self.is_open(b'{') {
            return name;
        }
        let args = self.arguments();
        let call = Expr::Call(Box::new(name), args);
        self.with_block(call)
    }

    /// Arguments without parentheses: up to the end of the statement.
    pub(super) fn arguments(&mut self) -> Vec<Expr> {
        let mut all = Vec::new();
        loop {
            if matches!(self.peek(), None | Some(Token::Line | Token::Close(_) | Token::Dedent))
                || self.is_sign(";")
            {
                break;
            }
            if self.word().is_some_and(|word| INFIX.contains(&word)) {
                break;
            }
            if self.is_open(b'{') && (self.grammar.blocks == Blocks::Ended || self.heading) {
                break;
            }
            if matches!(self.peek(), Some(Token::Sign(sign)) if matches!(sign.as_str(), ">" | ">>" | "|" | "|&" | "||" | "&&" | "or" | "?" | ":" | "="))
            {
                break;
            }
            let before = self.at;
            let value = self.binary(3);
            let value = if self.take_sign("=>") || self.take_sign(":") {
                let right = self.binary(3);
                Expr::Pair(Box::new(value), Box::new(right))
            } else {
                value
            };
            all.push(value);
            if self.at == before {
                self.at += 1;
                break;
            }
            if self.take_sign(",") {
                self.lines();
            } else if !self.begins() {
                break;
            }
        }
        all
    }

    /// A block behind a call belongs to it.
    pub(super) fn with_block(&mut self, call: Expr) -> Expr {
        let braces = self.is_open(b'{')
            && !self.heading
            && (self.grammar.blocks == Blocks::Ended
                || self.grammar.bare && self.grammar.sigils.is_empty() && !self.grammar.juxtaposed);
        let ended = self.grammar.blocks == Blocks::Ended && self.word() == Some("do") && !self.heading;
        if !braces && !ended {
            return call;
        }
        if self.too_deep() {
            return call;
        }
        self.at += 1;
        self.depth += 1;
        let block = self.closure();
        self.depth -= 1;
        match call {
            Expr::Call(name, mut args) => {
                args.push(block);
                Expr::Call(name, args)
            }
            other => Expr::Call(Box::new(other), vec![block]),
        }
    }

    pub(super) fn postfix(&mut self, mut value: Expr) -> Expr {
        let mut links = 0;
        while self.linked(&mut links) {
            match self.peek() {
                // A chain may go on in the next line.
                Some(Token::Line)
                    if self.grammar.blocks != Blocks::Indented
                        && matches!(self.ahead(1), Some(Token::Sign(sign)) if matches!(sign.as_str(), "." | "?." | "->" | "&." | "|>"))
                        && self.grammar.joins != "." =>
                {
                    self.at += 1;
                }
                Some(Token::Sign(sign)) if self.grammar.members.contains(&sign.as_str()) => {
                    if sign == ":"
                        && !matches!(
                            (self.ahead(1), self.ahead(2)),
                            (Some(Token::Word(_)), Some(Token::Open(b'(') | Token::Text(_)))
                        )
                    {
                        break;
                    }
                    self.at += 1;
                    match self.peek().cloned() {
                        Some(Token::Word(word)) => {
                            self.at += 1;
                            let member = Expr::Member(Box::new(value), word);
                            value = self.member_call(member);
                        }
                        // `->[0]`, `?.(x)`, `->("rm")`.
                        Some(Token::Open(_)) => {}
                        _ => break,
                    }
                }
                Some(Token::Open(b'(')) if !matches!(value, Expr::Nothing | Expr::Number(_)) => {
                    self.at += 1;
                    let heading = std::mem::replace(&mut self.heading, false);
                    let printing = std::mem::replace(&mut self.printing, false);
                    let args = self.entries(b')');
                    (self.heading, self.printing) = (heading, printing);
                    value = Expr::Call(Box::new(value), args);
                    value = self.with_block(value);
                }
                Some(Token::Open(b'[')) if !matches!(value, Expr::Nothing | Expr::Number(_)) => {
                    self.at += 1;
                    let heading = std::mem::replace(&mut self.heading, false);
                    let args = self.slice();
                    self.heading = heading;
                    value = Expr::Index(Box::new(value), args);
                }
                // `$x{key}`, `$x->{key}`.
                Some(Token::Open(b'{'))
                    if self.grammar.sigils.contains(&b'@')
                        && !self.heading
                        && matches!(value, Expr::Name(ref name) if name.starts_with('$')) =>
                {
                    self.at += 1;
                    let args = self.entries(b'}');
                    value = Expr::Index(Box::new(value), args);
                }
                // `f "text"`, `f {…}` of Lua; tagged templates.
                Some(Token::Text(_))
                    if matches!(self.grammar.joins, "..")
                        && matches!(value, Expr::Name(_) | Expr::Member(..)) =>
                {
                    let text = self.primary();
                    value = Expr::Call(Box::new(value), vec![text]);
                }
                Some(Token::Sign(sign)) if matches!(sign.as_str(), "++" | "--") => self.at += 1,
                _ => break,
            }
        }
        value
    }

    pub(super) fn member_call(&mut self, member: Expr) -> Expr {
        if self.grammar.bare && (self.grammar.blocks == Blocks::Ended || self.grammar.sigils.is_empty()) {
            if self.begins() && self.grammar.joins != ".." {
                let args = self.arguments();
                let call = Expr::Call(Box::new(member), args);
                return self.with_block(call);
            }
            if self.is_open(b'{') || self.word() == Some("do") {
                return self.with_block(member);
            }
        }
        member
    }

    /// An index or a slice: `a[1:2]`, `a[::-1]`.
    pub(super) fn slice(&mut self) -> Vec<Expr> {
        let mut all = Vec::new();
        while let Some(token) = self.peek() {
            match token {
                Token::Close(_) => {
                    self.at += 1;
                    break;
                }
                Token::Line | Token::Indent | Token::Dedent => self.at += 1,
                Token::Sign(sign) if sign == ":" || sign == "::" || sign == "," => {
                    all.extend((0..sign.len()).map(|_| Expr::Nothing));
                    self.at += 1;
                }
                _ => {
                    let before = self.at;
                    let value = self.expression();
                    all.push(value);
                    self.at = self.at.max(before + 1);
                }
            }
        }
        all
    }
}
