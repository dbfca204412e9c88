//! Watching what a sandbox uses: alerts at thresholds, and an end to what has hit a hard limit and keeps hammering it.

use std::time::{Duration, Instant};

use belljar_domain::{Alert, KillCause, Limits, Thresholds, Usage};

/// When reaching a hard limit becomes a reason to kill. Memory needs no rule: the kernel kills by itself. The processor
/// has none: it is throttled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KillRule {
    /// Successive samples at the process limit, each with further forks refused.
    pub pids_samples: u32,
    /// Successive samples with a full disk.
    pub disk_samples: u32,
}

impl Default for KillRule {
    fn default() -> Self {
        Self { pids_samples: 4, disk_samples: 20 }
    }
}

/// What one sample showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Thresholds passed that were not passed in the sample before, or got worse.
    pub alerts: Vec<Alert>,
    /// A reason to kill.
    pub kill: Option<KillCause>,
}

/// The memory between samples.
#[derive(Debug)]
pub struct Monitor {
    limits: Limits,
    thresholds: Thresholds,
    rule: KillRule,
    last: Option<(Instant, Usage)>,
    standing: Vec<Alert>,
    at_pids: u32,
    at_disk: u32,
}

impl Monitor {
    /// How often to look.
    pub const INTERVAL: Duration = Duration::from_millis(250);

    /// Begins to watch a sandbox with these limits.
    #[must_use]
    pub const fn new(limits: Limits, thresholds: Thresholds, rule: KillRule) -> Self {
        Self { limits, thresholds, rule, last: None, standing: Vec::new(), at_pids: 0, at_disk: 0 }
    }

    /// Judges one sample taken at `now`.
    pub fn observe(&mut self, now: Instant, usage: Usage) -> Observation {
        let Some((then, before)) = self.last.replace((now, usage)) else {
            return Observation { alerts: Vec::new(), kill: None };
        };
        let elapsed = u64::try_from(now.saturating_duration_since(then).as_micros()).unwrap_or(u64::MAX);
        let found = self.thresholds.alerts(&before, &usage, elapsed, &self.limits);
        let known = |alert: &Alert| {
            self.standing.iter().any(|old| old.trigger == alert.trigger && old.severity >= alert.severity)
        };
        let alerts = found.iter().filter(|alert| !known(alert)).cloned().collect();
        self.standing = found;
        Observation { alerts, kill: self.reason(&before, &usage) }
    }

    fn reason(&mut self, before: &Usage, now: &Usage) -> Option<KillCause> {
        let full = |used: Option<u64>, limit: u64| used.is_some_and(|used| used >= limit);
        let limit = u64::from(self.limits.pids);
        // A bomb hovers just below the limit between two refusals. Where nobody counts those, standing at the limit
        // itself has to do.
        let crowded = match now.forks_refused.zip(before.forks_refused) {
            Some((now_refused, refused)) => full(now.pids, limit * 9 / 10) && now_refused > refused,
            None => full(now.pids, limit * 49 / 50),
        };
        self.at_pids = if crowded { self.at_pids + 1 } else { 0 };
        let disk = full(now.disk_bytes, self.limits.disk.as_bytes()) || full(now.inodes, self.limits.inodes);
        self.at_disk = if disk { self.at_disk + 1 } else { 0 };
        if self.at_pids >= self.rule.pids_samples {
            return Some(KillCause::Pids);
        }
        (self.at_disk >= self.rule.disk_samples).then_some(KillCause::Disk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(samples: impl IntoIterator<Item = Usage>) -> Vec<Observation> {
        let mut monitor = Monitor::new(Limits::default(), Thresholds::default(), KillRule::default());
        let start = Instant::now();
        samples
            .into_iter()
            .zip(1..)
            .map(|(usage, tick)| monitor.observe(start + Monitor::INTERVAL * tick, usage))
            .collect()
    }

    #[test]
    fn a_bomb_that_keeps_forking_is_ended_and_a_busy_build_is_not() {
        let bomb =
            (0..8).map(|tick| Usage { pids: Some(512), forks_refused: Some(tick * 100), ..Usage::default() });
        assert_eq!(watch(bomb).last().unwrap().kill, Some(KillCause::Pids));
        let build = (0..8).map(|_| Usage { pids: Some(512), forks_refused: Some(3), ..Usage::default() });
        assert!(watch(build).iter().all(|seen| seen.kill.is_none()));
    }

    #[test]
    fn where_refusals_are_not_counted_the_limit_itself_names_a_bomb() {
        let bomb = (0..8).map(|tick| Usage { pids: Some(505 + tick), ..Usage::default() });
        assert_eq!(watch(bomb).last().unwrap().kill, Some(KillCause::Pids));
        let build = (0..8).map(|_| Usage { pids: Some(480), ..Usage::default() });
        assert!(watch(build).iter().all(|seen| seen.kill.is_none()));
    }

    #[test]
    fn sixty_seconds_of_full_cpu_kill_nothing() {
        let busy = (0..240).map(|tick| Usage { cpu_micros: Some(tick * 250_000), ..Usage::default() });
        let seen = watch(busy);
        assert!(seen.iter().all(|seen| seen.kill.is_none()));
        assert_eq!(
            seen.iter().map(|seen| seen.alerts.len()).sum::<usize>(),
            1,
            "one alert, not one per sample"
        );
    }

    #[test]
    fn a_disk_that_stays_full_is_ended() {
        let full = Usage { disk_bytes: Some(1 << 30), ..Usage::default() };
        let seen = watch(std::iter::repeat_n(full, 30));
        assert_eq!(seen.last().unwrap().kill, Some(KillCause::Disk));
        assert_eq!(seen[5].kill, None);
    }
}
