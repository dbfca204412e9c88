//! What this program itself writes to a disk, without secrets: lines of the spool, logs of `run`, command lines.
//!
//! Owns: making a redactor with a home's own key. Refuses: to write anything where there can be no key.

use std::{path::Path, sync::Arc};

use anyhow::Result;
use belljar_capture::Pass;
use belljar_guardian::redact::Redactor;
use serde_json::Value;

use crate::keys;

/// Where an envelope has the pass it was told with.
const PASS: &str = "pass";

/// What a redactor that is quickly made goes through before one that is quicker would have been made.
const BRIEF: usize = 64 << 10;

/// What finds secrets; fingerprints are the home's own.
pub(crate) fn redactor(home: &Path) -> Result<Arc<Redactor>> {
    Ok(Arc::new(Redactor::new(&keys::fingerprint(home)?)))
}

/// An envelope, or anything else that is to wait on a disk. The pass in it is our own, opens nothing but the way to tell
/// what is in the same line, and must be good later.
pub(crate) fn line(home: &Path, line: &[u8]) -> Result<Vec<u8>> {
    let redactor = if line.len() <= BRIEF {
        Redactor::brief(&keys::fingerprint(home)?)
    } else {
        Redactor::new(&keys::fingerprint(home)?)
    };
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return Ok(redactor.bytes(line).into_owned());
    };
    let mut clean = value.clone();
    redactor.value(&mut clean);
    if let (Some(pass), Some(hidden)) = (value.get(PASS), clean.get_mut(PASS))
        && pass.as_str().is_some_and(Pass::is_meant)
    {
        hidden.clone_from(pass);
    }
    // What has no secret stays as it was said, to the byte.
    Ok(if clean == value { line.to_vec() } else { clean.to_string().into_bytes() })
}

/// A command line.
pub(crate) fn command(home: &Path, argv: &[String]) -> Result<Vec<String>> {
    let mut words = Value::from(argv.to_vec());
    redactor(home)?.value(&mut words);
    Ok(serde_json::from_value(words)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_secret_stays_and_what_has_one_loses_it() {
        let home = tempfile::tempdir().unwrap();
        for kept in [&b"{ \"b\": 1, \"a\": 2 }"[..], b"no json"] {
            assert_eq!(line(home.path(), kept).unwrap(), kept);
        }
        let clean = line(home.path(), br#"{"payload":{"password":"hunter2x"}}"#).unwrap();
        assert!(!String::from_utf8_lossy(&clean).contains("hunter2x"));
        let argv = ["run", "--password", "hunter2x"].map(str::to_owned);
        assert!(!command(home.path(), &argv).unwrap().concat().contains("hunter2x"));
    }
}
