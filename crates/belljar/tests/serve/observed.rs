//! `belljar run --observe`: agents in a sandbox are heard without anything installed, and whose words they are is known.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::{
    support::{Client, Request, Served, eventually},
    workbench::{claude, model::Model},
};

/// `belljar run --observe` in the server's home.
fn run(served: &Served, flags: &[&str], command: &[&str]) -> Output {
    let mut belljar = Command::new(env!("CARGO_BIN_EXE_belljar"));
    belljar.env("BELLJAR_HOME", served.home()).current_dir(served.work());
    belljar.args(["--json", "run", "--observe", "--agent", "coder", "--pids", "512"]).args(flags).arg("--");
    let ran = belljar.args(command).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    ran
}

fn said(ran: &Output) -> Value {
    serde_json::from_slice(&ran.stdout).unwrap()
}

fn events(served: &Served, query: &str) -> Vec<Value> {
    let page = served.client().get(&format!("/api/v1/events?after=0&{query}")).json();
    page["items"].as_array().unwrap().clone()
}

/// Says something through a hook that claims to be somebody else's.
const LIE: &str = r#"echo '{"hook_event_name":"Stop","session_id":"s1","agent_id":"somebody"}' |
    BELLJAR_SANDBOX=sbx_0190000000007000800000000000002a BELLJAR_AGENT=boss /run/belljar/belljar hook"#;

#[test]
fn whose_words_they_are_is_known_whatever_they_claim() {
    let served = Served::start();
    let ran = said(&run(&served, &[], &["sh", "-c", LIE]));
    assert_eq!(ran["observed"], json!({"told": 1, "spooled": 0, "lost": 0}), "{ran}");
    let [event] = &events(&served, "kind=turn.ended&session_id=s1")[..] else { panic!("one event was told") };
    assert_eq!((&event["sandbox_id"], &event["agent_id"]), (&ran["sandbox"], &json!("coder")), "{event}");
    assert_eq!(event["payload"]["identity"], "known");
    // The server ran the command, so that what it did and what its agent says are of one execution.
    let [started] = &events(&served, "kind=execution.started")[..] else { panic!("one command was run") };
    assert_eq!(
        (&event["execution_id"], &event["sandbox_id"]),
        (&started["execution_id"], &started["sandbox_id"])
    );
}

#[test]
fn what_is_said_while_no_server_is_there_is_told_to_the_next_one_as_the_sandboxs() {
    let mut served = Served::start();
    served.signal("TERM");
    assert!(served.ended());
    let ran = said(&run(&served, &[], &["sh", "-c", LIE]));
    assert_eq!(ran["observed"], json!({"told": 0, "spooled": 1, "lost": 0}), "{ran}");
    served.again();
    let event =
        eventually("it is told", || events(&served, "kind=turn.ended&session_id=s1").into_iter().next());
    assert_eq!((&event["sandbox_id"], &event["agent_id"]), (&ran["sandbox"], &json!("coder")), "{event}");
    assert_eq!(event["payload"]["identity"], "known");
}

#[test]
fn rules_hold_inside_while_no_server_is_there() {
    let mut served = Served::start();
    let rules = "[[rule]]\nname = \"no-push\"\nmatch = \"Bash(git push:*)\"\nverdict = \"deny\"\nreason = \"not from here\"\n";
    std::fs::write(served.home().join("guardian.toml"), rules).unwrap();
    served.restart("TERM");
    let asks = r#"echo '{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"Bash","tool_input":{"command":"git push"}}' \
        | /run/belljar/belljar hook --agent claude-code"#;
    for there in [true, false] {
        if !there {
            served.signal("TERM");
            assert!(served.ended());
        }
        let ran = said(&run(&served, &[], &["sh", "-c", asks]));
        let answer: Value = serde_json::from_str(ran["stdout"].as_str().unwrap()).unwrap();
        let output = &answer["hookSpecificOutput"];
        assert_eq!(output["permissionDecision"], "deny", "{ran}");
        assert_eq!(output["permissionDecisionReason"], "not from here");
    }
    served.again();
    let denied = || (events(&served, "decision=deny").len() == 2).then_some(());
    eventually("both are in the ledger", denied);
}

#[test]
fn a_pass_tells_the_events_of_its_sandbox_and_opens_nothing_else() {
    let served = Served::start();
    // By the door inside, nothing else is there at all.
    let script = r#"for path in /api/v1/sandboxes /api/v1/events /metrics /t/x/events/recent; do
        curl -s -o /dev/null -w '%{http_code} ' -H "authorization: Bearer $BELLJAR_TOKEN" $BELLJAR_URL$path
        curl -s -o /dev/null -w '%{http_code} ' -X POST -H "authorization: Bearer $BELLJAR_TOKEN" $BELLJAR_URL$path
        done; curl -s -o /dev/null -w '%{http_code} ' -X POST $BELLJAR_URL/api/v1/hooks/codex
        echo; echo $BELLJAR_TOKEN"#;
    // A server would not let it say the token to anybody.
    let ran = said(&run(&served, &["--direct"], &["sh", "-c", script]));
    let mut lines = ran["stdout"].as_str().unwrap().lines();
    assert_eq!(lines.next().unwrap().trim(), "404 404 404 404 404 404 404 404 401");
    // Nor is it by any other, for whoever carries it out.
    let pass = lines.next().unwrap();
    let bearer = format!("Bearer {pass}");
    for anybody in [served.stranger(), served.neighbour()] {
        let told = json!({"source_app": "a", "session_id": "s2", "hook_event_type": "Stop", "payload": {}});
        let forged = anybody.clone().with("authorization", "Bearer bjp_00.00");
        assert_eq!(forged.post("/events", &told).status, 401);
        let client = anybody.with("authorization", &bearer);
        assert_eq!(client.post("/events", &told).status, 200);
        refused(&client, "GET", "/api/v1/events");
        refused(&client, "GET", "/api/v1/sandboxes");
        refused(&client, "GET", "/events/recent");
        refused(&client, "POST", "/events/1/respond");
        refused(&client, "POST", "/api/v1/sandboxes");
    }
    assert_eq!(served.stranger().post(&format!("/t/{pass}/events"), &json!({})).status, 400);
    assert_eq!(served.stranger().get(&format!("/t/{pass}/events/recent")).status, 403);
    let events = events(&served, "kind=turn.ended&session_id=s2");
    assert_eq!(events.len(), 2);
    assert!(events.iter().all(|event| event["sandbox_id"] == ran["sandbox"]), "{events:?}");
}

#[test]
fn telemetry_waits_for_a_server_like_everything_else() {
    let mut served = Served::start();
    served.signal("TERM");
    assert!(served.ended());
    let text = |value: &str| json!({"stringValue": value});
    let export = json!({"resourceLogs": [{
        "resource": {"attributes": [{"key": "service.name", "value": text("claude-code")}]},
        "scopeLogs": [{"logRecords": [{
            "timeUnixNano": "1794800000000000000", "body": text("claude_code.api_request"),
            "attributes": [
                {"key": "event.name", "value": text("api_request")}, {"key": "session.id", "value": text("s8")},
                {"key": "model", "value": text("claude-sonnet-4-5")}, {"key": "cost_usd", "value": {"doubleValue": 0.25}},
            ],
        }]}],
    }]});
    std::fs::write(served.work().join("export.json"), export.to_string()).unwrap();
    let script = r#"curl -s -f -H "authorization: Bearer $BELLJAR_TOKEN" -H 'content-type: application/json' \
        --data-binary @export.json $BELLJAR_URL/v1/logs"#;
    let ran = said(&run(&served, &[], &["sh", "-c", script]));
    assert_eq!((&ran["stdout"], &ran["observed"]["spooled"]), (&json!("{}"), &json!(1)), "{ran}");
    served.again();
    let event =
        eventually("it is told", || events(&served, "kind=model.called&session_id=s8").into_iter().next());
    assert_eq!((&event["sandbox_id"], &event["cost_micros"]), (&ran["sandbox"], &json!(250_000)), "{event}");
    assert_eq!(event["payload"]["identity"], "known");
}

fn refused(client: &Client, method: &str, path: &str) {
    let answer = client.send(&Request::new(method, path).json(&json!({})));
    assert_eq!(answer.status, 403, "{method} {path}: {answer:?}");
}

/// The real Claude Code in a sandbox.
fn claude_in_sandbox(served: &Served, model: &Model, env: &[&str], words: &[&str]) -> Value {
    let program = claude();
    let lent = format!("{}:/srv/claude:ro", program.parent().unwrap().display());
    let url = format!("ANTHROPIC_BASE_URL={}", model.url());
    let mut flags =
        vec!["--net", "open", "--memory", "4G", "--timeout", "120s", "--mount", &lent, "--env", &url];
    for silent in [
        "ANTHROPIC_API_KEY=sk-ant-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
        "DISABLE_AUTOUPDATER=1",
        "DISABLE_TELEMETRY=1",
    ]
    .iter()
    .chain(env)
    {
        flags.extend(["--env", silent]);
    }
    let own = ["/srv/claude/claude", "--print", "Do it.", "--dangerously-skip-permissions"];
    said(&run(served, &flags, &[&own, words].concat()))
}

#[test]
fn the_transcript_of_an_agent_in_a_sandbox_is_read_there() {
    let served = Served::start();
    let model = Model::asking_for("echo made > made.txt");
    let ran =
        claude_in_sandbox(&served, &model, &["CLAUDE_CODE_ENABLE_TELEMETRY=0"], &["--output-format", "json"]);
    let result: Value = serde_json::from_str(ran["stdout"].as_str().unwrap()).unwrap();
    let (session, cost) =
        (result["session_id"].as_str().unwrap(), result["total_cost_usd"].as_f64().unwrap());
    let spent = eventually("all of it is counted", || {
        let spent = served.client().get(&format!("/api/v1/sessions/{session}")).json()["spent"].clone();
        spent["cost_usd"].as_f64().filter(|ours| (ours - cost).abs() < 1e-6).map(|_| spent)
    });
    assert!(cost > 0.0);
    assert_eq!((&spent["basis"], &spent["unpriced"]), (&json!("list_price"), &json!(0)), "{spent}");
    let read = events(&served, &format!("kind=transcript.read&session_id={session}"));
    assert!(!read.is_empty() && read.iter().all(|event| event["sandbox_id"] == ran["sandbox"]), "{read:?}");
}

#[test]
fn the_real_claude_code_is_heard_without_anything_installed() {
    let served = Served::start();
    let model = Model::asking_for("echo made > made.txt");
    let ran = claude_in_sandbox(&served, &model, &[], &[]);
    assert_eq!((&ran["stdout"], &ran["observed"]["lost"]), (&json!("all done\n"), &json!(0)), "{ran}");
    let sandbox = ran["sandbox"].as_str().unwrap();
    let heard = events(&served, &format!("sandbox_id={sandbox}"));
    let hooks = heard.iter().filter(|event| event["payload"]["source"] == "hook");
    let story: Vec<_> = hooks.clone().map(|event| event["payload"]["hook"].as_str().unwrap()).collect();
    let told: Vec<_> = story
        .into_iter()
        .filter(|name| !matches!(*name, "MessageDisplay" | "InstructionsLoaded" | "PermissionRequest"))
        .collect();
    let whole = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolBatch",
        "Stop",
        "SessionEnd",
    ];
    assert_eq!(told, whole, "{heard:?}");
    assert!(
        hooks.clone().all(|event| event["payload"]["identity"] == "known" && event["agent_id"] == "coder")
    );
    let call = hooks.clone().find(|event| event["kind"] == "tool.finished").unwrap();
    assert_eq!((&call["tool"], &call["target"]), (&json!("Bash"), &json!("echo made > made.txt")), "{call}");
    // What it exports comes by the same door, and what its model cost with it.
    let exported: Vec<_> = heard.iter().filter(|event| event["payload"]["source"] == "otlp").collect();
    assert!(exported.iter().any(|event| event["kind"] == "model.called"), "{heard:?}");
    assert!(exported.iter().all(|event| event["payload"]["identity"] == "known"), "{exported:?}");
    // Its conversation is kept, although its sandbox is gone.
    let transcript = eventually("it is archived", || {
        // A later one takes the place of an earlier one.
        let archived = events(&served, &format!("kind=session.archived&sandbox_id={sandbox}")).pop()?;
        let digest = archived["payload"]["transcript"]["digest"].as_str()?.to_owned();
        let kept = served.client().get(&format!("/api/v1/artifacts/{digest}"));
        (kept.status == 200).then(|| kept.text())
    });
    assert!(transcript.contains("echo made > made.txt"), "{transcript}");
    // On the host nothing was made and nothing installed.
    assert!(!served.work().join("made.txt").exists() && !served.work().join(".claude").exists());
}
