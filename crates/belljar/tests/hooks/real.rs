//! The real Claude Code, offline, with hooks that `belljar hooks install` put into its settings.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    http::Http,
    support::{Ended, Machine, Scripted, ended},
    workbench::{claude, model::Model},
};

const REASON: &str = "nothing is made here";

/// One session in which the model wants a file to be made.
pub(crate) fn session(machine: &Machine) -> Model {
    session_with(machine, &[("DISABLE_TELEMETRY", "1".to_owned())])
}

fn session_with(machine: &Machine, env: &[(&str, String)]) -> Model {
    let (model, ended) = claude_session(machine, env);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "all done\n"), "{ended:?}");
    model
}

/// One session, however it ends; no rule of the agent's own stops anything in it.
pub(crate) fn claude_session(machine: &Machine, env: &[(&str, String)]) -> (Model, Ended) {
    claude_session_with(machine, env, &[])
}

pub(crate) fn claude_session_with(
    machine: &Machine,
    env: &[(&str, String)],
    flags: &[&str],
) -> (Model, Ended) {
    let installed = machine.run(&["hooks", "install", "--agent", "claude-code"], b"");
    assert_eq!(installed.code, Some(0), "{installed:?}");
    let model = Model::asking_for("echo made > made.txt");
    let mut command = Command::new(claude());
    command
        .args(["--print", "Do it.", "--dangerously-skip-permissions"])
        .args(flags)
        .current_dir(machine.path("project"));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", machine.path("user"));
    command.env("BELLJAR_HOME", machine.path("home"));
    command.env("ANTHROPIC_BASE_URL", model.url()).env("ANTHROPIC_API_KEY", "sk-ant-none");
    // As root it wants to be told that it may.
    for flag in ["IS_SANDBOX", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER"] {
        command.env(flag, "1");
    }
    command.envs(env.iter().map(|(name, value)| (name, value)));
    let ended = ended(command, b"");
    (model, ended)
}

/// What is told of every session, less what comes beside it.
fn story(events: impl Iterator<Item = Value>) -> Vec<String> {
    let names = events.map(|event| event.as_str().unwrap().to_owned());
    names.filter(|name| name != "MessageDisplay" && name != "InstructionsLoaded").collect()
}

#[test]
fn claude_code_is_stopped_by_a_verdict_and_tells_the_rest() {
    let machine = Machine::new();
    let server = Scripted::verdict_on(&machine, "PreToolUse", &json!({"decision": "deny", "reason": REASON}));
    let model = session(&machine);
    assert!(!machine.path("project/made.txt").exists());
    assert!(model.results().iter().any(|result| result.contains(REASON)), "{:?}", model.results());
    let told = story(server.seen().iter().map(|request| request.body["event"].clone()));
    assert_eq!(
        told,
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolBatch", "Stop", "SessionEnd"]
    );
    assert!(machine.spooled().is_empty());
}

#[test]
fn claude_code_works_on_without_a_server_and_nothing_it_said_is_lost() {
    let machine = Machine::new();
    session(&machine);
    assert!(machine.path("project/made.txt").exists());
    let whole = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolBatch",
        "Stop",
        "SessionEnd",
    ];
    let server = Scripted::verdict(&machine, &Value::Null);
    let replayed = machine.run(&["hooks", "replay"], b"");
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    assert_eq!(story(server.seen().iter().map(|request| request.body["event"].clone())), whole);
    let sessions: Vec<_> =
        server.seen().iter().map(|request| request.body["payload"]["session_id"].clone()).collect();
    assert!(sessions.windows(2).all(|pair| pair[0] == pair[1] && pair[0].is_string()), "{sessions:?}");
}

#[test]
fn what_claude_code_tells_in_three_ways_joins_to_one_record_with_the_right_cost() {
    let machine = Machine::new();
    let mut server = machine.belljar(&["--json", "serve", "--listen", "127.0.0.1:0"]);
    let mut server = server.env("BELLJAR_SERVER_POOL", "0").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let facts: Value = serde_json::from_str(&line).unwrap();
    let key = fs::read_to_string(machine.path("home/admin.key")).unwrap();
    let text = |text: &str| text.to_owned();
    let (model, ended) = claude_session_with(
        &machine,
        &[
            ("CLAUDE_CODE_ENABLE_TELEMETRY", text("1")),
            ("OTEL_LOGS_EXPORTER", text("otlp")),
            ("OTEL_METRICS_EXPORTER", text("otlp")),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", text("http/protobuf")),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", facts["url"].as_str().unwrap().to_owned()),
            ("OTEL_EXPORTER_OTLP_HEADERS", format!("Authorization=Bearer {}", key.trim())),
            ("OTEL_LOGS_EXPORT_INTERVAL", text("200")),
            ("OTEL_METRIC_EXPORT_INTERVAL", text("200")),
        ],
        &["--output-format", "json"],
    );
    let result: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((ended.code, &result["result"]), (Some(0), &json!("all done")), "{ended:?}");
    assert_eq!(model.results().len(), 1);
    let http = Http::new(&machine.path("home"));
    let get = |path: &str| {
        let (status, answer) = http.ask("GET", &format!("/api/v1/{path}"), None).unwrap();
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    };
    let items = |answer: &Value| answer["items"].as_array().unwrap().clone();
    // The transcript is read a moment after a stop; what it says of money is known from telemetry by then.
    let until = Instant::now() + Duration::from_secs(60);
    while items(&get("events?kind=transcript.read")).is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    let calls = items(&get("calls"));
    assert_eq!(calls.len(), 1, "{calls:?}");
    let call = &calls[0];
    assert_eq!(
        (&call["tool"], &call["outcome"], &call["decision"]),
        (&json!("Bash"), &json!("success"), &json!("allow")),
        "{call}"
    );
    assert_eq!(
        (&call["told"]["outcome"], &call["told"]["duration_ms"]),
        (&json!("hook"), &json!("telemetry")),
        "{call}"
    );
    let paid = items(&get("events?kind=model.called"));
    let micros: u64 = paid.iter().map(|event| event["cost_micros"].as_u64().unwrap()).sum();
    assert!(paid.len() >= 2 && micros > 0, "{paid:?}");
    let session = &items(&get("sessions"))[0];
    let spent = &session["spent"];
    assert_eq!((&spent["requests"], &spent["basis"]), (&json!(paid.len()), &json!("reported")), "{session}");
    assert_eq!(spent["tokens"]["input"], json!(10 * paid.len()));
    assert!(
        (spent["cost_usd"].as_f64().unwrap() * 1e6 - micros as f64).abs() < 0.5,
        "{spent} is not {micros}"
    );
    // The client reckons by itself what it cost.
    let reckoned = result["total_cost_usd"].as_f64().unwrap();
    assert!((reckoned - spent["cost_usd"].as_f64().unwrap()).abs() < 1e-6, "{spent} is not {reckoned}");
    assert!(call["cost_usd"].as_f64().unwrap() > 0.0, "{call}");
    assert_eq!((&session["state"], &session["app"]), (&json!("done"), &json!("claude-code")));
    server.kill().unwrap();
    server.wait().unwrap();
}
