//! The marker that takes a secret's place.
//!
//! Owns: its form, its fingerprint, and recognising one, so that redacting twice changes nothing.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const OPENING: &[u8] = b"[redacted:";
const FINGERPRINT_DIGITS: usize = 8;
/// Longest name of a kind of secret.
const KIND_LIMIT: usize = 32;

/// Gives equal secrets equal short names that say nothing about the secret without the key.
#[derive(Clone)]
pub struct Fingerprints {
    keyed: Option<Hmac<Sha256>>,
}

impl fmt::Debug for Fingerprints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprints")
    }
}

impl Fingerprints {
    pub(super) fn new(key: &[u8]) -> Self {
        // A key of any length is accepted, so there is nothing to fail; without one the secret still goes.
        Self { keyed: Hmac::new_from_slice(key).ok() }
    }

    /// Eight hexadecimal digits for a secret.
    pub fn of(&self, secret: &[u8]) -> String {
        let Some(mut mac) = self.keyed.clone() else { return "0".repeat(FINGERPRINT_DIGITS) };
        mac.update(secret);
        let sum = mac.finalize().into_bytes();
        sum.iter().take(FINGERPRINT_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect()
    }

    pub(super) fn marker(&self, kind: &str, secret: &[u8]) -> String {
        format!("[redacted:{kind}:{}]", self.of(secret))
    }
}

/// Whether `text` is exactly one marker.
pub(super) fn is_marker(text: &[u8]) -> bool {
    let inner = text.strip_prefix(OPENING).and_then(|rest| rest.strip_suffix(b"]"));
    let Some((kind, digits)) = inner.and_then(|inner| inner.split_at_checked(inner.len().checked_sub(9)?))
    else {
        return false;
    };
    let is_kind = !kind.is_empty()
        && kind.len() <= KIND_LIMIT
        && kind.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-');
    let is_print = digits.strip_prefix(b":").is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    is_kind && is_print
}

/// The length of the marker that begins here, or zero.
pub(super) fn length_at(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let most = OPENING.len() + KIND_LIMIT + FINGERPRINT_DIGITS + 2;
    let end = rest.iter().take(most).position(|byte| *byte == b']').map_or(0, |at| at + 1);
    if rest.get(..end).is_some_and(is_marker) { end } else { 0 }
}

/// Whether a marker stands anywhere in a text.
pub(super) fn has_marker(text: &[u8]) -> bool {
    let openings = text.windows(OPENING.len()).enumerate().filter(|(_, part)| *part == OPENING);
    openings.into_iter().any(|(start, _)| length_at(text, start) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_secrets_share_a_fingerprint_and_other_keys_give_others() {
        let (one, other) = (Fingerprints::new(b"one"), Fingerprints::new(b"other"));
        assert_eq!(one.of(b"hunter2"), one.of(b"hunter2"));
        assert_ne!(one.of(b"hunter2"), one.of(b"hunter3"));
        assert_ne!(one.of(b"hunter2"), other.of(b"hunter2"));
        assert_eq!(one.of(b"").len(), 8);
    }

    #[test]
    fn a_marker_is_recognised_and_nothing_else() {
        let marker = Fingerprints::new(b"k").marker("github-token", b"x");
        assert!(is_marker(marker.as_bytes()), "{marker}");
        for other in
            ["[redacted:]", "[redacted:a:0011]", "[redacted:a:00112233] and more", "[redacted:A b:00112233]"]
        {
            assert!(!is_marker(other.as_bytes()), "{other}");
        }
    }
}
