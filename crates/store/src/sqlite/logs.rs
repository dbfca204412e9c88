//! Reading logs: in the order of arrival, by offset in one stream, and what the search index points to.

use belljar_domain::{ExecutionId, ProjectId, Timestamp};
use belljar_ports::{
    StoreError,
    store::{LogChunk, LogFilter, LogRow, LogSearch, LogStream, PAGE_LIMIT},
};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter, types::Value};

use super::sql::{Doing, Filter, amount, moment, parsed, signed, time};

/// Bytes of one answer.
const MOST: usize = 4 * 1024 * 1024;
const READING: &str = "read a log";
const COLUMNS: &str = "logs.seq, logs.sandbox, execution, stream, offset, time, cut, bytes";

/// How a stream is written in its column.
pub(crate) const fn number(stream: LogStream) -> i64 {
    match stream {
        LogStream::Stdout => 0,
        LogStream::Stderr => 1,
        LogStream::System => 2,
    }
}

/// Pieces in the order of arrival.
pub(crate) fn list(
    connection: &Connection,
    filter: &LogFilter,
    after: u64,
    limit: usize,
) -> Result<Vec<LogRow>, StoreError> {
    let mut all = Filter::default();
    all.and_if("logs.sandbox = ?", Some(filter.sandbox));
    all.and_if("execution = ?", filter.execution);
    all.and("logs.seq > ?", [Value::Integer(signed(after))]);
    if let Some(stream) = filter.stream {
        all.and("stream = ?", [Value::Integer(number(stream))]);
    }
    written(&mut all, filter.from, filter.until);
    let limit = limit.min(PAGE_LIMIT);
    let sql = format!("SELECT {COLUMNS} FROM logs{} ORDER BY logs.seq LIMIT {limit}", all.clause());
    let mut statement = connection.prepare_cached(&sql).doing(READING)?;
    let mut rows = statement.query(params_from_iter(&all.values)).doing(READING)?;
    let mut found = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.next().doing(READING)? {
        let next = piece(row).doing(READING)?;
        bytes += next.chunk.bytes.len();
        if bytes > MOST && !found.is_empty() {
            break;
        }
        found.push(next);
    }
    Ok(found)
}

/// Bytes of one stream from an offset, as far as they are there without a hole.
pub(crate) fn bytes(
    connection: &Connection,
    execution: ExecutionId,
    stream: LogStream,
    offset: u64,
    max: usize,
) -> Result<Vec<u8>, StoreError> {
    let max = max.min(MOST);
    // The piece that holds the offset begins at it or before it.
    let sql = "SELECT offset, bytes FROM logs WHERE execution = ?1 AND stream = ?2 AND offset >= coalesce(
                   (SELECT max(offset) FROM logs WHERE execution = ?1 AND stream = ?2 AND offset <= ?3), 0)
               ORDER BY offset";
    let mut statement = connection.prepare_cached(sql).doing(READING)?;
    let mut rows = statement.query((execution.to_string(), number(stream), signed(offset))).doing(READING)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().doing(READING)?.filter(|_| found.len() < max) {
        let begins = amount(row, 0).doing(READING)?;
        let piece = row.get_ref(1).and_then(|value| Ok(value.as_blob()?)).doing(READING)?;
        let wanted = offset + found.len() as u64;
        // A piece that begins beyond what is wanted leaves a hole.
        let Some(skip) = wanted.checked_sub(begins) else { break };
        let rest = usize::try_from(skip).ok().and_then(|skip| piece.get(skip..)).unwrap_or_default();
        found.extend_from_slice(rest.get(..rest.len().min(max - found.len())).unwrap_or_default());
    }
    Ok(found)
}

/// Keeps to a stretch of time.
fn written(all: &mut Filter, from: Option<Timestamp>, until: Option<Timestamp>) {
    if let Some(from) = from {
        all.and("logs.time >= ?", [time(from)]);
    }
    if let Some(until) = until {
        all.and("logs.time < ?", [time(until)]);
    }
}

/// What a search asks of a piece besides its words.
fn wanted(search: &LogSearch) -> Filter {
    let mut all = Filter::default();
    all.and_if("logs.sandbox = ?", search.sandbox);
    all.and_if("execution = ?", search.execution);
    if let Some(stream) = search.stream {
        all.and("stream = ?", [Value::Integer(number(stream))]);
    }
    written(&mut all, search.from, search.until);
    all
}

/// The oldest and the newest place a search can find something at, so that no other is looked at; `None` if there is none.
pub(crate) fn bounds(connection: &Connection, search: &LogSearch) -> Result<Option<(u64, u64)>, StoreError> {
    // The index knows sandboxes by itself.
    if search.execution.is_none() && search.from.is_none() && search.until.is_none() {
        return Ok(Some((0, u64::MAX)));
    }
    let all = wanted(search);
    let sql = format!("SELECT min(seq), max(seq) FROM logs{}", all.clause());
    let mut statement = connection.prepare_cached(&sql).doing(READING)?;
    let read = |row: &Row<'_>| -> rusqlite::Result<Option<(u64, u64)>> {
        if row.get::<_, Option<i64>>(0)?.is_none() {
            return Ok(None);
        }
        Ok(Some((amount(row, 0)?, amount(row, 1)?)))
    };
    statement.query_row(params_from_iter(&all.values), read).doing(READING)
}

/// One piece by its place, if it is wanted and belongs to one of the project's sandboxes.
pub(crate) fn find(
    connection: &Connection,
    seq: u64,
    search: &LogSearch,
) -> Result<Option<LogRow>, StoreError> {
    let mut all = wanted(search);
    all.and("logs.seq = ?", [Value::Integer(signed(seq))]);
    all.and_if("project = ?", search.project.as_ref().map(ProjectId::as_str));
    let sql = format!(
        "SELECT {COLUMNS} FROM logs LEFT JOIN sandboxes ON sandboxes.id = logs.sandbox{}",
        all.clause()
    );
    let mut statement = connection.prepare_cached(&sql).doing(READING)?;
    statement.query_row(params_from_iter(&all.values), piece).optional().doing(READING)
}

fn piece(row: &Row<'_>) -> rusqlite::Result<LogRow> {
    let execution: String = row.get(2)?;
    let execution = if execution.is_empty() { None } else { Some(parsed(row, 2)?) };
    let stream = match row.get::<_, i64>(3)? {
        0 => LogStream::Stdout,
        1 => LogStream::Stderr,
        _ => LogStream::System,
    };
    Ok(LogRow {
        seq: amount(row, 0)?,
        cut: row.get(6)?,
        chunk: LogChunk {
            sandbox: parsed(row, 1)?,
            execution,
            stream,
            offset: amount(row, 4)?,
            time: moment(row, 5)?,
            bytes: row.get(7)?,
        },
    })
}
