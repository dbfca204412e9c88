//! Small questions about bytes around a place. Nothing here looks further than it is told.

const ESCAPE: u8 = 0x1b;
/// No change of colour is longer than this.
const COLOUR_LIMIT: usize = 24;

/// The byte before a place; the end of a change of colour is no letter.
pub(super) fn before(text: &[u8], at: usize) -> Option<u8> {
    let byte = at.checked_sub(1).and_then(|at| text.get(at)).copied()?;
    Some(if is_colour_end(text, at) { ESCAPE } else { byte })
}

/// Whether a terminal's `ESC [ … m` ends just before a place.
pub(super) fn is_colour_end(text: &[u8], at: usize) -> bool {
    let Some((last, rest)) = text.get(..at).and_then(<[u8]>::split_last) else { return false };
    let numbers = run_back(rest, COLOUR_LIMIT, is_colour_number);
    last.is_ascii_alphabetic()
        && rest.get(..rest.len() - numbers).is_some_and(|rest| rest.ends_with(b"\x1b["))
}

/// How many bytes of `ESC [ … m` stand at a place.
pub(super) fn colours(text: &[u8], at: usize) -> usize {
    let mut length = 0;
    while let Some(rest) = from(text, at + length).strip_prefix(b"\x1b[") {
        let numbers = run_within(rest, COLOUR_LIMIT, is_colour_number);
        if !rest.get(numbers).is_some_and(u8::is_ascii_alphabetic) {
            break;
        }
        length += 3 + numbers;
    }
    length
}

fn is_colour_number(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b';'
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
