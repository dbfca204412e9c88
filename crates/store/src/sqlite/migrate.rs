//! The schema, step by step. A database knows which steps it has taken; one from a newer belljar is refused untouched.

use belljar_ports::StoreError;
use rusqlite::Connection;

use super::sql::Doing;

/// Every step, in order; a step that was ever released is never changed.
const STEPS: [&str; NEWEST as usize] = [
    include_str!("../../migrations/0001_ledger_and_rows.sql"),
    include_str!("../../migrations/0002_audit_views.sql"),
    include_str!("../../migrations/0003_where_an_answer_points.sql"),
    include_str!("../../migrations/0004_daybook.sql"),
    include_str!("../../migrations/0005_approvals.sql"),
    include_str!("../../migrations/0006_runs.sql"),
];

/// The schema this belljar writes.
pub(crate) const NEWEST: u32 = 6;

/// Takes the steps that are missing, each with its record in one transaction.
pub(crate) fn up(connection: &mut Connection) -> Result<(), StoreError> {
    let doing = "bring the store's schema up to date";
    connection.execute_batch(VERSIONS).doing(doing)?;
    let found = version(connection)?;
    for (number, step) in (1..).zip(STEPS).filter(|(number, _)| *number > found) {
        let step_taken = connection.transaction().doing(doing)?;
        step_taken.execute_batch(step).doing(doing)?;
        step_taken
            .execute("INSERT INTO schema_version (version, taken) VALUES (?, datetime('now'))", [number])
            .doing(doing)?;
        step_taken.commit().doing(doing)?;
    }
    Ok(())
}

const VERSIONS: &str =
    "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, taken TEXT NOT NULL) STRICT";

/// The schema a database has; one beyond [`NEWEST`] is an error.
pub(crate) fn version(connection: &Connection) -> Result<u32, StoreError> {
    let sql = "SELECT coalesce(max(version), 0) FROM schema_version";
    let found: u32 = connection.query_row(sql, [], |row| row.get(0)).doing("read the store's schema")?;
    if found > NEWEST { Err(StoreError::Newer { found, known: NEWEST }) } else { Ok(found) }
}
