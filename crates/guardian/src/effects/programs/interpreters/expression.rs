//! Expressions of code.
//!
//! Owns: operators and their order. Refuses: knowing names; a word is a name until it is evaluated.

use std::rc::Rc;

use super::grammar::Blocks;
use super::lexer::Token;
use super::parser::Parser;
use super::quoted::Part;
use super::tree::{Expr, Function, Repeat};

const ASSIGNS: [&str; 16] =
    ["=", "+=", "-=", "*=", "/=", ".=", "%=", "||=", "&&=", "??=", "//=", "**=", ":=", "<-", "<<=", ">>="];
/// Operators or members one behind the other.
const LINKS: usize = 100;
/// Words that are no beginning of an argument.
pub(super) const INFIX: [&str; 26] = [
    "if",
    "unless",
    "while",
    "until",
    "for",
    "foreach",
    "and",
    "or",
    "not",
    "xor",
    "x",
    "eq",
    "ne",
    "lt",
    "gt",
    "le",
    "ge",
    "cmp",
    "in",
    "is",
    "as",
    "then",
    "do",
    "end",
    "else",
    "instanceof",
];

/// How tightly an operator binds; none is no operator.
fn strength(sign: &str, joins: &str) -> Option<u8> {
    if sign == joins {
        return Some(8);
    }
    Some(match sign {
        "or" | "and" | "xor" => 2,
        "||" | "??" => 4,
        "&&" => 4,
        "==" | "!=" | "===" | "!==" | "<" | ">" | "<=" | ">=" | "<=>" | "=~" | "!~" | "in" | "is"
        | "instanceof" | "eq" | "ne" | "lt" | "gt" | "le" | "ge" | "cmp" => 6,
        "|" | "^" | "&" | "<<" | ">>" | ".." | "..." | "|>" | "|&" | "<>" => 7,
        "+" | "-" | "." => 8,
        "*" | "/" | "%" | "x" | "//" => 9,
        "**" => 11,
        _ => return None,
    })
}

/// The text of parts nothing is put into.
pub(super) fn plain(parts: &[Part]) -> Option<String> {
    match parts {
        [] => Some(String::new()),
        [Part::Known(bytes)] => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

impl Parser<'_> {
    /// An expression with everything that belongs to it.
    pub(super) fn expression(&mut self) -> Expr {
        self.depth += 1;
        let value = self.assignment();
        self.depth -= 1;
        value
    }

    pub(super) fn too_deep(&mut self) -> bool {
        let deep = self.depth > 48;
        if deep {
            self.lost = true;
            self.at = self.tokens.len();
        }
        deep
    }

    pub(super) fn assignment(&mut self) -> Expr {
        if self.too_deep() {
            return Expr::Nothing;
        }
        let mut left = self.binary(2);
        // Several names at once: `a, b = …`.
        if self.grammar.blocks == Blocks::Indented && self.is_sign(",") && !self.heading && self.grouped == 0
        {
            let mut ahead = 1;
            while matches!(self.ahead(ahead), Some(Token::Word(_)))
                && matches!(self.ahead(ahead + 1), Some(Token::Sign(sign)) if sign == ",")
            {
                ahead += 2;
            }
            if matches!(self.ahead(ahead), Some(Token::Word(_)))
                && matches!(self.ahead(ahead + 1), Some(Token::Sign(sign)) if sign == "=")
            {
                let mut all = vec![left];
                while self.take_sign(",") {
                    all.push(self.operand());
                }
                left = Expr::List(all);
            }
        }
        // `x: type = value`.
        if let Some(Token::Sign(sign)) = self.peek() {
            let sign = sign.clone();
            if ASSIGNS.contains(&sign.as_str()) {
                self.at += 1;
                self.lines();
                let right = self.expression();
                return Expr::Assign(sign, Box::new(left), Box::new(right));
            }
            if sign == "=>" && self.grammar.members.contains(&"?.") {
                self.at += 1;
                return self.arrow(left);
            }
            if sign == "?" {
                self.at += 1;
                let yes = self.expression();
                self.lines();
                self.take_sign(":");
                let no = self.expression();
                return Expr::Block(vec![left, Expr::Either(Box::new(yes), Box::new(no))], Repeat::Perhaps);
            }
        }
        if self.grammar.blocks == Blocks::Indented && self.word() == Some("if") {
            self.at += 1;
            let condition = self.binary(2);
            self.take_word(&["else"]);
            let other = self.expression();
            return Expr::Block(
                vec![condition, Expr::Either(Box::new(left), Box::new(other))],
                Repeat::Perhaps,
            );
        }
        left
    }

    /// Whether a chain may go on: a tree that leans to one side is deep too.
    pub(super) fn linked(&mut self, links: &mut usize) -> bool {
        *links += 1;
        if *links > LINKS {
            self.lost = true;
            self.at = self.tokens.len();
        }
        *links <= LINKS
    }

    pub(super) fn arrow(&mut self, params: Expr) -> Expr {
        let params = match params {
            Expr::List(all) => all,
            one => vec![one],
        };
        let heading = std::mem::replace(&mut self.heading, false);
        let body = if self.is_open(b'{') { self.body() } else { vec![self.expression()] };
        self.heading = heading;
        Expr::Function(Rc::new(Function { name: None, params, body }))
    }

    pub(super) fn lines(&mut self) {
        while self.grammar.blocks != Blocks::Indented && matches!(self.peek(), Some(Token::Line)) {
            self.at += 1;
        }
    }

    pub(super) fn operator(&self) -> Option<(String, u8)> {
        let sign = match self.peek()? {
            Token::Sign(sign) => sign.as_str(),
            Token::Word(word) if INFIX.contains(&word.as_str()) => word.as_str(),
            _ => return None,
        };
        if self.printing && matches!(sign, ">" | ">>" | "|" | "|&") || self.heading && sign == "in" {
            return None;
        }
        if sign == "<"
            && self.grammar.sigils.contains(&b'@')
            && matches!(self.ahead(1), Some(Token::Word(_)))
            && matches!(self.ahead(2), Some(Token::Sign(sign)) if sign == ">")
        {
            return None;
        }
        Some((sign.to_owned(), strength(sign, self.grammar.joins)?))
    }

    pub(super) fn binary(&mut self, least: u8) -> Expr {
        let mut left = self.unary();
        let mut links = 0;
        while self.linked(&mut links) {
            if let Some((sign, strength)) = self.operator() {
                if strength < least {
                    break;
                }
                self.at += 1;
                self.lines();
                if sign == "not" || self.word() == Some("not") {
                    self.take_word(&["not", "in"]);
                }
                if self.too_deep() {
                    break;
                }
                self.depth += 1;
                let right = self.binary(strength + 1);
                self.depth -= 1;
                left = Expr::Operation(sign, Box::new(left), Box::new(right));
            } else if self.grammar.juxtaposed && least <= 8 && self.begins() {
                let before = self.at;
                self.depth += 1;
                let right = if self.too_deep() { Expr::Nothing } else { self.binary(9) };
                self.depth -= 1;
                if self.at == before {
                    break;
                }
                left = Expr::Operation("+".to_owned(), Box::new(left), Box::new(right));
            } else {
                break;
            }
        }
        left
    }

    /// Whether an expression begins here.
    pub(super) fn begins(&self) -> bool {
        match self.peek() {
            Some(
                Token::Text(_)
                | Token::Command(_)
                | Token::Number(_)
                | Token::Words(_)
                | Token::Hole(_)
                | Token::Code(_),
            ) => true,
            Some(Token::Word(word)) => !INFIX.contains(&word.as_str()),
            Some(Token::Open(b'(')) => self.grammar.juxtaposed,
            Some(Token::Sign(sign)) => {
                sign == "$" && self.grammar.juxtaposed
                    || sign == "\\" && self.grammar.sigils.contains(&b'@')
                    || sign == "<" && self.grammar.sigils.contains(&b'@')
                    || sign == "*"
                        && self.grammar.blocks == Blocks::Ended
                        && matches!(self.ahead(1), Some(Token::Words(_)))
            }
            _ => false,
        }
    }

    pub(super) fn unary(&mut self) -> Expr {
        if self.too_deep() {
            return Expr::Nothing;
        }
        match self.peek() {
            Some(Token::Sign(sign))
                if matches!(
                    sign.as_str(),
                    "-" | "!"
                        | "~"
                        | "+"
                        | "\\"
                        | "&"
                        | "*"
                        | "**"
                        | "..."
                        | "++"
                        | "--"
                        | "@"
                        | "$"
                        | "?"
                        | ":"
                        | "#"
                ) =>
            {
                let sign = sign.clone();
                self.at += 1;
                self.depth += 1;
                let value = self.unary();
                self.depth -= 1;
                Expr::Unary(sign, Box::new(value))
            }
            Some(Token::Word(word))
                if matches!(
                    word.as_str(),
                    "not"
                        | "await"
                        | "new"
                        | "typeof"
                        | "void"
                        | "delete"
                        | "del"
                        | "my"
                        | "our"
                        | "local"
                        | "const"
                        | "let"
                        | "var"
                        | "async"
                        | "defined"
                        | "ref"
                        | "mut"
                        | "val"
                        | "final"
                        | "scalar"
                ) && !matches!(self.ahead(1), Some(Token::Sign(sign)) if matches!(sign.as_str(), "." | "=" | "," | "=>" | ":"))
                    && !matches!(self.ahead(1), Some(Token::Open(b'(')) if !matches!(word.as_str(), "my" | "our" | "local" | "await" | "not" | "async" | "typeof" | "void" | "delete")) =>
            {
                let word = word.clone();
                self.at += 1;
                if word == "async" && self.take_word(&["function"]) {
                    return self.function();
                }
                self.depth += 1;
                let value = self.unary();
                self.depth -= 1;
                Expr::Unary(word, Box::new(value))
            }
            _ => {
                let value = self.primary();
                self.postfix(value)
            }
        }
    }

    /// An operand without operators around it.
    pub(super) fn operand(&mut self) -> Expr {
        if self.too_deep() {
            return Expr::Nothing;
        }
        self.depth += 1;
        let value = self.unary();
        self.depth -= 1;
        value
    }
}
