//! Connascence of execution: what must run before what.

mod guards;
mod handoff;
mod locks;
mod terminal;
mod unpaired;

use crate::{file::File, finding::Draft};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut found = guards::find(file);
    found.extend(handoff::find(file));
    found.extend(terminal::find(file));
    found.extend(locks::find(file));
    found.extend(unpaired::find(file));
    found
}
