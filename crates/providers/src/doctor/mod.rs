//! `belljar doctor`: what this host can do, found out by doing it, and what to do where it cannot.
//!
//! Owns: the checks, their remedies, the verdict. Refuses: how that looks on a screen.

mod check;
mod delegate;
mod disk;
mod distribution;
mod groups;
mod host;
mod kernel;
mod report;
mod tools;
mod trial;

pub use belljar_jail::{
    Remedy,
    probe::{COMMAND as PROBE_COMMAND, run as run_probe},
};
pub use check::{Check, Status, Weight};
pub use delegate::commands_for_caller;
pub use report::{Host, Provider, Report, Verdict, examine};
