//! Keys of a home that never leave it: random, made once, for its owner alone.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use anyhow::{Context as _, Result, ensure};

const LENGTH: usize = 32;

/// What fingerprints of redacted secrets are made with.
pub(crate) fn fingerprint(home: &Path) -> Result<Vec<u8>> {
    key(home, "fingerprint.key")
}

/// What passes of sandboxes are sealed with.
pub(crate) fn passes(home: &Path) -> Result<Vec<u8>> {
    key(home, "pass.key")
}

/// A key of a home. Two who come first at once agree on one.
fn key(home: &Path, name: &str) -> Result<Vec<u8>> {
    let path = home.join(name);
    if !path.exists() {
        make(&path).with_context(|| format!("make {}", path.display()))?;
    }
    let key = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
    ensure!(key.len() == LENGTH, "{} is damaged; remove it to have a new one made", path.display());
    Ok(key)
}

fn make(path: &Path) -> io::Result<()> {
    let mut key = [0_u8; LENGTH];
    rustix::rand::getrandom(&mut key[..], rustix::rand::GetRandomFlags::empty())?;
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(&key)?;
    file.sync_all()?;
    // Unlike a rename, a link leaves alone what somebody else made meanwhile.
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn it_is_made_once_for_its_owner_and_a_damaged_one_is_named() {
        let home = tempfile::tempdir().unwrap();
        let first = fingerprint(home.path()).unwrap();
        assert_eq!(fingerprint(home.path()).unwrap(), first);
        let path = home.path().join("fingerprint.key");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "no draft is left");
        fs::write(&path, b"short").unwrap();
        assert!(fingerprint(home.path()).unwrap_err().to_string().contains("remove it"));
    }
}
