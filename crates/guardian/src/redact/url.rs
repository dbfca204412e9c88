//! Passwords inside addresses: `scheme://user:password@host`.
//!
//! Owns: finding the part between the colon and the `@`, and a lone token in the user's place.

use super::{
    bytes::{from, is_word, run, run_back},
    marker::has_marker,
    scan::Found,
    value,
};

/// The password of the address whose `://` ends here.
pub(super) fn at(text: &[u8], authority: usize) -> Option<Found> {
    let rest = from(text, authority);
    let part = rest.get(..run(rest, is_authority))?;
    let host = part.iter().rposition(|byte| *byte == b'@')?;
    let user = part.get(..host).filter(|user| !has_marker(user))?;
    let scheme =
        run_back(text.get(..authority - 3)?, 32, |byte| is_word(byte) || byte == b'+' || byte == b'.');
    let context = authority - 3 - scheme;
    let found = |start, end| Found { kind: "url-password", context, start, end, is_open: false };
    match user.iter().position(|byte| *byte == b':') {
        Some(colon) => {
            let password = user.get(colon + 1..)?;
            let hides =
                !password.is_empty() && !value::is_reference(password) && !value::is_placeholder(password);
            hides.then(|| found(authority + colon + 1, authority + host))
        }
        None => value::is_random(user, 16).then(|| found(authority, authority + host)),
    }
}

/// Whether the authority that begins here reaches the end of the text.
pub(super) fn is_growing(text: &[u8], authority: usize) -> bool {
    from(text, authority).iter().all(|byte| is_authority(*byte))
}

fn is_authority(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"/?#\"'`<>\\ ".contains(&byte) || byte >= 0x80
}
