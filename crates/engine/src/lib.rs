//! To come.

pub mod changes;
