//! Private keys between `BEGIN` and `END`.
//!
//! Owns: where one begins and ends, also when its lines are escaped, indented or cut off. Public keys and
//! certificates stay.

use super::{bytes::from, scan::Found};

const DASHES: &[u8] = b"-----";
/// No label is longer than this.
const LABEL_LIMIT: usize = 48;

/// The private key that begins here, through its last line.
pub(super) fn at(text: &[u8], start: usize) -> Option<Found> {
    let label_at = start + b"-----BEGIN ".len();
    let label = from(text, label_at).get(..LABEL_LIMIT).unwrap_or(from(text, label_at));
    let label_length = find(label, DASHES)?;
    if !label.get(..label_length)?.windows(7).any(|part| part.eq_ignore_ascii_case(b"PRIVATE")) {
        return None;
    }
    let body = label_at + label_length + DASHES.len();
    let (length, is_open) = body_length(from(text, body));
    Some(Found { kind: "private-key", context: start, start, end: body + length, is_open })
}

/// Whether a label begins here whose end has not come.
pub(super) fn is_beginning(text: &[u8], start: usize) -> bool {
    let label = from(text, start + b"-----BEGIN ".len());
    label.len() < LABEL_LIMIT && !label.contains(&b'\n') && find(label, DASHES).is_none()
}

/// How far a key's body reaches, its last line included, and whether more of it may come.
pub(super) fn body_length(text: &[u8]) -> (usize, bool) {
    let Some(body) = find(text, DASHES) else { return unended(text) };
    let tail = from(text, body + DASHES.len());
    if !b"END ".starts_with(tail.get(..4).unwrap_or(tail)) {
        return (unended(text.get(..body).unwrap_or_default()).0, false);
    }
    let label = tail.get(..LABEL_LIMIT).unwrap_or(tail);
    match find(label, DASHES) {
        Some(label) => (body + DASHES.len() + label + DASHES.len(), false),
        None => (body + DASHES.len() + label.len(), tail.len() < LABEL_LIMIT),
    }
}

/// Of a body without an end, the lines that can only be a key's; open if those are all there is.
fn unended(text: &[u8]) -> (usize, bool) {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let length = lines.take_while(|line| is_body(line)).map(<[u8]>::len).sum();
    (length, length == text.len())
}

fn is_body(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_header = [&b"Proc-Type:"[..], b"DEK-Info:"].iter().any(|header| line.starts_with(header));
    is_header || line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=\\\"',-".contains(byte))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|part| part == what)
}
