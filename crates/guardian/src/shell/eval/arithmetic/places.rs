//! Variables in expressions: where they stand, what they hold, and what is put into them.
//!
//! Owns: names with their indexes, and reading a value as the expression it is. Refuses: operators; `reader` has them.

use super::super::state::Content;
use super::super::variables::{Index, number, scalar_of, variable};
use super::numbers::Wrong;
use super::reader::{Mode, Reader};
use crate::shell::value::Value;

/// A variable that can be assigned to.
pub(super) struct Place {
    name: Vec<u8>,
    index: Index,
}

impl Reader<'_, '_, '_> {
    /// A name, with its index when it has one.
    pub(super) fn place(&mut self) -> Result<Option<Place>, Wrong> {
        self.blanks();
        let rest = self.rest();
        if !rest.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
            return Ok(None);
        }
        let length = rest
            .iter()
            .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
            .unwrap_or(rest.len());
        let name = rest.get(..length).unwrap_or_default().to_vec();
        self.at += length;
        if self.rest().first() != Some(&b'[') {
            return Ok(Some(Place { name, index: Index::None }));
        }
        let mut depth = 0_u32;
        let end = self.rest().iter().position(|byte| {
            match byte {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let end = end.ok_or(Wrong)?;
        let inner = self.rest().get(1..end).unwrap_or_default().to_vec();
        self.at += end + 1;
        // Commands in an index run even in a branch that is not taken.
        let index = self.machine.index_text(&inner, self.span, self.state);
        Ok(Some(Place { name, index }))
    }

    /// The value of a variable, evaluated again.
    pub(super) fn value_of(&mut self, place: &Place) -> Option<i64> {
        let (content, decided) = self.machine.content(self.state, &place.name);
        if self.state.options.nounset && (!decided || content == Content::Unset) {
            self.machine.may_quit(self.state);
        }
        let value = match (&place.index, content) {
            (Index::None, content) => scalar_of(content).unwrap_or_default(),
            (Index::At(key), Content::Named(map)) => map.get(key.bytes()?)?.clone(),
            (Index::At(key), content) => {
                let at = self.machine.number(key, self.span, self.state);
                match (content, at) {
                    (Content::Indexed(map), Some(at)) => {
                        let last = map.keys().next_back().copied().unwrap_or(-1);
                        let at = if at < 0 { last.saturating_add(1).saturating_add(at) } else { at };
                        map.get(&at).cloned().unwrap_or_default()
                    }
                    (Content::Scalar(value), Some(0)) => value,
                    (Content::Unset, _) => Value::default(),
                    _ => return None,
                }
            }
            (Index::All { .. }, _) => return None,
        };
        match value.bytes() {
            Some([]) => Some(0),
            Some(bytes) => {
                let bytes = bytes.to_vec();
                let value = self.machine.evaluated(&bytes, self.span, self.state);
                self.is_wrong |= value.is_err() && self.mode != Mode::Skipped;
                value.ok().flatten()
            }
            None => {
                if decided {
                    self.machine.suspicious(&value, self.span);
                }
                None
            }
        }
    }

    pub(super) fn put(&mut self, place: &Place, value: Option<i64>) {
        let value = match (self.mode, value) {
            (Mode::Skipped, _) => return,
            (Mode::Done, Some(value)) => Value::known(value.to_string()),
            // Of what is no number nothing comes, and the variable stays as it is.
            (Mode::Done, None) if self.is_text(place) => Value::unknown(variable(&place.name)),
            (Mode::Done, None) | (Mode::Perhaps, _) => Value::unknown(number(&place.name)),
        };
        let taken = self.machine.assign(self.state, &place.name, &place.index, value, false, self.span);
        self.is_wrong |= !taken;
    }

    /// Whether a variable holds text that is known and no number.
    fn is_text(&self, place: &Place) -> bool {
        let value = self.machine.scalar(self.state, &place.name);
        value
            .as_ref()
            .and_then(Value::bytes)
            .is_some_and(|bytes| !bytes.is_empty() && !bytes.iter().all(u8::is_ascii_digit))
    }
}
