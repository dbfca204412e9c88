//! A signature over one request that tells events: which sender said it, when, and that it was said once.
//!
//! Owns: what is signed, and how. Refuses: keys and clocks; whoever keeps those decides what is too old and what was
//! said before.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::pass::{hex, unhex};

/// The headers a signed request has.
pub mod header {
    /// Who signs.
    pub const SENDER: &str = "x-belljar-sender";
    /// When, in seconds since 1970.
    pub const TIMESTAMP: &str = "x-belljar-timestamp";
    /// What makes it another request than any before.
    pub const NONCE: &str = "x-belljar-nonce";
    /// The signature: `v1=` and 64 hex digits.
    pub const SIGNATURE: &str = "x-belljar-signature";
}

const VERSION: &str = "v1=";

/// What is signed.
#[derive(Debug, Clone, Copy)]
pub struct Statement<'s> {
    /// When, as in the header.
    pub timestamp: &'s str,
    /// The nonce, as in the header.
    pub nonce: &'s str,
    /// The path of the request, without what is asked for after it.
    pub path: &'s str,
    /// The body, as it travels.
    pub body: &'s [u8],
}

impl Statement<'_> {
    /// Signs it.
    #[must_use]
    pub fn sign(&self, key: &[u8]) -> String {
        format!("{VERSION}{}", hex(&self.mac(key).finalize().into_bytes()))
    }

    /// Whether this is the signature of whoever has the key. Takes as long whatever the answer is.
    #[must_use]
    pub fn is_signed(&self, key: &[u8], signature: &str) -> bool {
        let given = signature.strip_prefix(VERSION).and_then(unhex);
        given.is_some_and(|given| self.mac(key).verify_slice(&given).is_ok())
    }

    fn mac(&self, key: &[u8]) -> Hmac<Sha256> {
        // A key of any length is a key.
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()));
        for part in [self.timestamp, self.nonce, self.path] {
            mac.update(part.as_bytes());
            mac.update(b"\n");
        }
        mac.update(self.body);
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement() -> Statement<'static> {
        Statement { timestamp: "1700000000", nonce: "n1", path: "/events", body: b"{}" }
    }

    #[test]
    fn the_signature_is_the_documented_one() {
        // printf '1700000000\nn1\n/events\n{}' | openssl dgst -sha256 -hmac secret
        let signature = "v1=42360a05d2136a8ee00b6f61ac510ab91bd293a980252aa1b3ef5f2cc117ff07";
        assert_eq!(statement().sign(b"secret"), signature);
        assert!(statement().is_signed(b"secret", &statement().sign(b"secret")));
    }

    #[test]
    fn whatever_is_changed_is_noticed() {
        let signature = statement().sign(b"secret");
        let changed = [
            Statement { timestamp: "1700000001", ..statement() },
            Statement { nonce: "n2", ..statement() },
            Statement { path: "/events/1/respond", ..statement() },
            Statement { body: b"{ }", ..statement() },
        ];
        assert!(changed.iter().all(|other| !other.is_signed(b"secret", &signature)));
        for (key, given) in [
            (&b"other"[..], signature.as_str()),
            (b"secret", ""),
            (b"secret", "v1="),
            (b"secret", signature.trim_start_matches("v1=")),
        ] {
            assert!(!statement().is_signed(key, given), "{given}");
        }
    }
}
