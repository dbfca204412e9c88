//! Best of N, judged from the outside: what runners say, who cheats, who wins.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up must fail"
)]

mod cheats;
mod judging;
mod report;
mod results;
