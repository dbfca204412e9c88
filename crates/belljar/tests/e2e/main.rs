//! End to end: the real program on the real kernel, as root and as an ordinary user, one named test per promise and
//! caller. Every test has its own home and workspace, and none may leave anything behind.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up must fail"
)]

mod support;
#[path = "../support/mod.rs"]
mod workbench;

mod applying;
mod audits;
mod changes;
mod clients;
mod clocks;
mod disks;
mod exits;
mod flags;
mod kept;
mod limits;
mod networks;
mod output;
mod plans;
mod runs;
mod served_execs;
mod sharing;
mod signals;
mod snapshots;
mod streams;
mod sudden_death;
mod templates;
mod terminals;
mod tops;
