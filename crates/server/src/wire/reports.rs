//! What records come to, as it travels.

use std::collections::BTreeSet;

use belljar_api as api;
use belljar_engine::service::{AgentScore, Detection, DetectionKind};
use belljar_ports::lens::{AgentFilter, CostBy, CostLine, GroupBy, Handoff, Period, ToolDay, ToolUsage};

use super::{
    records::{counts, spent, usd},
    short,
};
use crate::{
    extract::parsed,
    problem::{Answer, Failure},
};

/// Seconds.
const DAY: i64 = 86_400;

#[expect(clippy::cast_precision_loss, reason = "a rate needs a few digits")]
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

pub(crate) fn agent_metrics(found: AgentScore) -> api::AgentMetrics {
    let (metrics, score) = (found.metrics, found.score);
    api::AgentMetrics {
        success_rate: ratio(metrics.counts.succeeded, metrics.counts.decided()),
        p50_ms: metrics.durations.percentile(50),
        p95_ms: metrics.durations.percentile(95),
        mean_ms: ratio(metrics.duration_ms, metrics.durations.count()),
        key: metrics.key,
        session_id: metrics.session,
        agent_type: metrics.agent_type,
        app: metrics.vendor,
        agents: metrics.agents,
        counts: counts(metrics.counts),
        spent: spent(metrics.spent),
        score: api::Score {
            overall: score.overall,
            success: score.success,
            speed: score.speed,
            cost_efficiency: score.cost_efficiency,
            reliability: score.reliability,
        },
        first: metrics.first.to_string(),
        last: metrics.last.to_string(),
    }
}

/// The steps of a trend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Day,
    Week,
    Month,
}

impl Step {
    pub(crate) fn of(text: Option<&str>) -> Answer<Self> {
        match text {
            None | Some("day") => Ok(Self::Day),
            Some("week") => Ok(Self::Week),
            Some("month") => Ok(Self::Month),
            Some(_) => Err(Failure::field("step", "must be `day`, `week` or `month`")),
        }
    }

    /// The first day of the step a day is in, as text: weeks begin on Mondays.
    fn first(self, day: i64) -> String {
        // The first day of 1970 was a Thursday.
        let day = if self == Self::Week { day - (day + 3).rem_euclid(7) } else { day };
        let date: String = belljar_domain::Timestamp::from_micros(day * DAY * 1_000_000)
            .to_string()
            .chars()
            .take(10)
            .collect();
        match self {
            Self::Month => format!("{}-01", date.get(..7).unwrap_or_default()),
            Self::Day | Self::Week => date,
        }
    }
}

pub(crate) fn tool_usage(usage: &ToolUsage, step: Step) -> api::ToolUsage {
    let mut trend: Vec<(String, ToolDay)> = Vec::new();
    for day in &usage.days {
        let first = step.first(day.day);
        match trend.last_mut() {
            Some((known, sum)) if *known == first => sum.add(day),
            _ => trend.push((first, day.clone())),
        }
    }
    api::ToolUsage {
        tool: usage.tool.clone(),
        total: stretch(None, &usage.total),
        trend: trend.into_iter().map(|(from, sum)| stretch(Some(from), &sum)).collect(),
    }
}

fn stretch(from: Option<String>, sum: &ToolDay) -> api::ToolStretch {
    api::ToolStretch {
        from,
        calls: sum.calls,
        succeeded: sum.succeeded,
        failed: sum.failed,
        denied: sum.denied,
        cancelled: sum.cancelled,
        success_rate: ratio(sum.succeeded, sum.succeeded + sum.failed),
        p50_ms: sum.durations.percentile(50),
        p95_ms: sum.durations.percentile(95),
        mean_ms: ratio(sum.duration_ms, sum.durations.count()),
        input_bytes: sum.input_bytes,
        output_bytes: sum.output_bytes,
        cost_usd: usd(sum.cost),
    }
}

pub(crate) fn handoffs(edges: Vec<Handoff>) -> api::HandoffGraph {
    let nodes: BTreeSet<String> =
        edges.iter().flat_map(|edge| [edge.from.clone(), edge.to.clone()]).collect();
    let edge = |edge: Handoff| api::Handoff {
        mean_ms: ratio(edge.duration_ms, edge.done),
        from: edge.from,
        to: edge.to,
        count: edge.count,
        done: edge.done,
        calls_failed: edge.calls_failed,
        spent: spent(edge.spent),
    };
    api::HandoffGraph { nodes: nodes.into_iter().collect(), edges: edges.into_iter().map(edge).collect() }
}

pub(crate) fn cost(by: &str, prices_as_of: &str, lines: Vec<CostLine>) -> api::CostReport {
    let total = lines.iter().fold(belljar_domain::Usd::default(), |sum, line| sum.plus(line.spent.cost));
    let line = |line: CostLine| api::CostLine { key: line.key, spent: spent(line.spent) };
    api::CostReport {
        by: by.to_owned(),
        prices_as_of: prices_as_of.to_owned(),
        items: lines.into_iter().map(line).collect(),
        total_usd: usd(total),
    }
}

pub(crate) fn cost_by(text: Option<&str>) -> Answer<(&'static str, CostBy)> {
    let known = [
        ("day", CostBy::Day),
        ("project", CostBy::Project),
        ("session", CostBy::Session),
        ("agent", CostBy::Agent),
        ("model", CostBy::Model),
        ("tool", CostBy::Tool),
        ("run", CostBy::Run),
        ("sandbox", CostBy::Sandbox),
    ];
    let wanted = text.unwrap_or("day");
    let wrong = || Failure::field("by", "must be day, project, session, agent, model, tool, run or sandbox");
    known.into_iter().find(|(name, _)| *name == wanted).ok_or_else(wrong)
}

pub(crate) fn group_by(text: Option<&str>) -> Answer<GroupBy> {
    match text {
        None | Some("agent") => Ok(GroupBy::Agent),
        Some("type") => Ok(GroupBy::Type),
        Some("app") => Ok(GroupBy::Vendor),
        Some(_) => Err(Failure::field("by", "must be agent, type or app")),
    }
}

pub(crate) fn agent_filter(query: &api::AgentMetricsQuery) -> Answer<AgentFilter> {
    Ok(AgentFilter {
        project: None,
        session: short("session_id", query.session_id.as_deref(), 256)?,
        agent: short("agent_id", query.agent_id.as_deref(), 256)?,
        agent_type: short("agent_type", query.agent_type.as_deref(), 128)?,
        vendor: short("app", query.app.as_deref(), 128)?,
        from: parsed("from", query.from.as_deref())?,
        until: parsed("until", query.until.as_deref())?,
    })
}

pub(crate) fn handoff_filter(query: &api::HandoffQuery) -> Answer<AgentFilter> {
    Ok(AgentFilter {
        session: short("session_id", query.session_id.as_deref(), 256)?,
        vendor: short("app", query.app.as_deref(), 128)?,
        from: parsed("from", query.from.as_deref())?,
        until: parsed("until", query.until.as_deref())?,
        ..AgentFilter::default()
    })
}

pub(crate) fn period(from: Option<&str>, until: Option<&str>) -> Answer<Period> {
    Ok(Period { from: parsed("from", from)?, until: parsed("until", until)?, ..Period::default() })
}

pub(crate) fn detection(found: Detection) -> api::Detection {
    api::Detection {
        kind: match found.kind {
            DetectionKind::Loop => "loop".to_owned(),
            DetectionKind::Stall => "stall".to_owned(),
        },
        session_id: found.session,
        agent_id: Some(found.agent).filter(|agent| !agent.is_empty()),
        state: found.state.to_string(),
        tool: found.tool,
        call_id: found.call.map(|id| id.to_string()),
        times: found.times,
        failed: found.failed,
        last: found.last.to_string(),
        silent_seconds: found.silent_seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_begin_on_days_people_expect() {
        // 2026-11-18 is a Wednesday.
        let day = 20_775;
        assert_eq!(Step::Day.first(day), "2026-11-18");
        assert_eq!(Step::Week.first(day), "2026-11-16");
        assert_eq!(Step::Month.first(day), "2026-11-01");
        assert!(Step::of(Some("year")).is_err());
    }
}
