//! Hooks, with the real program: what an agent hears, how soon, and what becomes of what it said.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot be set up must fail")]

mod support;

mod answers;
mod outages;
mod settings;
mod trials;
