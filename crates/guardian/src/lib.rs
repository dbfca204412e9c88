//! The guardian: judges what agents do and hides what nobody should read.
//!
//! Owns: rules that judge calls, and redaction of secrets in text, in JSON and in streams.
//! Refuses: I/O, clocks, randomness. Even the key of the fingerprints comes in as data.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod policy;
pub mod redact;
