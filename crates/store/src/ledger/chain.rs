//! The chain: each event's hash covers its place, its moment, its columns and the hash before it.
//!
//! Owns: how hashes are linked, and what is keyed. The key is not in the database: whoever can rewrite the file but not
//! read the key can make the hashes fit, but not the head and not the checkpoints. What is not covered: putting back
//! an older copy of the whole database, which only a head noted elsewhere reveals.

use belljar_domain::{Digest, Timestamp};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest as _, Sha256};

/// The identity of a ledger and the secret that vouches for its head.
#[derive(Clone)]
pub(crate) struct Seal {
    pub(crate) ledger: [u8; 32],
    /// `None` when the ledger is only read and the key is not at hand.
    pub(crate) key: Option<[u8; 32]>,
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seal").field("keyed", &self.key.is_some()).finish_non_exhaustive()
    }
}

/// What stands for a run of removed events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) prev_hash: Digest,
    pub(crate) hash: Digest,
}

impl Seal {
    /// The hash before the first event.
    pub(crate) fn genesis(&self) -> Digest {
        let mut hasher = Sha256::new_with_prefix(b"belljar ledger 1");
        hasher.update(self.ledger);
        Digest(hasher.finalize().into())
    }

    /// Vouches for the end of the ledger.
    pub(crate) fn of_head(&self, seq: u64, hash: Digest) -> [u8; 32] {
        self.mac(&[b"belljar head 1", &self.ledger, &seq.to_le_bytes(), &hash.0])
    }

    /// Vouches for an entry of the daybook.
    pub(crate) fn of_entry(&self, number: u64, entry: &[u8]) -> [u8; 32] {
        self.mac(&[b"belljar daybook 1", &self.ledger, &number.to_le_bytes(), entry])
    }

    /// Vouches for what retention removed.
    pub(crate) fn of_checkpoint(&self, checkpoint: &Checkpoint) -> [u8; 32] {
        let Checkpoint { first, last, prev_hash, hash } = checkpoint;
        let places = [first.to_le_bytes(), last.to_le_bytes()].concat();
        self.mac(&[b"belljar checkpoint 1", &self.ledger, &places, &prev_hash.0, &hash.0])
    }

    /// Says whether a mac is right; without the key none can be called wrong.
    pub(crate) fn agrees(&self, expected: &[u8; 32], found: &[u8]) -> bool {
        self.key.is_none() || expected == found
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        // A key of 32 bytes is always accepted, so the error cannot happen; an empty answer would match nothing.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key.unwrap_or_default()) else {
            return [0; 32];
        };
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().into()
    }
}

/// The hash of an event at its place.
pub(crate) fn link(prev: Digest, seq: u64, received: Timestamp, digest: &[u8; 32]) -> Digest {
    let mut hasher = Sha256::new_with_prefix(b"belljar link 1");
    hasher.update(prev.0);
    hasher.update(seq.to_le_bytes());
    hasher.update(received.as_micros().to_le_bytes());
    hasher.update(digest);
    Digest(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_link_counts() {
        let base = link(Digest([1; 32]), 2, Timestamp::from_micros(3), &[4; 32]);
        for other in [
            link(Digest([0; 32]), 2, Timestamp::from_micros(3), &[4; 32]),
            link(Digest([1; 32]), 3, Timestamp::from_micros(3), &[4; 32]),
            link(Digest([1; 32]), 2, Timestamp::from_micros(4), &[4; 32]),
            link(Digest([1; 32]), 2, Timestamp::from_micros(3), &[5; 32]),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn another_key_or_ledger_vouches_for_nothing() {
        let seal = |ledger, key| Seal { ledger: [ledger; 32], key: Some([key; 32]) };
        let mac = seal(1, 1).of_head(5, Digest([9; 32]));
        assert!(seal(1, 1).agrees(&seal(1, 1).of_head(5, Digest([9; 32])), &mac));
        for other in [seal(2, 1), seal(1, 2)] {
            assert!(!other.agrees(&other.of_head(5, Digest([9; 32])), &mac));
        }
        assert!(!seal(1, 1).agrees(&seal(1, 1).of_head(4, Digest([9; 32])), &mac));
    }
}
