//! Keys in files of belljar's home, made at the first start: the admin key, and the one that only watches and tells.

use std::{
    fs, io,
    io::Write as _,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use belljar_domain::Principal;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The most a key file may hold.
const LONGEST: u64 = 1024;

/// Why there is no usable key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// It cannot be read or made.
    #[error("could not read or make the key `{}`", .path.display())]
    File {
        /// Where it is.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Others can read it.
    #[error("others can read the key `{}`; run `chmod 600` on it, or remove it to have a new one made", .0.display())]
    Exposed(PathBuf),
    /// It is too short to be one.
    #[error("`{}` holds no key of at least 20 characters; remove it to have a new one made", .0.display())]
    Weak(PathBuf),
    /// The kernel gave no random bytes.
    #[error("the kernel gave no random bytes")]
    Random(#[source] io::Error),
}

/// The key itself is not kept, so it cannot be printed: only its hash is, which also makes every comparison as long.
#[derive(Debug)]
pub(crate) struct Key {
    hash: [u8; 32],
    principal: Arc<Principal>,
}

impl Key {
    /// Reads the key on whose showing somebody is let in, or makes one.
    pub(crate) fn load(path: &Path, principal: Principal) -> Result<Self, KeyError> {
        Ok(Self { hash: Sha256::digest(text(path)?.trim()).into(), principal: Arc::new(principal) })
    }

    /// Compares in constant time.
    pub(crate) fn is(&self, shown: &str) -> bool {
        let hash: [u8; 32] = Sha256::digest(shown).into();
        self.hash.ct_eq(&hash).into()
    }

    pub(crate) const fn principal(&self) -> &Arc<Principal> {
        &self.principal
    }
}

/// The key as it is written, made if there is none.
pub(crate) fn text(path: &Path) -> Result<String, KeyError> {
    let failed = |source| KeyError::File { path: path.to_owned(), source };
    let text = match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => {
            let key = format!("bj_{}", random_key()?);
            file.write_all(format!("{key}\n").as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
            key
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(path)?,
        Err(error) => return Err(failed(error)),
    };
    if text.trim().len() < 20 { Err(KeyError::Weak(path.to_owned())) } else { Ok(text.trim().to_owned()) }
}

fn read(path: &Path) -> Result<String, KeyError> {
    let failed = |source| KeyError::File { path: path.to_owned(), source };
    let about = fs::metadata(path).map_err(failed)?;
    if about.mode() & 0o077 != 0 {
        return Err(KeyError::Exposed(path.to_owned()));
    }
    if about.len() > LONGEST {
        return Err(KeyError::Weak(path.to_owned()));
    }
    fs::read_to_string(path).map_err(failed)
}

/// 256 random bits as text.
pub(crate) fn random_key() -> Result<String, KeyError> {
    let mut bytes = [0_u8; 32];
    let failed = |error: rustix::io::Errno| KeyError::Random(error.into());
    // Up to 256 bytes come whole once the kernel's source is ready (getrandom(2)).
    let count = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).map_err(failed)?;
    if count < bytes.len() {
        return Err(KeyError::Random(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn load(path: &Path) -> Result<Key, KeyError> {
        Key::load(path, Principal::admin("admin"))
    }

    #[test]
    fn a_key_is_made_once_and_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("admin.key");
        load(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("bj_") && text.trim().len() == 46, "{text}");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let again = load(&path).unwrap();
        assert!(again.is(text.trim()) && !again.is("bj_") && !again.is(""));
    }

    #[test]
    fn an_exposed_or_empty_key_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("admin.key");
        fs::write(&path, "bj_0123456789012345678901234567890").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(load(&path), Err(KeyError::Exposed(_))));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(load(&path).is_ok());
        fs::write(&path, "\n").unwrap();
        assert!(matches!(load(&path), Err(KeyError::Weak(_))));
    }
}
