//! The registry of agents from outside: who may act, what a role permits, and that a revocation holds at once.

use std::{
    fs,
    process::{Command, Output},
    time::SystemTime,
};

use belljar_capture::Pass;
use belljar_domain::{ProjectId, SandboxId, Timestamp};
use serde_json::{Value, json};

use crate::support::{Client, Request, Served, eventually};

/// The command line in the server's home, as another process.
pub(crate) fn cli(served: &Served, words: &[&str]) -> Output {
    let mut belljar = Command::new(env!("CARGO_BIN_EXE_belljar"));
    belljar.env("BELLJAR_HOME", served.home()).current_dir(served.work()).arg("--json").args(words);
    belljar.output().unwrap()
}

/// What it says, of a command that must work.
pub(crate) fn said(served: &Served, words: &[&str]) -> Value {
    let ran = cli(served, words);
    assert!(ran.status.success(), "{words:?}: {ran:?}");
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}: {ran:?}"))
}

/// A sandbox of an agent; the answer is its id.
pub(crate) fn sandbox_of(served: &Served, agent: &str) -> String {
    let made = served.client().post("/api/v1/sandboxes", &json!({ "agent": agent }));
    assert_eq!(made.status, 201, "{made:?}");
    made.json()["id"].as_str().unwrap().to_owned()
}

/// A client that shows the pass of a sandbox.
pub(crate) fn inside(served: &Served, sandbox: &str, agent: Option<&str>) -> Client {
    let pass = Pass {
        sandbox: sandbox.parse::<SandboxId>().unwrap(),
        execution: None,
        agent: agent.map(str::to_owned),
        project: ProjectId::default(),
        run: None,
        until: Timestamp::from(SystemTime::now()).plus(std::time::Duration::from_secs(3600)),
    };
    let key = fs::read(served.home().join("pass.key")).unwrap();
    served.stranger().with("authorization", &format!("Bearer {}", pass.seal(&key)))
}

/// What a hook before a call is answered, with everything it could claim of itself.
pub(crate) fn before(client: &Client, tool: &str, input: &Value) -> Value {
    hook(client, "PreToolUse", &uuid::Uuid::now_v7().to_string(), "s1", tool, input)
}

/// A hook about a call of a session.
pub(crate) fn hook(
    client: &Client,
    event: &str,
    call: &str,
    session: &str,
    tool: &str,
    input: &Value,
) -> Value {
    let payload = json!({
        "hook_event_name": event, "session_id": session, "cwd": "/w", "tool_name": tool, "tool_input": input,
        "tool_use_id": call, "agent_id": "admin", "agent_type": "admin", "role": "admin",
    });
    let envelope = json!({
        "version": 1, "id": format!("evt_{}", uuid::Uuid::now_v7().simple()), "agent": "claude-code",
        "sent_at": "2026-11-16T04:00:00Z", "pid": 7, "env": {"BELLJAR_AGENT": "admin"}, "payload": payload,
    });
    let answer = client.post("/api/v1/hooks/claude-code", &envelope);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["verdict"].clone()
}

fn bash(line: &str) -> Value {
    json!({ "command": line })
}

fn put(served: &Served, agent: &str, about: &Value) {
    let put = Request::new("PUT", &format!("/api/v1/agents/{agent}")).json(about);
    let answer = served.client().send(&put);
    assert_eq!(answer.status, 200, "{answer:?}");
}

fn enforce(served: &mut Served) {
    fs::write(served.home().join("guardian.toml"), "mode = \"enforce\"\n").unwrap();
    served.restart("TERM");
}

#[test]
fn agents_are_entered_imported_exported_and_forgotten() {
    let served = Served::start();
    let registry = json!({"agents": {
        "analyst-1": {"agent_id": "0190a1b2-0000-7000-8000-00000000002a", "role": "analyst", "rbac": {"allowed_tools": ["Read"]}},
        "db": {"capabilities": ["sql", "schema design"], "rbac": {"can_access_secrets": false}},
    }});
    let dir = served.work().join("agents/deep");
    fs::create_dir_all(&dir).unwrap();
    fs::write(served.work().join("agents/registry.json"), registry.to_string()).unwrap();
    let head = "---\nname: api-tester\ndescription: Tests the API\ntools: Read, Bash(npm test:*)\nx-role: tester\nx-rbac:\n  denied_tools: [WebFetch]\n  path_scopes: [tests/**]\n---\nYou test.\n";
    fs::write(dir.join("api-tester.md"), head).unwrap();
    fs::write(dir.join("broken.md"), "---\nname: ../x\n---\n").unwrap();
    let ran = cli(&served, &["agents", "import", "agents"]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    let done: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(done["added"], json!(["api-tester", "analyst-1", "db"]), "{done}");
    assert_eq!(done["guessed"], json!(["db"]));
    assert!(done["failed"][0]["error"].as_str().unwrap().contains("cannot name an agent"), "{done}");
    let again = cli(&served, &["agents", "import", "agents/registry.json"]);
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!((&again["unchanged"], &again["added"]), (&json!(2), &json!([])), "{again}");
    let shown = said(&served, &["agents", "show", "analyst-1"]);
    assert_eq!(shown["agent_id"], "agt_0190a1b200007000800000000000002a");
    assert_eq!((&shown["standing"], &shown["role"]), (&json!("known"), &json!("analyst")), "{shown}");
    let tester = said(&served, &["agents", "show", "api-tester"]);
    assert_eq!(tester["rbac"]["write_scopes"], json!(["tests/**"]));
    assert_eq!(tester["rbac"]["denials"], json!(["WebFetch"]));
    // What is exported can be imported elsewhere, and is the same there.
    let exported = said(&served, &["agents", "export"]);
    let other = Served::start();
    fs::write(other.work().join("all.json"), exported.to_string()).unwrap();
    assert_eq!(said(&other, &["agents", "import", "all.json"])["added"].as_array().unwrap().len(), 3);
    assert_eq!(said(&other, &["agents", "export"]), exported);
    let suggested = said(&served, &["agents", "suggest-role", "sql", "migration", "schema"]);
    assert_eq!((&suggested["role"], &suggested["confidence"]), (&json!("database"), &json!(1.0)));
    said(&served, &["agents", "remove", "db"]);
    assert_eq!(served.client().get("/api/v1/agents/db").status, 404);
    let events = served.client().get("/api/v1/events?kind=registry.changed").json();
    assert_eq!(events["items"][0]["payload"]["act"], "removed", "{events}");
}

#[test]
fn approvals_are_kept_seen_by_others_and_run_out() {
    let mut served = Served::start();
    let approved = said(&served, &["approve-agent", "coder", "--role", "backend", "--reason", "release 7"]);
    assert_eq!((&approved["standing"], &approved["role"]), (&json!("approved"), &json!("backend")));
    said(&served, &["revoke-agent", "old", "--reason", "gone"]);
    served.restart("KILL");
    let listed = said(&served, &["agents", "list"]);
    let standings: Vec<_> =
        listed.as_array().unwrap().iter().map(|agent| agent["standing"].clone()).collect();
    assert_eq!(standings, ["approved", "revoked"], "{listed}");
    assert_eq!(listed[0]["reason"], "release 7");
    // Without a server the same command says the same, and one that comes later knows of it.
    served.signal("TERM");
    assert!(served.ended());
    let alone = said(&served, &["agents", "list"]);
    assert_eq!(alone, listed);
    let span = said(&served, &["approve-agent", "brief", "--for", "1s"]);
    assert!(span["until"].as_str().is_some(), "{span}");
    let refused = cli(&served, &["agents", "remove", "old"]);
    assert!(!refused.status.success(), "a revocation is not forgotten: {refused:?}");
    served.again();
    eventually("it runs out", || {
        let brief = said(&served, &["agents", "show", "brief"]);
        (brief["standing"] == "expired").then_some(())
    });
    eventually("and is written down", || {
        let events = served.client().get("/api/v1/events?kind=registry.changed").json();
        let acts = events["items"].as_array().unwrap().iter().map(|event| event["payload"]["act"].clone());
        acts.into_iter().any(|act| act == "expired").then_some(())
    });
}

#[test]
fn a_role_permits_tools_scopes_servers_and_spawning_whatever_the_caller_says_of_itself() {
    let served = Served::start();
    let sandbox = sandbox_of(&served, "reviewer-1");
    let client = inside(&served, &sandbox, Some("reviewer-1"));
    // Nobody has approved it: a warning in the ledger, and no more.
    assert_eq!(before(&client, "Write", &json!({"file_path": "/w/a"})), Value::Null);
    let told = served.client().get("/api/v1/events?kind=tool.requested").json();
    let gate = &told["items"][0]["payload"]["gate"][0];
    assert!(gate["reason"].as_str().unwrap().contains("Unknown agent: reviewer-1"), "{told}");
    said(&served, &["approve-agent", "reviewer-1", "--role", "reviewer"]);
    for (tool, input, rule) in [
        ("Read", json!({"file_path": "/w/src/a.rs"}), None),
        ("Write", json!({"file_path": "/w/src/a.rs"}), Some("`Write` is not among its own")),
        ("Task", json!({"prompt": "x"}), Some("may not start other agents")),
        ("Bash", bash("ls"), Some("`Bash` is not among its own")),
        ("mcp__github__list_issues", json!({}), None),
        ("mcp__flow_nexus__spawn", json!({}), Some("`flow_nexus` is not open to it")),
        ("Grep", json!({"pattern": "x", "path": "/w"}), None),
    ] {
        let verdict = before(&client, tool, &input);
        let reason = verdict["reason"].as_str();
        assert_eq!(verdict["decision"].as_str(), rule.map(|_| "deny"), "{tool}: {verdict}");
        assert!(rule.is_none_or(|said| reason.unwrap().contains(said)), "{tool}: {verdict}");
    }
    said(&served, &["approve-agent", "reviewer-1", "--role", "developer"]);
    for (line, decision) in [
        ("echo x > src/a.rs", None),
        ("echo x > Makefile", Some("deny")),
        ("cp src/a.rs Makefile", Some("deny")),
        ("cd src && echo x > ../Makefile", Some("deny")),
        ("echo x > \"$OUT\"", Some("ask")),
        ("cat Makefile", None),
    ] {
        let verdict = before(&client, "Bash", &bash(line));
        assert_eq!(verdict["decision"].as_str(), decision, "{line}: {verdict}");
    }
    put(&served, "reviewer-1", &json!({"rbac": {"denials": ["Bash(git:*)"], "read_scopes": ["src/**"]}}));
    assert_eq!(before(&client, "Bash", &bash("true && git status"))["decision"], "deny");
    assert_eq!(before(&client, "Bash", &bash("cat Makefile"))["decision"], "deny");
    assert_eq!(before(&client, "Glob", &json!({"pattern": "/w/docs/*"}))["decision"], "deny");
    let events = served.client().get("/api/v1/events?decision=deny&limit=1").json();
    let event = &events["items"][0];
    assert_eq!((&event["agent_id"], &event["risk"]), (&json!("reviewer-1"), &json!("medium")), "{event}");
    assert_eq!(event["payload"]["rule"], "role.developer.read", "{event}");
}

#[test]
fn where_it_is_enforced_nobody_acts_without_a_name_that_is_approved() {
    let mut served = Served::start();
    let unnamed = served.sandbox();
    let named = sandbox_of(&served, "coder");
    enforce(&mut served);
    let id = unnamed.rsplit('/').next().unwrap();
    let nobody = inside(&served, id, None);
    let coder = inside(&served, &named, Some("coder"));
    let read = json!({"file_path": "/w/a"});
    let reason = |verdict: Value| {
        assert_eq!(verdict["decision"], "deny", "{verdict}");
        verdict["reason"].as_str().unwrap().to_owned()
    };
    assert!(reason(before(&nobody, "Read", &read)).contains("Agent identity missing (agentId required)"));
    assert!(reason(before(&coder, "Read", &read)).contains("Unknown agent: coder (not in registry)"));
    // A user's own agents have the name the kernel knows them by; a key without one is nobody.
    let uid = rustix::process::getuid().as_raw();
    assert!(
        reason(before(&served.neighbour(), "Read", &read)).contains(&format!("Unknown agent: uid:{uid}"))
    );
    assert!(reason(before(&served.client(), "Read", &read)).contains("identity missing"));
    put(&served, "coder", &json!({"role": "developer"}));
    assert!(reason(before(&coder, "Read", &read)).contains("not approved"));
    let path = format!("/api/v1/sandboxes/{named}/exec");
    served.client().post(&path, &json!({"command": "true"})).is_problem(403, "PERMISSION_DENIED");
    said(&served, &["approve-agent", "coder"]);
    assert_eq!(before(&coder, "Read", &read), Value::Null);
    let ran = served.client().post(&path, &json!({"command": "true"}));
    assert_eq!(ran.status, 200, "{ran:?}");
    let other = served.client().post("/api/v1/sandboxes", &json!({"agent": "stranger"}));
    other.is_problem(403, "PERMISSION_DENIED");
    assert!(other.text().contains("Unknown agent: stranger"), "{other:?}");
}

#[test]
fn a_revoked_agent_stops_at_once_and_goes_on_when_it_is_approved_again() {
    let served = Served::start();
    said(&served, &["approve-agent", "coder"]);
    let id = sandbox_of(&served, "coder");
    let path = format!("/api/v1/sandboxes/{id}");
    let order =
        json!({"command": "while true; do date +%s%N >> /tmp/ticks; sleep 0.01; done", "background": true});
    assert_eq!(served.client().post(&format!("{path}/exec"), &order).status, 202);
    let ticks = || served.client().get(&format!("{path}/files/tmp/ticks")).text().lines().count();
    eventually("it ticks", || (ticks() > 2).then_some(()));
    let revoked = said(&served, &["revoke-agent", "coder", "--reason", "not today"]);
    assert_eq!((&revoked["standing"], &revoked["sandboxes"]), (&json!("revoked"), &json!([id])), "{revoked}");
    // By the time the command has answered, nothing of it runs and nothing new is let in.
    let state = || served.client().get(&path).json()["state"].clone();
    assert_eq!(state(), "paused");
    let denied = served.client().post(&format!("{path}/exec"), &json!({"command": "true"}));
    denied.is_problem(403, "PERMISSION_DENIED");
    assert!(denied.text().contains("not today"), "{denied:?}");
    served
        .client()
        .post("/api/v1/sandboxes", &json!({"agent": "coder"}))
        .is_problem(403, "PERMISSION_DENIED");
    let verdict = before(&inside(&served, &id, Some("coder")), "Read", &json!({"file_path": "/w/a"}));
    assert_eq!(verdict["decision"], "deny", "{verdict}");
    served.client().post(&format!("{path}/resume"), &json!({})).is_problem(409, "CONFLICT");
    said(&served, &["approve-agent", "coder"]);
    assert_eq!(state(), "running");
    let before = ticks();
    eventually("it ticks on", || (ticks() > before).then_some(()));
}

#[test]
fn a_revoked_agents_sandboxes_are_ended_where_that_is_wanted_and_observing_does_not_shield_it() {
    let served = Served::start_configured("[agents]\non_revoke = \"end\"\n");
    fs::write(served.home().join("guardian.toml"), "mode = \"observe\"\n").unwrap();
    let mut served = served;
    served.restart("TERM");
    let id = sandbox_of(&served, "coder");
    said(&served, &["revoke-agent", "coder"]);
    let sandbox = served.client().get(&format!("/api/v1/sandboxes/{id}")).json();
    assert_eq!(sandbox["status"], "TERMINATED", "{sandbox}");
    let verdict = before(&inside(&served, &id, Some("coder")), "Read", &json!({"file_path": "/w/a"}));
    assert_eq!(verdict["decision"], "deny", "{verdict}");
}
