//! Output of any length in a bounded space: its beginning and its end, with a word on what lies between.

use std::collections::VecDeque;

/// How much is kept of the beginning and of the end.
const HEAD: usize = 32 * 1024;
const TAIL: usize = 96 * 1024;

/// What a command wrote to one stream.
#[derive(Debug, Default)]
pub(super) struct Clip {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl Clip {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
        self.left_out += over;
    }

    pub(super) const fn is_clipped(&self) -> bool {
        self.left_out > 0
    }

    /// The last characters, for a look at what goes on.
    pub(super) fn end(&self, most: usize) -> String {
        let bytes: Vec<u8> = self.head.iter().chain(&self.tail).copied().collect();
        let from = bytes.len().saturating_sub(most);
        String::from_utf8_lossy(bytes.get(from..).unwrap_or_default()).into_owned()
    }

    pub(super) fn text(self) -> String {
        let tail: Vec<u8> = self.tail.into();
        if self.left_out == 0 {
            return String::from_utf8_lossy(&[self.head, tail].concat()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!("{head}\n[… {} bytes left out …]\n{tail}", self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_whole() {
        let mut clip = Clip::default();
        clip.push(b"a\xc3");
        clip.push(b"\xa4b");
        assert_eq!(clip.end(1), "b");
        assert!(!clip.is_clipped());
        assert_eq!(clip.text(), "a\u{e4}b");
    }

    #[test]
    fn long_output_keeps_both_ends() {
        let mut clip = Clip::default();
        clip.push(b"first ");
        for _ in 0..64 {
            clip.push(&[b'.'; 8192]);
        }
        clip.push(b" last");
        assert!(clip.is_clipped());
        let text = clip.text();
        assert!(text.starts_with("first .") && text.ends_with(". last"));
        assert!(text.contains("bytes left out") && text.len() < HEAD + TAIL + 100, "{}", text.len());
    }
}
