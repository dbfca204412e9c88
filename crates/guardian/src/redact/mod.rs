//! Redaction: secrets are replaced before anything is stored or shown.
//!
//! Owns: finding secrets (provider tokens, private keys, passwords in URLs, headers, values next to telling
//! names) and the marker that takes their place, `[redacted:KIND:FINGERPRINT]`. The fingerprint is keyed, so
//! equal secrets are recognised by whoever holds the key and guessed by nobody.
//! Refuses: backtracking. One pass of an automaton finds anchors; each anchor looks a bounded way around
//! itself, and what is read beyond that is replaced and never read again. So time is linear in the input.

mod anchors;
mod assignment;
mod bytes;
mod header;
mod json;
mod marker;
mod names;
mod pem;
mod scan;
mod stream;
mod tokens;
mod unsettled;
mod url;
mod value;

use std::{borrow::Cow, sync::Arc};

use anchors::Anchors;
use serde_json::Value;

pub use marker::Fingerprints;
pub use stream::{Shown, State, Stream};

/// Says whether a variable of this name holds a secret.
pub(crate) fn is_telling(name: &str) -> bool {
    matches!(names::tells(name.as_bytes()), Some(names::Tells::Password | names::Tells::Token))
}

/// Says whether a text holds a credential that betrays itself.
pub(crate) fn betrays(text: &[u8]) -> bool {
    tokens::are_in(text)
}

/// Finds secrets and puts markers in their place. Made once, used everywhere.
#[derive(Debug)]
pub struct Redactor {
    anchors: Anchors,
    fingerprints: Fingerprints,
}

impl Redactor {
    /// A redactor whose fingerprints depend on `key`.
    pub fn new(key: &[u8]) -> Self {
        Self { anchors: Anchors::new(), fingerprints: Fingerprints::new(key) }
    }

    /// The same for a page or two, by a process that does nothing else.
    pub fn brief(key: &[u8]) -> Self {
        Self { anchors: Anchors::brief(), fingerprints: Fingerprints::new(key) }
    }

    /// `text` without its secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        }
    }

    /// The same for bytes that may not be text throughout.
    pub fn bytes<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let found = scan::secrets(&self.anchors, text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(scan::replaced(text, 0, text.len(), &found, &self.fingerprints))
    }

    /// Redacts every string of a JSON value; a key that tells hides what stands below it.
    pub fn value(&self, value: &mut Value) {
        json::redact(self, value);
    }

    /// The marker of a value that is hidden whatever it is.
    pub fn marker(&self, kind: &str, secret: &str) -> String {
        self.fingerprints.marker(kind, secret.as_bytes())
    }

    /// A redactor for output that arrives in pieces.
    pub fn stream(self: &Arc<Self>) -> Stream {
        self.resume(State::default())
    }

    /// The same, going on from where another was.
    pub fn resume(self: &Arc<Self>, state: State) -> Stream {
        Stream::new(Arc::clone(self), state)
    }
}
