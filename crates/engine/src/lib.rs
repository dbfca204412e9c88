//! The use cases of belljar, over ports and nothing else.
//!
//! Owns: following a command ([`supervise`]), showing and applying what it changed ([`changes`]), and sandboxes as a
//! service ([`service`]). Refuses: to know which provider made a sandbox.
#![forbid(unsafe_code)]

pub mod changes;
pub mod git;
pub mod service;
pub mod supervise;
