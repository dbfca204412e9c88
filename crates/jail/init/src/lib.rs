//! What the host and the program inside a sandbox say to each other.
//!
//! Owns: the [`plan`] (a sandbox as data, before it is an act), the [`wire`] (frames on the sockets) and the [`journal`]
//! (what an execution writes while nobody listens).
//! Refuses: the standard library and any decision. The program itself (`main.rs`, feature `pid1`) is a separate binary
//! carried inside belljar; it executes plans.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

pub mod journal;
pub mod plan;
pub mod wire;
