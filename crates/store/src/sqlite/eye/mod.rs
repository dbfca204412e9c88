//! Records of what agents did, in a database of their own that can be lost and made again from the ledger.
//!
//! Owns: `eye.db`. One connection writes, in transactions that hold the ledger's place with what was made of it; a few
//! read. Nothing here is on the ledger's way: whoever folds events into records reads them from the ledger first.

mod flush;
mod lens;
mod lists;
mod reports;
mod rollups;
mod sheet;
mod words;

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use belljar_ports::StoreError;
use rusqlite::Connection;

use super::{
    SqliteStore,
    pool::{Pool, STATEMENTS},
    sql::{Doing, amount, signed},
};
use sheet::Sheet;

const OPENING: &str = "open the records";
const WRITING: &str = "write records";
const READING: &str = "read records";
/// Raised when events are folded into other records than before: then they are made again.
const VERSION: i64 = 4;
/// Bytes that are read without being copied.
const MAPPED: u64 = 4 << 30;
/// Events after which SQLite looks again at which index is worth what.
const LOOK_AGAIN: u64 = 20_000;

/// The records of one ledger.
#[derive(Debug)]
pub struct SqliteLens {
    path: PathBuf,
    pool: Pool,
    writer: Mutex<Writer>,
}

#[derive(Debug)]
struct Writer {
    connection: Connection,
    looked: u64,
}

impl SqliteStore {
    /// The records made from this store's ledger.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] when the store was opened for reading, or when their database cannot be made.
    pub fn lens(&self) -> Result<SqliteLens, StoreError> {
        if self.desk.is_none() {
            return Err(StoreError::ReadOnly);
        }
        SqliteLens::open(&self.places.home.join("eye.db"), self.seal.ledger)
    }
}

impl SqliteLens {
    fn open(path: &Path, ledger: [u8; 32]) -> Result<Self, StoreError> {
        let connection = match open_as_is(path, ledger) {
            Ok(Some(connection)) => connection,
            // Another ledger's, an older form, or broken: it is made again.
            Ok(None) | Err(_) => {
                remove(path)?;
                open_as_is(path, ledger)?
                    .ok_or_else(|| StoreError::Unknown("database of records".to_owned()))?
            }
        };
        Ok(Self {
            path: path.to_owned(),
            pool: Pool::mapping(path.to_owned(), MAPPED),
            writer: Mutex::new(Writer { connection, looked: 0 }),
        })
    }

    fn write<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T, StoreError>) -> Result<T, StoreError> {
        work(&mut self.writer.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for SqliteLens {
    fn drop(&mut self) {
        self.pool.clear();
    }
}

fn remove(path: &Path) -> Result<(), StoreError> {
    for ending in ["", "-wal", "-shm"] {
        match fs::remove_file(format!("{}{ending}", path.display())) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::backend("remove records that cannot be used", error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

fn open_as_is(path: &Path, ledger: [u8; 32]) -> Result<Option<Connection>, StoreError> {
    // Made beforehand so that nobody else can read it.
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(StoreError::backend(OPENING, error));
        }
        Ok(_) | Err(_) => {}
    }
    let connection = Connection::open(path).doing(OPENING)?;
    connection.busy_timeout(std::time::Duration::from_secs(5)).doing(OPENING)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    for (name, value) in [
        ("auto_vacuum", "incremental"),
        ("journal_mode", "wal"),
        // After a power cut the last transactions may be gone, each with its place: they are made again.
        ("synchronous", "normal"),
        ("temp_store", "memory"),
        ("cache_size", "-32768"),
    ] {
        connection.pragma_update(None, name, value).doing(OPENING)?;
    }
    connection.execute_batch(include_str!("schema.sql")).doing(OPENING)?;
    let insert = "INSERT OR IGNORE INTO done (one, seq, ledger, version) VALUES (1, 0, ?, ?)";
    connection.execute(insert, (ledger, VERSION)).doing(OPENING)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, i64>(1)?));
    let found = connection.query_row("SELECT ledger, version FROM done", [], read).doing(OPENING)?;
    Ok((found == (ledger.to_vec(), VERSION)).then_some(connection))
}

impl Writer {
    fn place(&self) -> Result<u64, StoreError> {
        let sql = "SELECT seq FROM done";
        let mut read = self.connection.prepare_cached(sql).doing(READING)?;
        read.query_row([], |row| amount(row, 0)).doing(READING)
    }

    fn revise(
        &mut self,
        to: u64,
        work: &mut dyn FnMut(&mut belljar_ports::lens::LensShelf<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let before = self.place()?;
        if before >= to {
            return Ok(());
        }
        let writing = self.connection.transaction().doing(WRITING)?;
        let mut sheet = Sheet::new(&writing);
        work(&mut sheet)?;
        sheet.flush()?;
        writing.execute("UPDATE done SET seq = ?", [signed(to)]).doing(WRITING)?;
        writing.commit().doing(WRITING)?;
        self.looked += to - before;
        if self.looked >= LOOK_AGAIN {
            self.looked = 0;
            // Without it pages are found more slowly, not wrongly.
            let _slower = self.connection.execute_batch("PRAGMA analysis_limit = 1000; ANALYZE;");
        }
        Ok(())
    }
}
