//! What gives names in code: imports and functions.
//!
//! Owns: their many spellings, from `import x as y` to `(a, b) => c`. Refuses: what stands in them; that is read like all else.

use std::rc::Rc;

use super::grammar::Blocks;
use super::lexer::Token;
use super::parser::Parser;
use super::tree::{Expr, Function};

impl Parser<'_> {
    pub(super) fn dotted(&mut self) -> String {
        let mut name = String::new();
        while let Some(Token::Word(word)) = self.peek() {
            name.push_str(word);
            self.at += 1;
            match self.peek() {
                Some(Token::Sign(sign)) if matches!(sign.as_str(), "." | "::" | "\\") => name.push('.'),
                _ => break,
            }
            self.at += 1;
        }
        name
    }

    pub(super) fn imports(&mut self) -> Option<Expr> {
        let keyword = self.word()?.to_owned();
        let start = self.at;
        self.at += 1;
        let mut names = Vec::new();
        match keyword.as_str() {
            "import" if self.grammar.blocks == Blocks::Indented => loop {
                let module = self.dotted();
                let head = module.split('.').next().unwrap_or_default().to_owned();
                if self.take_word(&["as"]) {
                    names.push((self.dotted(), module));
                } else {
                    names.push((head.clone(), head));
                }
                if !self.take_sign(",") {
                    break;
                }
            },
            "from" if self.grammar.blocks == Blocks::Indented => {
                while self.take_sign(".") || self.take_sign("...") {}
                let module = self.dotted();
                self.take_word(&["import"]);
                self.members(&module, &mut names);
            }
            "import" if self.grammar.members.contains(&"?.") => {
                let mut locals: Vec<(String, Option<String>)> = Vec::new();
                while !matches!(self.peek(), None | Some(Token::Text(_) | Token::Line)) {
                    if self.is_open(b'{') {
                        self.at += 1;
                        let mut inner = Vec::new();
                        self.members("", &mut inner);
                        locals.extend(inner.into_iter().map(|(local, name)| (local, Some(name))));
                    } else if self.take_sign("*") || self.take_word(&["as", "from"]) || self.take_sign(",") {
                    } else if let Some(word) = self.word() {
                        locals.push((word.to_owned(), None));
                        self.at += 1;
                    } else {
                        self.at += 1;
                    }
                }
                let module = match self.peek() {
                    Some(Token::Text(parts)) => super::expression::plain(parts),
                    _ => None,
                };
                self.at += 1;
                let module = module.unwrap_or_default();
                let module = module.strip_prefix("node:").unwrap_or(&module).replace('/', ".");
                for (local, member) in locals {
                    let name = member.map_or_else(
                        || module.clone(),
                        |member| format!("{module}.{}", member.trim_start_matches('.')),
                    );
                    names.push((local, name));
                }
            }
            _ => {
                // `use File::Path qw(rmtree)`, `import java.io.File`: names say enough by themselves.
                self.at = start + 1;
                while !matches!(self.peek(), None | Some(Token::Line)) && !self.is_sign(";") {
                    self.at += 1;
                }
            }
        }
        Some(Expr::Import(names))
    }

    /// `a, b as c`, in parentheses or braces or not.
    pub(super) fn members(&mut self, module: &str, names: &mut Vec<(String, String)>) {
        let open = matches!(self.peek(), Some(Token::Open(b'(')));
        self.at += usize::from(open);
        while let Some(token) = self.peek() {
            match token {
                Token::Word(word) => {
                    let word = word.clone();
                    self.at += 1;
                    let local = if self.take_word(&["as"]) { self.dotted() } else { word.clone() };
                    names.push((local, format!("{module}.{word}")));
                }
                Token::Sign(sign) if sign == "*" => {
                    names.push(("*".to_owned(), module.to_owned()));
                    self.at += 1;
                }
                Token::Sign(sign) if sign == "," => self.at += 1,
                Token::Close(_) => {
                    self.at += 1;
                    break;
                }
                Token::Line if open => self.at += 1,
                _ => break,
            }
        }
    }

    /// A function behind its keyword: a name, parameters, a body.
    pub(super) fn function(&mut self) -> Expr {
        self.take_sign("*");
        let mut name = None;
        if let Some(Token::Word(_)) = self.peek() {
            let dotted = self.dotted();
            name = Some(dotted.rsplit('.').next().unwrap_or_default().to_owned());
        }
        let params = if self.is_open(b'(') {
            self.at += 1;
            self.entries(b')')
        } else if self.grammar.blocks == Blocks::Ended
            && !matches!(self.peek(), Some(Token::Line))
            && name.is_none()
        {
            self.bare_params()
        } else {
            Vec::new()
        };
        // Types and the like up to the body.
        while !matches!(self.peek(), None | Some(Token::Open(b'{') | Token::Line)) && !self.is_sign(":") {
            if self.take_sign("=>") || self.take_sign("->") && self.grammar.blocks != Blocks::Indented {
                break;
            }
            if self.grammar.blocks == Blocks::Ended
                || self.grammar.blocks == Blocks::Braces && !self.is_sign("->")
            {
                break;
            }
            self.at += 1;
        }
        if self.grammar.blocks == Blocks::Indented {
            self.take_sign(":");
        }
        let body = self.body();
        Expr::Function(Rc::new(Function { name, params, body }))
    }

    pub(super) fn bare_params(&mut self) -> Vec<Expr> {
        let mut params = Vec::new();
        while let Some(Token::Word(word)) = self.peek() {
            params.push(Expr::Name(word.clone()));
            self.at += 1;
            self.take_sign(",");
        }
        params
    }
}
