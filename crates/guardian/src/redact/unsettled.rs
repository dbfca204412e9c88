//! What at the end of a text may still become a secret, or a longer one.
//!
//! Owns: the earliest place that must not be shown yet. A name may be shown, what stands beside it must wait until it
//! ends; so must a word that begins as tokens do. Refuses: to look further back than the last line.

use super::{
    anchors::{Anchor, Anchors},
    assignment,
    bytes::run_back,
    header, marker, pem, tokens, url,
};

/// A key whose middle comes last has this many digits before it.
const DIGITS: usize = 32;
const FEWEST_DIGITS: usize = 16;

/// Where what is unsettled begins; `None` if nothing is.
pub(super) fn from(anchors: &Anchors, text: &[u8]) -> Option<usize> {
    let line = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut at = line;
    let mut earliest = digits(text);
    while let Some((anchor, start, end)) = anchors.next(text, at) {
        at = start + 1;
        let waits = match anchor {
            Anchor::Marker => {
                at = start + marker::length_at(text, start).max(1);
                None
            }
            Anchor::Token(row) => tokens::is_growing(row, text, start).then_some(start),
            Anchor::Embedded(row) => tokens::growing_around(row, text, start),
            Anchor::Jwt => tokens::is_growing_jwt(text, start).then_some(start),
            Anchor::Pem => pem::is_beginning(text, start).then_some(start),
            Anchor::Url => url::is_growing(text, end).then_some(end),
            Anchor::Bearer => header::is_growing_bearer(text, end).then_some(end),
            Anchor::Header => header::growing(text, end).or_else(|| assignment::growing(text, start, end)),
            Anchor::User => header::is_growing_word(text, end).then_some(end),
            Anchor::Option => header::growing_option(text, start, end),
            Anchor::Name => assignment::growing(text, start, end),
        };
        earliest = [earliest, waits].into_iter().flatten().min();
        // Nothing that begins later can be earlier.
        if earliest.is_some_and(|earliest| earliest <= start) {
            break;
        }
    }
    earliest
}

/// Digits that are a key if its middle follows.
fn digits(text: &[u8]) -> Option<usize> {
    let ends = [&b""[..], b"-", b"-u"];
    let held = ends.iter().filter_map(|end| {
        let body = text.strip_suffix(*end)?;
        let count = run_back(body, DIGITS + 1, |byte| byte.is_ascii_hexdigit());
        (FEWEST_DIGITS..=DIGITS).contains(&count).then(|| body.len() - count)
    });
    held.min()
}
