//! The search index over logs: a database of its own, filled by a thread of its own, that can be lost and made again.
//!
//! Owns: `search.db`. Indexing text is slow, so it never happens where the ledger is written; a search waits until the
//! index has caught up, for a while. A word torn apart between two pieces of a log is not found.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use belljar_domain::SandboxId;
use belljar_ports::{StoreError, store::LogSearch};
use rusqlite::{Connection, params_from_iter};

use super::{
    pool,
    sql::{Doing, amount, signed, text},
};

/// Pieces indexed in one transaction.
const STEP: usize = 256;
/// How long a search waits for the index.
const PATIENCE: Duration = Duration::from_secs(2);
const INDEXING: &str = "index logs";
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS done (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, ledger BLOB NOT NULL);
    CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (body, sandbox, content = '', contentless_delete = 1);";

#[derive(Debug, Default)]
struct Progress {
    rung: bool,
    stop: bool,
    done: u64,
}

/// Wakes the indexer, and lets others wait for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bell(Arc<(Mutex<Progress>, Condvar)>);

impl Bell {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There are new logs.
    pub(crate) fn ring(&self) {
        self.lock().rung = true;
        self.0.1.notify_all();
    }

    /// No more will come.
    pub(crate) fn stop(&self) {
        self.lock().stop = true;
        self.0.1.notify_all();
    }

    /// The last piece that can be found.
    pub(crate) fn done(&self) -> u64 {
        self.lock().done
    }

    /// Waits until a piece can be found; false when that takes too long.
    pub(crate) fn reaches(&self, seq: u64) -> bool {
        let until = Instant::now() + PATIENCE;
        let mut progress = self.lock();
        while progress.done < seq && !progress.stop {
            let Some(left) = until.checked_duration_since(Instant::now()) else { break };
            progress = self.0.1.wait_timeout(progress, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        progress.done >= seq
    }

    /// Waits for the next ring; false when it is time to stop.
    fn heard(&self) -> bool {
        let mut progress = self.lock();
        while !progress.rung && !progress.stop {
            progress = self.0.1.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
        progress.rung = false;
        !progress.stop
    }

    fn reached(&self, seq: u64) {
        self.lock().done = seq;
        self.0.1.notify_all();
    }
}

/// The thread. What goes wrong here costs searches, not records; the next ring tries again.
pub(crate) fn run(main: &Path, search: &Path, ledger: [u8; 32], bell: &Bell) {
    let Ok(mut index) = open(search, ledger) else { return };
    bell.ring();
    while bell.heard() {
        while matches!(step(main, &mut index, bell), Ok(true)) && !bell.lock().stop {}
    }
}

/// Opens the index of this ledger; one of another, or a broken one, is thrown away.
fn open(path: &Path, ledger: [u8; 32]) -> Result<Connection, StoreError> {
    match open_as_is(path, ledger) {
        Ok(Some(index)) => Ok(index),
        Ok(None) | Err(_) => {
            for ending in ["", "-wal", "-shm"] {
                let file = PathBuf::from(format!("{}{ending}", path.display()));
                match fs::remove_file(&file) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(StoreError::backend("remove a broken search index", error));
                    }
                    Ok(()) | Err(_) => {}
                }
            }
            open_as_is(path, ledger)?.ok_or_else(|| StoreError::Unknown("search index".to_owned()))
        }
    }
}

fn open_as_is(path: &Path, ledger: [u8; 32]) -> Result<Option<Connection>, StoreError> {
    let index = Connection::open(path).doing(INDEXING)?;
    index.pragma_update(None, "journal_mode", "wal").doing(INDEXING)?;
    index.pragma_update(None, "synchronous", "normal").doing(INDEXING)?;
    index.execute_batch(SCHEMA).doing(INDEXING)?;
    index
        .execute("INSERT OR IGNORE INTO done (one, seq, ledger) VALUES (1, 0, ?)", [ledger])
        .doing(INDEXING)?;
    let whose: Vec<u8> = index.query_row("SELECT ledger FROM done", [], |row| row.get(0)).doing(INDEXING)?;
    Ok((whose == ledger).then_some(index))
}

/// Indexes some pieces and forgets those that are gone; true when there may be more.
fn step(main: &Path, index: &mut Connection, bell: &Bell) -> Result<bool, StoreError> {
    let logs = pool::connect(main)?;
    let done = index.query_row("SELECT seq FROM done", [], |row| amount(row, 0)).doing(INDEXING)?;
    let sql = "SELECT seq, sandbox, bytes FROM logs WHERE seq > ? ORDER BY seq LIMIT ?";
    let mut statement = logs.prepare_cached(sql).doing(INDEXING)?;
    let mut rows = statement.query((signed(done), signed(STEP as u64))).doing(INDEXING)?;
    let writing = index.transaction().doing(INDEXING)?;
    let (mut count, mut last) = (0, done);
    while let Some(row) = rows.next().doing(INDEXING)? {
        last = amount(row, 0).doing(INDEXING)?;
        let sandbox: String = row.get(1).doing(INDEXING)?;
        let body = plain(row.get_ref(2).and_then(|value| Ok(value.as_blob()?)).doing(INDEXING)?);
        let mut insert = writing
            .prepare_cached("INSERT INTO words (rowid, body, sandbox) VALUES (?, ?, ?)")
            .doing(INDEXING)?;
        insert.execute((signed(last), body, sandbox)).doing(INDEXING)?;
        count += 1;
    }
    let oldest: Option<i64> =
        logs.query_row("SELECT min(seq) FROM logs", [], |row| row.get(0)).doing(INDEXING)?;
    writing.execute("DELETE FROM words WHERE rowid < ?", [oldest.unwrap_or(0)]).doing(INDEXING)?;
    writing.execute("UPDATE done SET seq = ?", [signed(last)]).doing(INDEXING)?;
    writing.commit().doing(INDEXING)?;
    bell.reached(last);
    Ok(count == STEP)
}

/// What a person would read: text without the escape sequences that colour it.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            out.push(c);
        } else if rest.next() == Some('[') {
            // Parameters, then one letter that ends the sequence.
            let _end = rest.by_ref().find(|c| ('@'..='~').contains(c));
        }
    }
    out
}

/// Places of pieces that hold all the words, newest first.
pub(crate) fn find(
    path: &Path,
    search: &LogSearch,
    (oldest, before): (u64, u64),
    limit: usize,
) -> Result<Vec<u64>, StoreError> {
    let doing = "search logs";
    let query = query(&search.words, search.sandbox)?;
    let index = pool::connect(path)?;
    let sql = "SELECT rowid FROM words WHERE words MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?";
    let mut statement = index.prepare(sql).doing(doing)?;
    let values = [text(query), signed(oldest).into(), signed(before).into(), signed(limit as u64).into()];
    let rows = statement.query_map(params_from_iter(values), |row| amount(row, 0)).doing(doing)?;
    rows.collect::<rusqlite::Result<_>>().doing(doing)
}

/// Words in the index's own language. Each is quoted, so that none of them is a command.
fn query(words: &str, sandbox: Option<SandboxId>) -> Result<String, StoreError> {
    let each: Vec<String> = words
        .split_whitespace()
        .take(32)
        .filter(|word| word.contains(char::is_alphanumeric))
        .map(quoted)
        .collect();
    if each.is_empty() {
        return Err(StoreError::Invalid("there is no word to look for".to_owned()));
    }
    let body = format!("body : ({})", each.join(" AND "));
    Ok(sandbox.map_or_else(|| body.clone(), |id| format!("sandbox : \"{id}\" AND {body}")))
}

fn quoted(word: &str) -> String {
    let (stem, any) = word.strip_suffix('*').map_or((word, ""), |stem| (stem, " *"));
    format!("\"{}\"{any}", stem.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_not_part_of_words() {
        assert_eq!(plain(b"\x1b[1;31merror\x1b[0m: \xff gone"), "error: \u{fffd} gone");
        assert_eq!(plain(b"\x1b"), "");
    }

    #[test]
    fn words_are_never_commands() {
        assert_eq!(query("a\"b NEAR(x)", None).unwrap(), "body : (\"a\"\"b\" AND \"NEAR(x)\")");
        assert_eq!(query("test*", None).unwrap(), "body : (\"test\" *)");
        assert!(query(" * \"", None).is_err());
    }
}
