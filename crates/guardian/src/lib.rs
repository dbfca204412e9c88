//! The guardian: judges what agents do and hides what nobody should read.
//!
//! Owns: what a call would do, rules that judge it, roles and what they permit, the arithmetic of budgets, and redaction
//! of secrets in text, in JSON and in streams.
//! Refuses: I/O, clocks, randomness. Even the key of the fingerprints comes in as data.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod budget;
pub mod effects;
pub mod policy;
pub mod redact;
pub mod roles;
pub mod shell;
