//! Tokens by what is paid for them.

use serde::{Deserialize, Serialize};

/// Tokens by what is paid for them. Input does not include what was read from or written to the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
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
    #[must_use]
    pub fn prompt(&self) -> u64 {
        [self.input, self.cache_read, self.cache_write_5m, self.cache_write_1h]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// The sum; never wraps.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    /// The difference; never below zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub)
    }

    /// None of them more than this.
    #[must_use]
    pub fn at_most(self, most: u64) -> Self {
        self.with(Self::default(), |all, _| all.min(most))
    }

    /// What each of several gets; the remainders are nobody's.
    #[must_use]
    pub fn shared(self, among: u64) -> Self {
        self.with(Self::default(), |all, _| all / among.max(1))
    }

    fn with(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            input: join(self.input, other.input),
            output: join(self.output, other.output),
            cache_read: join(self.cache_read, other.cache_read),
            cache_write_5m: join(self.cache_write_5m, other.cache_write_5m),
            cache_write_1h: join(self.cache_write_1h, other.cache_write_1h),
        }
    }
}
