//! The real Claude Code in `bypassPermissions` mode: a revoked agent stops, an exhausted budget pauses, a role holds.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use crate::{http::Http, policy::Server, real::session, support::Machine};

/// What a command of belljar's says; it must work.
fn said(machine: &Machine, words: &[&str]) -> Value {
    let ran = machine.run(&[&["--json"], words].concat(), b"");
    assert_eq!(ran.code, Some(0), "{words:?}: {ran:?}");
    serde_json::from_str(&ran.out).unwrap()
}

/// The name the kernel knows this user's agents by.
fn own_name() -> String {
    format!("uid:{}", rustix::process::getuid().as_raw())
}

fn events(machine: &Machine, query: &str) -> Vec<Value> {
    let path = format!("/api/v1/events?{query}");
    let (status, page) = Http::new(&machine.path("home")).ask("GET", &path, None).unwrap();
    assert_eq!(status, 200, "{page}");
    page["items"].as_array().unwrap().clone()
}

#[test]
fn a_revoked_agent_stops() {
    let machine = Machine::new();
    let _server = Server::start(&machine);
    said(&machine, &["revoke-agent", &own_name(), "--reason", "it went astray"]);
    let model = session(&machine);
    assert!(!machine.path("project/made.txt").exists());
    assert!(model.results().iter().any(|result| result.contains("it went astray")), "{:?}", model.results());
    let denied = events(&machine, "kind=tool.requested&decision=deny");
    assert_eq!(denied[0]["payload"]["rule"], "identity.revoked", "{denied:?}");
    said(&machine, &["approve-agent", &own_name(), "--role", "admin"]);
    session(&machine);
    assert!(machine.path("project/made.txt").exists(), "and goes on when it is approved again");
}

#[test]
fn a_role_holds() {
    let machine = Machine::new();
    let _server = Server::start(&machine);
    said(&machine, &["approve-agent", &own_name(), "--role", "developer"]);
    let model = session(&machine);
    assert!(!machine.path("project/made.txt").exists(), "made.txt is in none of a developer's scopes");
    assert!(model.results().iter().any(|result| result.contains("may not write")), "{:?}", model.results());
}

#[test]
fn an_exhausted_budget_pauses() {
    let machine = Machine::new();
    let _server = Server::start(&machine);
    let id = format!("agent:{}:day", own_name());
    said(&machine, &["budget", "set", &id, "--tokens", "100"]);
    // It waits for a person, who has other plans.
    let model = thread::scope(|scope| {
        let agent = scope.spawn(|| session(&machine));
        let waits = loop {
            let listed = said(&machine, &["approvals", "list"]);
            if let Some(first) = listed.as_array().and_then(|listed| listed.first()) {
                break first.clone();
            }
            assert!(!agent.is_finished(), "nobody was asked");
            thread::sleep(Duration::from_millis(50));
        };
        said(&machine, &["approvals", "deny", waits["id"].as_str().unwrap(), "--reason", "enough for today"]);
        agent.join().unwrap()
    });
    assert!(!machine.path("project/made.txt").exists(), "{:?}", model.results());
    assert!(
        model.results().iter().any(|result| result.contains("enough for today")),
        "{:?}",
        model.results()
    );
    let asked = events(&machine, "kind=budget.blocked");
    assert_eq!((&asked[0]["target"], &asked[0]["status"]), (&json!(id), &json!("denied")), "{asked:?}");
    said(&machine, &["budget", "set", &id, "--tokens", "1M"]);
    session(&machine);
    assert!(machine.path("project/made.txt").exists(), "and goes on when a person raises it");
    let line = &said(&machine, &["budget", "status"])["items"][0];
    assert_eq!(line["budget"], json!(id));
    assert!(line["spent"]["tokens"].as_u64().unwrap() > 0, "what it did was paid for: {line}");
}
