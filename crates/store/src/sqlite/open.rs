//! Opening a store: one writer at a time, a schema brought up to date, a ledger with its key.
//!
//! Owns: the files `belljar.db`, `search.db`, `daybook`, `ledger.key` and `store.lock` in the home directory. After a
//! writer was killed SQLite takes up its log, what the daybook still owes is posted, the lock went with the process,
//! and claims nobody will answer any more are dropped.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use belljar_domain::{Digest, Timestamp};
use belljar_ports::{StoreError, store::Head};
use rusqlite::Connection;

use super::{
    migrate,
    pool::{self, STATEMENTS},
    posting,
    sql::{Doing, amount, hash, signed},
    writer::Tip,
};
use crate::{
    daybook::{self, Daybook},
    ledger::{chain::Seal, key},
};

const OPENING: &str = "open the store";
/// The first schema that knows of the daybook.
const WITH_DAYBOOK: u32 = 4;
/// How long a lock is waited for whose holder is dead: a program it was just starting when it was killed still has it.
const LAST_BREATH: Duration = Duration::from_secs(5);
/// How long a reader waits for the writer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of the write-ahead log that are there from the beginning.
const LOG_ROOM: u64 = 8 * 1024 * 1024;

/// Where everything is.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) home: PathBuf,
    pub(crate) database: PathBuf,
    pub(crate) search: PathBuf,
    pub(crate) daybook: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) lock: PathBuf,
    pub(crate) artifacts: PathBuf,
}

impl Places {
    pub(crate) fn below(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            database: home.join("belljar.db"),
            search: home.join("search.db"),
            daybook: home.join("daybook"),
            key: home.join("ledger.key"),
            lock: home.join("store.lock"),
            artifacts: home.join("artifacts"),
        }
    }
}

/// What a writer begins with.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) seal: Seal,
    pub(crate) tip: Tip,
    pub(crate) lock: File,
    pub(crate) daybook: Option<Daybook>,
}

/// Opens for writing, making what is missing.
pub(crate) fn for_writing(places: &Places, pages: &Arc<AtomicU64>) -> Result<Opened, StoreError> {
    let folder = fs::DirBuilder::new().recursive(true).mode(0o700).create(&places.home);
    folder.map_err(|e| StoreError::backend("make the store's directory", e))?;
    let lock = lock(&places.lock)?;
    let is_new = !places.database.exists();
    let mut connection = connect(&places.database, pages)?;
    let found = if is_new { 0 } else { schema(&connection)? };
    let key = key::read(&places.key)?;
    if let (WITH_DAYBOOK.., Some(key)) = (found, key) {
        // Before the schema changes: entries are in the words of the belljar that wrote them.
        post_what_is_owed(places, &connection, key)?;
    }
    migrate::up(&mut connection)?;
    let key = match key {
        Some(key) => key,
        // A key made now would vouch for whatever somebody put there; only a ledger that never had one gets one.
        None if found > 0 && has_ledger(&connection)? => return Err(StoreError::Key(places.key.clone())),
        None => key::make(&places.key)?,
    };
    let seal = begin_ledger(&connection, key)?;
    let tip = tip(&connection, &seal, &places.key)?;
    // Without room for a daybook only speed is lost.
    let daybook = Daybook::open(&places.daybook, seal.clone(), posted(&connection)?).ok();
    Ok(Opened { connection, seal, tip, lock, daybook })
}

/// Takes up what was answered and not posted when the last writer was killed.
fn post_what_is_owed(places: &Places, connection: &Connection, key: [u8; 32]) -> Result<(), StoreError> {
    if !has_ledger(connection)? {
        return Ok(());
    }
    let seal = Seal { ledger: ledger_id(connection)?, key: Some(key) };
    let owed = daybook::unposted(&places.daybook, &seal, posted(connection)?);
    let owed = owed.map_err(|e| StoreError::backend("read the daybook", e))?;
    let owed: Vec<&[u8]> = owed.iter().map(Vec::as_slice).collect();
    if owed.is_empty() { Ok(()) } else { posting::post(connection, &owed) }
}

/// The number of the last entry of the daybook that is in the database.
fn posted(connection: &Connection) -> Result<u64, StoreError> {
    connection
        .query_row("SELECT coalesce(max(daybook), 0) FROM ledger", [], |row| amount(row, 0))
        .doing(OPENING)
}

/// Opens for reading, beside a writer or without one.
pub(crate) fn for_reading(places: &Places) -> Result<Seal, StoreError> {
    if !places.database.exists() {
        return Err(StoreError::Unknown(format!("store at {}", places.database.display())));
    }
    let connection = pool::connect(&places.database)?;
    migrate::version(&connection)?;
    // Someone who may read the ledger need not be trusted with its key.
    Ok(Seal { ledger: ledger_id(&connection)?, key: key::read(&places.key).ok().flatten() })
}

/// Waits until what the daybook holds is in the database; when nobody lives to post it, posts it.
pub(crate) fn await_posting(places: &Places, connection: &Connection, seal: &Seal) -> Result<(), StoreError> {
    if seal.key.is_none() || migrate::version(connection)? < WITH_DAYBOOK {
        return Ok(());
    }
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        // Who may not read it sees what is in the database.
        let owed = daybook::unposted(&places.daybook, seal, posted(connection)?).unwrap_or_default();
        if owed.is_empty() {
            break;
        }
        match for_writing(places, &Arc::default()) {
            Err(StoreError::Locked { .. }) => thread::sleep(Duration::from_millis(1)),
            // Whoever can do nothing about it reads what there is.
            Ok(_) | Err(_) => break,
        }
    }
    Ok(())
}

fn lock(path: &Path) -> Result<File, StoreError> {
    let doing = |e| StoreError::backend("lock the store", e);
    let made = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
    let mut file = made.map_err(doing)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) => {
                let by = holder(&mut file);
                if !by.is_some_and(is_dead) || began.elapsed() > LAST_BREATH {
                    return Err(StoreError::Locked { at: path.parent().unwrap_or(path).to_owned(), by });
                }
                thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::Error(error)) => return Err(doing(error)),
        }
    }
    file.set_len(0).and_then(|()| file.rewind()).map_err(doing)?;
    writeln!(file, "{}", std::process::id()).map_err(doing)?;
    Ok(file)
}

/// Who says that the lock is theirs.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().and_then(|()| file.take(16).read_to_string(&mut text)).ok()?;
    text.trim().parse().ok()
}

fn is_dead(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.map_or(true, |stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['Z', 'X'])))
}

fn connect(path: &Path, pages: &Arc<AtomicU64>) -> Result<Connection, StoreError> {
    // Made beforehand so that nobody else can read it; SQLite gives its other files the same mode. One that is there
    // is left alone: closing a file drops the locks this process has on it, also those of other connections.
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(StoreError::backend(OPENING, error));
        }
        Ok(_) | Err(_) => {}
    }
    let mut connection = Connection::open(path).doing(OPENING)?;
    connection.busy_timeout(std::time::Duration::from_secs(5)).doing(OPENING)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    for (name, value) in [
        ("auto_vacuum", "incremental"),
        ("journal_mode", "wal"),
        ("synchronous", "full"),
        ("wal_autocheckpoint", "0"),
        ("temp_store", "memory"),
        ("cache_size", "-65536"),
        ("foreign_keys", "off"),
    ] {
        connection.pragma_update(None, name, value).doing(OPENING)?;
    }
    let pages = Arc::clone(pages);
    let hook = move |_: &mut rusqlite::hooks::Wal, count: std::ffi::c_int| {
        pages.store(u64::try_from(count).unwrap_or(0), Ordering::Relaxed);
        Ok(())
    };
    connection.wal_hook(Some(hook)).doing(OPENING)?;
    stretch(path);
    Ok(connection)
}

/// The write-ahead log of a database.
pub(crate) fn log_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", path.display()))
}

/// Gives the write-ahead log its room at once: on most file systems a flush after writing over what is there costs half
/// of one that makes the file longer. SQLite knows where its log ends and minds no zeros behind it. Only speed is lost
/// when there is no room.
fn stretch(path: &Path) {
    let Ok(mut file) = OpenOptions::new().append(true).create(true).mode(0o600).open(log_of(path)) else {
        return;
    };
    let missing = LOG_ROOM.saturating_sub(file.metadata().map_or(LOG_ROOM, |about| about.len()));
    let zeros = vec![0; usize::try_from(missing).unwrap_or(0)];
    let _written = file.write_all(&zeros).and_then(|()| file.sync_all());
}

fn schema(connection: &Connection) -> Result<u32, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'schema_version')";
    let is_there: bool = connection.query_row(sql, [], |row| row.get(0)).doing(OPENING)?;
    if is_there { migrate::version(connection) } else { Ok(0) }
}

fn has_ledger(connection: &Connection) -> Result<bool, StoreError> {
    connection.query_row("SELECT EXISTS (SELECT 1 FROM ledger)", [], |row| row.get(0)).doing(OPENING)
}

/// Gives a new store its ledger: a random identity, from which the first hash follows.
fn begin_ledger(connection: &Connection, key: [u8; 32]) -> Result<Seal, StoreError> {
    let seal = Seal { ledger: key::random()?, key: Some(key) };
    let (genesis, mac) = (seal.genesis(), seal.of_head(0, seal.genesis()));
    let sql = "INSERT OR IGNORE INTO ledger (one, id, head_seq, head_hash, head_mac) VALUES (1, ?, 0, ?, ?)";
    connection.execute(sql, (seal.ledger, genesis.0, mac)).doing(OPENING)?;
    Ok(Seal { ledger: ledger_id(connection)?, key: Some(key) })
}

fn ledger_id(connection: &Connection) -> Result<[u8; 32], StoreError> {
    connection.query_row("SELECT id FROM ledger", [], |row| row.get(0)).doing(OPENING)
}

/// Where to go on. A head this key did not seal is not continued, or the new events would vouch for it.
fn tip(connection: &Connection, seal: &Seal, key: &Path) -> Result<Tip, StoreError> {
    let sql = "SELECT head_seq, head_hash, head_mac FROM ledger";
    let read = |row: &rusqlite::Row<'_>| Ok((amount(row, 0)?, hash(row, 1)?, row.get::<_, Vec<u8>>(2)?));
    let (seq, hash, mac): (u64, Digest, Vec<u8>) = connection.query_row(sql, [], read).doing(OPENING)?;
    if !seal.agrees(&seal.of_head(seq, hash), &mac) {
        return Err(StoreError::Key(key.to_owned()));
    }
    let sql = "SELECT coalesce(max(received), 0) FROM events WHERE seq = ?";
    let received = connection.query_row(sql, [signed(seq)], |row| row.get(0)).doing(OPENING)?;
    Ok(Tip { head: Head { seq, hash }, received: Timestamp::from_micros(received) })
}
