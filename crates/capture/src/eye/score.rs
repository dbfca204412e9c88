//! How well an agent does, from 0 to 100, in four parts that can be seen. What cannot be known is left out, not guessed.

/// What was counted of an agent, or of all agents of a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScoreBase {
    /// Calls that succeeded.
    pub succeeded: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Turns that came to an end.
    pub turns: u64,
    /// Turns that broke off.
    pub turns_failed: u64,
    /// Requests to models that were answered.
    pub requests: u64,
    /// Requests that failed.
    pub requests_failed: u64,
    /// Calls whose time is known, and how long all of them took.
    pub timed: u64,
    /// Milliseconds of them all.
    pub duration_ms: u64,
    /// What it cost, in billionths of a dollar.
    pub cost: u64,
}

/// The parts and what they come to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Score {
    /// The mean of the parts that are known.
    pub overall: Option<f64>,
    /// Calls that succeeded, of those that came to an end.
    pub success: Option<f64>,
    /// How long a call takes, compared with the project's mean: as fast or faster is 100.
    pub speed: Option<f64>,
    /// What a successful call costs, compared with the project's mean: as cheap or cheaper is 100.
    pub cost_efficiency: Option<f64>,
    /// Turns and requests that did not break off.
    pub reliability: Option<f64>,
}

/// Scores an agent among others.
#[must_use]
pub fn score(own: ScoreBase, all: ScoreBase) -> Score {
    let success = ratio(own.succeeded, own.succeeded + own.failed);
    let speed = compared(mean(own.duration_ms, own.timed), mean(all.duration_ms, all.timed));
    let cost_efficiency = compared(mean(own.cost, own.succeeded), mean(all.cost, all.succeeded));
    let (good, bad) = (own.turns + own.requests, own.turns_failed + own.requests_failed);
    let reliability = ratio(good, good + bad);
    let parts = [success, speed, cost_efficiency, reliability];
    let known: Vec<f64> = parts.into_iter().flatten().collect();
    let count = f64::from(u8::try_from(known.len()).unwrap_or(u8::MAX));
    let overall = (!known.is_empty()).then(|| known.iter().sum::<f64>() / count);
    Score { overall, success, speed, cost_efficiency, reliability }
}

#[expect(clippy::cast_precision_loss, reason = "a score needs three digits")]
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64 * 100.0)
}

#[expect(clippy::cast_precision_loss, reason = "a score needs three digits")]
fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0 && sum > 0).then(|| sum as f64 / count as f64)
}

fn compared(own: Option<f64>, all: Option<f64>) -> Option<f64> {
    Some((all? / own? * 100.0).min(100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_seen_and_what_is_unknown_is_left_out() {
        let own = ScoreBase { succeeded: 9, failed: 1, timed: 10, duration_ms: 2000, ..ScoreBase::default() };
        let all =
            ScoreBase { succeeded: 90, failed: 10, timed: 100, duration_ms: 10_000, ..ScoreBase::default() };
        let found = score(own, all);
        assert_eq!((found.success, found.speed), (Some(90.0), Some(50.0)));
        assert_eq!((found.cost_efficiency, found.reliability), (None, None));
        assert_eq!(found.overall, Some(70.0));
        assert_eq!(score(ScoreBase::default(), all), Score::default());
    }
}
