//! Lines out of pieces, with a bound on each and the place after the last complete one.

/// The longest line that is read; images travel inside of lines.
const LINE_LIMIT: usize = 32 * 1024 * 1024;

/// Cuts pieces into lines.
#[derive(Debug, Default)]
pub struct Lines {
    offset: u64,
    pending: Vec<u8>,
    /// Bytes of the pending line that were dropped because it is too long.
    dropped: u64,
    too_long: u64,
}

impl Lines {
    /// Lines from a byte offset on.
    pub fn new(offset: u64) -> Self {
        Self { offset, ..Self::default() }
    }

    /// Takes bytes and hands on every line they complete. Empty lines are nothing.
    pub fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_LIMIT.saturating_sub(self.pending.len());
            let kept = part.get(..room).unwrap_or(part);
            self.pending.extend_from_slice(kept);
            self.dropped += length(part) - length(kept);
            if part.ends_with(b"\n") {
                self.offset += length(&self.pending) + self.dropped;
                match self.pending.trim_ascii() {
                    _ if self.dropped > 0 => self.too_long += 1,
                    [] => {}
                    line => take(line),
                }
                self.pending.clear();
                self.dropped = 0;
            }
        }
    }

    /// The place after the last complete line.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many lines were too long to read.
    pub fn too_long(&self) -> u64 {
        self.too_long
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
