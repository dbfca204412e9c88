//! The hook-observability protocol, spoken as its scripts and its dashboard do: told, watched, answered, and closed to
//! everybody else.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    thread,
};

use serde_json::{Value, json};

use crate::support::{Client, Request, Served, Socket, eventually};

/// The path below which programs without keys are let in.
fn base(served: &Served) -> String {
    let url = served.facts["watch_url"].as_str().unwrap();
    let at = url.find("/t/").unwrap();
    url[at..].to_owned()
}

/// What its script sends, as it sends it.
fn event(kind: &str, session: &str) -> Value {
    json!({
        "source_app": "demo", "session_id": session, "hook_event_type": kind,
        "payload": {"session_id": session, "hook_event_name": kind, "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "tool_use_id": "toolu_01", "cwd": "/w"},
        "timestamp": 1_794_768_249_475_i64, "model_name": "claude-haiku-4-5", "tool_name": "Bash",
        "tool_use_id": "toolu_01",
    })
}

fn post(client: &Client, path: &str, event: &Value) -> (u16, Value) {
    let answer = client.post(path, event);
    (answer.status, answer.json())
}

#[test]
fn an_event_comes_back_with_its_number_and_is_in_the_ledger() {
    let served = Served::start();
    let (client, base) = (served.stranger(), base(&served));
    let mut told = event("PreToolUse", "abc");
    told["id"] = json!("mine");
    told["brand_new"] = json!([1]);
    let script = Request::new("POST", &format!("{base}/events"))
        .with("accept-encoding", "identity")
        .with("user-agent", "Claude-Code-Hook/1.0")
        .json(&told);
    let answer = client.send(&script);
    assert_eq!(answer.status, 200, "{answer:?}");
    let shown = answer.json();
    let id = shown["id"].as_u64().unwrap();
    told["id"] = json!(id);
    assert_eq!(shown, told);
    let ledger = served.client().get("/api/v1/events?kind=tool.requested").json();
    let kept = &ledger["items"][0];
    assert_eq!((&kept["seq"], &kept["tool"], &kept["target"]), (&json!(id), &json!("Bash"), &json!("ls")));
    assert_eq!((&kept["session_id"], &kept["agent_name"]), (&json!("abc"), &json!("demo")));
    let recent = client.get(&format!("{base}/events/recent?limit=5")).json();
    assert_eq!(recent, json!([told]));
}

#[test]
fn what_is_no_event_is_refused_in_the_protocols_words() {
    let served = Served::start();
    let path = format!("{}/events", base(&served));
    let client = served.stranger();
    for field in ["source_app", "session_id", "hook_event_type", "payload"] {
        for nothing in [Value::Null, json!("")] {
            let mut wrong = event("Stop", "s");
            wrong[field] = nothing;
            let refused = (400, json!({"error": "Missing required fields"}));
            assert_eq!(post(&client, &path, &wrong), refused, "{field}");
        }
    }
    assert_eq!(post(&client, &path, &json!([1])).1, json!({"error": "Missing required fields"}));
    let bad = client.send(&Request::new("POST", &path).with("content-type", "application/json").body("{"));
    assert_eq!((bad.status, bad.json()), (400, json!({"error": "Invalid request"})));
    for payload in [json!({}), json!([1]), json!("text")] {
        let mut fine = event("DecisionPoint", "s");
        fine["payload"] = payload.clone();
        let (status, shown) = post(&client, &path, &fine);
        assert_eq!((status, &shown["payload"]), (200, &payload));
    }
    let text = client.get(&format!("{}/health", base(&served)));
    assert_eq!((text.status, text.text().as_str()), (200, "Multi-Agent Observability Server"));
}

#[test]
fn the_newest_come_last_and_choices_are_sorted() {
    let served = Served::start();
    let (client, base) = (served.stranger(), base(&served));
    for (number, (app, session)) in [("b", "s2"), ("a", "s1"), ("b", "s3")].into_iter().enumerate() {
        let mut told = event("PostToolUse", session);
        told["source_app"] = json!(app);
        told["timestamp"] = json!(1_794_768_249_000_i64 - i64::try_from(number).unwrap());
        assert_eq!(post(&client, &format!("{base}/events"), &told).0, 200);
    }
    // What a hook told by the other way is seen as well.
    let native = json!({"hook_event_name": "Stop", "session_id": "s9", "last_assistant_message": "done"});
    assert_eq!(served.client().post("/hooks/claude-code", &native).status, 200);
    let recent = client.get(&format!("{base}/events/recent")).json();
    let sessions: Vec<_> =
        recent.as_array().unwrap().iter().map(|event| event["session_id"].clone()).collect();
    let last = recent[3].clone();
    // The clock of the one told just now is this machine's.
    assert!(sessions == ["s3", "s1", "s2", "s9"] || sessions == ["s9", "s3", "s1", "s2"], "{recent}");
    let stop = if last["session_id"] == "s9" { last } else { recent[0].clone() };
    assert_eq!(
        (&stop["source_app"], &stop["hook_event_type"]),
        (&json!("claude-code"), &json!("Stop")),
        "{stop}"
    );
    assert_eq!(stop["payload"]["hook_event_name"], "Stop", "{stop}");
    let options = client.get(&format!("{base}/events/filter-options")).json();
    assert_eq!(
        options,
        json!({"source_apps": ["a", "b", "claude-code"], "session_ids": ["s9", "s3", "s2", "s1"],
            "hook_event_types": ["PostToolUse", "Stop"]})
    );
    for (limit, count) in [("1", 1), ("-1", 4), ("abc", 4), ("0", 0)] {
        let some = client.get(&format!("{base}/events/recent?limit={limit}")).json();
        assert_eq!(some.as_array().unwrap().len(), count, "{limit}");
    }
}

#[test]
fn a_dashboard_sees_what_was_and_what_comes() {
    let served = Served::start();
    let (client, base) = (served.stranger(), base(&served));
    post(&client, &format!("{base}/events"), &event("SessionStart", "s"));
    let stream = format!("{base}/stream");
    let mut both = [(); 2].map(|()| Socket::connect(&client, &stream).ok().unwrap());
    for socket in &mut both {
        let initial = socket.expect("initial");
        assert_eq!(initial["data"][0]["hook_event_type"], "SessionStart", "{initial}");
        assert_eq!(initial["data"].as_array().unwrap().len(), 1);
        // Whatever a client says is passed over.
        socket.say(&json!({"type": "anything"}));
    }
    let (_, told) = post(&client, &format!("{base}/events"), &event("PreToolUse", "s"));
    for socket in &mut both {
        assert_eq!(socket.expect("event")["data"], told);
    }
    // Without an upgrade it is a page.
    assert_eq!(client.get(&stream).text(), "Multi-Agent Observability Server");
}

/// Waits like an agent does: a WebSocket server that takes one text.
fn agent() -> (String, thread::JoinHandle<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://localhost:{}", listener.local_addr().unwrap().port());
    let waits = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let (mut line, mut key) = (String::new(), String::new());
        while reader.read_line(&mut line).unwrap() > 2 {
            if line.to_ascii_lowercase().starts_with("sec-websocket-key:") {
                line.split_once(':').unwrap().1.trim().clone_into(&mut key);
            }
            line.clear();
        }
        let accept = accept_of(&key);
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: {accept}\r\n\r\n"
        );
        reader.get_mut().write_all(head.as_bytes()).unwrap();
        let mut start = [0; 2];
        reader.read_exact(&mut start).unwrap();
        let mut length = usize::from(start[1] & 0x7f);
        if length == 126 {
            let mut long = [0; 2];
            reader.read_exact(&mut long).unwrap();
            length = usize::from(u16::from_be_bytes(long));
        }
        let mut mask = [0; 4];
        reader.read_exact(&mut mask).unwrap();
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let plain: Vec<u8> = body.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        serde_json::from_slice(&plain).unwrap()
    });
    (url, waits)
}

/// What a server answers to a key, by the program everybody has.
fn accept_of(key: &str) -> String {
    let script = "import sys,hashlib,base64;print(base64.b64encode(hashlib.sha1((sys.argv[1]+'258EAFA5-E914-47DA-95CA-C5AB0DC85B11').encode()).digest()).decode())";
    let ran = std::process::Command::new("python3").args(["-c", script, key]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

fn question(url: &str) -> Value {
    let mut asking = event("HumanInTheLoop", "s");
    asking["timestamp"] = Value::Null;
    asking["humanInTheLoop"] = json!({
        "question": "May I?", "responseWebSocketUrl": url, "type": "permission", "choices": null, "timeout": 300,
        "requiresResponse": true,
    });
    asking
}

#[test]
fn an_answer_reaches_the_agent_that_asked_and_everybody_who_watches() {
    let served = Served::start();
    let (client, base) = (served.stranger(), base(&served));
    let (url, waits) = agent();
    let (status, asked) = post(&client, &format!("{base}/events"), &question(&url));
    assert_eq!((status, &asked["humanInTheLoopStatus"]), (200, &json!({"status": "pending"})));
    let mut socket = Socket::connect(&client, &format!("{base}/stream")).ok().unwrap();
    assert_eq!(socket.expect("initial")["data"][0]["humanInTheLoopStatus"]["status"], "pending");
    let path = format!("{base}/events/{}/respond", asked["id"]);
    let given = json!({"permission": true, "hookEvent": asked, "respondedAt": 1});
    let (status, answered) = post(&client, &path, &given);
    let heard = waits.join().unwrap();
    assert_eq!((status, &heard["permission"], &heard["hookEvent"]["id"]), (200, &json!(true), &asked["id"]));
    assert!(heard["respondedAt"].as_i64().unwrap() > 1_700_000_000_000, "{heard}");
    let state = &answered["humanInTheLoopStatus"];
    assert_eq!((&state["status"], &state["response"]["permission"]), (&json!("responded"), &json!(true)));
    assert_eq!(state["respondedAt"], heard["respondedAt"]);
    assert_eq!(answered["id"], asked["id"]);
    let again = socket.expect("event");
    assert_eq!(again["data"], answered);
    let told = served.client().get("/api/v1/events?kind=permission.delivered").json();
    assert_eq!(told["items"][0]["status"], "success", "{told}");
}

#[test]
fn nobody_but_an_agent_on_loopback_is_called_and_the_answer_stands_all_the_same() {
    let served = Served::start();
    let (client, base) = (served.stranger(), base(&served));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (url, why) in [
        (format!("ws://localhost:{closed}"), "refused"),
        ("ws://192.0.2.1:80".to_owned(), "own loopback"),
        ("ws://metadata.example:80/latest".to_owned(), "own loopback"),
        (format!("ws://localhost:{}", served.port()), "server itself"),
    ] {
        let (_, asked) = post(&client, &format!("{base}/events"), &question(&url));
        let path = format!("{base}/events/{}/respond", asked["id"]);
        let (status, answered) = post(&client, &path, &json!({"permission": false}));
        assert_eq!((status, &answered["humanInTheLoopStatus"]["status"]), (200, &json!("responded")));
        let told = served.client().get("/api/v1/events?kind=permission.delivered&limit=1").json();
        let error = told["items"][0]["error"].as_str().unwrap_or_default();
        assert!(error.contains(why), "{url}: {error}");
    }
    let missing = post(&client, &format!("{base}/events/999999/respond"), &json!({"permission": true}));
    assert_eq!(missing, (404, json!({"error": "Event not found"})));
    let nonsense = client.send(&Request::new("POST", &format!("{base}/events/1/respond")).body("no"));
    assert_eq!((nonsense.status, nonsense.json()), (400, json!({"error": "Invalid request"})));
}

#[test]
fn a_question_nobody_answers_in_time_says_so() {
    let served = Served::start();
    let (client, base) = (served.stranger(), base(&served));
    let mut asking = question("ws://localhost:9");
    asking["timestamp"] = json!(1_700_000_000_000_i64);
    post(&client, &format!("{base}/events"), &asking);
    let recent = client.get(&format!("{base}/events/recent")).json();
    assert_eq!(recent[0]["humanInTheLoopStatus"], json!({"status": "timeout"}));
}

#[test]
fn a_whole_conversation_is_kept_apart_and_shown_again_without_its_secrets() {
    let served = Served::start();
    let (client, base) = (served.stranger(), base(&served));
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let mut told = event("Stop", "s");
    let line = json!({"role": "user", "text": "x".repeat(1000), "note": format!("token {secret}")});
    told["chat"] = json!(vec![line; 6000]);
    let (status, shown) = post(&client, &format!("{base}/events"), &told);
    assert_eq!((status, shown["chat"].as_array().unwrap().len()), (200, 6000));
    let recent = client.get(&format!("{base}/events/recent"));
    let text = recent.text();
    assert!(!text.contains(&secret) && text.contains("[redacted:"));
    assert_eq!(recent.json()[0]["chat"].as_array().unwrap().len(), 6000);
    assert!(served.client().get("/api/v1/events").text().len() < 100_000);
}

#[test]
fn colours_are_kept_for_everybody_who_watches() {
    let served = Served::start();
    let (client, base) = (served.stranger(), base(&served));
    let path = format!("{base}/api/themes");
    assert_eq!(client.get(&path).json(), json!({"success": true, "data": []}));
    let (status, wrong) = post(&client, &path, &json!({"name": "night"}));
    assert_eq!(
        (status, &wrong["success"], &wrong["error"]),
        (400, &json!(false), &json!("Validation failed"))
    );
    // A name for people and each of the 24 colours are missing.
    let missing: Vec<_> =
        wrong["validationErrors"].as_array().unwrap().iter().map(|error| error["field"].clone()).collect();
    assert_eq!((missing.len(), &missing[0]), (25, &json!("displayName")), "{wrong}");
    let colours: Value = missing[1..]
        .iter()
        .map(|field| (field.as_str().unwrap().strip_prefix("colors.").unwrap().to_owned(), json!("#123456")))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let theme = json!({"name": "night", "displayName": "Night", "colors": colours, "isPublic": true});
    let (status, made) = post(&client, &path, &theme);
    assert_eq!((status, &made["data"]["name"]), (201, &json!("night")), "{made}");
    let listed = client.get(&format!("{path}?isPublic=true")).json();
    assert_eq!(listed["data"], json!([made["data"]]));
}

#[test]
fn nobody_without_a_token_and_no_page_of_another_site_is_let_in() {
    let served = Served::start();
    let (client, base) = (served.stranger(), base(&served));
    let told = event("Stop", "s");
    for path in ["/events", "/t/wrong/events", "/t//events"] {
        assert!(matches!(client.post(path, &told).status, 401 | 404), "{path}");
    }
    assert_eq!(client.get("/t/wrong/events/recent").status, 401);
    assert!(Socket::connect(&client, "/t/wrong/stream").is_err());
    // The token watches and tells; it opens nothing else.
    let token = base.strip_prefix("/t/").unwrap();
    let watcher = served.stranger().with("authorization", &format!("Bearer {token}"));
    assert_eq!(watcher.post("/events", &told).status, 200);
    watcher.get("/api/v1/sandboxes").is_problem(403, "PERMISSION_DENIED");
    watcher.get("/api/v1/events").is_problem(403, "PERMISSION_DENIED");
    let post = |origin: &str| {
        client.send(&Request::new("POST", &format!("{base}/events")).with("origin", origin).json(&told))
    };
    post("http://evil.example").is_problem(403, "ORIGIN_NOT_ALLOWED");
    post("http://5173-sbx_1.localhost:7420").is_problem(403, "ORIGIN_NOT_ALLOWED");
    let fine = post("http://localhost:5173");
    assert_eq!(
        (fine.status, fine.header("access-control-allow-origin")),
        (200, Some("http://localhost:5173"))
    );
    let before = Request::new("OPTIONS", &format!("{base}/events/1/respond"));
    let asked = client.send(&before.clone().with("origin", "http://localhost:5173"));
    assert_eq!((asked.status, asked.body.len()), (200, 0));
    assert_eq!(asked.header("access-control-allow-headers"), Some("Content-Type"));
    let foreign = client.send(&before.with("origin", "http://evil.example"));
    assert_eq!(foreign.header("access-control-allow-origin"), None);
    // Nor is a token that was tried told to anybody.
    let denied = eventually("it is told", || {
        let page = served.client().get("/api/v1/events?kind=api.denied").text();
        page.contains("/t/…/").then_some(page)
    });
    assert!(!denied.contains("/t/wrong"), "{denied}");
}

#[test]
fn an_address_without_keys_is_opened_on_purpose_alone() {
    let served = Served::start_configured("[server]\nkeyless = \"127.0.0.1:0\"\n");
    let port = served.facts["keyless"].as_str().unwrap().rsplit_once(':').unwrap().1.parse().unwrap();
    let client = Client::tcp(port);
    assert_eq!(client.post("/events", &event("Stop", "s")).status, 200);
    assert_eq!(client.get("/events/recent").json().as_array().unwrap().len(), 1);
    assert_eq!(client.get("/health").text(), "Multi-Agent Observability Server");
    let mut socket = Socket::connect(&client, "/stream").ok().unwrap();
    assert_eq!(socket.expect("initial")["data"].as_array().unwrap().len(), 1);
    client.get("/api/v1/sandboxes").is_problem(403, "PERMISSION_DENIED");
    let rebound = Request::new("POST", "/events").with("host", "evil.example").json(&event("Stop", "s"));
    client.send(&rebound).is_problem(421, "HOST_NOT_ALLOWED");
    let foreign = Request::new("POST", "/events/1/respond").with("origin", "http://evil.example");
    client.send(&foreign.json(&json!({"permission": true}))).is_problem(403, "ORIGIN_NOT_ALLOWED");
    drop(served);
}
