//! What agents did, asked for on the command line: sessions, money, the page that sums it up.

use std::{
    fs,
    process::{Command, Output},
    time::{Duration, SystemTime},
};

use belljar_domain::Timestamp;
use serde_json::{Value, json};

use crate::support::Served;

const SESSION: &str = "s/1 ?";
/// What an agent may say to whoever reads about it.
const HOSTILE: &str = "find <script>alert(1)</script> `x` ```\n# not a title\u{1b}[2J & more";

fn ask(served: &Served, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_belljar"));
    command.args(args).env("BELLJAR_HOME", served.home()).env_remove("BELLJAR_URL");
    command.output().unwrap()
}

/// What it prints; it must succeed.
fn told(served: &Served, args: &[&str]) -> String {
    let output = ask(served, args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('\u{1b}'), "{args:?} commands the terminal: {text}");
    text
}

fn json_of(served: &Served, args: &[&str]) -> Value {
    let text = told(served, &[&["--json"], args].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?} said `{text}`: {error}"))
}

/// What it says when it does not work.
fn refused(served: &Served, args: &[&str]) -> String {
    let output = ask(served, args);
    assert_eq!(output.status.code(), Some(125), "{args:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn hook(served: &Served, number: u8, payload: &Value) {
    let mut payload = payload.clone();
    payload["session_id"] = json!(SESSION);
    let began = SystemTime::now() - Duration::from_secs(60);
    let envelope = json!({
        "version": 1, "id": format!("evt_0192f0c00000700080000000000003{number:02x}"), "agent": "claude-code",
        "sent_at": Timestamp::from(began + Duration::from_secs(number.into())), "pid": 7, "env": {}, "payload": payload,
    });
    let answer = served.neighbour().post("/api/v1/hooks/claude-code", &envelope);
    assert_eq!(answer.status, 200, "{answer:?}");
}

fn export(served: &Served, name: &str, said: &Value) {
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let mut attributes = vec![text("session.id", SESSION)];
    attributes.extend(said.as_object().unwrap().iter().map(|(key, value)| match value {
        Value::String(word) => text(key, word),
        number => json!({"key": key, "value": {"intValue": number}}),
    }));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos().to_string();
    let record = json!({"timeUnixNano": now, "body": {"stringValue": format!("claude_code.{name}")}, "attributes": attributes});
    let body = json!({"resourceLogs": [{"scopeLogs": [{"scope": {"name": "com.anthropic.claude_code.events"}, "logRecords": [record]}]}]});
    assert_eq!(served.client().post("/v1/logs", &body).status, 200);
}

/// A prompt, three calls of which one fails, a subagent with a call of its own, a request that was paid for.
fn tell(served: &Served) {
    hook(served, 1, &json!({"hook_event_name": "SessionStart", "model": "claude-opus-5-5", "cwd": "/w/<i>"}));
    hook(served, 2, &json!({"hook_event_name": "UserPromptSubmit", "prompt": HOSTILE, "prompt_id": "p1"}));
    for number in 1..=3 {
        let call = json!({"tool_name": "Bash", "tool_use_id": format!("toolu_{number}"), "tool_input": {"command": "make"}});
        let mut before = call.clone();
        before["hook_event_name"] = json!("PreToolUse");
        hook(served, 10 + number * 2, &before);
        let mut after = call;
        after["hook_event_name"] = json!(if number == 3 { "PostToolUseFailure" } else { "PostToolUse" });
        after["error"] = json!((number == 3).then_some("Exit code 2\nno rule for <b>"));
        hook(served, 11 + number * 2, &after);
    }
    let agent = json!({"agent_id": "a1", "agent_type": "Explore"});
    let said = |more: Value| {
        let mut said = agent.clone();
        said.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        said
    };
    hook(served, 20, &said(json!({"hook_event_name": "SubagentStart"})));
    let read =
        json!({"tool_name": "Read", "tool_use_id": "toolu_9", "tool_input": {"file_path": "/w/notes.md"}});
    for (number, name) in [(21, "PreToolUse"), (22, "PostToolUse")] {
        let mut call = said(read.clone());
        call["hook_event_name"] = json!(name);
        hook(served, number, &call);
    }
    hook(served, 23, &said(json!({"hook_event_name": "SubagentStop", "last_assistant_message": "read it"})));
    export(
        served,
        "api_request",
        &json!({"request_id": "req_1", "model": "claude-opus-5-5", "input_tokens": 1000, "output_tokens": 50, "cost_usd_micros": 6000, "duration_ms": 900}),
    );
    export(
        served,
        "tool_result",
        &json!({"tool_name": "Bash", "tool_use_id": "toolu_1", "request_id": "req_1", "success": "true", "duration_ms": 1234}),
    );
    hook(served, 30, &json!({"hook_event_name": "Stop", "last_assistant_message": "no needle </pre> here"}));
}

#[test]
fn sessions_are_listed_and_shown() {
    let served = Served::start();
    tell(&served);
    let listed = told(&served, &["sessions", "list"]);
    let line = listed.lines().nth(1).unwrap_or_default();
    assert!(line.starts_with(SESSION) && line.contains("idle") && line.contains("$0.0060"), "{listed}");
    for (args, found) in [
        (vec!["--app", "claude-code", "--state", "idle,done", "--since", "1h", "--limit", "5"], 1),
        (vec!["--app", "codex"], 0),
        (vec!["--state", "failed"], 0),
        (vec!["--since", "2999-01-01"], 0),
    ] {
        let all = json_of(&served, &[vec!["sessions", "list"], args.clone()].concat());
        assert_eq!(all.as_array().map(Vec::len), Some(found), "{args:?}: {all}");
    }
    let nothing = ask(&served, &["sessions", "list", "--app", "codex"]);
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("`belljar sessions list` shows all"));
    let shown = told(&served, &["sessions", "show", SESSION]);
    let place = |words: &str| shown.find(words).unwrap_or_else(|| panic!("no `{words}` in {shown}"));
    assert!(place("main, idle: 3 calls") < place("Bash"), "{shown}");
    assert!(place("failure") < place("Explore a1, done: 1 call"), "{shown}");
    assert!(place("\n  Explore a1") < place("/w/notes.md"), "subagents stand below: {shown}");
    let first = shown.lines().find(|line| line.contains("Bash")).unwrap();
    assert!(["make", "success", "1.2s", "$0.0060"].iter().all(|word| first.contains(word)), "{first}");
    let total = "total: 4 calls (3 succeeded, 1 failed, 0 denied); 1 request, 1,050 tokens, $0.0060 reported";
    assert!(shown.ends_with(&format!("{total}\n")), "{shown}");
    let whole = json_of(&served, &["sessions", "show", SESSION]);
    assert_eq!((&whole["session_id"], &whole["agents"][1]["agent_id"]), (&json!(SESSION), &json!("a1")));
    let calls = whole["trace"].as_array().unwrap().iter().filter(|item| item["type"] == "call");
    assert_eq!(calls.count(), 4, "{whole}");
    for id in ["nobody", "", "../cost"] {
        let words = refused(&served, &["sessions", "show", id]);
        assert!(words.contains("there is no session") && words.contains("belljar sessions list"), "{words}");
    }
}

#[test]
fn a_session_is_written_down_for_programs_and_for_people() {
    let served = Served::start();
    tell(&served);
    let chat = json_of(&served, &["sessions", "export", SESSION]);
    let names: Vec<_> = chat.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["agent_count", "messages", "session_id", "timestamp", "tools_used", "total_tokens"],
        "{chat}"
    );
    assert_eq!(
        (&chat["agent_count"], &chat["tools_used"], &chat["total_tokens"]),
        (&json!(2), &json!(["Bash", "Read"]), &json!(1050))
    );
    let messages = chat["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "tool", "tool", "tool", "tool", "assistant", "assistant"], "{chat}");
    assert_eq!(messages[0]["content"], HOSTILE);
    assert_eq!(
        (&messages[3]["outcome"], &messages[6]["content"]),
        (&json!("failure"), &json!("no needle </pre> here"))
    );

    let spoke = |at: usize| (messages[at]["content"].as_str(), messages[at]["agent_id"].as_str());
    assert_eq!((spoke(5), spoke(0).1, spoke(6).1), ((Some("read it"), Some("a1")), None, None), "{chat}");

    let markdown = told(&served, &["sessions", "export", SESSION, "--format", "markdown"]);
    assert!(
        markdown.starts_with("# find \\<script\\>") && markdown.contains("\n````text\nfind <script>"),
        "{markdown}"
    );
    assert!(markdown.contains("`Bash` `make`: success after 1.2s, $0.0060\n"), "{markdown}");
    assert!(markdown.contains("(`a1`): success"), "{markdown}");

    let file = served.work().join("session.html");
    let path = file.to_str().unwrap();
    let said = told(&served, &["sessions", "export", SESSION, "--format", "html", "-o", path]);
    assert!(said.contains(path), "{said}");
    let html = fs::read_to_string(&file).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"), "{html}");
    for wrong in ["<script", "<b>", "<i>", "needle </pre>", "\u{1b}", "src=", "href="] {
        assert!(!html.contains(wrong), "`{wrong}` in {html}");
    }
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && html.contains("&amp; more"), "{html}");

    let words = refused(&served, &["sessions", "export", "nobody"]);
    assert!(words.contains("there is no session `nobody`"), "{words}");
    let words = refused(&served, &["sessions", "export", SESSION, "-o", "/nowhere/x"]);
    assert!(words.contains("write `/nowhere/x`"), "{words}");
}

#[test]
fn money_is_added_up_by_what_is_asked_for() {
    let served = Served::start();
    let nothing = ask(&served, &["cost"]);
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("nothing was spent since"), "{nothing:?}");
    tell(&served);
    for by in ["day", "project", "session", "agent", "model"] {
        let table = told(&served, &["cost", "--by", by, "--since", "7d"]);
        let total: Vec<_> = table.lines().last().unwrap_or_default().split_whitespace().collect();
        assert_eq!(total, ["total", "1", "1,000", "50", "0", "0", "$0.0060", "reported"], "{by}: {table}");
        assert_eq!(json_of(&served, &["cost", "--by", by])["total_usd"], 0.006);
    }
    let table = told(&served, &["cost", "--by", "tool"]);
    let line: Vec<_> = table.lines().nth(1).unwrap_or_default().split_whitespace().collect();
    assert_eq!(line, ["Bash", "-", "-", "-", "-", "-", "$0.0060", "-"], "only the money is known: {table}");
    assert!(told(&served, &["cost", "--by", "run"]).starts_with("RUN"));
    let elsewhere = Command::new(env!("CARGO_BIN_EXE_belljar"))
        .args(["--json", "cost"])
        .env("BELLJAR_HOME", served.work())
        .env("BELLJAR_URL", format!("http://127.0.0.1:{}", served.port()))
        .env("BELLJAR_TOKEN", served.key())
        .output()
        .unwrap();
    let elsewhere: Value = serde_json::from_slice(&elsewhere.stdout).unwrap();
    assert_eq!(elsewhere, json_of(&served, &["cost"]), "a server elsewhere is asked the same");
    let words = refused(&served, &["cost", "--since", "soon"]);
    assert!(words.contains("write how long ago"), "{words}");
}

#[test]
fn a_report_is_one_page() {
    let mut served = Served::start();
    let nothing = ask(&served, &["report"]);
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("`belljar hooks install`"), "{nothing:?}");
    tell(&served);
    let page = told(&served, &["report", "--since", "7d"]);
    for words in [
        "sessions  1 (1 idle)",
        "calls     4 (1 failed, 0 denied)",
        "success   75%",
        "cost      $0.0060 (reported; requests: 1, tokens: 1,050)",
        "Slowest tools",
        "Exit code # no rule",
        "Explore",
        "Bash 3 times in a row, 1 failed",
    ] {
        assert!(page.contains(words), "no `{words}` in {page}");
    }
    let whole = json_of(&served, &["report"]);
    assert_eq!(
        (&whole["sessions"], &whole["cost"]["total_usd"]),
        (&json!({"count": 1, "by_state": {"idle": 1}}), &json!(0.006))
    );
    for section in ["tools", "errors", "agents", "detections"] {
        assert!(whole[section].as_array().is_some_and(|items| !items.is_empty()), "{section}: {whole}");
    }
    served.signal("TERM");
    assert!(served.ended());
    for args in [&["report"][..], &["cost"], &["sessions", "list"], &["sessions", "show", "x"]] {
        let words = refused(&served, args);
        assert!(words.contains("no server is up") && words.contains("belljar serve"), "{words}");
    }
}
