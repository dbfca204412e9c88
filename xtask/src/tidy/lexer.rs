//! Splits Rust text into what the compiler runs and what people read.
//!
//! Owns: telling code from comments and string contents, line by line, and tokens precise enough for the gates.
//! Refuses: understanding Rust. A gate that needs types belongs in clippy.

/// One file, taken apart. Lines are counted from one everywhere.
#[derive(Debug)]
pub(crate) struct Source {
    /// The text with comments and the contents of literals replaced by blanks.
    code: Vec<String>,
    /// What each line says in comments, without the markers.
    comments: Vec<String>,
}

/// A word or a sign of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'s> {
    /// An identifier or number, `::`, or a single sign.
    pub(crate) text: &'s str,
    pub(crate) line: usize,
}

impl Source {
    /// Takes a text apart. Never fails: what is not Rust comes out as odd tokens.
    pub(crate) fn parse(text: &str) -> Self {
        let mut lexer = Lexer::new(text);
        while let Some(current) = lexer.peek(0) {
            lexer.step(current);
        }
        lexer.source
    }

    /// How many lines the file has.
    pub(crate) fn line_count(&self) -> usize {
        self.code.len() - usize::from(self.code.last().is_some_and(String::is_empty))
    }

    /// The code of a line, trimmed; empty if the line holds only comments.
    pub(crate) fn code(&self, line: usize) -> &str {
        line.checked_sub(1).and_then(|at| self.code.get(at)).map_or("", |code| code.trim())
    }

    /// The comment of a line, trimmed; empty if there is none.
    pub(crate) fn comment(&self, line: usize) -> &str {
        line.checked_sub(1).and_then(|at| self.comments.get(at)).map_or("", |comment| comment.trim())
    }

    /// The code as tokens.
    pub(crate) fn tokens(&self) -> Vec<Token<'_>> {
        let lines = self.code.iter().enumerate();
        lines
            .flat_map(|(at, code)| split(code).into_iter().map(move |text| Token { text, line: at + 1 }))
            .collect()
    }
}

/// Says whether a character can be part of an identifier.
pub(crate) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn split(mut code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    while let Some(first) = code.chars().next() {
        let length = if is_word(first) {
            code.find(|c| !is_word(c)).unwrap_or(code.len())
        } else if code.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (token, rest) = code.split_at(length);
        if !first.is_whitespace() {
            tokens.push(token);
        }
        code = rest;
    }
    tokens
}

/// Where a character goes.
#[derive(Debug, Clone, Copy)]
enum Side {
    Code,
    Comment,
    Nowhere,
}

struct Lexer {
    rest: std::collections::VecDeque<char>,
    /// The last character of code, to tell `r"…"` from the end of a longer word.
    previous: char,
    source: Source,
}

impl Lexer {
    fn new(text: &str) -> Self {
        let source = Source { code: vec![String::new()], comments: vec![String::new()] };
        Self { rest: text.chars().collect(), previous: ' ', source }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.rest.get(ahead).copied()
    }

    fn step(&mut self, current: char) {
        match (current, self.peek(1)) {
            ('/', Some('/')) => self.line_comment(),
            ('/', Some('*')) => self.block_comment(),
            ('"', _) => self.string(),
            ('\'', _) => self.quote(),
            ('r' | 'b' | 'c', _) if !is_word(self.previous) => self.prefixed(),
            _ => self.take(1, Side::Code),
        }
    }

    /// Moves characters to one side; line breaks stay where they are on both.
    fn take(&mut self, count: usize, side: Side) {
        for _ in 0..count {
            let Some(character) = self.rest.pop_front() else { return };
            if character == '\n' {
                self.source.code.push(String::new());
                self.source.comments.push(String::new());
                self.previous = ' ';
                continue;
            }
            let (code, comment) = match side {
                Side::Code => (character, None),
                Side::Comment => (' ', Some(character)),
                Side::Nowhere => (' ', None),
            };
            self.previous = code;
            if let Some(line) = self.source.code.last_mut() {
                line.push(code);
            }
            if let (Some(line), Some(comment)) = (self.source.comments.last_mut(), comment) {
                line.push(comment);
            }
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0) == Some('/') {
            self.take(1, Side::Nowhere);
        }
        if self.peek(0) == Some('!') {
            self.take(1, Side::Nowhere);
        }
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.take(1, Side::Comment);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        while let Some(current) = self.peek(0) {
            match (current, self.peek(1)) {
                ('/', Some('*')) => {
                    depth += 1;
                    self.take(2, Side::Nowhere);
                }
                ('*', Some('/')) => {
                    depth = depth.saturating_sub(1);
                    self.take(2, Side::Nowhere);
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.take(1, Side::Comment),
            }
        }
    }

    /// At the opening quote of a string with escapes. The quotes stay, the contents go.
    fn string(&mut self) {
        self.take(1, Side::Code);
        while let Some(current) = self.peek(0) {
            match current {
                '\\' => self.take(2, Side::Nowhere),
                '"' => return self.take(1, Side::Code),
                _ => self.take(1, Side::Nowhere),
            }
        }
    }

    /// At a single quote: a character, whose contents go, or a lifetime, which stays.
    fn quote(&mut self) {
        let is_character = self.peek(1) == Some('\\') || self.peek(2) == Some('\'');
        if !is_character {
            return self.take(1, Side::Code);
        }
        let opening = if self.peek(1) == Some('\\') { 3 } else { 2 };
        self.take(opening, Side::Nowhere);
        while self.peek(0).is_some_and(|c| c != '\'') {
            self.take(1, Side::Nowhere);
        }
        self.take(1, Side::Nowhere);
    }

    /// At a letter that may open `r"…"`, `r#"…"#`, `b"…"`, `br"…"`, `c"…"` or `cr"…"`; else a plain word.
    fn prefixed(&mut self) {
        let letters = (0..).map_while(|at| self.peek(at).filter(|c| is_word(*c)));
        let prefix: String = letters.take(3).collect();
        let is_raw = matches!(prefix.as_str(), "r" | "br" | "cr");
        let hashes = (prefix.len()..).map_while(|at| self.peek(at).filter(|c| *c == '#')).count();
        let is_quoted = self.peek(prefix.len() + hashes) == Some('"');
        if is_raw && is_quoted {
            self.take(prefix.len() + hashes, Side::Nowhere);
            self.raw_string(hashes);
        } else {
            self.take(1, Side::Code);
        }
    }

    /// At the opening quote of a raw string that ends with a quote and this many hashes.
    fn raw_string(&mut self, hashes: usize) {
        self.take(1, Side::Code);
        while let Some(current) = self.peek(0) {
            if current == '"' && (1..=hashes).all(|at| self.peek(at) == Some('#')) {
                self.take(1, Side::Code);
                return self.take(hashes, Side::Nowhere);
            }
            self.take(1, Side::Nowhere);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        let source = Source::parse(text);
        source.tokens().iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_literals_leave_the_code() {
        assert_eq!(code("a // unsafe\nb /* x /* unsafe */ y */ c"), "a b c");
        assert_eq!(code(r#"f("unsafe \" { // no")"#), r#"f ( " " )"#);
        assert_eq!(code("f(r#\"unsafe \" \"#, br\"\\\", c\"x\")"), r#"f ( " " , " " , c " " )"#);
        assert_eq!(
            code("let c = '\"'; let d = '\\''; let e = b'\\\\'; g"),
            "let c = ; let d = ; let e = b ; g"
        );
        assert_eq!(code("'\\u{1F600}' 'é' x"), "x");
    }

    #[test]
    fn lifetimes_raw_identifiers_and_words_stay() {
        assert_eq!(code("fn f<'a>(x: &'a str)"), "fn f < ' a > ( x : & ' a str )");
        assert_eq!(code("r#type bar\" x\" br_x"), "r # type bar \" \" br_x");
        assert_eq!(code("std::fs::read"), "std :: fs :: read");
    }

    #[test]
    fn lines_are_kept_and_comments_are_read() {
        let source = Source::parse("let a = \"one\ntwo\"; // after\n\n/* first\n second */ b\n");
        assert_eq!(source.line_count(), 5);
        assert_eq!(source.comment(2), "after");
        assert_eq!((source.comment(4), source.comment(5)), ("first", "second"));
        assert_eq!(source.code(5), "b");
        assert_eq!(source.tokens().last(), Some(&Token { text: "b", line: 5 }));
        assert_eq!(Source::parse("").line_count(), 0);
    }
}
