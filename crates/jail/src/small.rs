//! Reading the kernel's small files: one open, one read, no guess at a size the kernel does not tell.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// What one read takes. The kernel answers a read of such a file whole if there is room.
const ROOM: usize = 4096;

/// Reads a file of `/proc` or of a control group.
///
/// # Errors
/// When it cannot be opened or read, or is not text.
pub fn read_small(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut bytes = vec![0; ROOM];
    let count = file.read(&mut bytes)?;
    bytes.truncate(count);
    if count == ROOM {
        file.read_to_end(&mut bytes)?;
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_larger_than_one_read_comes_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("large");
        let text = "line\n".repeat(ROOM);
        std::fs::write(&path, &text).unwrap();
        assert_eq!(read_small(&path).unwrap(), text);
    }
}
