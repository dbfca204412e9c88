//! How a language writes things down.
//!
//! Owns: what tells languages apart for a reader: quotes, comments, blocks, names. Refuses: what anything written means.

/// How a language is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grammar {
    /// What begins a comment that ends with its line.
    pub comments: &'static [&'static str],
    /// What begins and ends a comment that may span lines.
    pub spans: Option<(&'static str, &'static str)>,
    /// Each quote, and what is put in where it is found.
    pub quotes: &'static [(u8, Inside)],
    /// Whether three quotes in a row quote too.
    pub tripled: bool,
    /// Whether letters before a quote change it: `r''`, `b''`, `f''`.
    pub prefixed: bool,
    /// What says that a backquote runs a command.
    pub backquotes: bool,
    /// `q() qq() qw() qx() m() s() tr()`, `%w() %x()`.
    pub operators: Operators,
    /// Letters beside the usual ones that belong to names.
    pub letters: &'static [u8],
    /// Signs in front of variables; names without them are functions.
    pub sigils: &'static [u8],
    /// Whether `/…/` may be a pattern.
    pub patterns: bool,
    /// How a group of statements is written.
    pub blocks: Blocks,
    /// Whether a function may be called without parentheses.
    pub bare: bool,
    /// Whether two values side by side are put together.
    pub juxtaposed: bool,
    /// What puts texts together, beside `+`.
    pub joins: &'static str,
    /// What leads to a member.
    pub members: &'static [&'static str],
    /// `<<EOF`.
    pub documents: bool,
}

/// What is put into quoted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    /// Nothing, and a backslash only keeps the quote.
    Nothing,
    /// Nothing, with escapes.
    Escapes,
    /// `${…}`.
    Dollar,
    /// `#{…}`.
    Hash,
    /// `$name`, `${name}`, `@name`, `{$name}`.
    Variables,
}

/// Ways to quote with a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operators {
    /// None.
    None,
    /// `q qq qw qx qr m s tr y`.
    Words,
    /// `%q %Q %w %i %x %r`.
    Percent,
}

/// How statements are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blocks {
    /// `{ … }`.
    Braces,
    /// By their indentation.
    Indented,
    /// By words up to `end`.
    Ended,
}

const BRACES: Grammar = Grammar {
    comments: &["//"],
    spans: Some(("/*", "*/")),
    quotes: &[(b'"', Inside::Escapes), (b'\'', Inside::Escapes), (b'`', Inside::Dollar)],
    tripled: false,
    prefixed: false,
    backquotes: false,
    operators: Operators::None,
    letters: b"$",
    sigils: b"",
    patterns: true,
    blocks: Blocks::Braces,
    bare: false,
    juxtaposed: false,
    joins: "+",
    members: &[".", "?.", "::"],
    documents: false,
};

pub(super) const PYTHON: Grammar = Grammar {
    comments: &["#"],
    spans: None,
    quotes: &[(b'"', Inside::Escapes), (b'\'', Inside::Escapes)],
    tripled: true,
    prefixed: true,
    letters: b"",
    patterns: false,
    blocks: Blocks::Indented,
    ..BRACES
};
pub(super) const JAVASCRIPT: Grammar = BRACES;
pub(super) const PERL: Grammar = Grammar {
    comments: &["#"],
    spans: None,
    quotes: &[(b'"', Inside::Variables), (b'\'', Inside::Nothing), (b'`', Inside::Variables)],
    backquotes: true,
    operators: Operators::Words,
    letters: b"",
    sigils: b"$@%&",
    bare: true,
    joins: ".",
    members: &["->", "::"],
    documents: true,
    ..BRACES
};
pub(super) const PHP: Grammar = Grammar {
    comments: &["#", "//"],
    quotes: &[(b'"', Inside::Variables), (b'\'', Inside::Nothing), (b'`', Inside::Variables)],
    backquotes: true,
    letters: b"",
    sigils: b"$",
    patterns: false,
    bare: true,
    joins: ".",
    members: &["->", "?->", "::"],
    documents: true,
    ..BRACES
};
pub(super) const RUBY: Grammar = Grammar {
    comments: &["#"],
    spans: None,
    quotes: &[(b'"', Inside::Hash), (b'\'', Inside::Nothing), (b'`', Inside::Hash)],
    backquotes: true,
    operators: Operators::Percent,
    letters: b"?!",
    sigils: b"$@",
    blocks: Blocks::Ended,
    bare: true,
    members: &[".", "&.", "::"],
    documents: true,
    ..BRACES
};
pub(super) const ELIXIR: Grammar = Grammar {
    quotes: &[(b'"', Inside::Hash), (b'\'', Inside::Hash)],
    tripled: true,
    backquotes: false,
    operators: Operators::None,
    patterns: false,
    joins: "<>",
    ..RUBY
};
pub(super) const LUA: Grammar = Grammar {
    comments: &["--"],
    spans: Some(("--[[", "]]")),
    quotes: &[(b'"', Inside::Escapes), (b'\'', Inside::Escapes)],
    letters: b"",
    patterns: false,
    blocks: Blocks::Ended,
    bare: true,
    joins: "..",
    members: &[".", ":"],
    ..BRACES
};
pub(super) const JULIA: Grammar = Grammar {
    comments: &["#"],
    spans: None,
    quotes: &[(b'"', Inside::Variables), (b'`', Inside::Variables)],
    tripled: true,
    backquotes: true,
    letters: b"!",
    patterns: false,
    blocks: Blocks::Ended,
    joins: "*",
    members: &["."],
    ..BRACES
};
pub(super) const R: Grammar = Grammar {
    comments: &["#"],
    spans: None,
    quotes: &[(b'"', Inside::Escapes), (b'\'', Inside::Escapes)],
    letters: b".",
    patterns: false,
    members: &["$", "::"],
    ..BRACES
};
pub(super) const GROOVY: Grammar = Grammar {
    quotes: &[(b'"', Inside::Dollar), (b'\'', Inside::Escapes)],
    tripled: true,
    letters: b"",
    bare: true,
    ..BRACES
};
pub(super) const JAVA: Grammar =
    Grammar { quotes: &[(b'"', Inside::Escapes)], letters: b"", patterns: false, ..BRACES };
pub(super) const AWK: Grammar = Grammar {
    comments: &["#"],
    spans: None,
    quotes: &[(b'"', Inside::Escapes)],
    letters: b"",
    sigils: b"",
    juxtaposed: true,
    bare: true,
    joins: "",
    members: &[],
    ..BRACES
};
