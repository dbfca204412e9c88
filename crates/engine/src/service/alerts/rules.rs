//! From facts to readings: what each rule measures, and where its threshold is. Pure.

use belljar_domain::{ProjectId, SandboxId, Usd};

use super::{AlertSettings, facts::Facts};

/// The fewest commands or sandboxes a rate is made of; one failure of one is no rate.
const FEWEST: u64 = 5;

/// What can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    TimeoutRate,
    ErrorRate,
    Cost,
    QueueFull,
    WriterLag,
    Memory,
    Disk,
}

impl Rule {
    /// Its name, the same as that of its fellow in deploy/alerts.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::TimeoutRate => "SandboxTimeoutRateHigh",
            Self::ErrorRate => "SandboxErrorRateHigh",
            Self::Cost => "SandboxCostHigh",
            Self::QueueFull => "SandboxQueueFull",
            Self::WriterLag => "LedgerWriterLag",
            Self::Memory => "SandboxMemoryHigh",
            Self::Disk => "SandboxDiskHigh",
        }
    }

    pub(super) const fn severity(self) -> &'static str {
        match self {
            Self::WriterLag | Self::ErrorRate | Self::QueueFull => "critical",
            Self::TimeoutRate | Self::Cost | Self::Memory | Self::Disk => "warning",
        }
    }

    /// What it says to a person.
    pub(super) fn summary(self, value: u64, threshold: u64) -> String {
        match self {
            Self::TimeoutRate => format!("{value} % of commands ran out of time (threshold {threshold} %)"),
            Self::ErrorRate => {
                format!("{value} % of sandboxes could not be made or removed (threshold {threshold} %)")
            }
            Self::Cost => {
                let dollars = Usd::from_micros;
                format!("agents cost {} (threshold {})", dollars(value), dollars(threshold))
            }
            Self::QueueFull => {
                format!("{value} % of the places to wait for a sandbox are taken (threshold {threshold} %)")
            }
            Self::WriterLag => format!("the oldest write waits {value} ms (threshold {threshold} ms)"),
            Self::Memory => format!("a sandbox uses {value} % of its memory (threshold {threshold} %)"),
            Self::Disk => format!("a sandbox uses {value} % of its disk (threshold {threshold} %)"),
        }
    }
}

/// What an alert is about: a rule, and the sandbox if it is one's.
pub(super) type Subject = (Rule, Option<SandboxId>);

/// What a rule measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) subject: Subject,
    pub(super) project: ProjectId,
    pub(super) value: u64,
    pub(super) threshold: u64,
}

/// Measures what there is to measure.
pub(super) fn readings(facts: &Facts, settings: &AlertSettings) -> Vec<Reading> {
    let lag = u64::try_from(facts.writer_lag.as_millis()).unwrap_or(u64::MAX);
    let longest = u64::try_from(settings.writer_lag.as_millis()).unwrap_or(u64::MAX);
    let enough = |(all, some): (u64, u64)| (all >= FEWEST).then(|| percent(some, all));
    let whole = [
        (Rule::TimeoutRate, enough(facts.commands), settings.timeout_rate),
        (Rule::ErrorRate, enough(facts.sandboxes), settings.error_rate),
        (Rule::Cost, Some(facts.cost_micros), settings.cost_micros),
        (Rule::QueueFull, Some(percent(facts.queue.0, facts.queue.1)), settings.queue),
        (Rule::WriterLag, Some(lag), longest),
    ];
    let of_all = whole.into_iter().filter_map(|(rule, value, threshold)| {
        Some(Reading { subject: (rule, None), project: ProjectId::default(), value: value?, threshold })
    });
    let of_each = facts.used.iter().flat_map(|used| {
        let memory = (Rule::Memory, used.memory, settings.memory);
        [memory, (Rule::Disk, used.disk, settings.disk)].into_iter().filter_map(|(rule, share, threshold)| {
            let (bytes, limit) = share?;
            let subject = (rule, Some(used.sandbox));
            Some(Reading { subject, project: used.project.clone(), value: percent(bytes, limit), threshold })
        })
    });
    of_all.chain(of_each).filter(|reading| reading.threshold > 0).collect()
}

fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn value(facts: &Facts, rule: Rule) -> Option<u64> {
        let all = readings(facts, &AlertSettings { cost_micros: 1, ..AlertSettings::default() });
        all.into_iter().find(|reading| reading.subject.0 == rule).map(|reading| reading.value)
    }

    #[test]
    fn rates_need_more_than_a_few() {
        assert_eq!(value(&Facts { commands: (4, 4), ..Facts::default() }, Rule::TimeoutRate), None);
        assert_eq!(value(&Facts { commands: (20, 5), ..Facts::default() }, Rule::TimeoutRate), Some(25));
    }

    #[test]
    fn what_nobody_measures_reads_nothing() {
        assert_eq!(value(&Facts { cost_micros: 7, ..Facts::default() }, Rule::Cost), Some(7));
        assert_eq!(value(&Facts::default(), Rule::Memory), None);
    }

    #[test]
    fn a_threshold_of_nothing_turns_a_rule_off() {
        let facts = Facts { writer_lag: Duration::from_secs(9), ..Facts::default() };
        let off = AlertSettings { writer_lag: Duration::ZERO, ..AlertSettings::default() };
        assert!(readings(&facts, &off).iter().all(|reading| reading.subject.0 != Rule::WriterLag));
        assert_eq!(value(&facts, Rule::WriterLag), Some(9000));
    }
}
