//! What a file contributes to findings that need several: owned, so that its text and tree can be let go.

mod bindings;
mod bodies;
mod calls;
mod records;
mod tasks;

use crate::{file::File, finding::Element};

pub(crate) use bindings::{Binding, LocalConstant, Quoted};
pub(crate) use bodies::{Body, Codec, Expectation, code};
pub(crate) use calls::{Argument, Call, Maker};
pub(crate) use records::{Access, Reading, RecordKeys, Returner};
pub(crate) use tasks::{Loose, Named};

/// Names of places in a plane, a space or a colour: their order is everybody's.
pub(crate) const COORDINATES: [&str; 26] = [
    "x", "y", "z", "w", "r", "g", "b", "a", "h", "s", "l", "v", "u", "i", "j", "k", "red", "green", "blue",
    "alpha", "lat", "lon", "lng", "width", "height", "depth",
];

/// Facts of one file.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) bodies: Vec<Body>,
    pub(crate) codecs: Vec<Codec>,
    pub(crate) expectations: Vec<Expectation>,
    pub(crate) makers: Vec<Maker>,
    pub(crate) calls: Vec<Call>,
    pub(crate) returners: Vec<Returner>,
    pub(crate) readings: Vec<Reading>,
    pub(crate) records: Vec<RecordKeys>,
    pub(crate) named: Vec<Named>,
    pub(crate) loose: Vec<Loose>,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) quoted: Vec<Quoted>,
    pub(crate) local_constants: Vec<LocalConstant>,
}

impl Facts {
    pub(crate) fn of(file: &File<'_>) -> Self {
        if file.is_test {
            return Self { expectations: bodies::expectations(file), ..Self::default() };
        }
        Self {
            bodies: bodies::all(file),
            codecs: bodies::codecs(file),
            expectations: Vec::new(),
            makers: calls::makers(file),
            calls: calls::all(file),
            returners: records::returners(file),
            readings: records::readings(file),
            records: records::keys(file),
            named: tasks::named(file),
            loose: tasks::loose(file),
            bindings: bindings::all(file),
            quoted: bindings::quoted(file),
            local_constants: bindings::local_constants(file),
        }
    }
}

/// A place, without what it is to others yet.
pub(crate) fn place(file: &File<'_>, id: crate::tree::Id) -> Element {
    file.element(id, "")
}
