//! A pass: what a sandbox shows when it tells events, so that whose they are is known and not claimed.
//!
//! Owns: writing and reading one. It carries whom it was given to and until when, under a seal only the owner of
//! belljar's home can make, so nobody has to remember passes and a restart forgets none. Refuses: to be a key. Whoever
//! holds one can tell what happened in that sandbox, and nothing else.

use std::fmt::Write as _;

use belljar_domain::{ExecutionId, ProjectId, RunId, SandboxId, Timestamp};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// What every pass begins with.
const PREFIX: &str = "bjp_";
/// The longest text that is looked at.
const LONGEST: usize = 4096;
/// What the seal is about, so that no other use of the key ever makes one.
const PURPOSE: &[u8] = b"belljar pass 1\0";

/// To whom a pass was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// The sandbox.
    pub sandbox: SandboxId,
    /// The command in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionId>,
    /// The agent the sandbox belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whose it is.
    pub project: ProjectId,
    /// The run it is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// When it means nothing any more.
    pub until: Timestamp,
}

/// Why a text is no pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PassError {
    /// It does not look like one.
    #[error("this is no pass")]
    Form,
    /// Somebody else made or changed it.
    #[error("the pass was not given out here")]
    Seal,
    /// Its time is over.
    #[error("the pass has expired")]
    Expired,
}

impl Pass {
    /// Whether a text is meant to be one.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// Writes it, sealed with the key of belljar's home.
    #[must_use]
    pub fn seal(&self, key: &[u8]) -> String {
        // A struct of ids and text always has a form in JSON.
        let body = hex(&serde_json::to_vec(self).unwrap_or_default());
        let seal = hex(&mac(key, &body).finalize().into_bytes());
        format!("{PREFIX}{body}.{seal}")
    }

    /// Reads one that was sealed with this key and is still good.
    ///
    /// # Errors
    /// When it is none, was sealed with another key, or its time is over.
    pub fn read(text: &str, key: &[u8], now: Timestamp) -> Result<Self, PassError> {
        let parts = text.strip_prefix(PREFIX).filter(|_| text.len() <= LONGEST);
        let (body, seal) = parts.and_then(|rest| rest.split_once('.')).ok_or(PassError::Form)?;
        let seal = unhex(seal).ok_or(PassError::Form)?;
        mac(key, body).verify_slice(&seal).map_err(|_other| PassError::Seal)?;
        let read = unhex(body).and_then(|json| serde_json::from_slice::<Self>(&json).ok());
        let pass = read.ok_or(PassError::Form)?;
        if pass.until < now { Err(PassError::Expired) } else { Ok(pass) }
    }
}

fn mac(key: &[u8], body: &str) -> Hmac<Sha256> {
    // A key of any length is a key.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()));
    mac.update(PURPOSE);
    mac.update(body.as_bytes());
    mac
}

/// Bytes as text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a text cannot fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

/// And back.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass() -> Pass {
        Pass {
            sandbox: "sbx_0190000000007000800000000000002a".parse().unwrap(),
            execution: None,
            agent: Some("coder".to_owned()),
            project: ProjectId::default(),
            run: None,
            until: Timestamp::from_micros(1_000_000),
        }
    }

    #[test]
    fn a_pass_is_good_until_its_time_and_for_its_key_alone() {
        let text = pass().seal(b"key");
        let now = Timestamp::from_micros(5);
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte)), "{text}");
        assert_eq!(Pass::read(&text, b"key", now), Ok(pass()));
        assert_eq!(Pass::read(&text, b"other", now), Err(PassError::Seal));
        let later = Timestamp::from_micros(1_000_001);
        assert_eq!(Pass::read(&text, b"key", later), Err(PassError::Expired));
    }

    #[test]
    fn a_changed_pass_is_no_pass() {
        let text = pass().seal(b"key");
        let now = Timestamp::from_micros(5);
        for at in PREFIX.len()..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            assert!(Pass::read(&changed, b"key", now).is_err(), "{at}");
        }
        for wrong in ["", "bjp_", "bjp_.", "bjp_7b7d.00", "bjp_é.é", &format!("{PREFIX}{}", "0".repeat(5000))]
        {
            assert!(Pass::read(wrong, b"key", now).is_err(), "{wrong}");
        }
    }
}
