//! Content digests. Owns the form `sha256:…` and the check that what was read is what was promised.
//!
//! Refuses: other algorithms, and any blob whose contents do not match.

use std::{
    fmt::{self, Write as _},
    io::{self, Read},
    str::FromStr,
};

use sha2::{Digest as _, Sha256};

use super::TemplateError;

/// A sha256 digest: sixty-four lowercase hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Digest(String);

impl Digest {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self::from_hasher(Sha256::new_with_prefix(bytes))
    }

    fn from_hasher(hasher: Sha256) -> Self {
        Self(hasher.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a string cannot fail.
            write!(hex, "{byte:02x}").unwrap_or_default();
            hex
        }))
    }

    /// The bare digits, safe as a file name.
    pub(super) fn hex(&self) -> &str {
        &self.0
    }

    /// Accepts bare digits, as `docker save` names its files.
    pub(super) fn from_hex(hex: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        (hex.len() == 64 && hex.chars().all(plain)).then(|| Self(hex.to_owned()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.0)
    }
}

impl FromStr for Digest {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        text.strip_prefix("sha256:")
            .and_then(Self::from_hex)
            .ok_or_else(|| TemplateError::Digest(text.chars().take(160).collect()))
    }
}

/// A reader that hashes what passes through it.
pub(super) struct Verified<R> {
    inner: R,
    hasher: Sha256,
    promised: Digest,
}

impl<R: Read> Verified<R> {
    pub(super) fn new(inner: R, promised: Digest) -> Self {
        Self { inner, hasher: Sha256::new(), promised }
    }

    /// Reads whatever is left, up to `most` bytes, and compares.
    pub(super) fn finish(mut self, most: u64) -> Result<(), TemplateError> {
        let blob = self.promised.to_string();
        io::copy(&mut (&mut self).take(most), &mut io::sink())
            .map_err(|source| TemplateError::Blob { blob: blob.clone(), source })?;
        let found = Digest::from_hasher(self.hasher);
        if found == self.promised {
            Ok(())
        } else {
            Err(TemplateError::DigestMismatch { blob, found: found.0 })
        }
    }
}

impl<R: Read> Read for Verified<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_sixty_four_lowercase_digits() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").hex(), empty);
        assert_eq!(format!("sha256:{empty}").parse::<Digest>().unwrap(), Digest::of(b""));
        for bad in
            [empty, "sha256:", "sha512:ab", "sha256:../../x", &format!("sha256:{}", empty.to_uppercase())]
        {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }
}
