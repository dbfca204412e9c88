//! Events folded into records, with a shelf in memory: joined in any order, counted once.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod calls;
mod cost;
mod sessions;
mod shelf;
