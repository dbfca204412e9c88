//! How agents do and what they cost.

use belljar_capture::eye::{Score, ScoreBase, score};
use belljar_domain::{Principal, Usd};
use belljar_ports::{
    lens::{AgentFilter, AgentMetrics, CostBy, CostLine, GroupBy, Period},
    store::{PAGE_LIMIT, StoreError},
};

use super::super::{Result, Service};

/// What agents did, and how well.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentScore {
    /// What they did.
    pub metrics: AgentMetrics,
    /// How well, compared with all agents of the project.
    pub score: Score,
}

impl Service {
    /// What agents did and how well, the busiest first.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn agent_metrics(
        &self,
        who: &Principal,
        mut filter: AgentFilter,
        by: GroupBy,
        limit: usize,
    ) -> Result<Vec<AgentScore>> {
        filter.project = who.scope().or(filter.project);
        let (lens, _) = self.lens();
        let everybody = AgentFilter { project: filter.project.clone(), ..AgentFilter::default() };
        let all = lens.agent_metrics(&everybody, GroupBy::Vendor, PAGE_LIMIT)?;
        let all = all.iter().map(base).fold(ScoreBase::default(), plus);
        let found = lens.agent_metrics(&filter, by, limit)?;
        Ok(found
            .into_iter()
            .map(|metrics| AgentScore { score: score(base(&metrics), all), metrics })
            .collect())
    }

    /// What was spent, by something.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn cost(&self, who: &Principal, mut period: Period, by: CostBy) -> Result<Vec<CostLine>> {
        period.project = who.scope().or(period.project);
        Ok(self.lens().0.cost(&period, by)?)
    }

    /// What agents have cost since this service began, each request counted once, as far as the records are. What is told
    /// now of days long gone is no news. Nobody waits for the records, and while they are made anew nothing counts.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn spent_so_far(&self) -> Result<Usd> {
        match self.0.eye.before.get() {
            Some(before) => Ok(self.spent_since_that_day()?.minus(*before)),
            None => Ok(Usd::default()),
        }
    }

    /// What was spent since the day this service began on.
    pub(super) fn spent_since_that_day(&self) -> std::result::Result<Usd, StoreError> {
        let period = Period { from: Some(self.0.eye.since), ..Period::default() };
        let days = self.0.eye.lens.cost(&period, CostBy::Day)?;
        Ok(days.iter().fold(Usd::default(), |sum, day| sum.plus(day.spent.cost)))
    }
}

fn base(metrics: &AgentMetrics) -> ScoreBase {
    let counts = &metrics.counts;
    ScoreBase {
        succeeded: counts.succeeded,
        failed: counts.failed,
        turns: counts.turns,
        turns_failed: counts.turns_failed,
        requests: counts.requests,
        requests_failed: counts.requests_failed,
        timed: metrics.durations.count(),
        duration_ms: metrics.duration_ms,
        cost: metrics.spent.cost.0,
    }
}

const fn plus(one: ScoreBase, other: ScoreBase) -> ScoreBase {
    ScoreBase {
        succeeded: one.succeeded + other.succeeded,
        failed: one.failed + other.failed,
        turns: one.turns + other.turns,
        turns_failed: one.turns_failed + other.turns_failed,
        requests: one.requests + other.requests,
        requests_failed: one.requests_failed + other.requests_failed,
        timed: one.timed + other.timed,
        duration_ms: one.duration_ms + other.duration_ms,
        cost: one.cost.saturating_add(other.cost),
    }
}
