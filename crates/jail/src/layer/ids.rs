//! From the ids on disk to the ids as the sandbox saw them.

use rustix::fs::{Gid, Uid};

/// The range of host ids that a sandbox's ids were written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdShift {
    /// The host id that the sandbox's root was written as.
    pub base: u32,
    /// How many ids follow it.
    pub count: u32,
}

impl IdShift {
    /// The ids on disk are the ones to keep.
    pub const NONE: Self = Self { base: 0, count: u32::MAX };

    /// Returns the id as the sandbox saw it.
    ///
    /// An id outside the range becomes the sandbox's root. The overlay writes its whiteouts as the
    /// host's root whatever the range, and giving any other stray to an unprivileged id would hand it
    /// to somebody.
    #[must_use]
    pub const fn shifted(self, id: u32) -> u32 {
        match id.checked_sub(self.base) {
            Some(inside) if inside < self.count => inside,
            _ => 0,
        }
    }

    /// The owner to set for something owned by `uid` and `gid`; none when not root, who cannot give away.
    pub(super) fn owner(self, uid: u32, gid: u32) -> Option<(Uid, Gid)> {
        rustix::process::geteuid()
            .is_root()
            .then(|| (Uid::from_raw(self.shifted(uid)), Gid::from_raw(self.shifted(gid))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_outside_the_range_become_root() {
        let shift = IdShift { base: 100_000, count: 65_536 };
        let cases = [(100_000, 0), (101_000, 1000), (165_535, 65_535), (165_536, 0), (0, 0), (99_999, 0)];
        for (on_disk, inside) in cases {
            assert_eq!(shift.shifted(on_disk), inside, "{on_disk}");
        }
        assert_eq!(IdShift::NONE.shifted(1000), 1000);
    }
}
