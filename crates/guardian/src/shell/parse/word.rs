//! What is in a word: literals with their quotes removed, expansions, patterns.
//!
//! Owns: reading between the two ends of a word the way bash expands it. Refuses: expanding.

use super::cursor::{Parser, Read, Stop};
use super::lexer::Raw;
use crate::shell::ast::{Part, Reason, Span, Unknown, Word};

/// How the bytes of a word are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Not quoted.
    None,
    /// In double quotes.
    Double,
    /// In the operand of a `${…}` in double quotes or in a here-document, where double quotes may stand again.
    Operand,
    /// In a here-document: `"` is nothing special.
    Here,
    /// In arithmetic: like double quotes, but `"` just goes away.
    Arithmetic,
}

/// Where `~` is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tildes {
    /// Nowhere.
    None,
    /// At the start.
    Start,
    /// At the start and behind each `:`.
    Value,
    /// At the start, behind the first `=` and behind each `:` after it.
    Assignment,
}

/// What is looked for in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mode {
    pub(super) quoting: Quoting,
    pub(super) tildes: Tildes,
    /// `{a,b}`
    pub(super) braces: Looked,
    /// `*`, `?`, `[…]`
    pub(super) globs: Looked,
    /// `@(…)` even where extglob is off.
    pub(super) extglob: Looked,
}

/// Whether something is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    /// It is.
    For,
    /// It is not: such bytes are only text.
    Past,
}

const TEXT: Mode = Mode {
    quoting: Quoting::None,
    tildes: Tildes::Start,
    braces: Looked::Past,
    globs: Looked::Past,
    extglob: Looked::Past,
};

impl Mode {
    /// An argument of a command.
    pub(super) const ARGUMENT: Self = Self { braces: Looked::For, globs: Looked::For, ..TEXT };
    /// The value of an assignment.
    pub(super) const VALUE: Self = Self { tildes: Tildes::Value, ..TEXT };
    /// Where there is neither splitting nor globbing.
    pub(super) const TEXT: Self = TEXT;
    /// A pattern of `case`.
    pub(super) const PATTERN: Self = Self { globs: Looked::For, ..TEXT };
    /// A pattern of `[[ … ]]`.
    pub(super) const CONDITION: Self = Self { globs: Looked::For, extglob: Looked::For, ..TEXT };
    /// An index: the name of an element, or arithmetic in which quotes are errors.
    pub(super) const INDEX: Self = Self { tildes: Tildes::None, ..TEXT };
    /// What stands in double quotes.
    pub(super) const DOUBLE: Self = Self { quoting: Quoting::Double, tildes: Tildes::None, ..TEXT };
    /// The body of a here-document.
    pub(super) const HERE: Self = Self { quoting: Quoting::Here, tildes: Tildes::None, ..TEXT };
    /// Arithmetic.
    pub(super) const ARITHMETIC: Self = Self { quoting: Quoting::Arithmetic, tildes: Tildes::None, ..TEXT };

    /// Whether what is found stands in double quotes, or as if.
    pub(super) fn quoted(self) -> bool {
        self.quoting != Quoting::None
    }
}

/// The parts of a word while they are put together.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) list: Vec<Part>,
    /// Where the last `$name` ended that a brace expansion behind it would change.
    pub(super) bare: Option<usize>,
}

impl Parts {
    /// Puts one byte of text behind what there is.
    pub(super) fn byte(&mut self, byte: u8, quoted: bool) {
        self.text(&[byte], quoted);
    }

    /// Puts text behind what there is. Quoted text counts even when it is empty.
    pub(super) fn text(&mut self, bytes: &[u8], quoted: bool) {
        match self.list.last_mut() {
            Some(Part::Literal { text, quoted: before }) if *before == quoted => {
                text.extend_from_slice(bytes);
            }
            _ => self.list.push(Part::Literal { text: bytes.to_vec(), quoted }),
        }
    }

    /// Puts something behind what there is that cannot be read.
    pub(super) fn unknown(&mut self, span: Span) {
        self.list.push(Part::Unknown(Unknown { reason: Reason::Expansion, span }));
    }
}

impl Parser<'_> {
    /// The word between two places. What bash would only find wanting when it runs is a part that says so.
    pub(super) fn word(&mut self, start: usize, end: usize, mode: Mode) -> Read<Word> {
        let span = self.span(start, end);
        let found = self.deeper(|parser| {
            parser.within(start, end, |parser| {
                let mut parts = Parts::default();
                parser.parts(&mut parts, mode, start)?;
                Ok(parts.list)
            })
        });
        match found {
            Ok(parts) => Ok(Word { parts, span }),
            Err(Stop { reason: Reason::Limit }) => Err(Stop { reason: Reason::Limit }),
            Err(Stop { .. }) => Ok(self.unreadable(start, end)),
        }
    }

    /// The word that was cut out, as an argument; arrays behind `NAME=` too.
    pub(super) fn argument(&mut self, raw: Raw) -> Read<Word> {
        if let Some(text) = self.only_letters(raw.start, raw.end) {
            let parts = vec![Part::Literal { text, quoted: false }];
            return Ok(Word { parts, span: self.span(raw.start, raw.end) });
        }
        let assigns = self.left_side(raw.start, raw.end).is_some();
        let tildes = if assigns { Tildes::Assignment } else { Tildes::Start };
        let mode = Mode { tildes, ..Mode::ARGUMENT };
        let Some((from, to, elements)) = raw.array else { return self.word(raw.start, raw.end, mode) };
        if to != raw.end {
            return Ok(self.unreadable(raw.start, raw.end));
        }
        let mut word = self.word(raw.start, from, mode)?;
        word.parts.push(Part::Array(elements));
        Ok(Word { span: self.span(raw.start, raw.end), ..word })
    }

    /// The text between two places, where nothing in it can be anything but text, as in most words.
    fn only_letters(&mut self, start: usize, end: usize) -> Option<Vec<u8>> {
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:,+@%".contains(byte);
        let text = self.input.text.get(start..end).filter(|text| text.iter().all(is_letter))?.to_vec();
        self.pay(text.len());
        Some(text)
    }

    /// The parts from here to the end.
    fn parts(&mut self, parts: &mut Parts, mode: Mode, start: usize) -> Read<()> {
        let mut tilde = mode.tildes != Tildes::None;
        let mut equals = false;
        while let Some(byte) = self.peek() {
            if tilde && byte == b'~' {
                self.tilde(parts, mode);
                tilde = false;
                continue;
            }
            tilde = match byte {
                b':' => mode.tildes == Tildes::Value || (mode.tildes == Tildes::Assignment && equals),
                b'=' => mode.tildes == Tildes::Assignment && !equals,
                _ => false,
            };
            equals |= byte == b'=';
            if mode.quoting == Quoting::None {
                self.plain(parts, byte, mode, start)?;
            } else {
                self.inside(parts, byte, mode)?;
            }
        }
        Ok(())
    }

    /// One part outside quotes.
    fn plain(&mut self, parts: &mut Parts, byte: u8, mode: Mode, start: usize) -> Read<()> {
        match byte {
            b'\\' => {
                self.bump();
                match self.raw() {
                    Some(next) => {
                        self.bump();
                        parts.byte(next, true);
                    }
                    None => parts.byte(b'\\', true),
                }
            }
            b'\'' => {
                self.bump();
                let text = self.single()?;
                parts.text(&text, true);
            }
            b'"' => {
                self.bump();
                self.double(parts)?;
            }
            b'`' => self.backquote(parts, mode)?,
            b'$' => self.dollar(parts, mode)?,
            b'<' | b'>' if self.second() == Some(b'(') => self.process(parts, byte)?,
            b'{' if mode.braces == Looked::For && self.braces(parts, mode, start)? => {}
            b'*' | b'?' | b'[' | b'@' | b'+' | b'!'
                if mode.globs == Looked::For && self.glob(parts, byte, mode)? => {}
            _ => {
                self.bump();
                parts.byte(byte, false);
            }
        }
        Ok(())
    }

    /// One part in double quotes, or where it is as if.
    pub(super) fn inside(&mut self, parts: &mut Parts, byte: u8, mode: Mode) -> Read<()> {
        match byte {
            b'\\' => {
                self.bump();
                match self.raw() {
                    Some(next) if escapes(next, mode.quoting) => {
                        self.bump();
                        parts.byte(next, true);
                    }
                    Some(_) | None => parts.byte(b'\\', true),
                }
            }
            b'"' if matches!(mode.quoting, Quoting::Operand | Quoting::Arithmetic) => {
                self.bump();
                self.double(parts)?;
            }
            b'`' => self.backquote(parts, mode)?,
            b'$' => self.dollar(parts, mode)?,
            _ => {
                self.bump();
                parts.byte(byte, true);
            }
        }
        Ok(())
    }

    /// Behind an opening `"`: the parts up to its end, and over it.
    pub(super) fn double(&mut self, parts: &mut Parts) -> Read<()> {
        let from = self.input.at;
        loop {
            match self.peek() {
                None => return Err(Stop::SYNTAX),
                Some(b'"') => {
                    if self.input.at == from {
                        // Even an empty one keeps the word alive.
                        parts.text(b"", true);
                    }
                    self.bump();
                    return Ok(());
                }
                Some(byte) => self.inside(parts, byte, Mode::DOUBLE)?,
            }
        }
    }
}

/// Whether a backslash before this byte goes away.
fn escapes(byte: u8, quoting: Quoting) -> bool {
    match byte {
        b'$' | b'`' | b'\\' => true,
        b'"' => quoting != Quoting::Here,
        b'}' => quoting == Quoting::Operand,
        _ => false,
    }
}
