//! A link that answers one approval, for whoever gets it: sealed, until the approval expires, and used up by its answer.
//!
//! Owns: writing and reading one. Refuses: to be a key; it opens nothing but its approval.

use belljar_domain::{ApprovalId, Timestamp};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use uuid::Uuid;

/// What the seal is about, so that no other use of the key ever makes one.
const PURPOSE: &[u8] = b"belljar approval link 1\0";
/// Bytes of the seal: as many as nobody guesses before an approval expires.
const SEAL: usize = 16;
const PREFIX: &str = "bja_";

/// What a link opens, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The approval.
    pub approval: ApprovalId,
    /// When it means nothing any more.
    pub until: Timestamp,
}

/// Why a text is no link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// It does not look like one, or somebody else made it.
    #[error("this link was not given out here")]
    Seal,
    /// Its time is over.
    #[error("this link has expired")]
    Expired,
}

impl Link {
    /// Writes it, sealed with the key of belljar's home.
    #[must_use]
    pub fn seal(&self, key: &[u8]) -> String {
        let body = format!("{}{:016x}", self.approval.as_uuid().simple(), self.until.as_micros());
        let seal: String =
            mac(key, &body).finalize().into_bytes().iter().take(SEAL).map(|b| format!("{b:02x}")).collect();
        format!("{PREFIX}{body}{seal}")
    }

    /// Reads one that was sealed with this key and is still good.
    ///
    /// # Errors
    /// When it is none, was sealed with another key, or its time is over.
    pub fn read(text: &str, key: &[u8], now: Timestamp) -> Result<Self, LinkError> {
        let rest = text.strip_prefix(PREFIX).filter(|rest| rest.is_ascii()).ok_or(LinkError::Seal)?;
        let (body, seal) = rest.split_at_checked(48).ok_or(LinkError::Seal)?;
        let bytes: Option<Vec<u8>> =
            (0..seal.len()).step_by(2).map(|at| u8::from_str_radix(seal.get(at..at + 2)?, 16).ok()).collect();
        let bytes = bytes.filter(|bytes| bytes.len() == SEAL).ok_or(LinkError::Seal)?;
        mac(key, body).verify_truncated_left(&bytes).map_err(|_other| LinkError::Seal)?;
        let (id, until) = body.split_at_checked(32).ok_or(LinkError::Seal)?;
        let id = Uuid::try_parse(id).map_err(|_nonsense| LinkError::Seal)?;
        let until = i64::from_str_radix(until, 16).map_err(|_nonsense| LinkError::Seal)?;
        let link = Self { approval: ApprovalId::from_uuid(id), until: Timestamp::from_micros(until) };
        if link.until < now { Err(LinkError::Expired) } else { Ok(link) }
    }
}

fn mac(key: &[u8], body: &str) -> Hmac<Sha256> {
    // A key of any length is a key.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()));
    mac.update(PURPOSE);
    mac.update(body.as_bytes());
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_good_for_its_approval_until_its_time() {
        let link = Link {
            approval: "apr_0190000000007000800000000000002a".parse().unwrap(),
            until: Timestamp::from_micros(1_000_000),
        };
        let (text, now) = (link.seal(b"key"), Timestamp::from_micros(5));
        assert_eq!(Link::read(&text, b"key", now), Ok(link));
        assert_eq!(Link::read(&text, b"other", now), Err(LinkError::Seal));
        assert_eq!(Link::read(&text, b"key", Timestamp::from_micros(1_000_001)), Err(LinkError::Expired));
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            assert!(Link::read(&changed, b"key", now).is_err(), "{at}");
        }
        for cut in 0..text.len() {
            assert!(Link::read(&text[..cut], b"key", now).is_err(), "{cut}");
        }
    }
}
