//! What records come to: agents, tools, hand-offs, money.

use std::collections::BTreeMap;

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
    let sums = format!(
        "SELECT {key} AS name, count(*), max(session), max(agent_type), max(vendor), min(began), max(last), sum(events),
                sum(prompts), sum(turns), sum(turns_failed), sum(calls), sum(succeeded), sum(failed), sum(denied),
                sum(cancelled), sum(requests_failed), sum(compactions), sum(duration_ms), {SPENT}"
    );
    let sql = if by == GroupBy::Agent {
        // Each is a group of its own: nothing is to be summed, and the index knows the busiest.
        let each = ["sum(", "max(", "min("].iter().fold(sums, |sql, sum| sql.replace(sum, "("));
        let each = each.replace("count(*)", "1");
        format!("{each}, durations FROM agents{} ORDER BY calls DESC, id DESC LIMIT {limit}", filter.clause())
    } else {
        format!(
            "{sums}, '[]' FROM agents{} GROUP BY name ORDER BY sum(calls) DESC, name LIMIT {limit}",
            filter.clause()
        )
    };
    let mut read = db.prepare_cached(&sql).doing(READING)?;
    let rows = read.query_map(params_from_iter(&filter.values), |row| metrics(row, by)).doing(READING)?;
    let mut all = rows.collect::<rusqlite::Result<Vec<AgentMetrics>>>().doing(READING)?;
    drop(read);
    if by != GroupBy::Agent {
        let mut spreads = spreads(db, key, &filter)?;
        for metrics in &mut all {
            metrics.durations = spreads.remove(&metrics.key).unwrap_or_default();
        }
    }
    Ok(all)
}

fn metrics(row: &Row<'_>, by: GroupBy) -> rusqlite::Result<AgentMetrics> {
    let is_one = by == GroupBy::Agent;
    let durations = row.get_ref(29)?.as_str().unwrap_or_default();
    Ok(AgentMetrics {
        key: row.get(0)?,
        agents: amount(row, 1)?,
        session: row.get::<_, Option<String>>(2)?.filter(|_| is_one),
        agent_type: row.get::<_, Option<String>>(3)?.filter(|_| is_one),
        vendor: row.get::<_, Option<String>>(4)?.filter(|_| is_one),
        first: moment(row, 5)?,
        last: moment(row, 6)?,
        counts: Counts {
            events: amount(row, 7)?,
            prompts: amount(row, 8)?,
            turns: amount(row, 9)?,
            turns_failed: amount(row, 10)?,
            calls: amount(row, 11)?,
            succeeded: amount(row, 12)?,
            failed: amount(row, 13)?,
            denied: amount(row, 14)?,
            cancelled: amount(row, 15)?,
            requests_failed: amount(row, 16)?,
            compactions: amount(row, 17)?,
            requests: amount(row, 19)?,
            subagents: 0,
        },
        duration_ms: amount(row, 18)?,
        spent: sums(row, 19)?,
        durations: serde_json::from_str(durations).unwrap_or_default(),
    })
}

/// How long calls took, put together; looked through once for all groups.
fn spreads(db: &Connection, key: &str, filter: &Filter) -> Answer<BTreeMap<String, Spread>> {
    let sql = format!("SELECT {key}, durations FROM agents{}", filter.clause());
    let mut read = db.prepare_cached(&sql).doing(READING)?;
    let mut rows = read.query(params_from_iter(&filter.values)).doing(READING)?;
    let mut all: BTreeMap<String, Spread> = BTreeMap::new();
    while let Some(row) = rows.next().doing(READING)? {
        let json = row.get_ref(1).doing(READING)?.as_str().unwrap_or_default();
        if json.len() > 2 {
            let spread: Spread = serde_json::from_str(json).unwrap_or_default();
            all.entry(row.get(0).doing(READING)?).or_default().merge(&spread);
        }
    }
    Ok(all)
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
    let (key, order) = match by {
        CostBy::Day => ("strftime('%Y-%m-%d', day * 86400, 'unixepoch')", "name"),
        CostBy::Project => ("project", "sum(cost) DESC"),
        CostBy::Session => ("session", "sum(cost) DESC"),
        CostBy::Agent => ("CASE agent WHEN '' THEN session ELSE agent END", "sum(cost) DESC"),
        CostBy::Model => ("model", "sum(cost) DESC"),
        CostBy::Run => ("run", "sum(cost) DESC"),
        CostBy::Sandbox => ("sandbox", "sum(cost) DESC"),
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
    let sql = format!(
        "SELECT {key} AS name, {SPENT} FROM spend{} GROUP BY name HAVING name <> '' AND sum(requests) > 0
         ORDER BY {order} LIMIT {PAGE_LIMIT}",
        filter.clause()
    );
    let mut read = db.prepare_cached(&sql).doing(READING)?;
    let one = |row: &Row<'_>| Ok(CostLine { key: row.get(0)?, spent: sums(row, 1)? });
    let rows = read.query_map(params_from_iter(&filter.values), one).doing(READING)?;
    rows.collect::<rusqlite::Result<_>>().doing(READING)
}
