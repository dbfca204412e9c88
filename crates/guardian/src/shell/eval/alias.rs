//! Aliases: words that stand for other text, from the next line on.
//!
//! Owns: putting the text in. Refuses: aliases that change how the lines after them are read; what does not read on its own is
//! unknown like any other text.

use super::machine::Machine;
use super::state::State;
use crate::shell::ast::{Part, Span, Word};

impl Machine<'_> {
    /// The text a command becomes, when its first word is an alias.
    pub(super) fn aliased(&mut self, words: &[Word], span: Span, state: &State) -> Option<Vec<u8>> {
        if !state.options.expand_aliases {
            return None;
        }
        let name = plain(words.first()?)?;
        let value = state.aliases.get(name)?;
        if self.aliases.iter().any(|other| other == name) {
            return None;
        }
        let whole = self.put_in(value, words.first()?, span)?;
        self.aliases.push(name.to_vec());
        Some(whole)
    }

    /// What a command would be with an alias that stands for something else by now: a line is read before it runs.
    pub(super) fn formerly(&mut self, words: &[Word], span: Span, state: &State) {
        let Some((first, name)) = words.first().and_then(|first| Some((first, plain(first)?))) else {
            return;
        };
        if !state.options.expand_aliases || self.aliases.iter().any(|other| other == name) {
            return;
        }
        let values: Vec<Vec<u8>> =
            self.former.iter().filter(|(other, _)| other == name).map(|(_, text)| text.clone()).collect();
        for value in values {
            if let Some(whole) = self.put_in(&value, first, span) {
                self.aliases.push(name.to_vec());
                self.text_known(&whole, state.clone());
                self.aliases.pop();
            }
        }
    }

    /// The command's text with a value in place of its first word.
    fn put_in(&self, value: &[u8], first: &Word, span: Span) -> Option<Vec<u8>> {
        let end = usize::try_from(span.end).ok()?;
        let rest = self.source.get(usize::try_from(first.span.end).ok()?..end)?;
        let before =
            self.source.get(usize::try_from(span.start).ok()?..usize::try_from(first.span.start).ok()?)?;
        Some([before, value, rest].concat())
    }
}

fn plain(word: &Word) -> Option<&[u8]> {
    match word.parts.as_slice() {
        [Part::Literal { text, quoted: false }] => Some(text),
        _ => None,
    }
}
