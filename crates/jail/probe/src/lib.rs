//! Escape tests: a hostile program for the inside of a sandbox, and the traps it may spring outside.
//!
//! The binary `belljar-probe` runs inside and tries, one promise at a time, to get out or to hurt the host.
//! [`host`] plants what it reaches for and says afterwards, from the host's side, what was touched. A probe
//! that succeeds does no harm: kernel knobs are opened and never written, bombs are bounded by the limits the
//! sandbox was granted, and no packet leaves for another machine.
//!
//! This package judges a sandbox; it knows nothing of how one is built, so the same suite runs under no
//! sandbox, under bubblewrap and under belljar.

#[expect(unsafe_code, reason = "probes make system calls no safe library offers, on purpose")]
pub mod sys;

pub mod context;
pub mod host;
pub mod probes;
pub mod report;
pub mod supervise;
