//! The upper directory of an overlay: what is in it, what that means, how to keep it.
//!
//! Owns: reading an upper as changes against its base, copying it into a layer, opening a file of it.
//! Refuses: to trust it. The sandbox wrote it, and may still be writing: every step is taken relative
//! to a directory already held, no symlink is followed, and the work is bounded.

mod budget;
mod copy;
mod cursor;
mod deleted;
mod entry;
mod error;
mod fill;
mod ids;
mod marks;
mod open;
mod scan;

pub use copy::copy;
pub use error::LayerError;
pub use fill::fill;
pub use ids::IdShift;
pub use open::open_beneath;
pub use scan::scan;

#[cfg(test)]
mod tests;
