//! The namespace sandbox: a plan is made, printed if asked for, and carried out by a small static program.
//!
//! Owns: plans and their building blocks (seccomp, Landlock, control groups, private disks), launching, and talking to
//! a running sandbox. The only crate with `unsafe`. Refuses: policy. What a sandbox should be is the caller's word.
#![expect(
    unsafe_code,
    reason = "the kernel's newer interfaces have no safe wrappers; every block names its contract"
)]

pub mod cgroup;
pub mod disk;
mod door;
mod failure;
pub mod landlock;
mod launch;
pub mod layer;
pub mod probe;
mod remedy;
pub mod seccomp;
mod signs;
mod small;
mod wire;

pub use belljar_init::{
    journal, plan,
    wire::{Cause, Errand, Exec, FromKeeper, Orphan, Prelude, Recording, Stage, Task, ToKeeper, decode},
};
pub use door::{Connection, ExecError, Exited, Running, ask_keeper};
pub use failure::StartError;
pub use launch::{Cradle, Doors, LaunchError, Launched, Launching, Lifeline};
pub use remedy::Remedy;
pub use signs::{Signs, is_host_root};
pub use small::read_small;
