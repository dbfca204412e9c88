//! SHA-256 hashes as values: of events in the ledger, of artifacts in the store. Computing one is done outside.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A SHA-256 hash, written as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(pub [u8; 32]);

/// A text that is not 64 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a SHA-256 hash in 64 hex digits")]
pub struct DigestError(String);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let wrong = || DigestError(text.chars().take(80).collect());
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return Err(wrong()) };
        let bytes: Option<Vec<u8>> = pairs
            .iter()
            .map(|pair| {
                let [high, low] = pair;
                Some(nibble(*high)? << 4 | nibble(*low)?)
            })
            .collect();
        bytes.and_then(|bytes| bytes.try_into().ok()).map(Self).ok_or_else(wrong)
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestError;

    fn try_from(text: String) -> Result<Self, DigestError> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_survives_its_own_text_and_nothing_else_passes() {
        let digest = Digest(std::array::from_fn(|at| u8::try_from(at * 7).unwrap()));
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for text in ["", "00", "../../etc/passwd", &"g".repeat(64), &"A".repeat(64), &"0".repeat(66)] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }
}
