//! Connascence of position: things told apart by their place alone. Calls into other files are in `project`.

mod parameters;
mod places;

use crate::{file::File, finding::Draft};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut found = parameters::many(file);
    found.extend(places::indexed(file));
    found.extend(places::traps(file));
    found
}
