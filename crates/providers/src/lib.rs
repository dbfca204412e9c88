//! The world's sandboxes behind one trait: `process`, belljar's own jail, which needs nothing installed.
//!
//! Owns: turning what is asked for into what a provider can do, and refusing what it cannot; the templates sandboxes
//! start from. Refuses: use cases.
#![forbid(unsafe_code)]

pub mod doctor;
pub mod process;
pub mod template;
