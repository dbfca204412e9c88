//! Hooks, with the real program: what an agent hears, how soon, and what becomes of what it said.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up must fail"
)]

#[path = "../support/http.rs"]
mod http;
mod support;
#[path = "../support/mod.rs"]
mod workbench;

mod agent;
mod agents;
mod answers;
mod approvals;
mod guarded;
mod joined;
mod order;
mod outages;
mod policy;
mod real;
mod scenes;
mod settings;
mod trials;
mod twenty;
mod watched;
