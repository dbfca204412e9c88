//! Dollars without rounding on the way.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount in billionths of a dollar: fine enough that sums of single requests stay exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Usd(pub u64);

impl Usd {
    /// From millionths, as agents report.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// In millionths, rounded.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0.saturating_add(500) / 1_000
    }

    /// The sum; never wraps.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference; never below zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Usd {
    /// Cents from a dollar on, four places below.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ten_thousandths = self.0.saturating_add(50_000) / 100_000;
        if ten_thousandths < 10_000 {
            return write!(f, "$0.{ten_thousandths:04}");
        }
        let cents = self.0.saturating_add(5_000_000) / 10_000_000;
        write!(f, "${}.{:02}", cents / 100, cents % 100)
    }
}
