//! Times of one contestant and the numbers that describe them.

use std::time::Duration;

/// Times of what succeeded, and how often it did not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times {
    sorted: Vec<Duration>,
    failures: usize,
}

impl Times {
    /// Sorts what was measured; `None` is a failure.
    pub(crate) fn new(outcomes: impl IntoIterator<Item = Option<Duration>>) -> Self {
        let outcomes: Vec<_> = outcomes.into_iter().collect();
        let failures = outcomes.iter().filter(|outcome| outcome.is_none()).count();
        let mut sorted: Vec<_> = outcomes.into_iter().flatten().collect();
        sorted.sort_unstable();
        Self { sorted, failures }
    }

    pub(crate) const fn failures(&self) -> usize {
        self.failures
    }

    /// Milliseconds at a percentile by nearest rank; 0 is the smallest, 100 the largest.
    pub(crate) fn at(&self, percent: usize) -> Option<f64> {
        let rank = (self.sorted.len() * percent).div_ceil(100).max(1);
        self.sorted.get(rank - 1).map(|time| time.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks_of_what_succeeded() {
        let times = Times::new((1..=100).rev().map(|n| Some(Duration::from_millis(n))).chain([None]));
        let seen = [0, 50, 95, 99, 100].map(|percent| times.at(percent).unwrap());
        for (seen, expected) in seen.into_iter().zip([1.0, 50.0, 95.0, 99.0, 100.0]) {
            assert!((seen - expected).abs() < 1e-9, "{seen} {expected}");
        }
        assert_eq!(times.failures(), 1);
        assert_eq!(Times::new([None]).at(50), None);
    }
}
