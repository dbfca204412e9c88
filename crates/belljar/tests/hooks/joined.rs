//! Hooks, telemetry and the transcript of one session of the real Claude Code: one record per call, and its money once.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    agent::{self, Account},
    scenes::{self, Scene},
    support::Machine,
    twenty::{self, Server, machine, wait},
    workbench::model::{Model, Say, Script},
};

/// What makes the client tell of itself by telemetry as well.
fn telemetry(machine: &Machine, server: &Server) -> Vec<(&'static str, String)> {
    let key = fs::read_to_string(machine.path("home/admin.key")).unwrap();
    let set = |name, value: &str| (name, value.to_owned());
    vec![
        set("CLAUDE_CODE_ENABLE_TELEMETRY", "1"),
        // With it the client sends nothing to anybody.
        set("DISABLE_TELEMETRY", ""),
        set("OTEL_LOGS_EXPORTER", "otlp"),
        set("OTEL_METRICS_EXPORTER", "otlp"),
        set("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        set("OTEL_EXPORTER_OTLP_ENDPOINT", server.url()),
        set("OTEL_EXPORTER_OTLP_HEADERS", &format!("Authorization=Bearer {}", key.trim())),
        set("OTEL_LOGS_EXPORT_INTERVAL", "200"),
        set("OTEL_METRIC_EXPORT_INTERVAL", "200"),
    ]
}

fn items(answer: &Value) -> Vec<Value> {
    answer["items"].as_array().unwrap().clone()
}

/// Plays a scene to its end.
fn settled(machine: &Machine, server: &Server, mut scene: Scene) -> Account {
    let account = twenty::play(machine, server, &mut scene);
    heard_out(server, &account);
    account
}

/// Gives what is told late, like the transcript after the end, some time to be counted.
fn heard_out(server: &Server, account: &Account) {
    assert_eq!(account.code, Some(0), "{account:?}");
    let session = &account.session;
    let is_over = || server.told(Some(session)).iter().any(|event| event["payload"]["hook"] == "SessionEnd");
    wait("its end is told", is_over);
    let cost = || server.get(&format!("sessions/{session}"))["spent"]["cost_usd"].as_f64();
    let until = Instant::now() + Duration::from_secs(20);
    while !cost().zip(account.cost).is_some_and(|(ours, theirs)| near(ours, theirs)) && Instant::now() < until
    {
        thread::sleep(Duration::from_millis(50));
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

/// Every call of the session has one record, and their money is the session's, which is what the client says.
fn one_record_each(server: &Server, account: &Account, basis: &str) -> Vec<Value> {
    let session = &account.session;
    let calls = items(&server.get(&format!("calls?session_id={session}&limit=500")));
    let mut ids: Vec<&str> = calls.iter().map(|call| call["tool_use_id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, account.calls.iter().map(String::as_str).collect::<Vec<_>>(), "{calls:?}");
    let whole = server.get(&format!("sessions/{session}"));
    let spent = &whole["spent"];
    let (cost, reckoned) = (spent["cost_usd"].as_f64().unwrap(), account.cost.unwrap());
    assert!(near(cost, reckoned), "{spent} is not the client's own {reckoned}");
    assert_eq!(spent["basis"], json!(basis), "{whole}");
    let of_calls: f64 = calls.iter().map(|call| call["cost_usd"].as_f64().unwrap()).sum();
    assert!(of_calls > 0.0 && of_calls < cost, "{of_calls} of {cost}: the last answer made no call");
    calls
}

#[test]
fn hooks_telemetry_and_transcript_of_a_managed_session_join_to_one_record_per_call() {
    let machine = machine();
    let server = Server::start(&machine);
    let told_by_both = telemetry(&machine, &server);
    for scene in [scenes::work, scenes::greeting] {
        let mut scene = scene(&machine);
        scene.script = scene.script.cached();
        scene.env.extend(told_by_both.clone());
        let account = settled(&machine, &server, scene);
        let calls = one_record_each(&server, &account, "reported");
        for call in &calls {
            let told = &call["told"];
            assert_eq!((&told["outcome"], &told["input"]), (&json!("hook"), &json!("hook")), "{call}");
            assert_eq!(told["duration_ms"], "telemetry", "{call}");
            assert_eq!(call["decision"], "allow", "{call}");
        }
        let paid = items(&server.get(&format!("events?kind=model.called&session_id={}", account.session)));
        let micros: f64 = paid.iter().map(|event| event["cost_micros"].as_f64().unwrap()).sum();
        assert!((micros / 1e6 - account.cost.unwrap()).abs() < 1e-6 * paid.len() as f64, "{paid:?}");
    }
}

#[test]
fn without_telemetry_the_transcript_of_a_managed_session_tells_the_same_money() {
    let machine = machine();
    let server = Server::start(&machine);
    for scene in [scenes::work, scenes::greeting] {
        let mut scene = scene(&machine);
        scene.script = scene.script.cached();
        let account = settled(&machine, &server, scene);
        one_record_each(&server, &account, "list_price");
    }
}

#[test]
fn what_telemetry_a_killed_server_did_not_hear_the_transcript_makes_up_for() {
    let machine = machine();
    let mut server = Server::start(&machine);
    let script = Script::default()
        .turn([Say::run("touch before")])
        .turn([Say::run(&format!("touch now; {}", agent::until("killed")))])
        .turn([Say::run("touch after")])
        .turn([Say::text("all done")])
        .cached();
    let model = Model::playing(script);
    let args = [
        "--print",
        "--verbose",
        "--output-format",
        "stream-json",
        "--dangerously-skip-permissions",
        "Do it.",
    ];
    let command = agent::agent(&machine, &model, &telemetry(&machine, &server), &args);
    let account = thread::scope(|scope| {
        let session = scope.spawn(|| agent::talk(command, &[]));
        wait("the session is in its middle and some of it was paid", || {
            machine.path("project/now").exists() && !items(&server.get("events?kind=model.called")).is_empty()
        });
        server.kill();
        agent::put(&machine, "killed", "");
        session.join().unwrap()
    });
    let server = Server::start(&machine);
    heard_out(&server, &account);
    let session = server.get(&format!("sessions/{}", account.session));
    let (spent, reckoned) = (&session["spent"], account.cost.unwrap());
    assert!(
        near(spent["cost_usd"].as_f64().unwrap(), reckoned),
        "{spent} is not the client's own {reckoned}"
    );
    assert_eq!(spent["requests"], 4, "{session}");
    let calls = items(&server.get(&format!("calls?session_id={}", account.session)));
    assert_eq!(calls.len(), 3, "{calls:?}");
    assert!(calls.iter().all(|call| call["outcome"] == "success"), "{calls:?}");
}
