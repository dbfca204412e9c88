//! What belljar promises to cost, and whether it keeps to it.

use super::{
    contestant::{
        BELLJAR_EXEC, BELLJAR_ROOT, BELLJAR_USER, BWRAP_ROOT, BWRAP_USER, DOCKER_EXEC, DOCKER_RUN, FLOOR,
        HOOK, HOOK_BEHIND, HOOK_DENY, HOOK_DENY_KILLED, HOOK_KILLED, HTTP_EXEC, HTTP_LIFE, HTTP_LIFE_POOL,
        PYTHON_HOOK,
    },
    page::Findings,
};

/// One promise.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    pub(crate) promise: &'static str,
    /// At most this.
    pub(crate) bound: f64,
    pub(crate) unit: &'static str,
    /// What was measured, if it could be; of medians where it is a ratio of times.
    pub(crate) seen: Option<f64>,
    /// The same of the smallest times, which neighbours disturb least; it judges nothing.
    pub(crate) floor: Option<f64>,
}

impl Target {
    /// `None` when it was not measured.
    pub(crate) fn is_reached(&self) -> Option<bool> {
        self.seen.map(|seen| seen <= self.bound)
    }
}

const TIMES: &str = "×";

pub(crate) fn all(findings: &Findings) -> Vec<Target> {
    let at = |name: &str, percent| findings.races.iter().find(|race| race.name == name)?.times.at(percent);
    let ratio = |of, to, percent| Some(at(of, percent)? / at(to, percent)?);
    let creation = |live: u32| findings.growth.iter().find(|step| step.live == live).map(|step| step.p50);
    let per_hundred = findings.forks.total * 100.0 / f64::from(findings.forks.count);
    let race = |promise, bound, of, to| Target {
        promise,
        bound,
        unit: TIMES,
        seen: ratio(of, to, 50),
        floor: ratio(of, to, 0),
    };
    let single = |promise, bound, unit, seen| Target { promise, bound, unit, seen, floor: None };
    let ledger = findings.ledger.map(|rate| 50_000.0 * 1000.0 / rate);
    let within = |count: f64, rate: f64| Some(count * 1000.0 / rate);
    let growth = creation(500).zip(creation(10)).map(|(many, few)| many / few);
    let missing =
        f64::from(u32::try_from(findings.crowd.readers - findings.crowd.complete).unwrap_or(u32::MAX));
    vec![
        race("`belljar run`, root ≤ 1.5 × bwrap", 1.5, BELLJAR_ROOT, BWRAP_ROOT),
        race("`belljar run`, user ≤ 1.5 × bwrap", 1.5, BELLJAR_USER, BWRAP_USER),
        race("`belljar run` ≤ 1/20 of `docker run`", 0.05, BELLJAR_ROOT, DOCKER_RUN),
        race("`belljar exec` ≤ 1/20 of `docker exec`", 0.05, BELLJAR_EXEC, DOCKER_EXEC),
        single("idle sandbox ≤ 2 MiB (PSS)", 2048.0, "KiB", Some(findings.idle.processes)),
        single("creation among 500 ≤ 2 × among 10", 2.0, TIMES, growth),
        single("100 forks ≤ 1 s", 1000.0, "ms", Some(per_hundred)),
        single("snapshot to 9 attempts running ≤ 300 ms", 300.0, "ms", Some(findings.runs.started)),
        single("9 sleeping attempts ≤ 1.2 × one", 1.2, TIMES, Some(findings.runs.all / findings.runs.one)),
        single("10,000 files analysed ≤ 10 s", 10_000.0, "ms", Some(findings.runs.analysed)),
        race("HTTP create, exec, delete ≤ 1 × bwrap", 1.0, HTTP_LIFE, BWRAP_ROOT),
        race("the same from a warm pool ≤ 1/2 × bwrap", 0.5, HTTP_LIFE_POOL, BWRAP_ROOT),
        race("HTTP exec ≤ 3 × a plain spawn", 3.0, HTTP_EXEC, FLOOR),
        single("50,000 durable events, in batches of 100 ≤ 1 s", 1000.0, "ms", ledger),
        race("`belljar hook` ≤ 3 × a plain spawn", 3.0, HOOK, FLOOR),
        race("the same with a call denied", 3.0, HOOK_DENY, FLOOR),
        race("the same with the server killed", 3.0, HOOK_KILLED, FLOOR),
        race("the same with a call denied and the server killed, ≤ 4 ×", 4.0, HOOK_DENY_KILLED, FLOOR),
        race("the same with no server and 10,000 in the spool", 3.0, HOOK_BEHIND, FLOOR),
        single("a command up to 4 KB judged in process, p99 ≤ 1 ms", 1.0, "ms", Some(findings.judgement)),
        race("`belljar hook` ≤ 1/15 of a hook in Python", 1.0 / 15.0, HOOK, PYTHON_HOOK),
        single(
            "18,900 single events over HTTP ≤ 1 s",
            1000.0,
            "ms",
            within(18_900.0, findings.ingest.singles),
        ),
        single(
            "63,000 events over HTTP in batches of 100 ≤ 1 s",
            1000.0,
            "ms",
            within(63_000.0, findings.ingest.batched),
        ),
        single("200 readers of 1,000 events a second that miss one ≤ 0", 0.0, "readers", Some(missing)),
        single("any question about a million events, p95 ≤ 30 ms", 30.0, "ms", findings.records.slowest()),
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
