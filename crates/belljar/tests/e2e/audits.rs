//! The ledger can be read beside a server and without one, and whoever tampers with it is found out.

use std::fs;

use rusqlite::Connection;
use serde_json::Value;

use crate::support::{Glass, Served, promises};

promises! { [root, user]:
    an_untouched_ledger_is_intact_with_a_server_and_without,
    what_was_tampered_with_is_found,
    a_head_noted_earlier_proves_that_nothing_was_taken_back,
    what_is_exported_is_what_is_listed,
    without_a_ledger_the_way_to_one_is_named,
}

/// A ledger with a few events in it; no server is left.
fn ledger(glass: &Glass) {
    let served = Served::start(glass);
    let id = served.make("told");
    served.sh(&id, "true");
    glass.run(&["terminate", "--force", &id]).ok();
}

fn an_untouched_ledger_is_intact_with_a_server_and_without(glass: &Glass) {
    let served = Served::start(glass);
    served.make("one");
    let verified = glass.json(&["audit", "verify"]);
    assert!(verified["intact"] == true && verified["keyed"] == true, "{verified}");
    glass.run(&["terminate", "--all", "--force"]).ok();
    drop(served);
    let said = glass.run(&["audit", "verify"]).ok();
    assert!(said.starts_with("intact: ") && said.contains("head "), "{said}");
}

fn what_was_tampered_with_is_found(glass: &Glass) {
    ledger(glass);
    let tamper = |statement: &str| {
        let database = Connection::open(glass.home().join("belljar.db")).unwrap();
        for guard in triggers(&database) {
            database.execute_batch(&format!("DROP TRIGGER \"{guard}\"")).unwrap();
        }
        assert_eq!(database.execute(statement, []).unwrap(), 1, "{statement}");
    };
    tamper("UPDATE events SET kind = 'nothing.happened' WHERE seq = 3");
    let found = glass.run(&["audit", "verify"]).code(1);
    assert!(found.out.contains("TAMPERED: event 3 was changed"), "{found:?}");
    tamper("DELETE FROM events WHERE seq = 2");
    let found = glass.run(&["--json", "audit", "verify"]).code(1).json();
    assert!(found["intact"] == false && found["finding"]["seq"] == 2, "{found}");
}

fn triggers(database: &Connection) -> Vec<String> {
    let mut found = database.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").unwrap();
    found.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn a_head_noted_earlier_proves_that_nothing_was_taken_back(glass: &Glass) {
    ledger(glass);
    let noted = glass.json(&["audit", "verify"])["head"].as_str().unwrap().to_owned();
    drop(Served::start(glass));
    glass.run(&["audit", "verify", "--head", &noted]).ok();
    let forged = format!("{}:{}", noted.split(':').next().unwrap(), "ab".repeat(32));
    let found = glass.run(&["audit", "verify", "--head", &forged]).code(1);
    assert!(found.out.contains("does not contain the head"), "{found:?}");
    glass.run(&["audit", "verify", "--head", "7"]).code(125).says("SEQ:HASH");
}

fn what_is_exported_is_what_is_listed(glass: &Glass) {
    ledger(glass);
    let listed = glass.json(&["audit", "list", "--kind", "execution"]);
    let kinds: Vec<_> = listed.as_array().unwrap().iter().map(|event| event["kind"].clone()).collect();
    assert_eq!(kinds, ["execution.started", "execution.ended"]);
    let lines = glass.run(&["audit", "export", "--kind", "execution"]).ok();
    let exported: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(exported.len(), 2);
    let file = glass.work().join("events.csv");
    let told = glass.json(&["audit", "export", "--format", "csv", "-o", file.to_str().unwrap()]);
    let rows = fs::read_to_string(&file).unwrap().lines().count();
    assert_eq!(told["events"], rows - 1);
    assert_eq!(glass.json(&["audit", "stats"])["events"], rows - 1);
    let sandbox = listed[0]["sandbox_id"].as_str().unwrap();
    let of_it = glass.json(&["audit", "list", "--sandbox", sandbox, "--until", "2000-01-01T00:00:00Z"]);
    assert_eq!(of_it.as_array().unwrap().len(), 0);
}

fn without_a_ledger_the_way_to_one_is_named(glass: &Glass) {
    glass.run(&["audit", "verify"]).code(125).says("belljar serve");
}
