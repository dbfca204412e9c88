//! When an alert is raised and when it is resolved: only what holds for a while counts, in both directions, and what is
//! resolved must be clearly below its threshold. So nothing flickers.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use belljar_domain::{ProjectId, Timestamp};

use super::rules::{Reading, Subject};

/// What is resolved is below this share of its threshold, in percent.
const CLEAR: u64 = 90;
/// The most alerts at one time; sandboxes beyond that are as bad as those told of.
const MOST: usize = 1000;

/// One alert that is raised, or may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Alert {
    pub(super) subject: Subject,
    pub(super) project: ProjectId,
    pub(super) value: u64,
    pub(super) threshold: u64,
    pub(super) raised: Timestamp,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Raised(Alert),
    Resolved(Alert),
}

#[derive(Debug)]
struct Entry {
    alert: Alert,
    is_raised: bool,
    /// Since when it has been the other way.
    turning: Option<Instant>,
}

/// Everything that is raised, or may be.
#[derive(Debug, Default)]
pub(super) struct States(BTreeMap<Subject, Entry>);

impl States {
    /// Takes a look's readings in. A subject without a reading is as good as gone.
    pub(super) fn take(
        &mut self,
        readings: &[Reading],
        now: (Instant, Timestamp),
        hold: Duration,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        for reading in readings {
            let is_over = reading.value >= reading.threshold;
            if is_over && !self.0.contains_key(&reading.subject) && self.0.len() < MOST {
                let Reading { subject, project, value, threshold } = reading.clone();
                let alert = Alert { subject, project, value, threshold, raised: now.1 };
                self.0.insert(subject, Entry { alert, is_raised: false, turning: None });
            }
        }
        self.0.retain(|subject, entry| {
            let reading = readings.iter().find(|reading| reading.subject == *subject);
            let value = reading.map_or(0, |reading| reading.value);
            entry.step(value, now, hold, &mut changes)
        });
        changes
    }

    /// What is raised now.
    pub(super) fn raised(&self) -> Vec<Alert> {
        self.0.values().filter(|entry| entry.is_raised).map(|entry| entry.alert.clone()).collect()
    }
}

impl Entry {
    /// The answer is whether there is still something to watch.
    fn step(
        &mut self,
        value: u64,
        (instant, time): (Instant, Timestamp),
        hold: Duration,
        changes: &mut Vec<Change>,
    ) -> bool {
        let threshold = self.alert.threshold;
        self.alert.value = value;
        let turns = if self.is_raised {
            value.saturating_mul(100) < threshold.saturating_mul(CLEAR)
        } else {
            value >= threshold
        };
        if !turns {
            self.turning = None;
            return self.is_raised;
        }
        if instant.duration_since(*self.turning.get_or_insert(instant)) < hold {
            return true;
        }
        self.turning = None;
        if self.is_raised {
            changes.push(Change::Resolved(self.alert.clone()));
            return false;
        }
        (self.is_raised, self.alert.raised) = (true, time);
        changes.push(Change::Raised(self.alert.clone()));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{super::rules::Rule, *};

    /// What changes when these values are read, a second apart.
    fn changes(values: &[u64]) -> Vec<(usize, bool)> {
        let (mut states, began) = (States::default(), Instant::now());
        let mut all = Vec::new();
        for (second, value) in values.iter().enumerate() {
            let subject = (Rule::Memory, None);
            let reading = Reading { subject, project: ProjectId::default(), value: *value, threshold: 100 };
            let now = began + Duration::from_secs(u64::try_from(second).unwrap());
            let found = states.take(&[reading], (now, Timestamp::from_micros(0)), Duration::from_secs(2));
            all.extend(found.iter().map(|change| (second, matches!(change, Change::Raised(_)))));
        }
        all
    }

    #[test]
    fn what_holds_is_raised_once_and_resolved_once() {
        assert_eq!(changes(&[0, 100, 100, 100, 100, 0, 0, 0, 0]), [(3, true), (7, false)]);
    }

    #[test]
    fn what_flickers_is_neither() {
        assert_eq!(changes(&[100, 0, 100, 0, 100, 0]), []);
        assert_eq!(changes(&[100, 100, 100, 0, 100, 0, 0, 100]), [(2, true)]);
    }

    #[test]
    fn a_little_better_is_not_resolved() {
        assert_eq!(changes(&[100, 100, 100, 95, 95, 95, 95]), [(2, true)]);
    }

    #[test]
    fn a_sandbox_that_is_gone_is_resolved() {
        let (mut states, began) = (States::default(), Instant::now());
        let reading =
            Reading { subject: (Rule::Disk, None), project: ProjectId::default(), value: 100, threshold: 95 };
        let time = Timestamp::from_micros(0);
        assert_eq!(states.take(&[reading], (began, time), Duration::ZERO).len(), 1);
        assert_eq!(states.raised().len(), 1);
        assert!(matches!(states.take(&[], (began, time), Duration::ZERO)[..], [Change::Resolved(_)]));
        assert!(states.raised().is_empty());
    }
}
