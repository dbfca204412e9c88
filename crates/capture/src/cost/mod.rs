//! Cost: what agents used and what that is worth at list price.
//!
//! Owns: tokens by kind, dated prices, and the ledger that counts each request once, wherever it was heard of,
//! and adds it up per session and agent, own and total. Refuses: numbers that look like usage and are not: a
//! parent's report of its subagent, a running context size, a replayed line.

mod ledger;
mod model;
mod prices;

pub use belljar_domain::{Tokens, Usd};
pub use ledger::{Basis, CostLedger, Request, Source, Totals};
pub use prices::{Price, Prices, PricesError};
