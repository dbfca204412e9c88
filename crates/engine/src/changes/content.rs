//! What a file holds, as far as it is worth looking at line by line.

use std::{
    collections::HashMap,
    io::{self, Read},
};

/// Above this a file is compared as a whole only.
pub(super) const LINEWISE: u64 = 1 << 20;
/// A NUL this early makes a file binary, as in git.
const PROBE: usize = 8000;

/// The content of one side of a change.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text(Vec<u8>),
    /// Binary, or too long to be shown.
    Blob,
}

impl Content {
    /// Reads no more than is needed to tell.
    pub(super) fn read(from: impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        from.take(LINEWISE + 1).read_to_end(&mut bytes)?;
        Ok(if is_text(&bytes) { Self::Text(bytes) } else { Self::Blob })
    }
}

/// Says whether lines of this are worth showing.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    bytes.len() as u64 <= LINEWISE && !bytes.iter().take(PROBE).any(|byte| *byte == 0)
}

/// Splits after each newline. Nothing else ends a line for git, whatever other tools think of `\r`.
pub(super) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Returns how much of two texts is the same, in percent of the longer, counted in whole lines.
pub(super) fn similarity(one: &[u8], two: &[u8]) -> usize {
    let longer = one.len().max(two.len());
    if longer == 0 {
        return 100;
    }
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    for line in lines(one) {
        *counts.entry(line).or_default() += 1;
    }
    let mut shared = 0;
    for line in lines(two) {
        if let Some(count @ 1..) = counts.get_mut(line) {
            *count -= 1;
            shared += line.len();
        }
    }
    shared * 100 / longer
}

/// Says whether two readers give the same bytes.
pub(super) fn same(mut one: impl Read, mut two: impl Read) -> io::Result<bool> {
    const CHUNK: u64 = 64 << 10;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        one.by_ref().take(CHUNK).read_to_end(&mut left)?;
        two.by_ref().take(CHUNK).read_to_end(&mut right)?;
        if left != right {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_counts_shared_lines() {
        assert_eq!(similarity(b"a\nb\nc\nd\n", b"a\nb\nc\nx\n"), 75);
        assert_eq!(similarity(b"a\na\n", b"a\n"), 50);
        assert_eq!(similarity(b"", b""), 100);
        assert_eq!(similarity(b"a", b""), 0);
    }

    #[test]
    fn equality_does_not_depend_on_how_readers_split() {
        let long = vec![7; 200_000];
        assert!(same(&long[..], io::Cursor::new(&long[..1]).chain(&long[1..])).unwrap());
        assert!(!same(&long[..], &long[1..]).unwrap());
    }
}
