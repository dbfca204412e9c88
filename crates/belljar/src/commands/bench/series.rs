//! A series of measurements of one thing, and the few numbers that describe it.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

/// Times of what succeeded; how often it failed, and why it did so first.
#[derive(Debug, Default)]
pub(crate) struct Series {
    name: String,
    times: Vec<Duration>,
    failures: usize,
    first_failure: Option<String>,
}

/// What a series comes down to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) min: Duration,
    pub(crate) p50: Duration,
    pub(crate) p95: Duration,
    pub(crate) p99: Duration,
    pub(crate) max: Duration,
}

impl Series {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Does something and writes down how long it took, or that it failed.
    pub(crate) fn time<T>(&mut self, act: impl FnOnce() -> Result<T>) -> Option<T> {
        let start = Instant::now();
        let done = act();
        self.add(start.elapsed(), done)
    }

    /// Writes down one outcome that was timed elsewhere.
    pub(crate) fn add<T>(&mut self, took: Duration, outcome: Result<T>) -> Option<T> {
        match outcome {
            Ok(value) => {
                self.times.push(took);
                Some(value)
            }
            Err(error) => {
                self.failures += 1;
                self.first_failure.get_or_insert_with(|| format!("{error:#}"));
                None
            }
        }
    }

    pub(crate) const fn count(&self) -> usize {
        self.times.len() + self.failures
    }

    pub(crate) const fn failures(&self) -> usize {
        self.failures
    }

    pub(crate) fn first_failure(&self) -> Option<&str> {
        self.first_failure.as_deref()
    }

    /// `None` when nothing succeeded.
    pub(crate) fn summary(&self) -> Option<Summary> {
        let mut sorted = self.times.clone();
        sorted.sort_unstable();
        Some(Summary {
            min: *sorted.first()?,
            p50: percentile(&sorted, 50)?,
            p95: percentile(&sorted, 95)?,
            p99: percentile(&sorted, 99)?,
            max: *sorted.last()?,
        })
    }

    pub(crate) fn to_json(&self) -> Value {
        let rate = per(self.failures, self.count());
        let mut object = json!({
            "name": self.name,
            "unit": "ms",
            "count": self.count(),
            "failures": self.failures,
            "failure_rate": rate,
        });
        if let (Some(object), Some(summary)) = (object.as_object_mut(), self.summary()) {
            for (name, time) in summary.columns() {
                object.insert(name.to_owned(), json!(millis(time)));
            }
        }
        if let (Some(object), Some(why)) = (object.as_object_mut(), &self.first_failure) {
            object.insert("first_failure".to_owned(), json!(why));
        }
        object
    }
}

impl Summary {
    /// Every number with its name, in the order they are shown.
    pub(crate) const fn columns(&self) -> [(&'static str, Duration); 5] {
        [("min", self.min), ("p50", self.p50), ("p95", self.p95), ("p99", self.p99), ("max", self.max)]
    }
}

/// Nearest rank: the smallest value that at least `percent` of all do not exceed. Never invents a value in between.
fn percentile(sorted: &[Duration], percent: usize) -> Option<Duration> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// Milliseconds, to the microsecond.
pub(crate) fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn per(part: usize, whole: usize) -> f64 {
    let number = |count: usize| u32::try_from(count).map_or(f64::from(u32::MAX), f64::from);
    if whole == 0 { 0.0 } else { number(part) / number(whole) }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    fn of(millis: impl IntoIterator<Item = u64>) -> Series {
        let mut series = Series::new("x");
        for time in millis {
            series.add(Duration::from_millis(time), Ok(()));
        }
        series
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let cases: [(Vec<u64>, [u64; 5]); 4] = [
            ((1..=100).rev().collect(), [1, 50, 95, 99, 100]),
            (vec![7], [7, 7, 7, 7, 7]),
            (vec![20, 10], [10, 10, 20, 20, 20]),
            ((1..=10).collect(), [1, 5, 10, 10, 10]),
        ];
        for (times, expected) in cases {
            let summary = of(times.clone()).summary().unwrap();
            assert_eq!(
                summary.columns().map(|(_, time)| time),
                expected.map(Duration::from_millis),
                "{times:?}"
            );
        }
        assert_eq!(of([]).summary(), None);
    }

    #[test]
    fn failures_are_counted_and_not_timed() {
        let mut series = of([1, 1, 1]);
        let nothing: Option<()> = series.time(|| bail!("no room"));
        assert_eq!((nothing, series.count(), series.failures()), (None, 4, 1));
        let json = series.to_json();
        assert_eq!(json["failure_rate"], 0.25);
        assert_eq!(json["first_failure"], "no room");
        assert_eq!(json["max"], 1.0);
    }
}
