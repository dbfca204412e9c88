//! Findings that need several files, or several functions of one: joins over what files contributed.

mod algorithms;
mod calls;
mod clones;
mod records;
mod tasks;
mod values;

use crate::{
    facts::Facts,
    finding::{Draft, Element},
};

pub(crate) fn find(all: &[&Facts]) -> Vec<Draft> {
    let mut found = clones::find(all);
    found.extend(algorithms::find(all));
    found.extend(calls::find(all));
    found.extend(records::find(all));
    found.extend(tasks::find(all));
    found.extend(values::find(all));
    found
}

/// A place in a role.
fn role(at: &Element, role: &str) -> Element {
    Element { role: role.to_owned(), ..at.clone() }
}
