//! What belljar promises to cost, and whether it keeps to it.

use super::{
    contestant::{BELLJAR_EXEC, BELLJAR_ROOT, BELLJAR_USER, BWRAP_ROOT, BWRAP_USER, DOCKER_EXEC, DOCKER_RUN},
    page::Findings,
};

/// One promise.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    pub(crate) promise: &'static str,
    /// At most this.
    pub(crate) bound: f64,
    pub(crate) unit: &'static str,
    /// What was measured, if it could be.
    pub(crate) seen: Option<f64>,
}

impl Target {
    /// `None` when it was not measured.
    pub(crate) fn is_reached(&self) -> Option<bool> {
        self.seen.map(|seen| seen <= self.bound)
    }
}

const TIMES: &str = "×";

pub(crate) fn all(findings: &Findings) -> Vec<Target> {
    let median = |name: &str| findings.races.iter().find(|race| race.name == name)?.times.median();
    let ratio = |of: &str, to: &str| Some(median(of)? / median(to)?);
    let creation = |live: u32| findings.growth.iter().find(|step| step.live == live).map(|step| step.p50);
    let per_hundred = findings.forks.total * 100.0 / f64::from(findings.forks.count);
    let target = |promise, bound, unit, seen| Target { promise, bound, unit, seen };
    vec![
        target("`belljar run`, root ≤ 1.5 × bwrap", 1.5, TIMES, ratio(BELLJAR_ROOT, BWRAP_ROOT)),
        target("`belljar run`, user ≤ 1.5 × bwrap", 1.5, TIMES, ratio(BELLJAR_USER, BWRAP_USER)),
        target("`belljar run` ≤ 1/20 of `docker run`", 0.05, TIMES, ratio(BELLJAR_ROOT, DOCKER_RUN)),
        target("`belljar exec` ≤ 1/20 of `docker exec`", 0.05, TIMES, ratio(BELLJAR_EXEC, DOCKER_EXEC)),
        target("idle sandbox ≤ 2 MiB (PSS)", 2048.0, "KiB", Some(findings.idle.processes)),
        target(
            "creation among 500 ≤ 2 × among 10",
            2.0,
            TIMES,
            creation(500).zip(creation(10)).map(|(many, few)| many / few),
        ),
        target("100 forks ≤ 1 s", 1000.0, "ms", Some(per_hundred)),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::page::tests::sample, *};

    #[test]
    fn promises_are_judged_by_medians_and_the_unmeasured_stay_open() {
        let targets = all(&sample());
        let of = |start: &str| targets.iter().find(|target| target.promise.starts_with(start)).unwrap();
        assert_eq!(of("`belljar run`, root").is_reached(), Some(false));
        assert_eq!(of("`belljar run` ≤").is_reached(), Some(true));
        assert_eq!(of("`belljar exec`").is_reached(), None);
        assert_eq!(of("creation").is_reached(), Some(true));
        assert_eq!(of("100 forks").is_reached(), Some(true));
    }
}
