//! The killswitch: what an agent runs is dead when it answers, what it wants next is refused, and a person undoes it.

use std::{fs, process::Command};

use serde_json::{Value, json};

use crate::support::{Served, eventually};

fn sandbox(served: &Served, agent: &str) -> String {
    let made = served.client().post("/api/v1/sandboxes", &json!({ "agent": agent }));
    assert_eq!(made.status, 201, "{made:?}");
    made.json()["id"].as_str().unwrap().to_owned()
}

/// Starts something that would go on for ever, by a word nobody else's commands have.
fn busy(served: &Served, id: &str, word: &str) {
    let line = format!("for i in 1 2 3 4; do (while :; do :; done) & done; exec sleep 1000.{word}");
    let order = json!({ "command": ["sh", "-c", line], "background": true });
    let begun = served.client().post(&format!("/api/v1/sandboxes/{id}/exec"), &order);
    assert!(matches!(begun.status, 200..=202), "{begun:?}");
    eventually("it runs", || (count(word) > 0).then_some(()));
}

/// How many processes on this machine are somebody's that was started with a word.
fn count(word: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(word)).count()
}

fn word() -> String {
    format!("{}", 10_000_000_u64 + u64::from(rand()))
}

fn rand() -> u32 {
    use std::hash::{BuildHasher as _, Hasher as _};
    u32::try_from(std::hash::RandomState::new().build_hasher().finish() >> 40).unwrap()
}

#[test]
fn an_agent_is_dead_and_refused_until_a_person_says_otherwise() {
    let mut served = Served::start();
    let (mine, theirs) = (word(), word());
    let rogue = [sandbox(&served, "rogue"), sandbox(&served, "rogue")];
    let calm = sandbox(&served, "calm");
    rogue.iter().for_each(|id| busy(&served, id, &mine));
    busy(&served, &calm, &theirs);
    let killed = served.client().post("/api/v1/agents/rogue/kill", &json!({"reason": "it went mad"}));
    assert_eq!(killed.status, 200, "{killed:?}");
    assert_eq!(count(&mine), 0, "all of it is dead when that is answered");
    assert_eq!(killed.json()["sandboxes"].as_array().unwrap().len(), 2);
    assert!(count(&theirs) > 0);
    let refused = |served: &Served| {
        let tried = served.client().post("/api/v1/sandboxes", &json!({"agent": "rogue"}));
        tried.is_problem(403, "PERMISSION_DENIED");
        assert!(tried.json()["detail"].as_str().unwrap().contains("it went mad"), "{tried:?}");
        let hook = json!({
            "version": 1, "id": format!("evt_{:032x}", rand()), "agent": "claude-code",
            "sent_at": "2026-01-01T00:00:00Z", "env": {"BELLJAR_AGENT": "rogue"},
            "payload": {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Read",
                "tool_use_id": "t", "tool_input": {"file_path": "/w/x"}, "cwd": "/w"},
        });
        let heard = served.client().post("/api/v1/hooks/claude-code", &hook).json();
        assert_eq!(
            (&heard["verdict"]["decision"], &heard["verdict"]["stop"]),
            (&json!("deny"), &json!(true)),
            "{heard}"
        );
    };
    refused(&served);
    served.restart("KILL");
    refused(&served);
    let events = served.client().get("/api/v1/events?kind=killswitch").json();
    assert_eq!(
        (&events["items"][0]["agent_id"], &events["items"][0]["payload"]["by"]),
        (&json!("rogue"), &json!("admin"))
    );
    assert_eq!(served.client().delete("/api/v1/agents/rogue/kill").status, 204);
    served.client().delete("/api/v1/agents/rogue/kill").is_problem(404, "NOT_FOUND");
    sandbox(&served, "rogue");
}

#[test]
fn everything_ends_at_once() {
    let served = Served::start();
    let word = word();
    for agent in ["one", "two", "three"] {
        busy(&served, &sandbox(&served, agent), &word);
    }
    let belljar = |args: &[&str]| {
        let mut belljar = Command::new(env!("CARGO_BIN_EXE_belljar"));
        let ran = belljar
            .env("BELLJAR_HOME", served.home())
            .current_dir(served.work())
            .args(args)
            .output()
            .unwrap();
        (ran.status.code(), String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap())
    };
    let (code, said) = belljar(&["--json", "killswitch", "--reason", "enough"]);
    assert_eq!((code, count(&word)), (Some(0), 0), "{said}");
    let said: Value = serde_json::from_str(said.trim()).unwrap();
    assert_eq!(said["terminated"].as_array().unwrap().len(), 3, "{said}");
    served.client().post("/api/v1/sandboxes", &json!({})).is_problem(403, "PERMISSION_DENIED");
    // Also where no server is asked.
    let (code, said) = belljar(&["run", "--", "true"]);
    assert_eq!(code, Some(126), "{said}");
    assert!(said.contains("enough"), "{said}");
    assert_eq!(belljar(&["killswitch", "--release"]).0, Some(0));
    assert_eq!(belljar(&["run", "--", "true"]).0, Some(0));
    served.sandbox();
}

#[test]
fn a_server_that_hangs_keeps_nobody_alive() {
    let served = Served::start();
    let word = word();
    let ids: Vec<String> = (0..12).map(|n| sandbox(&served, &format!("rogue-{}", n % 4))).collect();
    for id in &ids {
        busy(&served, id, &word);
    }
    served.signal("STOP");
    let began = std::time::Instant::now();
    let ran = Command::new(env!("CARGO_BIN_EXE_belljar"))
        .env("BELLJAR_HOME", served.home())
        .current_dir(served.work())
        .args(["--json", "killswitch", "--reason", "it hangs"])
        .output()
        .unwrap();
    let took = began.elapsed();
    let left = count(&word);
    served.signal("CONT");
    assert_eq!((ran.status.code(), left), (Some(0), 0), "{ran:?}");
    let said: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(said["terminated"].as_array().unwrap().len(), ids.len(), "{said}");
    assert!(took.as_secs_f64() < 2.0, "{took:?}");
    // What it does not know yet it finds in the file as soon as it is asked.
    served.client().post("/api/v1/sandboxes", &json!({})).is_problem(403, "PERMISSION_DENIED");
}
