//! Cost: what agents used and what that is worth at list price.
//!
//! Owns: tokens by kind, dated prices, and the ledger that counts each request once, wherever it was heard of,
//! and adds it up per session and agent, own and total. Refuses: numbers that look like usage and are not: a
//! parent's report of its subagent, a running context size, a replayed line.

mod ledger;
mod model;
mod money;
mod prices;

pub use ledger::{Basis, CostLedger, Request, Source, Totals};
pub use money::Usd;
pub use prices::{Price, Prices, PricesError};

/// Tokens by what is paid for them. Input does not include what was read from or written to the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Sent and read anew.
    pub input: u64,
    /// Written by the model, its thinking included.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Written to the cache for an hour, at a higher price.
    pub cache_write_1h: u64,
}

impl Tokens {
    /// Everything the model was given, as the `GenAI` conventions count input.
    pub fn prompt(&self) -> u64 {
        [self.input, self.cache_read, self.cache_write_5m, self.cache_write_1h]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write_5m: self.cache_write_5m.saturating_add(other.cache_write_5m),
            cache_write_1h: self.cache_write_1h.saturating_add(other.cache_write_1h),
        }
    }
}
