//! Measurements over time, from single ones and from hourly summaries alike.

use std::time::Duration;

use belljar_ports::{
    StoreError,
    store::{History, UsagePoint},
};
use rusqlite::{Connection, Row};

use super::sql::{Doing, amount, maybe_amount, moment};

/// Points of one history.
const MOST: i64 = 10_000;

/// Both kinds of row as one, then one row a step. What only grows is shown as it was at the end of the step.
const SQL: &str = "
    SELECT ?2 + (time - ?2) / ?4 * ?4 AS begins, sum(samples), max(cpu),
           sum(memory * samples) / nullif(sum(CASE WHEN memory IS NULL THEN 0 ELSE samples END), 0),
           max(memory_max), max(disk), max(rx), max(tx), max(pids)
    FROM (
        SELECT time, 1 AS samples, cpu, memory, memory AS memory_max, disk, rx, tx, pids
        FROM samples WHERE sandbox = ?1 AND time >= ?2 AND time < ?3
        UNION ALL
        SELECT time, samples, cpu, memory, memory_max, disk, rx, tx, pids
        FROM rollups WHERE sandbox = ?1 AND time >= ?2 AND time < ?3
    )
    GROUP BY begins ORDER BY begins";

/// What a sandbox used, step by step.
pub(crate) fn history(connection: &Connection, asked: &History) -> Result<Vec<UsagePoint>, StoreError> {
    let doing = "read measurements";
    let step = i64::from(asked.step_seconds.max(1)) * 1_000_000;
    let (from, until) = (asked.from.as_micros(), asked.until.as_micros());
    if until.saturating_sub(from) / step > MOST {
        return Err(StoreError::Invalid(format!("a history has at most {MOST} steps; take longer ones")));
    }
    let mut statement = connection.prepare_cached(SQL).doing(doing)?;
    let rows = statement.query_map((asked.sandbox.to_string(), from, until, step), point).doing(doing)?;
    rows.collect::<rusqlite::Result<_>>().doing(doing)
}

fn point(row: &Row<'_>) -> rusqlite::Result<UsagePoint> {
    Ok(UsagePoint {
        time: moment(row, 0)?,
        samples: amount(row, 1)?,
        cpu_micros: maybe_amount(row, 2)?,
        memory_bytes: maybe_amount(row, 3)?,
        memory_max_bytes: maybe_amount(row, 4)?,
        disk_bytes: maybe_amount(row, 5)?,
        net_rx_bytes: maybe_amount(row, 6)?,
        net_tx_bytes: maybe_amount(row, 7)?,
        pids: maybe_amount(row, 8)?,
    })
}

/// How long one summary stands for.
pub(crate) const HOUR: Duration = Duration::from_hours(1);

/// Sums up the samples from ?1 until before ?2, which lie in the hour that begins at ?3.
pub(crate) const ROLL_UP: &str = "
    INSERT INTO rollups (sandbox, time, samples, cpu, memory, memory_max, disk, rx, tx, pids)
    SELECT sandbox, ?3, count(*), max(cpu), CAST(avg(memory) AS INTEGER), max(memory), max(disk), max(rx), max(tx),
           max(pids)
    FROM samples WHERE time >= ?1 AND time < ?2 GROUP BY sandbox
    ON CONFLICT (sandbox, time) DO UPDATE SET
        memory = coalesce((memory * samples + excluded.memory * excluded.samples)
                          / (samples + excluded.samples), memory, excluded.memory),
        samples = samples + excluded.samples,
        cpu = coalesce(max(cpu, excluded.cpu), cpu, excluded.cpu),
        memory_max = coalesce(max(memory_max, excluded.memory_max), memory_max, excluded.memory_max),
        disk = coalesce(max(disk, excluded.disk), disk, excluded.disk),
        rx = coalesce(max(rx, excluded.rx), rx, excluded.rx),
        tx = coalesce(max(tx, excluded.tx), tx, excluded.tx),
        pids = coalesce(max(pids, excluded.pids), pids, excluded.pids)";
