//! The contents of entries. Owns copying them to disk, holes included; refuses an archive that ends before they do.

use std::{
    fs::File,
    io::{self, Read, Seek as _, Write as _},
    path::Path,
};

use super::{Entry, UnpackError, failed};

/// Copies contents; blocks of zeros in a sparse file become holes again.
pub(super) fn copy<R: Read>(
    entry: &mut Entry<'_, R>,
    file: &mut File,
    path: &Path,
) -> Result<(), UnpackError> {
    let (size, sparse) = (entry.size(), entry.header().entry_type().is_gnu_sparse());
    let write = |source| failed("write", path, source);
    let mut buffer = vec![0; 64 * 1024];
    let mut done = 0_u64;
    loop {
        let count = entry.read(&mut buffer).map_err(UnpackError::Read)?;
        let Some(chunk) = buffer.get(..count).filter(|chunk| !chunk.is_empty()) else { break };
        done += count as u64;
        if sparse && chunk.iter().all(|byte| *byte == 0) {
            file.seek(io::SeekFrom::Start(done)).map_err(write)?;
        } else {
            file.write_all(chunk).map_err(write)?;
        }
    }
    if done != size {
        return Err(UnpackError::Truncated(path.display().to_string()));
    }
    if sparse { file.set_len(size).map_err(write) } else { Ok(()) }
}

/// Reads over contents that an entry of this kind should not have, so that the next header is read from its start.
pub(super) fn drain<R: Read>(entry: &mut Entry<'_, R>, path: &Path) -> Result<(), UnpackError> {
    let size = entry.size();
    let read = io::copy(entry, &mut io::sink()).map_err(UnpackError::Read)?;
    if read == size { Ok(()) } else { Err(UnpackError::Truncated(path.display().to_string())) }
}
