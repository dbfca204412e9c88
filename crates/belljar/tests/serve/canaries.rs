//! Secrets of more than forty kinds through every door: in every field of every event, in output, environments,
//! transcripts and bodies of files. None comes out again, wherever anything is kept, shown, logged or exported.

#[path = "../../../guardian/tests/planted/mod.rs"]
mod planted;

use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::{self, JoinHandle},
};

use planted::{ALNUM, body, named, tokens};
use serde_json::{Map, Value, json};

use crate::support::{Request, Served, Socket, eventually};

/// All that Claude Code tells of.
const EVENTS: [&str; 33] = [
    "SessionStart",
    "SessionEnd",
    "Setup",
    "InstructionsLoaded",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "MessageDisplay",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// Fields of its payloads that hold text.
const FIELDS: [&str; 30] = [
    "session_id",
    "transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "tool_name",
    "tool_use_id",
    "parent_tool_use_id",
    "prompt",
    "message",
    "title",
    "error",
    "error_details",
    "reason",
    "delta",
    "last_assistant_message",
    "custom_instructions",
    "compact_summary",
    "command_args",
    "file_path",
    "model",
    "source",
    "task_subject",
    "task_description",
    "old_cwd",
    "new_cwd",
    "trigger",
    "brand_new_field",
];

/// What anybody with a key may ask for.
const ASKED: [&str; 12] = [
    "events?limit=1000",
    "events/audit?limit=1000",
    "calls?limit=1000",
    "sessions?limit=1000",
    "errors",
    "agents/metrics",
    "tools/usage",
    "handoffs",
    "cost",
    "detections",
    "artifacts",
    "sandboxes",
];

/// A secret, and the words around it by which it is known.
struct Planted {
    secret: String,
    text: String,
}

fn all() -> Vec<Planted> {
    let mut all: Vec<Planted> = Vec::new();
    for (_, secret) in tokens() {
        all.push(Planted { text: secret.clone(), secret });
    }
    for (name, secret) in named() {
        all.push(Planted { text: format!("{name}={secret}"), secret });
    }
    for (seed, before, after) in [
        (70, "postgres://app:", "@db.example/x"),
        (71, "https://ann:", "@git.example/a.git"),
        (72, "Authorization: Bearer ", ""),
        (73, "-----BEGIN OPENSSH PRIVATE KEY-----\n", "\n-----END OPENSSH PRIVATE KEY-----"),
    ] {
        let secret = body(seed, ALNUM, 64);
        all.push(Planted { text: format!("{before}{secret}{after}"), secret });
    }
    assert!(all.len() > 40);
    all
}

/// What must be nowhere: the middle of every secret, and the whole of a short one.
fn needles(all: &[Planted]) -> String {
    let middle = |secret: &str| {
        let at = secret.len() / 2;
        if secret.len() < 24 { secret.to_owned() } else { secret[at - 8..at + 8].to_owned() }
    };
    all.iter().map(|planted| middle(&planted.secret) + "\n").collect()
}

/// Everything, as a person and as a program would write it down.
fn everything(all: &[Planted]) -> Value {
    let texts: Vec<_> = all.iter().map(|planted| planted.text.clone()).collect();
    let by_name: Map<String, Value> =
        named().into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    json!({"texts": texts, "together": texts.join(" and\n"), "config": by_name})
}

/// A payload of an event with a secret in each of its fields, another one every time, and all of them in its bodies.
fn payload(all: &[Planted], event: &str, round: usize) -> Value {
    let mut fields = Map::new();
    for (place, field) in FIELDS.into_iter().enumerate() {
        let planted = &all[(round * FIELDS.len() + place) % all.len()];
        fields.insert(field.to_owned(), json!(planted.text));
    }
    let file = everything(all)["together"].clone();
    fields.insert("hook_event_name".to_owned(), json!(event));
    fields.insert(
        "tool_input".to_owned(),
        json!({"command": file, "file_path": "/w/.env", "content": file, "old_string": file, "new_string": file}),
    );
    let patch = json!([{"lines": [file]}]);
    fields.insert(
        "tool_response".to_owned(),
        json!({"stdout": file, "stderr": file, "file": {"content": file}, "originalFile": file, "structuredPatch": patch}),
    );
    fields.insert("tool_calls".to_owned(), json!([{"tool_name": "Read", "tool_response": everything(all)}]));
    fields.insert("everything".to_owned(), everything(all));
    Value::Object(fields)
}

fn export(all: &[Planted]) -> [(&'static str, Value); 3] {
    let text = |value: &str| json!({"stringValue": value});
    let attributes: Vec<_> = all
        .iter()
        .enumerate()
        .map(|(number, planted)| json!({"key": format!("field.{number}"), "value": text(&planted.text)}))
        .chain(named().into_iter().map(|(name, value)| json!({"key": name, "value": text(&value)})))
        .chain([json!({"key": "session.id", "value": text("canary")})])
        .collect();
    let resource = json!({"attributes": attributes});
    let together = everything(all)["together"].clone();
    let time = "1794800000000000000";
    let log = json!({"timeUnixNano": time, "body": {"stringValue": together}, "attributes": attributes});
    let span = json!({
        "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "name": "execute_tool x", "kind": 1,
        "startTimeUnixNano": time, "endTimeUnixNano": time, "attributes": attributes,
        "status": {"code": 2, "message": together}, "events": [{"timeUnixNano": time, "name": "e", "attributes": attributes}],
    });
    let point = json!({"asInt": "3", "timeUnixNano": time, "attributes": attributes});
    let sum = json!({"dataPoints": [point], "aggregationTemporality": 1, "isMonotonic": true});
    [
        ("/v1/logs", json!({"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": [log]}]}]})),
        ("/v1/traces", json!({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]})),
        (
            "/v1/metrics",
            json!({"resourceMetrics": [{"resource": resource, "scopeMetrics": [{"metrics": [{"name": "m", "sum": sum}]}]}]}),
        ),
    ]
}

/// Writes down everything a stream says until the server ends.
fn note(mut socket: Socket, at: PathBuf) -> JoinHandle<()> {
    let mut file = File::create(at).unwrap();
    thread::spawn(move || {
        while let Some(frame) = socket.hear_bytes() {
            file.write_all(&frame).unwrap();
        }
    })
}

/// Fails and names the files if anything planted is found below a directory.
fn clean(needles: &Path, below: &Path, but: &[&str]) {
    let mut grep = Command::new("grep");
    grep.args(["-r", "-a", "-o", "-F", "-f"]).arg(needles).arg(below);
    grep.args(but.iter().map(|name| format!("--exclude={name}")));
    let found = grep.output().unwrap();
    let said = String::from_utf8_lossy(&found.stdout);
    assert_eq!(found.status.code(), Some(1), "{}", said.lines().take(40).collect::<Vec<_>>().join("\n"));
}

fn hook(served: &Served, payload: &Value) {
    let mut hook = Command::new(env!("CARGO_BIN_EXE_belljar"));
    hook.args(["hook", "--agent", "claude-code"]).env("BELLJAR_HOME", served.home()).stdin(Stdio::piped());
    let mut hook = hook.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    assert!(matches!(hook.wait().unwrap().code(), Some(0 | 2)));
}

fn in_a_sandbox(served: &Served, all: &[Planted]) {
    let (client, together) = (served.client(), everything(all)["together"].as_str().unwrap().to_owned());
    let env: Map<String, Value> = named()
        .into_iter()
        .map(|(name, value)| (name.replace('-', "_"), json!(value)))
        .chain([("TEXT".to_owned(), json!(together))])
        .collect();
    let labels = json!({"token": all[0].text, "password": "hunter2-and-more"});
    let made = client.post("/api/v1/sandboxes", &json!({"env": env, "labels": labels}));
    assert_eq!(made.status, 201, "{made:?}");
    let sandbox = format!("/api/v1/sandboxes/{}", made.json()["id"].as_str().unwrap());
    let orders = [
        json!({"command": "printf '%s\\n' \"$TEXT\"; env; printf '%s\\n' \"$TEXT\" >&2", "background": true}),
        json!({"command": ["printf", "%s\\n", together], "background": true}),
        json!({"command": ["cat"], "stdin": together, "background": true, "env": {"MORE": together}}),
    ];
    for order in orders {
        let started = client.post(&format!("{sandbox}/exec"), &order).json();
        let execution = format!("{sandbox}/executions/{}", started["execution_id"].as_str().unwrap());
        assert_eq!(client.get(&format!("{execution}/wait")).json()["status"], "success", "{started}");
    }
    assert_eq!(client.delete(&sandbox).status, 204);
}

/// Hooks by the socket and over HTTP, events of others, the hook-observability protocol, telemetry.
fn by_every_door(served: &Served, all: &[Planted], base: &str) {
    for (round, event) in EVENTS.into_iter().enumerate() {
        let payload = payload(all, event, round);
        hook(served, &payload);
        assert_eq!(served.neighbour().post("/hooks/claude-code", &payload).status, 200, "{event}");
        let told = json!({"kind": format!("canary.{}", event.to_ascii_lowercase()), "session_id": all[round].text,
            "agent_id": all[round + 1].text, "tool": all[round + 2].text, "target": all[round + 3].text,
            "reason": all[round + 4].text, "error": all[round + 5].text, "agent_name": all[round + 6].text,
            "payload": payload, "unknown": everything(all)});
        assert_eq!(served.client().post("/api/v1/events/ingest", &told).status, 201, "{event}");
        let observed = json!({"source_app": all[round].text, "session_id": all[round + 1].text, "summary": all[round + 2].text,
            "hook_event_type": event, "payload": payload, "chat": [everything(all)], "extra": everything(all)});
        assert_eq!(served.stranger().post(&format!("{base}/events"), &observed).status, 200, "{event}");
    }
    for (path, export) in export(all) {
        assert_eq!(served.client().post(path, &export).status, 200, "{path}");
    }
}

/// A conversation that ends; the answer is where its bundle is kept.
fn by_a_transcript(served: &Served, all: &[Planted]) -> String {
    let transcript = served.work().join("canary.jsonl");
    let line = json!({"type": "user", "sessionId": "canary", "message": {"content": everything(all)}});
    let call = json!([{"type": "tool_use", "id": "toolu_c", "name": "Bash", "input": everything(all)}]);
    let said = json!({"id": "m", "model": "claude-opus-5-5", "usage": {"input_tokens": 1, "output_tokens": 1}, "content": call});
    let answer = json!({"type": "assistant", "sessionId": "canary", "requestId": "r", "message": said});
    fs::write(&transcript, format!("{line}\n{answer}\nno json: {}\n", all[3].text)).unwrap();
    for event in ["Stop", "SessionEnd"] {
        let payload = json!({"hook_event_name": event, "session_id": "canary", "transcript_path": transcript, "reason": "other",
            "last_assistant_message": everything(all)["together"]});
        assert_eq!(served.neighbour().post("/hooks/claude-code", &payload).status, 200);
    }
    eventually("it is archived", || {
        let page = served.client().get("/api/v1/events?kind=session.archived&session_id=canary").json();
        page["items"][0]["payload"]["bundle"]["digest"].as_str().map(str::to_owned)
    })
}

#[test]
fn no_secret_is_kept_shown_logged_or_exported() {
    let all = all();
    let mut served = Served::start_logged();
    let (client, work) = (served.client(), served.work());
    let (seen, list) = (work.join("seen"), work.join("needles"));
    fs::create_dir(&seen).unwrap();
    fs::write(&list, needles(&all)).unwrap();
    let watch = served.facts["watch_url"].as_str().unwrap();
    let base = watch[watch.find("/t/").unwrap()..].to_owned();
    let mut native = Socket::connect(&client, "/api/v1/stream").ok().unwrap();
    native.say(&json!({"type": "subscribe", "filter": {}, "since": 0}));
    let watching = [
        note(native, seen.join("stream")),
        note(
            Socket::connect(&served.stranger(), &format!("{base}/stream")).ok().unwrap(),
            seen.join("dashboard"),
        ),
    ];

    by_every_door(&served, &all, &base);
    let archived = by_a_transcript(&served, &all);
    in_a_sandbox(&served, &all);

    // What is asked for.
    let show = |name: &str, path: &str| {
        let answer = client.send(&Request::new("GET", path));
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        fs::write(seen.join(name), answer.body).unwrap();
    };
    show("bundle", &format!("/api/v1/artifacts/{archived}"));
    for (number, path) in ASKED.into_iter().enumerate() {
        show(&format!("asked-{number}"), &format!("/api/v1/{path}"));
    }
    show("metrics", "/metrics");
    let belljar = |name: &str, words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_belljar"));
        let ran = command.args(words).env("BELLJAR_HOME", served.home()).output().unwrap();
        assert!(ran.status.success() && !ran.stdout.is_empty(), "{words:?}: {ran:?}");
        fs::write(seen.join(name), [ran.stdout, ran.stderr].concat()).unwrap();
    };
    for format in ["jsonl", "csv", "otlp"] {
        belljar(&format!("export-{format}"), &["events", "export", "--format", format]);
    }
    for format in ["json", "markdown", "html"] {
        belljar(&format!("session-{format}"), &["sessions", "export", "canary", "--format", format]);
    }
    belljar("audit-export", &["audit", "export"]);
    clean(&list, &served.home(), &[]);

    // What hooks say while nobody is there, and what the next server makes of it.
    served.signal("TERM");
    assert!(served.ended());
    for watcher in watching {
        watcher.join().unwrap();
    }
    for (round, event) in EVENTS.into_iter().enumerate() {
        hook(&served, &payload(&all, event, round + 7));
    }
    let spool = served.home().join("spool");
    let held = || {
        fs::read_dir(&spool)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "jsonl"))
            .count()
    };
    assert_eq!(held(), EVENTS.len());
    clean(&list, &served.home(), &[]);
    served.again();
    eventually("the spool is told", || (held() == 0).then_some(()));
    served.signal("TERM");
    assert!(served.ended());
    clean(&list, &served.home(), &[]);
    // The streams and the log of the server, which says a lot.
    assert!(fs::metadata(seen.join("stream")).unwrap().len() > 1_000_000);
    assert!(fs::metadata(served.work().join("log")).unwrap().len() > 0);
    clean(&list, &seen, &[]);
    fs::copy(served.work().join("log"), seen.join("log")).unwrap();
    clean(&list, &seen, &[]);
}
