//! Redaction of output that arrives in pieces.
//!
//! Owns: how much is held back until a secret can no longer straddle the cut: the last unfinished line, an
//! unfinished private key or block, and never more than a bound. Refuses: losing bytes; what goes in comes
//! out, in order, redacted.

use super::{
    Redactor,
    bytes::run,
    pem,
    scan::{self, Found},
};

/// The most that is held back of a line.
pub(super) const HELD: usize = 64 * 1024;
/// The most that is held back of a private key or block whose end has not come; no real one is longer.
const OPEN_HELD: usize = 16 * 1024;
/// Of a line that is too long, this much stays behind so that a token at the cut stays whole.
const OVERLAP: usize = 8 * 1024;

/// Takes output in pieces and gives it back redacted. `finish` gives the rest.
#[derive(Debug)]
pub struct Stream<'r> {
    redactor: &'r Redactor,
    held: Vec<u8>,
    inside: Inside,
}

/// What the held bytes begin in the middle of: a secret too long to hold, already replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    Key,
    Value,
}

impl<'r> Stream<'r> {
    pub(super) fn new(redactor: &'r Redactor) -> Self {
        Self { redactor, held: Vec::new(), inside: Inside::Nothing }
    }

    /// Takes a piece and returns what can be shown now.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut shown = Vec::new();
        for part in piece.chunks(HELD) {
            self.held.extend_from_slice(part);
            // Only the end of a line lets anything go, so that many small pieces of a long one cost little.
            if part.contains(&b'\n') || self.held.len() > HELD || self.inside != Inside::Nothing {
                self.advance(&mut shown);
            }
        }
        shown
    }

    /// Returns what was held back. The stream can be used again.
    pub fn finish(&mut self) -> Vec<u8> {
        self.leave_secret();
        self.inside = Inside::Nothing;
        let rest = std::mem::take(&mut self.held);
        self.redactor.bytes(&rest).into_owned()
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    fn advance(&mut self, shown: &mut Vec<u8>) {
        self.leave_secret();
        let line = self.held.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let is_full = self.held.len() > HELD;
        if line == 0 && !is_full {
            return;
        }
        let found = scan::secrets(&self.redactor.anchors, &self.held);
        let mut cut = if is_full { line.max(self.held.len() - OVERLAP) } else { line };
        let straddles = |secret: &&Found| secret.context < cut && (secret.end > cut || secret.is_open);
        if let Some(secret) = found.iter().find(straddles) {
            let waits = self.held.len() - secret.context;
            let is_too_long = waits > HELD || (secret.is_open && waits > OPEN_HELD);
            cut = if is_too_long { secret.end } else { secret.context };
            self.inside = match () {
                () if !is_too_long || secret.end < self.held.len() => Inside::Nothing,
                () if secret.is_open => Inside::Key,
                () => Inside::Value,
            };
        }
        let whole: Vec<Found> = found.into_iter().take_while(|secret| secret.end <= cut).collect();
        let rest = self.held.split_off(cut);
        shown.extend(scan::replaced(&self.held, &whole, &self.redactor.fingerprints));
        self.held = rest;
    }

    /// Drops what still belongs to a secret that was replaced.
    fn leave_secret(&mut self) {
        let (length, is_open) = match self.inside {
            Inside::Nothing => return,
            Inside::Key => pem::body_length(&self.held),
            Inside::Value => {
                let length = run(&self.held, |byte| byte.is_ascii_graphic() && !b"\"'`".contains(&byte));
                (length, length == self.held.len())
            }
        };
        self.held.drain(..length);
        if !is_open {
            self.inside = Inside::Nothing;
        }
    }
}
