//! The exchange between the hook-observability project's script, its dashboard and its server, as all three know it:
//! what was sent and heard there is sent and heard here.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::support::{Request, Served, Socket};

const PAGE: &str = "http://localhost:5173";

/// The path below which programs without keys are let in.
fn base(served: &Served) -> String {
    let url = served.facts["watch_url"].as_str().unwrap();
    url[url.find("/t/").unwrap()..].to_owned()
}

/// The script's request to the byte: Python's headers in Python's order, its spaces after colons and commas, and a
/// connection that is closed. It takes any status but 200 for a failure.
fn script(served: &Served, base: &str, body: &str) -> Value {
    let mut stream = TcpStream::connect(("127.0.0.1", served.port())).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {base}/events HTTP/1.1\r\nAccept-Encoding: identity\r\nContent-Length: {length}\r\n\
         Host: 127.0.0.1:{}\r\nContent-Type: application/json\r\nUser-Agent: Claude-Code-Hook/1.0\r\n\
         Connection: close\r\n\r\n{body}",
        served.port()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

fn told(kind: &str, number: u64) -> String {
    let time = 1_794_768_249_475_u64 + number;
    format!(
        r#"{{"source_app": "demo", "session_id": "abc", "hook_event_type": "{kind}", "payload": {{"session_id": "abc", "hook_event_name": "{kind}", "tool_name": "Bash", "tool_input": {{"command": "ls -la"}}, "number": {number}}}, "timestamp": {time}, "model_name": "claude-haiku-4-5-20251001", "tool_name": "Bash", "tool_use_id": "toolu_{number}"}}"#
    )
}

#[test]
fn script_and_dashboard_hear_what_they_know() {
    let served = Served::start();
    let base = base(&served);
    // A page in a browser, on the development server's address.
    let page = served.stranger().with("origin", PAGE);
    let mut dashboard = Socket::connect(&page, &format!("{base}/stream")).ok().unwrap();
    assert_eq!(dashboard.expect("initial"), json!({"type": "initial", "data": []}));
    for number in 0..3 {
        let body = told("PreToolUse", number);
        let echoed = script(&served, &base, &body);
        let mut due: Value = serde_json::from_str(&body).unwrap();
        assert!(echoed["id"].is_u64());
        due["id"] = echoed["id"].clone();
        assert_eq!(echoed, due, "the answer is what was sent, with a number");
        assert_eq!(
            dashboard.expect("event"),
            json!({"type": "event", "data": echoed}),
            "and so is the frame"
        );
    }
    // A model nobody knows is sent as nothing, and not shown.
    let mut nameless: Value = serde_json::from_str(&told("Stop", 3)).unwrap();
    nameless["model_name"] = json!("");
    script(&served, &base, &nameless.to_string());
    assert!(dashboard.expect("event")["data"].get("model_name").is_none());
    for number in 4..306 {
        script(&served, &base, &told("PostToolUse", number));
    }
    // Whoever comes back begins with the last 300, the oldest first.
    let mut again = Socket::connect(&page, &format!("{base}/stream")).ok().unwrap();
    let initial = again.expect("initial");
    let numbers: Vec<_> = initial["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["payload"]["number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (6..306).collect::<Vec<_>>());
    let get = |path: &str| {
        let answer = page.send(&Request::new("GET", &format!("{base}{path}")));
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, Some(PAGE)));
        answer.json()
    };
    assert_eq!(
        get("/events/filter-options"),
        json!({"source_apps": ["demo"], "session_ids": ["abc"], "hook_event_types": ["PostToolUse", "PreToolUse", "Stop"]})
    );
    assert_eq!(get("/events/recent?limit=2")[1]["payload"]["number"], 305);
    assert_eq!(get("/api/themes?isPublic=true"), json!({"success": true, "data": []}));
}

#[test]
fn a_question_and_its_answer_are_frames_with_the_same_number() {
    let served = Served::start();
    let base = base(&served);
    let page = served.stranger().with("origin", PAGE);
    let mut dashboard = Socket::connect(&page, &format!("{base}/stream")).ok().unwrap();
    dashboard.expect("initial");
    let mut asking: Value = serde_json::from_str(&told("HumanInTheLoop", 1)).unwrap();
    asking["timestamp"] = Value::Null;
    asking["humanInTheLoop"] = json!({
        "question": "Which one?", "responseWebSocketUrl": "ws://localhost:9", "type": "choice",
        "choices": ["left", "right"], "timeout": 300, "requiresResponse": true,
    });
    let asked = script(&served, &base, &asking.to_string());
    let shown = dashboard.expect("event")["data"].clone();
    assert_eq!(shown, asked);
    assert_eq!(shown["humanInTheLoopStatus"], json!({"status": "pending"}));
    assert_eq!(shown["humanInTheLoop"], asking["humanInTheLoop"]);
    // The dashboard answers with the whole event in its answer, and hears of the same event once more.
    let given = json!({"choice": "left", "hookEvent": shown, "respondedAt": 1});
    let answer = page.post(&format!("{base}/events/{}/respond", shown["id"]), &given);
    assert_eq!(answer.status, 200, "{answer:?}");
    let answered = dashboard.expect("event")["data"].clone();
    assert_eq!(answered, answer.json());
    assert_eq!((&answered["id"], &answered["payload"]), (&shown["id"], &shown["payload"]));
    let state = &answered["humanInTheLoopStatus"];
    assert_eq!(
        (&state["status"], &state["response"]["choice"]),
        (&json!("responded"), &json!("left")),
        "{state}"
    );
}

#[test]
fn what_their_server_kept_is_imported_once() {
    let served = Served::start();
    let path = served.work().join("events.db");
    let theirs = rusqlite::Connection::open(&path).unwrap();
    theirs
        .execute_batch(
            "CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, source_app TEXT NOT NULL, session_id TEXT NOT NULL,
             hook_event_type TEXT NOT NULL, payload TEXT NOT NULL, chat TEXT, summary TEXT, timestamp INTEGER NOT NULL,
             humanInTheLoop TEXT, humanInTheLoopStatus TEXT, model_name TEXT)",
        )
        .unwrap();
    let add =
        "INSERT INTO events (source_app, session_id, hook_event_type, payload, chat, timestamp, model_name)
               VALUES ('old', 's-old', ?1, ?2, ?3, ?4, 'claude-haiku-4-5')";
    let said = r#"{"tool_name":"Bash","tool_use_id":"toolu_1","tool_input":{"command":"ls"}}"#;
    let chat = r#"[{"role":"user","text":"hello"}]"#;
    theirs.execute(add, ("PreToolUse", said, Option::<&str>::None, 1_700_000_000_000_i64)).unwrap();
    theirs.execute(add, ("Stop", "{}", Some(chat), 1_700_000_001_000_i64)).unwrap();
    drop(theirs);
    let import = |file: &str| {
        let mut belljar = std::process::Command::new(env!("CARGO_BIN_EXE_belljar"));
        let home = belljar.args(["--json", "events", "import", file]).env("BELLJAR_HOME", served.home());
        let ran = home.current_dir(served.work()).output().unwrap();
        (ran.status.success(), String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap())
    };
    let counted = |(is_well, out, err): (bool, String, String)| -> Value {
        assert!(is_well, "{err}");
        serde_json::from_str(&out).unwrap()
    };
    assert_eq!(counted(import("events.db")), json!({"imported": 2, "known": 0}));
    assert_eq!(counted(import("events.db")), json!({"imported": 0, "known": 2}));
    let recent = served.stranger().get(&format!("{}/events/recent", base(&served))).json();
    assert_eq!(recent.as_array().unwrap().len(), 2, "{recent}");
    let (call, stop) = (&recent[0], &recent[1]);
    assert_eq!(
        (&call["source_app"], &call["payload"]["tool_input"]["command"]),
        (&json!("old"), &json!("ls")),
        "{call}"
    );
    assert_eq!(
        (&call["timestamp"], &stop["chat"][0]["text"]),
        (&json!(1_700_000_000_000_i64), &json!("hello")),
        "{stop}"
    );
    let calls = served.client().get("/api/v1/calls?session_id=s-old").json();
    assert_eq!(calls["items"][0]["tool"], "Bash", "{calls}");
    std::fs::write(served.work().join("no.db"), "no database at all").unwrap();
    for (file, why) in [("nowhere.db", "no such file"), ("no.db", "no.db")] {
        let (is_well, _, err) = import(file);
        assert!(!is_well && err.contains(why), "{file}: {err}");
    }
}
