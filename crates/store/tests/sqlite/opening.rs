//! Opening: one writer, readers beside it, older and newer files, keys.

use std::{fs, os::unix::fs::PermissionsExt};

use belljar_domain::EventKind;
use belljar_ports::{
    StoreError,
    store::{Batch, EventFilter, Store},
};
use belljar_store::{SqliteStore, StoreConfig};
use rusqlite::Connection;

use crate::support::{append, open, read};

fn refusal(home: &std::path::Path) -> StoreError {
    SqliteStore::open(home, StoreConfig::default()).unwrap_err()
}

#[test]
fn a_second_writer_is_refused_and_told_who_writes() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let error = refusal(home.path()).to_string();
    let me = std::process::id();
    assert_eq!(error, format!("the store at {} is in use by process {me}", home.path().display()));
    store.close().unwrap();
    drop(open(home.path()));
}

#[test]
fn a_reader_beside_a_writer_sees_verifies_and_cannot_write() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    append(&store, &EventKind::Killswitch, 3);
    let reader = read(home.path());
    assert_eq!(reader.verify(None).unwrap().events, 3);
    append(&store, &EventKind::Killswitch, 2);
    assert_eq!(reader.last_seq().unwrap(), 5);
    assert_eq!(reader.events(&EventFilter::default(), 0, 9).unwrap().len(), 5);
    let found = reader.verify(None).unwrap();
    assert_eq!((found.keyed, found.finding), (true, None));
    assert!(matches!(reader.append(Batch::default()).wait(), Err(StoreError::ReadOnly)));
    assert!(matches!(
        SqliteStore::open_read_only(&home.path().join("none"), StoreConfig::default()),
        Err(StoreError::Unknown(_))
    ));
}

#[test]
fn a_newer_schema_is_refused_untouched() {
    let home = tempfile::tempdir().unwrap();
    drop(open(home.path()));
    let db = Connection::open(home.path().join("belljar.db")).unwrap();
    db.execute("INSERT INTO schema_version VALUES (99, 'later')", []).unwrap();
    drop(db);
    for error in
        [refusal(home.path()), SqliteStore::open_read_only(home.path(), StoreConfig::default()).unwrap_err()]
    {
        assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error:?}");
    }
}

#[test]
fn an_older_schema_is_brought_up_to_date_with_what_it_holds() {
    let home = tempfile::tempdir().unwrap();
    let db = Connection::open(home.path().join("belljar.db")).unwrap();
    db.execute_batch("CREATE TABLE schema_version (version INTEGER PRIMARY KEY, taken TEXT NOT NULL) STRICT")
        .unwrap();
    db.execute_batch(include_str!("../../migrations/0001_ledger_and_rows.sql")).unwrap();
    db.execute("INSERT INTO schema_version VALUES (1, 'then')", []).unwrap();
    db.execute("INSERT INTO documents VALUES ('template', 'old', 'default', 0, '{}')", []).unwrap();
    drop(db);
    let store = open(home.path());
    assert!(store.document("template", "old").unwrap().is_some());
    append(&store, &EventKind::Killswitch, 1);
    store.flush().unwrap();
    let db = Connection::open(home.path().join("belljar.db")).unwrap();
    let count: u32 = db.query_row("SELECT count(*) FROM audit_logs", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
}

#[test]
fn a_ledger_is_not_continued_without_its_key() {
    let home = tempfile::tempdir().unwrap();
    drop(open(home.path()));
    let key = home.path().join("ledger.key");
    let kept = fs::read(&key).unwrap();
    assert_eq!((kept.len(), fs::metadata(&key).unwrap().permissions().mode() & 0o777), (32, 0o600));
    for other in [None, Some(vec![1; 32]), Some(vec![1; 7])] {
        match other {
            None => fs::remove_file(&key).unwrap(),
            Some(bytes) => fs::write(&key, bytes).unwrap(),
        }
        assert!(matches!(refusal(home.path()), StoreError::Key(_)));
    }
    fs::write(&key, kept).unwrap();
    append(&open(home.path()), &EventKind::ServerStarted, 1);
}

#[test]
fn files_are_their_owners_alone() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().join("fresh");
    let store = open(&home);
    append(&store, &EventKind::ServerStarted, 1);
    let mode = |name: &str| fs::metadata(home.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(""), 0o700);
    for name in ["belljar.db", "belljar.db-wal", "belljar.db-shm", "store.lock"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
}

#[test]
fn a_closed_store_is_one_file_that_can_be_copied() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    append(&store, &EventKind::Killswitch, 3);
    assert_eq!(store.events(&EventFilter::default(), 0, 9).unwrap().len(), 3);
    store.close().unwrap();
    assert!(!home.path().join("belljar.db-wal").exists());
    let copy = tempfile::tempdir().unwrap();
    fs::copy(home.path().join("belljar.db"), copy.path().join("belljar.db")).unwrap();
    assert_eq!(read(copy.path()).verify(None).unwrap().events, 3);
}

#[test]
fn pages_of_filtered_events_are_read_in_order_without_sorting() {
    let home = tempfile::tempdir().unwrap();
    drop(open(home.path()));
    let db = Connection::open(home.path().join("belljar.db")).unwrap();
    for condition in [
        "",
        "project = 'a' AND",
        "sandbox = 'a' AND",
        "decision = 'deny' AND",
        "+time >= 1 AND +time < 9 AND",
    ] {
        for order in ["seq > 5 ORDER BY seq", "seq < 5 ORDER BY seq DESC"] {
            let sql = format!("EXPLAIN QUERY PLAN SELECT * FROM events WHERE {condition} {order} LIMIT 10");
            let plan: Vec<String> = db
                .prepare(&sql)
                .unwrap()
                .query_map([], |row| row.get(3))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            assert!(plan.iter().all(|step| step.starts_with("SEARCH")), "{sql}: {plan:?}");
        }
    }
}

#[test]
fn room_that_retention_makes_goes_back_to_the_disk() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    for number in 0..20 {
        store.append(crate::support::batch(number, 100_000)).wait().unwrap();
    }
    let later = belljar_domain::Timestamp::from(
        std::time::SystemTime::now() + std::time::Duration::from_hours(24 * 31),
    );
    assert_eq!(store.prune(later).unwrap().logs, 20);
    store.close().unwrap();
    let bytes = fs::metadata(home.path().join("belljar.db")).unwrap().len();
    assert!(bytes < 1_000_000, "{bytes}");
}

#[test]
fn a_lost_search_index_is_made_again() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    store.append(crate::support::batch(0, 10)).wait().unwrap();
    drop(store);
    fs::write(home.path().join("search.db"), "rubbish".repeat(1000)).unwrap();
    let store = open(home.path());
    let search = belljar_ports::store::LogSearch { words: "x*".to_owned(), ..Default::default() };
    let hits = store.search_logs(&search, 9).unwrap();
    assert_eq!((hits.rows.len(), hits.complete), (1, true));
}
