//! Connascence of timing: what must have happened by when.

mod floating;
mod races;
mod sleeps;

use crate::{file::File, finding::Draft};

/// A sleep in a test is as much a guess as anywhere; of the rest, tests are free.
pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut found = sleeps::find(file);
    if !file.is_test {
        found.extend(floating::find(file));
        found.extend(races::find(file));
    }
    found
}

pub(crate) use sleeps::is_sleep;
