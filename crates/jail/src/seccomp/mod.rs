//! The system-call filter: what a sandbox may ask of the kernel.
//!
//! Owns: the [`rules`] (each with its reason) and their compilation into a program the kernel takes. The program is a
//! binary tree with the architecture check first, because the kernel's time to install one grows with the length of
//! the path to each call: a linear list costs half a millisecond per sandbox, the tree a tenth of it.

mod program;
mod rules;

pub use rules::{Answer, RULES, Rule};

/// Compiles the rules for this machine's architecture into the kernel's instruction format.
#[must_use]
pub fn compile() -> Vec<u8> {
    program::compile(RULES)
}
