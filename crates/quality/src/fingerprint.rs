//! Hashes that are the same on every machine and in every version: FNV-1a, 64 bits.

/// A hash in the making.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a text, and that it ended.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self
    }

    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        for byte in number.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}
