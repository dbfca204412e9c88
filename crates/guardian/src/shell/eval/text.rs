//! Text that is read as a script: `eval`, `sh -c`, `source`, traps, files written before.
//!
//! Owns: reading it again, and what of it is not known: that is marked in the text, so that the rest is still read. Refuses:
//! silence; text of which a part is not known may do anything, and that is said beside what is known.

use std::rc::Rc;

use super::machine::Machine;
use super::state::{Flow, State};
use super::worlds::Worlds;
use crate::shell::ast::Span;
use crate::shell::parse::{Options, Reader};
use crate::shell::value::{Piece, Value};

/// What marks a place of unknown text.
const MARK: u8 = 0x1a;

impl Machine<'_> {
    /// Reads text of which not all may be known, in this state.
    pub(super) fn text(&mut self, text: &Value, span: Span, what: &str, mut state: State) -> Worlds {
        if text.bytes().is_some_and(is_idle) {
            state.status = Some(0);
        }
        let kept = state.clone();
        self.deeper(span, |machine| {
            let anchor = machine.anchor.replace(machine.anchor.unwrap_or(span));
            let worlds = match text.bytes() {
                Some(bytes) => machine.text_known(bytes, state),
                None => machine.text_marked(text, span, what, state),
            };
            machine.anchor = anchor;
            worlds
        })
        .unwrap_or_else(|| vec![kept])
    }

    /// Reads text that is known.
    pub(super) fn text_known(&mut self, text: &[u8], state: State) -> Worlds {
        let mut reader = Reader::new(text, Options { extglob: state.options.extglob });
        let source = std::mem::replace(&mut self.source, Rc::from(text));
        let mut worlds = vec![state];
        // Bash reads a line, runs it, and reads the next with the options that are in force then.
        while let Some(line) = reader.next_line() {
            worlds = self.each(worlds, |machine, state| machine.script(&line, state));
            for state in worlds.iter_mut().filter(|state| state.flow == Flow::Discard && self.nested == 0) {
                state.flow = Flow::Normal;
            }
            if !line.unknown.is_empty() && worlds.iter().all(|state| state.flow != Flow::Normal) {
                break;
            }
            reader.set_extglob(worlds.iter().any(|state| state.options.extglob));
            if self.is_spent() {
                break;
            }
        }
        self.source = source;
        worlds
    }

    fn text_marked(&mut self, text: &Value, span: Span, what: &str, state: State) -> Worlds {
        let telling = text.pieces.iter().find_map(|piece| match piece {
            Piece::Unknown(why) if !why.is_number() => Some(why),
            Piece::Unknown(_) | Piece::Known(_) | Piece::Glob(_) => None,
        });
        if let Some(why) = telling {
            self.unknown(format!("{what} that holds {}", why.construct), span);
        }
        if !text.pieces.iter().any(|piece| matches!(piece, Piece::Known(_))) {
            let mut state = state;
            state.status = None;
            let stream = crate::effects::Stream::default();
            self.write(&mut state, 1, stream, what, span);
            return vec![state];
        }
        let mut marked = Vec::new();
        for piece in &text.pieces {
            match piece {
                Piece::Known(bytes) => marked.extend(bytes),
                // A glob is names of files by now, and no pattern any more.
                Piece::Glob(_) | Piece::Unknown(_) => {
                    marked.push(MARK);
                    marked.extend(self.placeholders.len().to_string().bytes());
                    marked.push(MARK);
                    self.placeholders.push(piece.clone());
                }
            }
        }
        self.text_known(&marked, state)
    }

    /// Whether no place is marked in a text.
    pub(super) fn is_plain(&self, text: &[u8]) -> bool {
        self.placeholders.is_empty() || !text.contains(&MARK)
    }

    /// Text with its marked places as the pieces they stand for.
    pub(super) fn unmarked(&self, text: &[u8]) -> Vec<Piece> {
        if self.is_plain(text) {
            return if text.is_empty() { Vec::new() } else { vec![Piece::Known(text.to_vec())] };
        }
        let mut value = Value::default();
        let mut rest = text;
        while let Some(place) = rest.iter().position(|byte| *byte == MARK) {
            let (before, from) = rest.split_at(place);
            value.push(Piece::Known(before.to_vec()));
            let after = from.get(1..).unwrap_or_default();
            let length = after.iter().position(|byte| *byte == MARK).unwrap_or(after.len());
            let number = std::str::from_utf8(after.get(..length).unwrap_or_default())
                .ok()
                .and_then(|text| text.parse::<usize>().ok());
            match number.and_then(|number| self.placeholders.get(number)) {
                Some(piece) => {
                    value.push(piece.clone());
                    rest = after.get(length + 1..).unwrap_or_default();
                }
                None => {
                    value.push(Piece::Known(vec![MARK]));
                    rest = after;
                }
            }
        }
        value.push(Piece::Known(rest.to_vec()));
        value.pieces
    }
}

/// Whether there is nothing to run in a text: blank lines and remarks.
fn is_idle(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.all(|line| line.is_empty() || line.starts_with(b"#"))
}
