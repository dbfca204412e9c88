//! Counting: what the ledger holds, and what agents did in a stretch of time.

use std::collections::BTreeMap;

use belljar_domain::{ProjectId, Timestamp};
use belljar_ports::{
    StoreError,
    store::{AgentSummary, PAGE_LIMIT, Stats},
};
use rusqlite::{Connection, Row};

use super::sql::{Doing, amount, maybe_amount, maybe_moment};

const COUNTING: &str = "count what is in the store";
const SUMMING: &str = "sum up what agents did";

/// Counts events, in all or in one project.
pub(crate) fn stats(connection: &Connection, project: Option<&ProjectId>) -> Result<Stats, StoreError> {
    let by = |column: &str| {
        let sql = format!(
            "SELECT {column}, count(*) AS number FROM events
             WHERE {column} IS NOT NULL AND (?1 IS NULL OR project = ?1)
             GROUP BY {column} ORDER BY number DESC LIMIT {PAGE_LIMIT}"
        );
        let mut statement = connection.prepare_cached(&sql).doing(COUNTING)?;
        let rows =
            statement.query_map([project.map(ProjectId::as_str)], |row| Ok((row.get(0)?, amount(row, 1)?)));
        rows.doing(COUNTING)?.collect::<rusqlite::Result<BTreeMap<String, u64>>>().doing(COUNTING)
    };
    let sql = "SELECT count(*), min(received), max(received) FROM events WHERE ?1 IS NULL OR project = ?1";
    let whole = |row: &Row<'_>| Ok((amount(row, 0)?, maybe_moment(row, 1)?, maybe_moment(row, 2)?));
    let (events, oldest, newest) =
        connection.query_row(sql, [project.map(ProjectId::as_str)], whole).doing(COUNTING)?;
    let artifacts = "SELECT coalesce(sum(bytes), 0) FROM artifacts";
    Ok(Stats {
        events,
        bytes: bytes_used(connection)?,
        artifact_bytes: connection.query_row(artifacts, [], |row| amount(row, 0)).doing(COUNTING)?,
        by_kind: by("kind")?,
        by_operation: by("operation")?,
        by_status: by("status")?,
        by_decision: by("decision")?,
        by_agent: by("agent_id")?,
        by_role: by("agent_role")?,
        oldest,
        newest,
    })
}

/// Bytes of the database that hold something.
pub(crate) fn bytes_used(connection: &Connection) -> Result<u64, StoreError> {
    let sql = "SELECT (page_count - freelist_count) * page_size
               FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
    connection.query_row(sql, [], |row| amount(row, 0)).doing(COUNTING)
}

/// Which agents, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) project: Option<&'a ProjectId>,
    pub(crate) agent: Option<&'a str>,
    pub(crate) from: Timestamp,
    pub(crate) until: Timestamp,
}

/// Sums up agents, the busiest first.
pub(crate) fn agents(connection: &Connection, asked: Asked<'_>) -> Result<Vec<AgentSummary>, StoreError> {
    let mut all: BTreeMap<String, AgentSummary> = BTreeMap::new();
    let sql = "SELECT agent_id, operation, status, count(*), count(duration_ms), sum(duration_ms), max(duration_ms),
                      count(error), sum(cost_micros), sum(tokens)
               FROM events
               WHERE agent_id IS NOT NULL AND time >= ?1 AND time < ?2
                 AND (?3 IS NULL OR project = ?3) AND (?4 IS NULL OR agent_id = ?4)
               GROUP BY agent_id, operation, status";
    let project = asked.project.map(ProjectId::as_str);
    let values = (asked.from.as_micros(), asked.until.as_micros(), project, asked.agent);
    let mut statement = connection.prepare_cached(sql).doing(SUMMING)?;
    let mut rows = statement.query(values).doing(SUMMING)?;
    while let Some(row) = rows.next().doing(SUMMING)? {
        let agent: String = row.get(0).doing(SUMMING)?;
        let summary =
            all.entry(agent.clone()).or_insert_with(|| AgentSummary { agent, ..AgentSummary::default() });
        add(summary, row).doing(SUMMING)?;
    }
    drop(rows);
    usage(connection, asked, &mut all)?;
    let mut sorted: Vec<AgentSummary> = all.into_values().collect();
    sorted.sort_by_key(|summary| std::cmp::Reverse(summary.events));
    sorted.truncate(PAGE_LIMIT);
    Ok(sorted)
}

fn add(summary: &mut AgentSummary, row: &Row<'_>) -> rusqlite::Result<()> {
    let count = amount(row, 3)?;
    summary.events += count;
    for (at, counts) in [(1, &mut summary.by_operation), (2, &mut summary.by_status)] {
        if let Some(word) = row.get::<_, Option<String>>(at)? {
            *counts.entry(word).or_default() += count;
        }
    }
    summary.timed += amount(row, 4)?;
    summary.duration_ms += maybe_amount(row, 5)?.unwrap_or(0);
    summary.longest_ms = summary.longest_ms.max(maybe_amount(row, 6)?.unwrap_or(0));
    summary.errors += amount(row, 7)?;
    summary.cost_micros += maybe_amount(row, 8)?.unwrap_or(0);
    summary.tokens += maybe_amount(row, 9)?.unwrap_or(0);
    Ok(())
}

/// What their sandboxes used: processor time over wall time of each, memory over all measurements.
fn usage(
    connection: &Connection,
    asked: Asked<'_>,
    all: &mut BTreeMap<String, AgentSummary>,
) -> Result<(), StoreError> {
    let sql = "SELECT agent, count(*), sum(cpu) * 1000 / nullif(sum(wall), 0), sum(memory) / nullif(sum(number), 0),
                      max(memory_max)
               FROM (
                   SELECT agent, max(cpu) - min(cpu) AS cpu, max(time) - min(time) AS wall, sum(memory) AS memory,
                          count(memory) AS number, max(memory) AS memory_max
                   FROM sandboxes LEFT JOIN samples
                     ON samples.sandbox = sandboxes.id AND time >= ?1 AND time < ?2
                   WHERE agent IS NOT NULL AND created < ?2 AND (ended IS NULL OR ended >= ?1)
                     AND (?3 IS NULL OR project = ?3) AND (?4 IS NULL OR agent = ?4)
                   GROUP BY sandboxes.id
               )
               GROUP BY agent";
    let project = asked.project.map(ProjectId::as_str);
    let values = (asked.from.as_micros(), asked.until.as_micros(), project, asked.agent);
    let mut statement = connection.prepare_cached(sql).doing(SUMMING)?;
    let mut rows = statement.query(values).doing(SUMMING)?;
    while let Some(row) = rows.next().doing(SUMMING)? {
        let agent: String = row.get(0).doing(SUMMING)?;
        let summary =
            all.entry(agent.clone()).or_insert_with(|| AgentSummary { agent, ..AgentSummary::default() });
        summary.sandboxes = amount(row, 1).doing(SUMMING)?;
        summary.cpu_milli = maybe_amount(row, 2).doing(SUMMING)?;
        summary.memory_bytes = maybe_amount(row, 3).doing(SUMMING)?;
        summary.memory_max_bytes = maybe_amount(row, 4).doing(SUMMING)?;
    }
    Ok(())
}
