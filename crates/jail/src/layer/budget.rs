//! How much of a layer is looked at before giving up.
//!
//! A sandbox can make files faster than they can be listed; the bound is on entries seen, and on the
//! bytes of the paths kept, because a deep tree makes short names into long paths.

use super::LayerError;

const ENTRIES: usize = 1_000_000;
const PATH_BYTES: usize = 256 << 20;

/// What may still be looked at.
#[derive(Debug)]
pub(super) struct Budget {
    limit: usize,
    seen: usize,
    bytes: usize,
}

impl Budget {
    pub(super) const fn new() -> Self {
        Self::of(ENTRIES)
    }

    pub(super) const fn of(limit: usize) -> Self {
        Self { limit, seen: 0, bytes: 0 }
    }

    /// Counts one entry of a directory.
    pub(super) const fn see(&mut self) -> Result<(), LayerError> {
        self.seen += 1;
        if self.seen > self.limit {
            return Err(LayerError::TooMany { limit: self.limit });
        }
        Ok(())
    }

    /// Counts a path that is kept.
    pub(super) const fn keep(&mut self, bytes: usize) -> Result<(), LayerError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > PATH_BYTES {
            return Err(LayerError::TooLong { limit: PATH_BYTES });
        }
        Ok(())
    }
}
