//! The hook-observability protocol, as its scripts and its dashboard speak it: events told, watched and answered.
//!
//! Owns: that protocol's paths and shapes, unchanged on the wire. What is told goes the way every event goes (redacted,
//! into the ledger), and an event's number is its place there; whatever hooks told by any other way is shown as well.
//! Refuses what made the original unsafe: nobody is let in without a key, a token in the path or an address opened on
//! purpose, pages of other sites are not answered, and an answer is only ever delivered to this machine's loopback or
//! into the sandbox that asked.

mod answers;
mod cors;
mod dial;
mod events;
pub(crate) mod handlers;
mod ledger;
mod stream;
pub(crate) mod themes;

pub(crate) use cors::{allow, greeting, is_theirs, page, preflight};
