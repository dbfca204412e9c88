//! Brace expansion: `{a,b}` and `{1..9}`.
//!
//! Owns: telling an expansion from a brace that is only text, and cutting it into alternatives. Refuses: expanding,
//! and the cases where the text around would change its meaning by it: those are Unknown.

use super::cursor::{Parser, Read};
use super::word::{Mode, Parts, Tildes};
use crate::shell::ast::{Part, Word};

/// A brace expansion that was found.
#[derive(Debug)]
struct Found {
    /// Where each alternative begins and ends.
    alternatives: Vec<(usize, usize)>,
    /// Whether there is a comma: else it can only be a sequence.
    commas: bool,
    /// The place of the `}`.
    end: usize,
}

impl Parser<'_> {
    /// At a `{`: the expansion it begins; false if it begins none.
    pub(super) fn braces(&mut self, parts: &mut Parts, mode: Mode, start: usize) -> Read<bool> {
        let open = self.input.at;
        let Some(found) = self.brace_expansion() else { return Ok(false) };
        let behind = found.end + 1;
        // Bash counts braces before it knows what they are: `${x-{}` leaves one open, and nothing is expanded behind it.
        if is_uneven(&self.slice(start, open)) {
            parts.unknown(self.span(open, behind));
            self.input.at = behind;
            return Ok(true);
        }
        if !found.commas {
            let text = self.slice(open + 1, found.end);
            if !is_sequence(&text) {
                return Ok(false);
            }
            self.input.at = behind;
            if parts.bare == Some(open) {
                parts.unknown(self.span(open, behind));
            } else {
                parts.list.push(Part::Sequence(text));
            }
            return Ok(true);
        }
        let tildes = if open == start && mode.tildes != Tildes::None { Tildes::Start } else { Tildes::None };
        let mut words = Vec::with_capacity(found.alternatives.len());
        for (from, to) in found.alternatives {
            words.push(self.word(from, to, Mode { tildes, ..mode })?);
        }
        self.input.at = behind;
        let next = self.peek();
        // The alternatives are put in as text before anything else is looked at: `$x{a,b}` is `$xa $xb`.
        if parts.bare == Some(open)
            || (next.is_some() && words.iter().any(ends_open))
            || next == Some(b'~') && words.iter().any(lets_tilde_in)
        {
            parts.unknown(self.span(open, behind));
        } else {
            parts.list.push(Part::Braces(words));
        }
        Ok(true)
    }

    /// Looks for the end of the expansion that the `{` here may begin.
    fn brace_expansion(&mut self) -> Option<Found> {
        let open = self.input.at;
        if self.second() == Some(b'}') && open == self.input.at && self.word_begins(open) {
            return None;
        }
        let end = self.input.end;
        self.within(open, end, |parser| {
            parser.bump();
            let mut found = Found { alternatives: Vec::new(), commas: false, end: open };
            let mut from = parser.input.at;
            let mut level = 0_u32;
            let mut dots = false;
            while let Some(byte) = parser.peek() {
                let at = parser.input.at;
                match byte {
                    b'}' if level == 0 && (found.commas || dots) => {
                        found.alternatives.push((from, at));
                        found.end = at;
                        return Some(found);
                    }
                    b'}' => level = level.saturating_sub(1),
                    b'{' => level += 1,
                    b',' if level == 0 => {
                        found.commas = true;
                        found.alternatives.push((from, at));
                        from = at + 1;
                    }
                    b'.' if level == 0
                        && parser.follows(b"..")
                        && parser.behind(b"..").ok()? != Some(b'}') =>
                    {
                        dots = true;
                    }
                    _ => {}
                }
                parser.over_quoted(byte)?;
            }
            None
        })
    }

    /// Over one byte, or all that is quoted or grouped from here.
    fn over_quoted(&mut self, byte: u8) -> Option<()> {
        match byte {
            b'\\' => {
                self.bump();
                self.bump();
            }
            b'\'' => {
                self.bump();
                self.skip_single().ok()?;
            }
            b'"' => {
                self.bump();
                self.skip_double().ok()?;
            }
            b'`' => {
                self.bump();
                self.skip_backquote().ok()?;
            }
            b'$' if self.second() == Some(b'\'') => {
                self.bump_many(2);
                self.skip_ansi().ok()?;
            }
            b'$' => self.skip_dollar().ok()?,
            b'<' | b'>' if self.second() == Some(b'(') => self.skip_command(self.input.at).ok()?,
            _ => self.bump(),
        }
        Some(())
    }

    /// Whether a word begins at this place: nothing of it was read before.
    fn word_begins(&self, at: usize) -> bool {
        at == 0 || self.byte(at - 1).is_none_or(super::lexer::breaks)
    }
}

/// Whether a `${…}` in this text holds a brace that none answers.
fn is_uneven(text: &[u8]) -> bool {
    let count = |wanted: u8| text.iter().filter(|byte| **byte == wanted).count();
    text.windows(2).any(|two| two == b"${") && count(b'{') != count(b'}')
}

/// Whether the end of an alternative reaches out for what stands behind the braces.
fn ends_open(word: &Word) -> bool {
    match word.parts.last() {
        Some(Part::Parameter { .. } | Part::Tilde(_)) => true,
        Some(Part::Literal { text, quoted: false }) => matches!(text.last(), Some(b'$' | b'~' | b'[')),
        _ => false,
    }
}

/// Whether a `~` behind an alternative is the first of a word, or of a value: `{,}~` is the home twice.
fn lets_tilde_in(word: &Word) -> bool {
    match word.parts.last() {
        None => true,
        Some(Part::Literal { text, quoted: false }) => matches!(text.last(), None | Some(b'=' | b':')),
        Some(_) => false,
    }
}

/// Whether `a..b` or `a..b..n` is a sequence.
fn is_sequence(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let mut pieces = text.splitn(3, "..");
    let (Some(from), Some(to)) = (pieces.next(), pieces.next()) else { return false };
    let number = |text: &str| text.parse::<i64>().is_ok();
    let letter = |text: &str| text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let step = pieces.next().is_none_or(number);
    step && ((number(from) && number(to)) || (letter(from) && letter(to)))
}
