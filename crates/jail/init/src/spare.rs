//! A keeper's parting gift: a blank disk for the next sandbox, written out already.
//!
//! Attaching a loop device waits until its file is on disk, which for a fresh copy takes longer than everything else a
//! sandbox is made of. Here nobody waits.

use crate::sys::{self, HERE, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY};

/// Copies the blank to where the next sandbox looks, unless there is a copy already.
pub(crate) fn leave(blank: &str, spare: &str) -> sys::Sys<()> {
    if sys::open(HERE, spare, O_RDONLY, 0).is_ok() {
        return Ok(());
    }
    let from = sys::open(HERE, blank, O_RDONLY, 0)?;
    let number = sys::decimal(u64::from(sys::getpid().unsigned_abs()));
    let draft = sys::join(&[spare, ".", &number, ".draft"]);
    let to = sys::open(HERE, &draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600)?;
    let copied = sys::copy_sparse(&from, &to).and_then(|()| sys::sync(&to));
    match copied.and_then(|()| sys::rename(&draft, spare)) {
        Ok(()) => Ok(()),
        Err(error) => {
            let _gone = sys::unlink(HERE, &draft, false);
            Err(error)
        }
    }
}
