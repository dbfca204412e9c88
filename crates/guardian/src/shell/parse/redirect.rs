//! Redirections: `2>f`, `<<E`, `{fd}>&1` and all the others.
//!
//! Owns: descriptors, operators and their targets. Refuses: bodies of here-documents (`heredoc`).

use super::cursor::{Parser, Read, Stop};
use super::lexer::{Rules, is_name};
use super::word::Mode;
use crate::shell::ast::{Descriptor, Part, Reason, Redirect, Target, Word};

/// The operators, longer ones first.
const OPERATORS: [&[u8]; 12] =
    [b"<<<", b"<<-", b"<<", b"<&", b"<>", b"<", b">>", b">&", b">|", b">", b"&>>", b"&>"];

impl Parser<'_> {
    /// The redirection that comes next, if one does.
    pub(super) fn redirect(&mut self) -> Read<Option<Redirect>> {
        self.blanks();
        let start = self.input.at;
        let descriptor = match self.peek() {
            Some(b'0'..=b'9' | b'{') => match self.descriptor() {
                Some(descriptor) => Some(descriptor),
                None => return Ok(None),
            },
            Some(b'<' | b'>') if self.second() != Some(b'(') => None,
            Some(b'&') if self.second() == Some(b'>') => None,
            Some(_) | None => return Ok(None),
        };
        let operator_at = self.input.at;
        let Some(operator) = OPERATORS.iter().find(|operator| self.follows(operator)) else {
            return Ok(None);
        };
        self.bump_many(operator.len());
        let target = self.target(operator, descriptor.as_ref(), operator_at)?;
        Ok(Some(Redirect { descriptor, target, span: self.span_from(start) }))
    }

    /// A descriptor directly before an operator; nothing is read if there is none.
    fn descriptor(&mut self) -> Option<Descriptor> {
        let start = self.input.at;
        let found = if self.peek() == Some(b'{') { self.variable() } else { self.number() };
        let before = matches!(self.peek(), Some(b'<' | b'>')) && self.second() != Some(b'(');
        if found.is_none() || !before {
            self.input.at = start;
            return None;
        }
        found
    }

    fn number(&mut self) -> Option<Descriptor> {
        let mut digits = String::new();
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            digits.push(char::from(byte));
            self.bump();
        }
        digits.parse::<i32>().ok().and_then(|number| u32::try_from(number).ok()).map(Descriptor::Number)
    }

    fn variable(&mut self) -> Option<Descriptor> {
        let start = self.input.at;
        self.bump();
        let mut name = Vec::new();
        while let Some(byte) = self.peek()
            && byte != b'}'
        {
            // An index may hold anything but what ends a word.
            if super::lexer::breaks(byte) || matches!(byte, b'\'' | b'"' | b'\\') {
                return None;
            }
            if matches!(byte, b'$' | b'`') && name.contains(&b'[') {
                self.skip_index_expansion(byte).ok()?;
                name.push(byte);
                continue;
            }
            name.push(byte);
            self.bump();
        }
        if !self.eat(b'}') {
            return None;
        }
        let plain = name.split(|byte| *byte == b'[').next().unwrap_or_default();
        let indexed = plain.len() < name.len();
        if !is_name(plain) || (indexed && !name.ends_with(b"]")) {
            return None;
        }
        if name.iter().any(|byte| matches!(byte, b'$' | b'`')) && matches!(self.peek(), Some(b'<' | b'>')) {
            // The index is looked at when it runs, and what it says runs then.
            self.note(Reason::Expansion, start);
        }
        Some(Descriptor::Variable(name))
    }

    fn skip_index_expansion(&mut self, byte: u8) -> Read<()> {
        if byte == b'$' {
            return self.skip_dollar();
        }
        self.bump();
        self.skip_backquote()
    }

    fn target(&mut self, operator: &[u8], descriptor: Option<&Descriptor>, at: usize) -> Read<Target> {
        self.blanks();
        let duplicates = matches!(operator, b"<&" | b">&");
        if duplicates && self.peek() == Some(b'-') {
            let start = self.input.at;
            self.bump();
            let parts = vec![Part::Literal { text: b"-".to_vec(), quoted: false }];
            let word = Word { parts, span: self.span_from(start) };
            return Ok(Target::Duplicate(word, operator == b"<&"));
        }
        self.no_descriptor(duplicates)?;
        if !self.at_word() {
            return Err(Stop::SYNTAX);
        }
        let raw = self.raw_word(Rules::default())?;
        let mode = if operator == b"<<<" { Mode::VALUE } else { Mode::ARGUMENT };
        if matches!(operator, b"<<" | b"<<-") {
            return Ok(Target::HereDocument(self.here_document(at, operator == b"<<-", &raw)?));
        }
        let word = self.word(raw.start, raw.end, mode)?;
        Ok(match operator {
            b"<<<" => Target::HereString(word),
            b"<&" => Target::Duplicate(word, true),
            b"<>" => Target::ReadWrite(word),
            b"<" => Target::Read(word),
            b">>" => Target::Append(word),
            b">&" if names_file(&word) && is_output(descriptor) => Target::Both(word, false),
            b">&" => Target::Duplicate(word, false),
            b">|" => Target::Write(word, true),
            b"&>>" => Target::Both(word, true),
            b"&>" => Target::Both(word, false),
            _ => Target::Write(word, false),
        })
    }

    /// `>2>f` is an error: what stands there belongs to the next operator.
    fn no_descriptor(&mut self, duplicates: bool) -> Read<()> {
        let start = self.input.at;
        if !matches!(self.peek(), Some(b'0'..=b'9' | b'{')) {
            return Ok(());
        }
        let found = self.descriptor();
        self.input.at = start;
        match found {
            None => Ok(()),
            Some(Descriptor::Number(_)) if duplicates => Ok(()),
            Some(_) => Err(Stop::SYNTAX),
        }
    }
}

/// Whether a word behind `>&` is certainly no descriptor.
fn names_file(word: &Word) -> bool {
    match word.parts.as_slice() {
        [Part::Literal { text, .. }] => {
            let number = text.strip_suffix(b"-").unwrap_or(text);
            !number.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

/// Whether it is standard output that is redirected.
fn is_output(descriptor: Option<&Descriptor>) -> bool {
    matches!(descriptor, None | Some(Descriptor::Number(1)))
}
