//! Looking for words in logs: places from the index, then the pieces themselves, as far as the asker may see them.

use belljar_ports::{
    StoreError,
    store::{LogHits, LogSearch, PAGE_LIMIT},
};

use super::{
    SqliteStore, indexer, logs,
    sql::{Doing, amount},
};

/// Places looked at for one answer, since some may be gone or another project's.
const MOST_PLACES: usize = 20_000;
const PAGE: usize = 1_000;

impl SqliteStore {
    /// Pieces that hold all the words, newest first.
    pub(super) fn search(&self, search: &LogSearch, limit: usize) -> Result<LogHits, StoreError> {
        let limit = limit.min(PAGE_LIMIT);
        let complete = self.is_indexed()?;
        let mut hits = LogHits { rows: Vec::new(), next: None, complete };
        if !self.places.search.exists() {
            return Ok(LogHits { complete: false, ..hits });
        }
        let Some((oldest, newest)) = self.pool.read(|connection| logs::bounds(connection, search))? else {
            return Ok(hits);
        };
        let mut before = search.before.unwrap_or(u64::MAX).min(newest.saturating_add(1));
        let mut seen = 0;
        loop {
            let places = indexer::find(&self.places.search, search, (oldest, before), PAGE)?;
            for place in &places {
                before = *place;
                let found = self.pool.read(|connection| logs::find(connection, *place, search))?;
                hits.rows.extend(found);
                if hits.rows.len() >= limit {
                    return Ok(LogHits { next: Some(before), ..hits });
                }
            }
            seen += places.len();
            if places.len() < PAGE {
                return Ok(hits);
            }
            if seen >= MOST_PLACES {
                return Ok(LogHits { next: Some(before), complete: false, ..hits });
            }
        }
    }

    /// Waits, for a while, until everything written before is in the index.
    fn is_indexed(&self) -> Result<bool, StoreError> {
        let sql = "SELECT coalesce(max(seq), 0) FROM logs";
        let read = |row: &rusqlite::Row<'_>| amount(row, 0);
        let last = self.pool.read(|connection| connection.query_row(sql, [], read).doing("read logs"))?;
        Ok(self.desk.is_some() && self.on_logs.reaches(last))
    }
}
