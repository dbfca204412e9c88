//! The ledger's key: 32 random bytes in a file of their own, readable by their owner alone.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use belljar_ports::StoreError;

/// Fresh random bytes.
pub(crate) fn random() -> Result<[u8; 32], StoreError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|e| StoreError::backend("roll the ledger's key", e))?;
    Ok(bytes)
}

/// Reads the key; `None` when there is none.
pub(crate) fn read(path: &Path) -> Result<Option<[u8; 32]>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => bytes.try_into().map(Some).map_err(|_short: Vec<u8>| StoreError::Key(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::backend("read the ledger's key", error)),
    }
}

/// Makes the key of a new ledger, durable before the ledger exists.
pub(crate) fn make(path: &Path) -> Result<[u8; 32], StoreError> {
    let key = random()?;
    write(path, &key).map_err(|e| StoreError::backend("write the ledger's key", e))?;
    Ok(key)
}

fn write(path: &Path, key: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(key)?;
    file.sync_all()?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
