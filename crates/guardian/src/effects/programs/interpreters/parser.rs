//! Statements of code.
//!
//! Owns: blocks, loops, functions and imports in the many ways they are written. Refuses: errors; a sign that fits nowhere is
//! passed over, and what is nested too deep is said.

use super::grammar::{Blocks, Grammar};
use super::lexer::{Source, Token, tokens};
use super::tree::{Expr, Repeat};

/// How deep code may nest.
const DEPTH: u32 = 48;

/// Reads tokens into a tree.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    pub tokens: &'a [Token],
    pub at: usize,
    pub grammar: &'a Grammar,
    pub source: &'a Source,
    pub depth: u32,
    /// Set while `>` and `|` belong to `print`.
    pub printing: bool,
    /// Set while a block in braces does not belong to the expression.
    pub heading: bool,
    /// How many brackets are open.
    pub grouped: u32,
    /// Set when something was nested too deep to be read.
    pub lost: bool,
}

/// Where a sequence of statements ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Never,
    Close,
    Dedent,
    Line,
    End,
}

/// A whole text; and whether all of it was read.
pub(super) fn program(text: &[u8], source: &Source, grammar: &Grammar, depth: u32) -> (Vec<Expr>, bool) {
    if depth > DEPTH {
        return (Vec::new(), false);
    }
    let (tokens, whole) = tokens(text, source, grammar);
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        grammar,
        source,
        depth,
        printing: false,
        heading: false,
        grouped: 0,
        lost: false,
    };
    let tree = parser.sequence(Stop::Never);
    (tree, whole && !parser.lost)
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    pub(super) fn ahead(&self, count: usize) -> Option<&Token> {
        self.tokens.get(self.at + count)
    }

    pub(super) fn word(&self) -> Option<&str> {
        match self.peek() {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    pub(super) fn is_sign(&self, wanted: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(sign)) if sign == wanted)
    }

    pub(super) fn take_sign(&mut self, wanted: &str) -> bool {
        let found = self.is_sign(wanted);
        self.at += usize::from(found);
        found
    }

    pub(super) fn take_word(&mut self, wanted: &[&str]) -> bool {
        let found = self.word().is_some_and(|word| wanted.contains(&word));
        self.at += usize::from(found);
        found
    }

    pub(super) fn is_open(&self, wanted: u8) -> bool {
        matches!(self.peek(), Some(Token::Open(open)) if *open == wanted)
    }

    /// Statements up to where they end; the end is taken too.
    pub(super) fn sequence(&mut self, stop: Stop) -> Vec<Expr> {
        let mut all = Vec::new();
        self.depth += 1;
        while let Some(token) = self.peek() {
            let ends = match token {
                Token::Close(b'}' | b')' | b']') => {
                    self.at += 1;
                    stop == Stop::Close
                }
                Token::Dedent => {
                    self.at += usize::from(stop == Stop::Dedent || stop == Stop::Never);
                    stop != Stop::Never
                }
                Token::Line => {
                    self.at += 1;
                    stop == Stop::Line
                }
                Token::Word(word) if stop == Stop::End && matches!(word.as_str(), "end" | "until") => {
                    self.at += 1;
                    true
                }
                Token::Sign(sign) if matches!(sign.as_str(), ";" | ",") => {
                    self.at += 1;
                    false
                }
                Token::Indent => {
                    self.at += 1;
                    false
                }
                _ => {
                    let before = self.at;
                    let statement = self.statement();
                    all.push(statement);
                    self.at = self.at.max(before + 1);
                    false
                }
            };
            if ends {
                break;
            }
        }
        self.depth -= 1;
        all
    }

    pub(super) fn statement(&mut self) -> Expr {
        if self.depth > DEPTH {
            self.lost = true;
            self.at = self.tokens.len();
            return Expr::Nothing;
        }
        let called = matches!(self.ahead(1), Some(Token::Open(b'(')));
        let found = match self.word() {
            Some(
                "import" | "from" | "use" | "using" | "require_relative" | "package" | "global" | "nonlocal",
            ) if !called => self.imports(),
            Some(
                "if" | "elif" | "elsif" | "elseif" | "unless" | "switch" | "match" | "case" | "when" | "with"
                | "except" | "catch" | "rescue" | "class" | "module" | "namespace" | "given",
            ) => self.headed(Repeat::Perhaps),
            Some("while" | "until") => self.headed(Repeat::Loop),
            Some("for" | "foreach") => self.each(),
            Some(
                "else" | "try" | "finally" | "ensure" | "begin" | "BEGIN" | "END" | "do" | "repeat" | "then"
                | "eval",
            ) if self.is_plain_block() => {
                let repeat = if self.word() == Some("repeat") { Repeat::Loop } else { Repeat::Perhaps };
                self.at += 1;
                self.take_sign(":");
                Some(self.block(repeat))
            }
            Some("loop" | "forever") if !called => {
                self.at += 1;
                Some(self.block(Repeat::Loop))
            }
            Some(
                "return" | "yield" | "throw" | "raise" | "export" | "default" | "async" | "static" | "public",
            ) if !called => {
                self.at += 1;
                self.depth += 1;
                let value =
                    if matches!(self.peek(), Some(Token::Line)) { Expr::Nothing } else { self.statement() };
                self.depth -= 1;
                Some(Expr::Return(Box::new(value)))
            }
            _ if self.is_open(b'{') => Some(self.block(Repeat::Perhaps)),
            _ => None,
        };
        match found {
            Some(statement) => statement,
            None => {
                let value = self.expression();
                self.modified(value)
            }
        }
    }

    fn is_plain_block(&self) -> bool {
        match self.grammar.blocks {
            Blocks::Braces => matches!(self.ahead(1), Some(Token::Open(b'{'))) || self.word() == Some("else"),
            Blocks::Indented => matches!(self.ahead(1), Some(Token::Sign(sign)) if sign == ":"),
            Blocks::Ended => self.word() != Some("eval"),
        }
    }

    /// `x if y`, `x for @y`.
    fn modified(&mut self, mut value: Expr) -> Expr {
        while self.grammar.bare && !matches!(self.grammar.joins, "" | "..") {
            let Some(word) = self.word() else { break };
            match word {
                "if" | "unless" => {
                    self.at += 1;
                    let condition = self.expression();
                    value = Expr::Block(vec![condition, value], Repeat::Perhaps);
                }
                "while" | "until" => {
                    self.at += 1;
                    let condition = self.expression();
                    value = Expr::Block(vec![condition, value], Repeat::Loop);
                }
                "for" | "foreach" => {
                    self.at += 1;
                    let over = self.expression();
                    value = Expr::Each(Box::new(Expr::Name("$_".to_owned())), Box::new(over), vec![value]);
                }
                _ => break,
            }
        }
        value
    }

    /// A block as this language writes it.
    pub(super) fn block(&mut self, repeat: Repeat) -> Expr {
        Expr::Block(self.body(), repeat)
    }

    pub(super) fn body(&mut self) -> Vec<Expr> {
        if self.depth > DEPTH {
            self.lost = true;
            self.at = self.tokens.len();
            return Vec::new();
        }
        let heading = std::mem::replace(&mut self.heading, false);
        self.depth += 1;
        let body = self.body_inside();
        self.depth -= 1;
        self.heading = heading;
        body
    }

    fn body_inside(&mut self) -> Vec<Expr> {
        match self.grammar.blocks {
            Blocks::Indented => {
                if matches!((self.peek(), self.ahead(1)), (Some(Token::Line), Some(Token::Indent))) {
                    self.at += 2;
                    self.sequence(Stop::Dedent)
                } else {
                    self.sequence(Stop::Line)
                }
            }
            Blocks::Braces | Blocks::Ended => {
                while matches!(self.peek(), Some(Token::Line)) {
                    self.at += 1;
                }
                if self.is_open(b'{') {
                    self.at += 1;
                    self.sequence(Stop::Close)
                } else if self.grammar.blocks == Blocks::Ended {
                    self.take_word(&["do", "then", "begin"]);
                    self.sequence(Stop::End)
                } else {
                    vec![self.statement()]
                }
            }
        }
    }

    fn headed(&mut self, repeat: Repeat) -> Option<Expr> {
        self.at += 1;
        let heading = std::mem::replace(&mut self.heading, true);
        let mut all = Vec::new();
        while !matches!(self.peek(), None | Some(Token::Line | Token::Open(b'{') | Token::Dedent)) {
            if self.take_sign(":") || self.take_sign(";") || self.take_word(&["then", "do"]) {
                break;
            }
            let before = self.at;
            // `if (x) print y`: what stands behind the brackets is not put together with them.
            let is_bracketed = self.grammar.juxtaposed && self.is_open(b'(');
            let value = if is_bracketed { self.operand() } else { self.expression() };
            let is_group =
                is_bracketed || matches!(value, Expr::List(_)) && self.grammar.blocks == Blocks::Braces;
            all.push(self.named(value));
            self.take_sign(",");
            self.at = self.at.max(before + 1);
            if is_group {
                break;
            }
        }
        self.heading = heading;
        let body = self.body();
        all.push(Expr::Block(body, repeat));
        Some(Expr::Block(all, Repeat::Perhaps))
    }

    /// `open(x) as f`.
    fn named(&mut self, value: Expr) -> Expr {
        if self.take_word(&["as"]) {
            let target = self.operand();
            return Expr::Assign("=".to_owned(), Box::new(target), Box::new(value));
        }
        value
    }

    /// `for x in y:`, `for (const x of y)`, `foreach my $x (@y)`, `foreach ($y as $x)`, `for (i = 0; …)`.
    fn each(&mut self) -> Option<Expr> {
        self.at += 1;
        self.take_word(&["await"]);
        let heading = std::mem::replace(&mut self.heading, true);
        let open = self.is_open(b'(');
        self.at += usize::from(open);
        while self.take_word(&["my", "our", "const", "let", "var", "local", "auto", "def"]) {}
        let mut targets = vec![self.operand()];
        while self.take_sign(",") {
            targets.push(self.operand());
        }
        let target = match targets.len() {
            1 => targets.pop().unwrap_or(Expr::Nothing),
            _ => Expr::List(targets),
        };
        let (target, over) = if self.take_word(&["in", "of"]) || self.take_sign(":") {
            (target, self.expression())
        } else if self.take_word(&["as"]) {
            (self.expression(), target)
        } else if self.is_open(b'(') && !open {
            (target, self.expression())
        } else if open && self.grammar.sigils.contains(&b'@') && matches!(self.peek(), Some(Token::Close(_)))
        {
            (Expr::Name("$_".to_owned()), target)
        } else {
            let mut all = vec![target];
            while !matches!(self.peek(), None | Some(Token::Close(_) | Token::Open(b'{') | Token::Line)) {
                let before = self.at;
                all.push(self.expression());
                self.take_sign(";");
                self.take_sign(",");
                self.at = self.at.max(before + 1);
            }
            // `for (@a, "b")` is a list, `for (i = 0; …)` a loop that counts.
            if self.grammar.sigils.contains(&b'@') {
                (Expr::Name("$_".to_owned()), Expr::List(all))
            } else {
                (Expr::Nothing, Expr::Block(all, Repeat::Perhaps))
            }
        };
        if open && matches!(self.peek(), Some(Token::Close(b')'))) {
            self.at += 1;
        }
        while !matches!(self.peek(), None | Some(Token::Line | Token::Open(b'{')))
            && !self.is_sign(":")
            && self.word().is_none_or(|word| word == "if")
            && self.grammar.blocks != Blocks::Braces
        {
            self.at += 1;
        }
        self.take_sign(":");
        self.heading = heading;
        let body = self.body();
        Some(Expr::Each(Box::new(target), Box::new(over), body))
    }
}
