//! Changes with both sides at hand, shown as those of a sandbox are.

use std::{io::Write, path::Path};

use super::{
    Look, RenderError,
    delta::{self, Delta},
    patch,
};
use crate::changes::bundle::{Held, Thing};

/// Writes held changes as git would show them.
pub(crate) fn write_held(files: &[Held], out: &mut dyn Write, look: Look) -> Result<(), RenderError> {
    let until = delta::deadline();
    for held in files {
        for delta in deltas(held, until) {
            patch::write(&delta, out, look).map_err(RenderError::Output)?;
        }
    }
    Ok(())
}

/// Lines added and removed.
pub(crate) fn counts(files: &[Held]) -> (usize, usize) {
    let until = delta::deadline();
    let counts = files.iter().flat_map(|held| deltas(held, until)).filter_map(|delta| delta.counts());
    counts.fold((0, 0), |(added, removed), (more, less)| (added + more, removed + less))
}

fn deltas(held: &Held, until: std::time::Instant) -> Vec<Delta<'_>> {
    let path = Path::new(&held.path);
    let side = |thing: &Option<Thing>| {
        thing.as_ref().map(|thing| match thing {
            Thing::File { mode, content } => delta::Side::file(*mode, content.0.clone()),
            Thing::Symlink { target } => delta::Side::link(target.clone().into_bytes()),
        })
    };
    delta::of_sides(path, side(&held.before), side(&held.after), until)
}
