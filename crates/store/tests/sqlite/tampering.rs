//! Tampering with the file: every change, loss, insertion and swap is found and named.

use std::path::Path;

use belljar_domain::{Actor, EventKind, EventStatus, NewEvent, Risk, Verdict};
use belljar_ports::store::{Batch, Finding, Head, Store, Tampering, Verification};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{append, event, open, read};

/// A ledger of ten events, each with something in every column, closed.
fn ledger() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let full = || NewEvent {
        actor: Actor { id: Some("a".to_owned()), name: Some("b".to_owned()), role: Some("c".to_owned()) },
        session: Some("s".to_owned()),
        tool: Some("t".to_owned()),
        target: Some("x".to_owned()),
        target_type: Some("file".to_owned()),
        decision: Some(Verdict::Allow),
        reason: Some("r".to_owned()),
        risk: Some(Risk::Low),
        status: Some(EventStatus::Success),
        cost_micros: Some(1),
        tokens: Some(2),
        duration_ms: Some(3),
        payload: serde_json::json!({ "k": 1 }),
        ..event(EventKind::ExecutionEnded)
    };
    for _ in 0..5 {
        store.append(Batch::of_events(vec![full(), full()])).wait().unwrap();
    }
    home
}

/// Changes the file the way someone who owns it can.
fn tamper(home: &Path, sql: &str) -> Verification {
    let db = Connection::open(home.join("belljar.db")).unwrap();
    db.execute_batch(
        "DROP TRIGGER IF EXISTS events_never_change; DROP TRIGGER IF EXISTS events_never_vanish",
    )
    .unwrap();
    db.execute_batch(sql).unwrap();
    drop(db);
    read(home).verify(None).unwrap()
}

fn check(sql: &str, seq: u64, what: Tampering) {
    let home = ledger();
    assert_eq!(tamper(home.path(), sql).finding, Some(Finding { seq, what }), "{sql}");
}

#[test]
fn a_change_of_any_column_is_found() {
    let columns = "received time project kind class agent_id agent_name agent_role session sandbox execution run \
                   operation tool target target_type decision reason risk status error cost_micros tokens \
                   duration_ms payload";
    for column in columns.split_whitespace() {
        let number = matches!(column, "received" | "time" | "cost_micros" | "tokens" | "duration_ms");
        let value = if number { "41" } else { "'forged'" };
        check(&format!("UPDATE events SET {column} = {value} WHERE seq = 4"), 4, Tampering::Changed);
        if !matches!(
            column,
            "received" | "time" | "project" | "kind" | "class" | "sandbox" | "execution" | "run" | "error"
        ) {
            check(&format!("UPDATE events SET {column} = NULL WHERE seq = 4"), 4, Tampering::Changed);
        }
    }
    check("UPDATE events SET id = randomblob(16) WHERE seq = 10", 10, Tampering::Changed);
    check("UPDATE events SET hash = randomblob(32) WHERE seq = 4", 4, Tampering::Changed);
    check("UPDATE events SET prev_hash = randomblob(32) WHERE seq = 4", 4, Tampering::Changed);
    check("UPDATE events SET hash = x'00' WHERE seq = 4", 4, Tampering::Changed);
}

#[test]
fn a_loss_is_found_wherever_it_is() {
    check("DELETE FROM events WHERE seq = 1", 1, Tampering::Dropped { last: 1 });
    check("DELETE FROM events WHERE seq BETWEEN 4 AND 6", 4, Tampering::Dropped { last: 6 });
    check("DELETE FROM events WHERE seq > 8", 9, Tampering::MissingTail { last: 10 });
    check("DELETE FROM events", 1, Tampering::MissingTail { last: 10 });
    // Closing the gap does not help: what moved up is not where it was written.
    check(
        "DELETE FROM events WHERE seq = 4; UPDATE events SET seq = seq - 1 WHERE seq > 4",
        4,
        Tampering::Reordered,
    );
}

#[test]
fn a_swap_is_found_near_and_far() {
    let swap = |a: u64, b: u64| {
        format!(
            "UPDATE events SET seq = -1 WHERE seq = {a}; UPDATE events SET seq = {a} WHERE seq = {b};
             UPDATE events SET seq = {b} WHERE seq = -1"
        )
    };
    for (a, b) in [(4, 5), (1, 2), (2, 9), (9, 10)] {
        check(&swap(a, b), a, Tampering::Reordered);
    }
}

#[test]
fn an_insertion_is_found() {
    let copy = |to: u64| {
        format!(
            "CREATE TEMP TABLE one AS SELECT * FROM events WHERE seq = 3;
             UPDATE one SET seq = {to}, id = randomblob(16); INSERT INTO events SELECT * FROM one"
        )
    };
    check(&copy(11), 11, Tampering::Inserted);
    check(
        &format!(
            "UPDATE events SET seq = -seq - 1 WHERE seq > 5; UPDATE events SET seq = -seq WHERE seq < 0; {}",
            copy(6)
        ),
        6,
        Tampering::Changed,
    );
}

#[test]
fn a_shortened_ledger_with_a_fitting_head_needs_the_key() {
    let home = ledger();
    let noted = read(home.path()).verify(None).unwrap().head;
    let found = tamper(
        home.path(),
        "DELETE FROM events WHERE seq > 8;
         UPDATE ledger SET head_seq = 8, head_hash = (SELECT hash FROM events WHERE seq = 8)",
    );
    assert_eq!(found.finding, Some(Finding { seq: 8, what: Tampering::ForgedHead }));
    // Without the key nobody can tell, and the answer says so; a head noted elsewhere still does.
    std::fs::remove_file(home.path().join("ledger.key")).unwrap();
    let blind = read(home.path());
    let found = blind.verify(None).unwrap();
    assert_eq!((found.keyed, found.finding), (false, None));
    let found = blind.verify(Some(noted)).unwrap().finding;
    assert_eq!(found.map(|found| found.what), Some(Tampering::MissingTail { last: 10 }));
}

#[test]
fn a_loss_behind_a_forged_checkpoint_is_found() {
    let home = ledger();
    let found = tamper(
        home.path(),
        "INSERT INTO checkpoints SELECT 4, 6, 0, (SELECT prev_hash FROM events WHERE seq = 4), hash, randomblob(32)
         FROM events WHERE seq = 6;
         DELETE FROM events WHERE seq BETWEEN 4 AND 6",
    );
    assert_eq!(found.finding, Some(Finding { seq: 4, what: Tampering::ForgedCheckpoint }));
}

#[test]
fn an_honest_ledger_stays_honest() {
    let home = ledger();
    let found = tamper(home.path(), "VACUUM; REINDEX");
    assert_eq!((found.events, found.finding, found.keyed), (10, None, true));
    let store = open(home.path());
    assert_eq!(append(&store, &EventKind::ServerStarted, 1), 11);
    let older = Head { ..found.head };
    assert_eq!(store.verify(Some(older)).unwrap().finding, None);
}

#[test]
fn the_database_itself_refuses_what_a_slip_would_do() {
    let home = ledger();
    let db = Connection::open(home.path().join("belljar.db")).unwrap();
    for slip in ["UPDATE events SET tool = 'x'", "DELETE FROM events WHERE seq = 2", "DELETE FROM events"] {
        assert_eq!(db.execute(slip, []).unwrap_err().to_string(), "the ledger is append-only");
    }
}
