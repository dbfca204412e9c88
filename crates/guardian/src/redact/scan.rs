//! One walk over the text, anchor by anchor.
//!
//! Owns: which rule an anchor wakes, in which order secrets are found, and putting markers in their place.

use super::{
    anchors::{Anchor, Anchors},
    assignment, header,
    marker::{self, Fingerprints},
    pem, tokens, url,
};

/// A secret in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: &'static str,
    /// Where whatever betrays the secret begins: its name, its header, or itself.
    pub(super) context: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// More of it may follow the end of the text.
    pub(super) is_open: bool,
}

impl Found {
    /// A secret that betrays itself.
    pub(super) fn plain(kind: &'static str, start: usize, end: usize) -> Self {
        Self { kind, context: start, start, end, is_open: false }
    }
}

/// Every secret of a text, in order, none overlapping another.
pub(super) fn secrets(anchors: &Anchors, text: &[u8]) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut done = 0;
    let mut from = 0;
    while let Some((anchor, start, end)) = anchors.next(text, from) {
        // Anchors overlap (`accesSKey`): one that wakes nothing must not hide the next.
        from = start + 1;
        let secret = match anchor {
            Anchor::Marker => {
                from = start + marker::length_at(text, start).max(1);
                None
            }
            Anchor::Token(row) => tokens::at(row, text, start),
            Anchor::Embedded(row) => tokens::around(row, text, start),
            Anchor::Jwt => tokens::jwt(text, start),
            Anchor::Pem => pem::at(text, start),
            Anchor::Url => url::at(text, end),
            Anchor::Bearer => header::bearer(text, start, end),
            Anchor::Header => header::at(text, start, end).or_else(|| assignment::at(text, start, end)),
            Anchor::User => header::user(text, start, end),
            Anchor::Option => header::option(text, start, end),
            Anchor::Name => assignment::at(text, start, end),
        };
        if let Some(secret) = secret.filter(|secret| is_next(secret, done)) {
            done = secret.end;
            from = from.max(secret.end);
            found.push(secret);
        }
    }
    found
}

/// An empty one is kept only if it may yet begin.
fn is_next(secret: &Found, done: usize) -> bool {
    secret.start >= done && (secret.end > secret.start || secret.is_open)
}

/// A stretch of the text with a marker in the place of each secret that ends in it.
pub(super) fn replaced(
    text: &[u8],
    begin: usize,
    end: usize,
    found: &[Found],
    fingerprints: &Fingerprints,
) -> Vec<u8> {
    let mut clean = Vec::with_capacity(end.saturating_sub(begin));
    let mut from = begin;
    for secret in found.iter().filter(|secret| secret.end > secret.start) {
        clean.extend_from_slice(text.get(from..secret.start).unwrap_or_default());
        let hidden = text.get(secret.start..secret.end).unwrap_or_default();
        clean.extend_from_slice(fingerprints.marker(secret.kind, hidden).as_bytes());
        from = secret.end;
    }
    clean.extend_from_slice(text.get(from..end).unwrap_or_default());
    clean
}
