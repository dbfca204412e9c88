//! Sandboxes that live, by project, provider and state.
//!
//! Owns: the bound. Whoever may name projects could make as many series as they like; the largest have a name here, the
//! rest are one.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::atomic::AtomicI64,
};

use belljar_domain::{ProjectId, SandboxState};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};

/// Projects with a series of their own, and the name of all others together.
const MOST_PROJECTS: usize = 100;
const OTHERS: &str = "other";
const LIVE: [(SandboxState, &str); 4] = [
    (SandboxState::Creating, "creating"),
    (SandboxState::Running, "running"),
    (SandboxState::Paused, "paused"),
    (SandboxState::Stopping, "stopping"),
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    project: String,
    provider: String,
    state: &'static str,
}

/// The gauge.
#[derive(Debug)]
pub(super) struct Active {
    family: Family<Labels, Gauge<i64, AtomicI64>>,
    provider: &'static str,
}

impl Active {
    pub(super) fn new(provider: &'static str) -> Self {
        Self { family: Family::default(), provider }
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Sandboxes that live, by project, provider and state";
        registry.register("sandbox_active_count", help, self.family.clone());
    }

    /// Shows what lives now. What was shown before and is over is gone, but for the default project's zeroes, without
    /// which a server at rest would look like none.
    pub(super) fn set(&self, active: &BTreeMap<(ProjectId, String, SandboxState), u64>) {
        let named = largest(active);
        let labels =
            |project: String, provider: &str, state| Labels { project, provider: provider.to_owned(), state };
        let at_rest =
            LIVE.map(|(_, state)| (labels(ProjectId::default().to_string(), self.provider, state), 0));
        let mut counts = HashMap::from(at_rest);
        for ((project, provider, state), count) in active {
            let Some((_, state)) = LIVE.into_iter().find(|(live, _)| live == state) else { continue };
            let project = if named.contains(project) { project.to_string() } else { OTHERS.to_owned() };
            *counts.entry(labels(project, provider, state)).or_default() += count;
        }
        self.family.clear();
        for (labels, count) in counts {
            self.family.get_or_create(&labels).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }
}

/// The projects with the most sandboxes.
fn largest(active: &BTreeMap<(ProjectId, String, SandboxState), u64>) -> BTreeSet<&ProjectId> {
    let mut totals: BTreeMap<&ProjectId, u64> = BTreeMap::new();
    for ((project, ..), count) in active {
        *totals.entry(project).or_default() += count;
    }
    let mut order: Vec<_> = totals.into_iter().collect();
    // Those of the same size in the order of their names, so that they do not come and go.
    order.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
    order.into_iter().take(MOST_PROJECTS).map(|(project, _)| project).collect()
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn the_number_of_series_is_bounded_and_nobody_is_left_out() {
        let mut active = BTreeMap::new();
        for number in 0..250_u64 {
            let project: ProjectId = format!("p{number:03}").parse().unwrap();
            let count = if number == 249 { 7 } else { 1 };
            active.insert((project, "process".to_owned(), SandboxState::Running), count);
        }
        let gauge = Active::new("process");
        let mut registry = Registry::default();
        gauge.register(&mut registry);
        let written = |active: &BTreeMap<_, _>| {
            gauge.set(active);
            let mut text = String::new();
            encode(&mut text, &registry).unwrap();
            text
        };
        let text = written(&active);
        let running: Vec<_> = text.lines().filter(|line| line.contains("state=\"running\"")).collect();
        assert_eq!(running.len(), 102, "{text}");
        assert!(text.contains("project=\"p249\",provider=\"process\",state=\"running\"} 7"), "{text}");
        assert!(text.contains("project=\"other\",provider=\"process\",state=\"running\"} 150"), "{text}");
        let sum: u64 =
            running.iter().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
        assert_eq!(sum, 256);
        assert!(!written(&BTreeMap::new()).contains("p249"), "what is over is gone");
    }
}
