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
        if !state.options.expand_aliases || state.aliases.is_empty() {
            return None;
        }
        let first = words.first()?;
        let [Part::Literal { text, quoted: false }] = first.parts.as_slice() else { return None };
        let value = state.aliases.get(text)?;
        if self.aliases.contains(text) {
            return None;
        }
        let end = usize::try_from(span.end).ok()?;
        let rest = self.source.get(usize::try_from(first.span.end).ok()?..end)?;
        let before =
            self.source.get(usize::try_from(span.start).ok()?..usize::try_from(first.span.start).ok()?)?;
        let whole = [before, value.as_slice(), rest].concat();
        self.aliases.push(text.clone());
        Some(whole)
    }
}
