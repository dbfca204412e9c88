//! The shell: what a command would run, read the way bash reads it.
//!
//! Owns: the tree of a script, and the values its words come to. Refuses: running anything, and guessing. What is not
//! understood stays in the tree as `Unknown` with its place, never as silence.

pub mod ast;
pub mod eval;
pub mod parse;
pub mod value;

pub use parse::parse;
