//! What a command wrote, kept up to a cap: an endless `yes` must not fill the host's disk or memory.

use std::{
    fs::File,
    io::{self, Write},
};

/// Bytes kept of one stream, in memory and on disk.
const CAP: usize = 10 * 1024 * 1024;
const MARKER: &[u8] = b"\n[belljar: output truncated here; 10 MB are kept]\n";

/// An append-only file with a cap.
#[derive(Debug)]
pub struct Log {
    file: File,
    /// Bytes that still fit; `None` once there were more.
    room: Option<usize>,
}

impl Log {
    /// Starts a log in an empty file.
    #[must_use]
    pub const fn new(file: File) -> Self {
        Self { file, room: Some(CAP) }
    }

    /// Appends what fits; what does not is replaced, once, by a marker.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(room) = self.room else { return Ok(()) };
        self.room = room.checked_sub(bytes.len());
        self.file.write_all(bytes.get(..room.min(bytes.len())).unwrap_or_default())?;
        if self.room.is_none() { self.file.write_all(MARKER) } else { Ok(()) }
    }
}

/// A stream kept in memory up to the cap.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CapturedOutput {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether there were more.
    pub truncated: bool,
}

impl CapturedOutput {
    /// Keeps what fits.
    pub fn append(&mut self, bytes: &[u8]) {
        let room = CAP - self.bytes.len();
        self.truncated |= bytes.len() > room;
        self.bytes.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;

    #[test]
    fn a_log_stops_at_its_cap_and_says_so() {
        let mut log = Log::new(tempfile::tempfile().unwrap());
        let chunk = vec![b'y'; 1 << 20];
        for _ in 0..12 {
            log.append(&chunk).unwrap();
        }
        let mut text = Vec::new();
        log.file.rewind().unwrap();
        log.file.read_to_end(&mut text).unwrap();
        assert_eq!(text.len(), CAP + MARKER.len());
        assert!(text.ends_with(MARKER));
    }

    #[test]
    fn captured_output_remembers_that_there_was_more() {
        let mut captured = CapturedOutput::default();
        captured.append(&vec![0; CAP]);
        assert!(!captured.truncated);
        captured.append(b"x");
        assert!(captured.truncated && captured.bytes.len() == CAP);
    }
}
