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
        let whole = self.put_in(value, words, span, state)?;
        self.aliases.push(name.to_vec());
        Some(whole)
    }

    /// What a command would be with an alias that stands for something else by now: a line is read before it runs.
    pub(super) fn formerly(&mut self, words: &[Word], span: Span, state: &State) {
        let Some(name) = words.first().and_then(plain) else { return };
        if !state.options.expand_aliases || self.aliases.iter().any(|other| other == name) {
            return;
        }
        let values: Vec<Vec<u8>> =
            self.former.iter().filter(|(other, _)| other == name).map(|(_, text)| text.clone()).collect();
        for value in values {
            if let Some(whole) = self.put_in(&value, words, span, state) {
                self.aliases.push(name.to_vec());
                self.text_known(&whole, state.clone());
                self.aliases.pop();
            }
        }
    }

    /// The command's text with a value in place of its first word. Where that ends in a blank, the next word may be an alias too.
    fn put_in(&self, value: &[u8], words: &[Word], span: Span, state: &State) -> Option<Vec<u8>> {
        let part =
            |from: u32, to: u32| self.source.get(usize::try_from(from).ok()?..usize::try_from(to).ok()?);
        let (first, others) = words.split_first()?;
        let mut whole = [part(span.start, first.span.start)?, value].concat();
        let mut end = first.span.end;
        for word in others {
            let is_open = whole.last().is_some_and(|byte| matches!(byte, b' ' | b'\t'));
            let Some(value) = plain(word).filter(|_| is_open).and_then(|name| state.aliases.get(name)) else {
                break;
            };
            whole.extend_from_slice(part(end, word.span.start)?);
            whole.extend_from_slice(value);
            end = word.span.end;
        }
        whole.extend_from_slice(part(end, span.end)?);
        Some(whole)
    }
}

fn plain(word: &Word) -> Option<&[u8]> {
    match word.parts.as_slice() {
        [Part::Literal { text, quoted: false }] => Some(text),
        _ => None,
    }
}
