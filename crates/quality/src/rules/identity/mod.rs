//! Connascence of identity: places that must mean the same object, or that share one without saying so.

mod containers;
mod globals;
mod literals;
mod statics;

use crate::{file::File, finding::Draft};

/// State that tests share is as bad as anywhere; of the rest, tests are free.
pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut found = globals::find(file);
    if !file.is_test {
        found.extend(containers::find(file));
        found.extend(statics::find(file));
        found.extend(literals::find(file));
    }
    found
}
