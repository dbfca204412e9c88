//! Rules of `guardian.toml`: they hold with a server, without one, and while the file is wrong.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    http::Http,
    real::session,
    support::{Ended, Machine},
};

const RULES: &str = r#"
[[rule]]
name = "people-push"
match = "Bash(git push:*)"
verdict = "deny"
risk = "high"
reason = "pushing is for people"
examples = { match = ["git push origin main"], pass = ["git pull"] }

[[rule]]
name = "ask-for-books"
match = ["Read(ledger.csv)", "Read(~/books/**)"]
verdict = "ask"
"#;

/// A server that goes when the test does.
pub(crate) struct Server(pub(crate) Child);

impl Server {
    pub(crate) fn start(machine: &Machine) -> Self {
        let mut command = machine.belljar(&["--json", "serve", "--listen", "127.0.0.1:0"]);
        let log = fs::File::create(machine.path("server.log")).unwrap();
        command.env("BELLJAR_SERVER_POOL", "0").stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("url"), "{line}");
        Self(child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _over = self.0.kill();
        let _over = self.0.wait();
    }
}

fn write(machine: &Machine, text: &str) {
    fs::create_dir_all(machine.path("home")).unwrap();
    fs::write(machine.path("home/guardian.toml"), text).unwrap();
}

fn before(machine: &Machine, tool: &str, input: &Value) -> Ended {
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s1", "tool_use_id": "t1", "cwd": "/w",
        "tool_name": tool, "tool_input": input,
    });
    machine.hook(&["--agent", "claude-code"], &payload)
}

fn decision(ended: &Ended) -> (Option<String>, Option<String>) {
    let said: Value = serde_json::from_str(&ended.out).unwrap_or_default();
    let field = |name: &str| said["hookSpecificOutput"][name].as_str().map(str::to_owned);
    (field("permissionDecision"), field("permissionDecisionReason"))
}

fn push(machine: &Machine) -> Option<String> {
    decision(&before(machine, "Bash", &json!({ "command": "cd x && git push" }))).0
}

#[test]
fn a_rule_holds_with_and_without_a_server() {
    let machine = Machine::new();
    write(&machine, RULES);
    let server = Server::start(&machine);
    let denied = before(&machine, "Bash", &json!({ "command": "git push origin" }));
    assert_eq!(decision(&denied), (Some("deny".to_owned()), Some("pushing is for people".to_owned())));
    let asked = before(&machine, "Read", &json!({ "file_path": "sub/ledger.csv" }));
    assert_eq!(decision(&asked).0.as_deref(), Some("ask"));
    assert!(before(&machine, "Bash", &json!({ "command": "git pull" })).is_silent());
    drop(server);
    assert_eq!(push(&machine).as_deref(), Some("deny"));
    assert_eq!(machine.spooled().len(), 1);

    // What was ruled without a server is in the ledger once there is one.
    let _server = Server::start(&machine);
    let http = Http::new(&machine.path("home"));
    let denied = || {
        let (status, page) = http.ask("GET", "/api/v1/events?decision=deny", None).unwrap();
        assert_eq!(status, 200, "{page}");
        page["items"].as_array().unwrap().clone()
    };
    let until = Instant::now() + Duration::from_secs(60);
    while denied().len() < 2 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    let denied = denied();
    assert_eq!(denied.len(), 2, "{denied:?}");
    for event in &denied {
        assert_eq!(
            (&event["risk"], &event["reason"]),
            (&json!("high"), &json!("pushing is for people")),
            "{event}"
        );
    }
}

#[test]
fn a_wrong_file_leaves_the_last_good_rules_in_force() {
    let machine = Machine::new();
    write(&machine, RULES);
    let server = Server::start(&machine);
    assert_eq!(push(&machine).as_deref(), Some("deny"));
    write(&machine, "[[rule]]\nname = \"broken\"\nmatch = \"Bash(\"\nverdict = \"allow\"\n");
    let until = Instant::now() + Duration::from_secs(60);
    let is_noticed = || fs::read_to_string(machine.path("server.log")).unwrap().contains("stays in force");
    while !is_noticed() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(is_noticed());
    assert_eq!(push(&machine).as_deref(), Some("deny"));
    drop(server);
    let server = Server::start(&machine);
    assert_eq!(push(&machine).as_deref(), Some("deny"));
    // A good one takes their place without a restart.
    write(&machine, "");
    let until = Instant::now() + Duration::from_secs(60);
    while push(&machine).is_some() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(push(&machine), None);
    drop(server);
}

#[test]
fn a_server_does_not_start_with_a_wrong_policy_and_no_good_one() {
    let machine = Machine::new();
    write(&machine, "mode = \"gaurd\"\n");
    let ended = machine.run(&["serve", "--listen", "127.0.0.1:0"], b"");
    assert_ne!(ended.code, Some(0));
    assert!(ended.err.contains("guardian.toml") && ended.err.contains("gaurd"), "{ended:?}");
}

#[test]
fn observing_says_what_it_would_have_done_and_holds_nobody_up() {
    let machine = Machine::new();
    write(&machine, &format!("mode = \"observe\"\n{RULES}"));
    let server = Server::start(&machine);
    assert_eq!(push(&machine), None);
    let http = Http::new(&machine.path("home"));
    let (_, page) = http.ask("GET", "/api/v1/events?decision=deny", None).unwrap();
    assert_eq!(page["items"].as_array().unwrap().len(), 1, "{page}");
    drop(server);
    assert_eq!(push(&machine), None);
}

#[test]
fn the_real_claude_code_is_stopped_by_a_rule() {
    let machine = Machine::new();
    write(
        &machine,
        "[[rule]]\nname = \"no-echo\"\nmatch = \"Bash(echo:*)\"\nverdict = \"deny\"\nreason = \"quiet here\"\n",
    );
    let server = Server::start(&machine);
    let model = session(&machine);
    assert!(!machine.path("project/made.txt").exists());
    assert!(model.results().iter().any(|result| result.contains("quiet here")), "{:?}", model.results());
    drop(server);
    let model = session(&machine);
    assert!(!machine.path("project/made.txt").exists());
    assert!(model.results().iter().any(|result| result.contains("quiet here")), "{:?}", model.results());
}

/// What is said to a command, in a directory, of a session whose agent says by these variables what it is about.
fn told(machine: &Machine, agent: &str, about: &[(&str, &str)], fields: &Value) -> String {
    let mut command = machine.belljar(&["hook", "--agent", agent]);
    command.envs(about.iter().copied());
    let ended = crate::support::ended(command, fields.to_string().as_bytes());
    ended.out + &ended.err
}

#[test]
fn the_workspace_is_the_sessions_wherever_the_agent_went() {
    let machine = Machine::new();
    write(&machine, "");
    let shell = |cwd: &str, command: &str| {
        json!({ "hook_event_name": "PreToolUse", "session_id": "s1", "tool_use_id": "t1", "cwd": cwd,
            "tool_name": "Bash", "tool_input": { "command": command } })
    };
    let about = [("CLAUDE_PROJECT_DIR", "/srv/app")];
    let gemini = [("GEMINI_PROJECT_DIR", "/srv/app")];
    let mut server = Some(Server::start(&machine));
    for is_up in [true, false] {
        let claude = |cwd, command| told(&machine, "claude-code", &about, &shell(cwd, command));
        let said = claude("/srv/other", "rm -rf data");
        assert!(said.contains("\"deny\"") && said.contains("/srv/other/data"), "{is_up}: {said}");
        assert_eq!(claude("/", "rm -rf srv/app/build"), "", "{is_up}");
        assert_eq!(claude("/srv/app/sub", "rm -rf ../build"), "", "{is_up}");
        let mut before = shell("/srv/other", "rm -rf data");
        before["hook_event_name"] = json!("BeforeTool");
        before["tool_name"] = json!("run_shell_command");
        let said = told(&machine, "gemini", &gemini, &before);
        assert!(said.contains("deny"), "{is_up}: {said}");
        let cursor = json!({ "hook_event_name": "beforeShellExecution", "conversation_id": "c1",
            "workspace_roots": ["/srv/app"], "cwd": "/srv/other", "command": "rm -rf data" });
        let said = told(&machine, "cursor", &[], &cursor);
        assert!(said.contains("deny"), "{is_up}: {said}");
        drop(server.take());
    }
}

#[test]
fn without_a_word_of_the_agent_a_session_is_about_where_it_began() {
    let machine = Machine::new();
    write(&machine, "");
    let _server = Server::start(&machine);
    let event = |name: &str, session: &str, cwd: &str| {
        json!({ "hook_event_name": name, "session_id": session, "turn_id": "t", "tool_use_id": "t1", "cwd": cwd,
            "tool_name": "Bash", "tool_input": { "command": "rm -rf data" } })
    };
    assert_eq!(told(&machine, "codex", &[], &event("SessionStart", "s1", "/srv/app")), "");
    let said = told(&machine, "codex", &[], &event("PreToolUse", "s1", "/srv/other"));
    assert!(said.contains("deny"), "{said}");
    assert!(!told(&machine, "codex", &[], &event("PreToolUse", "s1", "/srv/app")).contains("deny"));
    assert!(!told(&machine, "codex", &[], &event("PreToolUse", "s2", "/srv/other")).contains("deny"));
}

#[test]
fn links_and_scripts_are_judged_by_what_is_on_the_disk() {
    let machine = Machine::new();
    write(&machine, "");
    let project = machine.path("project");
    std::os::unix::fs::symlink("/etc/shadow", project.join("notes.txt")).unwrap();
    fs::write(project.join("tidy.sh"), "#!/bin/sh\ncd /srv\nrm -rf everything\n").unwrap();
    fs::write(project.join("build.sh"), "#!/bin/sh\nrm -rf target\n\"$CC\" main.c\n").unwrap();
    let shell = |command: &str| {
        let fields = json!({ "hook_event_name": "PreToolUse", "session_id": "s1", "tool_use_id": "t1",
            "cwd": project, "tool_name": "Bash", "tool_input": { "command": command } });
        told(&machine, "claude-code", &[], &fields)
    };
    let mut server = Some(Server::start(&machine));
    for is_up in [true, false] {
        let said = shell("cat notes.txt");
        assert!(said.contains("\"deny\"") && said.contains("/etc/shadow"), "{is_up}: {said}");
        let said = shell("chmod +x tidy.sh && ./tidy.sh");
        assert!(said.contains("\"deny\"") && said.contains("/srv/everything"), "{is_up}: {said}");
        assert_eq!(shell("rm notes.txt; ./build.sh"), "", "{is_up}");
        drop(server.take());
    }
}
