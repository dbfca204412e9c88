//! What records come to: agents, tools, hand-offs, money.

use std::collections::{BTreeMap, HashMap};

use belljar_domain::{
    Timestamp, Tokens, Usd,
    eye::{Counts, Spent, Spread},
};
use belljar_ports::{
    StoreError,
    lens::{AgentFilter, AgentMetrics, CostBy, CostLine, GroupBy, Handoff, Period, ToolDay, ToolUsage},
    store::PAGE_LIMIT,
};
use rusqlite::{Connection, Row, params_from_iter, types::Value};

use super::super::sql::{Doing, Filter, amount, moment, time};
use super::{READING, rollups::day};

type Answer<T> = Result<T, StoreError>;

const SPENT: &str = "sum(requests), sum(input), sum(output), sum(cache_read), sum(cache_write_5m), sum(cache_write_1h), sum(cost), sum(estimated), sum(at_list_price), sum(unpriced)";

fn sums(row: &Row<'_>, at: usize) -> rusqlite::Result<Spent> {
    // A sum of nothing is nothing.
    let number = |offset: usize| {
        Ok::<_, rusqlite::Error>(
            row.get::<_, Option<i64>>(at + offset)?.map_or(0, |n| u64::try_from(n).unwrap_or(0)),
        )
    };
    Ok(Spent {
        requests: number(0)?,
        tokens: Tokens {
            input: number(1)?,
            output: number(2)?,
            cache_read: number(3)?,
            cache_write_5m: number(4)?,
            cache_write_1h: number(5)?,
        },
        cost: Usd(number(6)?),
        estimated: number(7)?,
        at_list_price: number(8)?,
        unpriced: number(9)?,
    })
}

fn agents_where(wanted: &AgentFilter, prefix: &str) -> Filter {
    let mut filter = Filter::default();
    filter.and_if(&format!("{prefix}project = ?"), wanted.project.as_ref());
    filter.and_if(&format!("{prefix}session = ?"), wanted.session.as_ref());
    filter.and_if(&format!("{prefix}agent_type = ?"), wanted.agent_type.as_ref());
    filter.and_if(&format!("{prefix}vendor = ?"), wanted.vendor.as_ref());
    if let Some(agent) = &wanted.agent {
        let either = format!("({prefix}agent = ? OR ({prefix}session = ? AND {prefix}agent = ''))");
        filter.and(either, [Value::Text(agent.clone()), Value::Text(agent.clone())]);
    }
    if let Some(from) = wanted.from {
        filter.and(format!("{prefix}last >= ?"), [time(from)]);
    }
    if let Some(until) = wanted.until {
        filter.and(format!("{prefix}began < ?"), [time(until)]);
    }
    filter
}

pub(super) fn agents(
    db: &Connection,
    wanted: &AgentFilter,
    by: GroupBy,
    limit: usize,
) -> Answer<Vec<AgentMetrics>> {
    let key = match by {
        GroupBy::Agent => "CASE agent WHEN '' THEN session ELSE agent END",
        GroupBy::Type => "CASE agent WHEN '' THEN 'main' ELSE coalesce(agent_type, 'unknown') END",
        GroupBy::Vendor => "coalesce(vendor, 'unknown')",
    };
    let filter = agents_where(wanted, "");
    // Each is a group of its own when each is asked for, and the index knows the busiest. Otherwise all are looked
    // through once and put together here: sorting whole rows into groups would take longer than reading them.
    let order = if by == GroupBy::Agent {
        format!(" ORDER BY calls DESC, id DESC LIMIT {limit}")
    } else {
        String::new()
    };
    let sql = format!(
        "SELECT {key}, session, agent_type, vendor, began, last, events, prompts, turns, turns_failed, calls, succeeded,
                failed, denied, cancelled, requests_failed, compactions, duration_ms, {}, durations
         FROM agents{}{order}",
        SPENT.replace("sum(", "("),
        filter.clause()
    );
    let mut read = db.prepare_cached(&sql).doing(READING)?;
    let mut rows = read.query(params_from_iter(&filter.values)).doing(READING)?;
    let mut each: Vec<AgentMetrics> = Vec::new();
    let mut groups: HashMap<String, AgentMetrics> = HashMap::new();
    while let Some(row) = rows.next().doing(READING)? {
        let one = metrics(row, by).doing(READING)?;
        if by == GroupBy::Agent {
            each.push(one);
            continue;
        }
        let name = row.get_ref(0).doing(READING)?.as_str().unwrap_or_default();
        match groups.get_mut(name) {
            Some(group) => join(group, &one),
            None => _ = groups.insert(name.to_owned(), AgentMetrics { key: name.to_owned(), ..one }),
        }
    }
    if by != GroupBy::Agent {
        each = groups.into_values().collect();
        each.sort_by(|a, b| b.counts.calls.cmp(&a.counts.calls).then_with(|| a.key.cmp(&b.key)));
        each.truncate(limit);
    }
    Ok(each)
}

/// Puts an agent to those of its group.
fn join(group: &mut AgentMetrics, one: &AgentMetrics) {
    group.agents += one.agents;
    group.first = group.first.min(one.first);
    group.last = group.last.max(one.last);
    group.counts = group.counts.plus(one.counts);
    group.duration_ms += one.duration_ms;
    group.spent = group.spent.plus(one.spent);
    group.durations.merge(&one.durations);
}

/// One agent; of one among many, only what is put together.
fn metrics(row: &Row<'_>, by: GroupBy) -> rusqlite::Result<AgentMetrics> {
    let own = |at: usize| match by {
        GroupBy::Agent => row.get::<_, Option<String>>(at),
        GroupBy::Type | GroupBy::Vendor => Ok(None),
    };
    let durations = row.get_ref(28)?.as_str().unwrap_or_default();
    Ok(AgentMetrics {
        key: own(0)?.unwrap_or_default(),
        agents: 1,
        session: own(1)?,
        agent_type: own(2)?,
        vendor: own(3)?,
        first: moment(row, 4)?,
        last: moment(row, 5)?,
        counts: Counts {
            events: amount(row, 6)?,
            prompts: amount(row, 7)?,
            turns: amount(row, 8)?,
            turns_failed: amount(row, 9)?,
            calls: amount(row, 10)?,
            succeeded: amount(row, 11)?,
            failed: amount(row, 12)?,
            denied: amount(row, 13)?,
            cancelled: amount(row, 14)?,
            requests_failed: amount(row, 15)?,
            compactions: amount(row, 16)?,
            requests: amount(row, 18)?,
            subagents: 0,
        },
        duration_ms: amount(row, 17)?,
        spent: sums(row, 18)?,
        durations: if durations.len() > 2 {
            serde_json::from_str(durations).unwrap_or_default()
        } else {
            Spread::default()
        },
    })
}

fn days(period: &Period) -> Filter {
    let mut filter = Filter::default();
    if let Some(from) = period.from {
        filter.and("day >= ?", [Value::Integer(day(from))]);
    }
    if let Some(until) = period.until {
        let last = day(Timestamp::from_micros(until.as_micros().saturating_sub(1)));
        filter.and("day <= ?", [Value::Integer(last)]);
    }
    filter.and_if("project = ?", period.project.as_ref());
    filter
}

pub(super) fn tools(db: &Connection, period: &Period) -> Answer<Vec<ToolUsage>> {
    let mut filter = days(period);
    filter.and_if("tool = ?", period.tool.as_ref());
    let sql = format!(
        "SELECT tool, day, calls, succeeded, failed, denied, cancelled, duration_ms, input_bytes, output_bytes, cost,
                durations
         FROM tool_days{} ORDER BY tool, day",
        filter.clause()
    );
    let mut read = db.prepare_cached(&sql).doing(READING)?;
    let rows = read.query_map(params_from_iter(&filter.values), tool_day).doing(READING)?;
    let mut all: BTreeMap<String, ToolUsage> = BTreeMap::new();
    for row in rows {
        let (tool, one) = row.doing(READING)?;
        let usage = all.entry(tool.clone()).or_insert_with(|| ToolUsage { tool, ..ToolUsage::default() });
        usage.total.add(&one);
        match usage.days.last_mut() {
            Some(last) if last.day == one.day => last.add(&one),
            _ => usage.days.push(one),
        }
    }
    let mut sorted: Vec<ToolUsage> = all.into_values().filter(|usage| usage.total.calls > 0).collect();
    sorted.sort_by_key(|usage| std::cmp::Reverse(usage.total.calls));
    sorted.truncate(PAGE_LIMIT);
    Ok(sorted)
}

fn tool_day(row: &Row<'_>) -> rusqlite::Result<(String, ToolDay)> {
    let json: String = row.get(11)?;
    let day = ToolDay {
        day: row.get(1)?,
        calls: amount(row, 2)?,
        succeeded: amount(row, 3)?,
        failed: amount(row, 4)?,
        denied: amount(row, 5)?,
        cancelled: amount(row, 6)?,
        duration_ms: amount(row, 7)?,
        input_bytes: amount(row, 8)?,
        output_bytes: amount(row, 9)?,
        cost: Usd(amount(row, 10)?),
        durations: serde_json::from_str(&json).unwrap_or_default(),
    };
    Ok((row.get(0)?, day))
}

pub(super) fn handoffs(db: &Connection, wanted: &AgentFilter) -> Answer<Vec<Handoff>> {
    let filter = agents_where(wanted, "child.");
    let joined = if filter.values.is_empty() {
        " WHERE child.agent <> '' AND child.parent IS NOT NULL".to_owned()
    } else {
        format!("{} AND child.agent <> '' AND child.parent IS NOT NULL", filter.clause())
    };
    let spent = SPENT.replace("sum(", "sum(child.");
    let sql = format!(
        "SELECT CASE coalesce(child.parent, '') WHEN '' THEN 'main' ELSE coalesce(parent.agent_type, 'unknown') END AS source,
                coalesce(child.agent_type, 'unknown') AS target, count(*), sum(child.ended IS NOT NULL), sum(child.failed),
                sum(coalesce(child.ended - child.began, 0)) / 1000, {spent}
         FROM agents AS child LEFT JOIN agents AS parent
           ON parent.session = child.session AND parent.agent = child.parent AND parent.project = child.project
         {joined} GROUP BY source, target ORDER BY count(*) DESC LIMIT {PAGE_LIMIT}"
    );
    let mut read = db.prepare_cached(&sql).doing(READING)?;
    let one = |row: &Row<'_>| {
        Ok(Handoff {
            from: row.get(0)?,
            to: row.get(1)?,
            count: amount(row, 2)?,
            done: amount(row, 3)?,
            calls_failed: amount(row, 4)?,
            duration_ms: amount(row, 5)?,
            spent: sums(row, 6)?,
        })
    };
    let rows = read.query_map(params_from_iter(&filter.values), one).doing(READING)?;
    rows.collect::<rusqlite::Result<_>>().doing(READING)
}

pub(super) fn cost(db: &Connection, period: &Period, by: CostBy) -> Answer<Vec<CostLine>> {
    let mut filter = days(period);
    let key = match by {
        CostBy::Day => "strftime('%Y-%m-%d', day * 86400, 'unixepoch')",
        CostBy::Project => "project",
        CostBy::Session => "session",
        CostBy::Agent => "CASE agent WHEN '' THEN session ELSE agent END",
        CostBy::Model => "model",
        CostBy::Run => "run",
        CostBy::Sandbox => "sandbox",
        CostBy::Tool => {
            let one = |usage: ToolUsage| CostLine {
                key: usage.tool,
                spent: Spent { cost: usage.total.cost, ..Spent::default() },
            };
            let mut all: Vec<CostLine> = tools(db, period)?.into_iter().map(one).collect();
            all.sort_by_key(|line| std::cmp::Reverse(line.spent.cost));
            return Ok(all);
        }
    };
    filter.and_if("session = ?", period.session.as_ref());
    let sql = format!("SELECT {key}, {} FROM spend{}", SPENT.replace("sum(", "("), filter.clause());
    let mut read = db.prepare_cached(&sql).doing(READING)?;
    let mut rows = read.query(params_from_iter(&filter.values)).doing(READING)?;
    // Put together here for the same reason as agents are.
    let mut lines: HashMap<String, Spent> = HashMap::new();
    while let Some(row) = rows.next().doing(READING)? {
        let name = row.get_ref(0).doing(READING)?.as_str().unwrap_or_default();
        let spent = sums(row, 1).doing(READING)?;
        match lines.get_mut(name) {
            Some(line) => *line = line.plus(spent),
            None => _ = lines.insert(name.to_owned(), spent),
        }
    }
    let is_told = |line: &CostLine| !line.key.is_empty() && line.spent.requests > 0;
    let mut all: Vec<CostLine> =
        lines.into_iter().map(|(key, spent)| CostLine { key, spent }).filter(is_told).collect();
    match by {
        CostBy::Day => all.sort_by(|a, b| a.key.cmp(&b.key)),
        _ => all.sort_by(|a, b| b.spent.cost.cmp(&a.spent.cost).then_with(|| a.key.cmp(&b.key))),
    }
    all.truncate(PAGE_LIMIT);
    Ok(all)
}
