//! Redaction of output that arrives in pieces.
//!
//! Owns: how much is held back until a secret can no longer straddle the cut: what may still become one, an
//! unfinished private key or block, and never more than a bound. Everything else is shown at once, so that prompts and
//! keys typed at a terminal are seen. Refuses: losing bytes; what goes in comes out, in order, redacted. What is given
//! back depends on the pieces alone: the same pieces from the same state give the same again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Redactor,
    bytes::run,
    pem,
    scan::{self, Found},
    unsettled,
};

/// The most that is held back.
pub(super) const HELD: usize = 64 * 1024;
/// The most that is held back of a private key or block whose end has not come; no real one is longer.
const OPEN_HELD: usize = 16 * 1024;
/// Of a line, this much that was shown is looked at again, for it may name what comes next.
const CONTEXT: usize = 512;

/// Takes output in pieces and gives it back redacted. `finish` gives the rest.
#[derive(Debug)]
pub struct Stream {
    redactor: Arc<Redactor>,
    state: State,
}

/// Where a stream is, for whoever goes on with it. Holds what was written as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The end of what was shown of this line, and what is held back.
    text: Vec<u8>,
    /// How much of it was shown.
    shown: usize,
    inside: Inside,
    /// What was dropped as the rest of a long secret and belongs to the next piece as it was.
    owed: Vec<u8>,
    /// How much there was when it was last looked at.
    looked: usize,
}

/// What can be shown.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Without secrets.
    pub clean: Vec<u8>,
    /// As it was written, if that is not the same.
    pub raw: Option<Vec<u8>>,
}

/// What the held bytes begin in the middle of: a secret too long to hold, already replaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Inside {
    #[default]
    Nothing,
    Key,
    Value,
}

impl Stream {
    pub(super) const fn new(redactor: Arc<Redactor>, state: State) -> Self {
        Self { redactor, state }
    }

    /// Where it is.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Takes a piece and returns what can be shown now.
    pub fn push(&mut self, piece: &[u8]) -> Shown {
        let mut out = Draft::default();
        for part in piece.chunks(HELD) {
            self.state.text.extend_from_slice(part);
            // Where a long word grows by little, looking every time it has doubled is enough.
            let grows = self.held() > part.len() && part.iter().all(|byte| is_inside_word(*byte));
            if !grows || self.state.text.len() >= 2 * self.state.looked || self.held() > HELD {
                self.advance(&mut out);
            }
        }
        out.done()
    }

    /// Returns what was held back. The stream can be used again.
    pub fn finish(&mut self) -> Shown {
        let mut out = Draft::default();
        self.leave_secret();
        let found = scan::secrets(&self.redactor.anchors, &self.state.text);
        self.release(self.state.text.len(), &found, &mut out);
        if out.clean.is_empty() && !self.state.owed.is_empty() {
            out.clean = self.redactor.fingerprints.marker("rest", &self.state.owed).into_bytes();
            out.take(std::mem::take(&mut self.state.owed), true);
        }
        self.state = State::default();
        out.done()
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        self.state.text.len() - self.state.shown
    }

    fn advance(&mut self, out: &mut Draft) {
        self.leave_secret();
        if self.state.inside != Inside::Nothing {
            return;
        }
        let found = scan::secrets(&self.redactor.anchors, &self.state.text);
        let mut cut =
            unsettled::from(&self.redactor.anchors, &self.state.text).unwrap_or(self.state.text.len());
        let straddles = |secret: &&Found| secret.context < cut && (secret.end > cut || secret.is_open);
        let straddling = found.iter().find(straddles);
        // The name of a secret may be shown; it is looked at again with what follows.
        cut = straddling.map_or(cut, |secret| cut.min(secret.start));
        cut = cut.max(self.state.shown);
        let waits = self.state.text.len() - cut;
        let last = found.iter().find(|secret| secret.end > cut);
        if let Some(secret) = last.filter(|last| waits > HELD || (last.is_open && waits > OPEN_HELD)) {
            cut = secret.end.max(self.state.shown);
            self.state.inside = match () {
                () if secret.end < self.state.text.len() => Inside::Nothing,
                () if secret.is_open => Inside::Key,
                () => Inside::Value,
            };
        } else if waits > HELD {
            cut = self.state.text.len();
        }
        self.release(cut, &found, out);
        self.forget(straddling.is_some());
        self.state.looked = self.state.text.len();
    }

    /// Shows everything before a place.
    fn release(&mut self, cut: usize, found: &[Found], out: &mut Draft) {
        let whole: Vec<Found> = found
            .iter()
            .filter(|secret| secret.end <= cut && secret.end > self.state.shown)
            .copied()
            .collect();
        let part = self.state.text.get(self.state.shown..cut).unwrap_or_default();
        out.clean.extend(scan::replaced(
            &self.state.text,
            self.state.shown,
            cut,
            &whole,
            &self.redactor.fingerprints,
        ));
        if !part.is_empty() {
            let differs = !self.state.owed.is_empty() || whole.iter().any(|secret| secret.end > secret.start);
            let raw = [std::mem::take(&mut self.state.owed), part.to_vec()].concat();
            out.take(raw, differs);
        }
        self.state.shown = cut;
    }

    /// Forgets what cannot matter any more. At the end of a line that is everything, unless a secret may begin below.
    fn forget(&mut self, is_awaiting: bool) {
        let is_line = self.held() == 0 && self.state.text.last() == Some(&b'\n') && !is_awaiting;
        let useless = if is_line { self.state.shown } else { self.state.shown.saturating_sub(CONTEXT) };
        self.state.text.drain(..useless);
        self.state.shown -= useless;
    }

    /// Drops what still belongs to a secret that was replaced.
    fn leave_secret(&mut self) {
        let rest = self.state.text.get(self.state.shown..).unwrap_or_default();
        let (length, is_open) = match self.state.inside {
            Inside::Nothing => return,
            Inside::Key => pem::body_length(rest),
            Inside::Value => {
                let length = run(rest, is_inside_word);
                (length, length == rest.len())
            }
        };
        self.state.owed.extend(self.state.text.drain(self.state.shown..self.state.shown + length));
        if !is_open {
            self.state.inside = Inside::Nothing;
        }
    }
}

fn is_inside_word(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`".contains(&byte)
}

/// What is put together to be shown.
#[derive(Debug, Default)]
struct Draft {
    clean: Vec<u8>,
    raw: Vec<u8>,
    differs: bool,
}

impl Draft {
    fn take(&mut self, raw: Vec<u8>, differs: bool) {
        self.raw.extend(raw);
        self.differs |= differs;
    }

    fn done(self) -> Shown {
        Shown { clean: self.clean, raw: self.differs.then_some(self.raw) }
    }
}
