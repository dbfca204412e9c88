//! Small questions about bytes around a place. Nothing here looks further than it is told.

/// The byte before a place.
pub(super) fn before(text: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|at| text.get(at)).copied()
}

/// The text from a place on; empty beyond the end.
pub(super) fn from(text: &[u8], at: usize) -> &[u8] {
    text.get(at..).unwrap_or_default()
}

/// How many bytes at the beginning of `text` satisfy `is`.
pub(super) fn run(text: &[u8], is: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|byte| !is(*byte)).unwrap_or(text.len())
}

/// The same, looking no further than `limit` bytes.
pub(super) fn run_within(text: &[u8], limit: usize, is: impl Fn(u8) -> bool) -> usize {
    run(text.get(..limit).unwrap_or(text), is)
}

/// How many bytes at the end of `text` satisfy `is`, looking back at most `limit` bytes.
pub(super) fn run_back(text: &[u8], limit: usize, is: impl Fn(u8) -> bool) -> usize {
    text.iter().rev().take(limit).take_while(|byte| is(**byte)).count()
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// What keys and tokens are written in: base64 in both alphabets, and the dots between their parts.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.~+/=".contains(&byte)
}
