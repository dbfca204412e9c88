//! What a sandbox changed: shown, and brought to the host.
//!
//! Owns: finding renames, the diff in three forms, the plan to apply it and its execution, the merge
//! with what the host did meanwhile. Refuses: to know where the changes come from, and to touch a path
//! of the host other than beneath the workspace's open directory.

mod apply;
mod bundle;
mod content;
mod merge;
mod names;
mod renames;
mod render;
mod root;

pub use apply::{
    Applied, ApplyError, ApplyOptions, Conflict, ConflictReason, GitInternals, OnConflict, apply,
};
pub use bundle::{Bundle, Content, Extent, Held, LeftOut, Omission, Thing};
pub use merge::MergeError;
pub use renames::find_renames;
pub use render::{Look, RenderError, diff, json, stat};

#[cfg(test)]
mod tests;
