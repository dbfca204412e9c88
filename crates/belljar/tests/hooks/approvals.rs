//! Hooks that wait for a person: the real hook, the real server, the real command line; and the real Claude Code.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    policy::Server,
    real::{claude_session, claude_session_with},
    support::{Ended, Machine},
    workbench::model::Model,
};

const RULES: &str = r#"
[approval]
wait = "120s"

[[rule]]
name = "making"
match = "Bash(echo:*)"
verdict = "ask"
reason = "Somebody must know what is made."
"#;

fn machine(rules: &str) -> Machine {
    let machine = Machine::new();
    fs::write(machine.path("home/guardian.toml"), rules).unwrap();
    machine
}

fn call(id: &str) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s1", "tool_use_id": id, "cwd": "/w",
        "tool_name": "Bash", "tool_input": {"command": format!("echo {id} > made.txt")},
    })
}

/// A hook that waits; whoever runs it sits before nothing.
fn waiting(machine: &Machine, agent: &str, payload: &Value) -> Child {
    let mut command = machine.belljar(&["hook", "--agent", agent, "--wait", "120"]);
    command.env("CLAUDE_CODE_SESSION_ATTENDED", "0");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    child
}

fn heard(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| json!({"exit": output.status.code()}))
}

fn decision(said: &Value) -> (&str, &str) {
    let field = |name: &str| said["hookSpecificOutput"][name].as_str().unwrap_or("nothing");
    (field("permissionDecision"), field("permissionDecisionReason"))
}

fn approvals(machine: &Machine, flags: &[&str]) -> Vec<Value> {
    let listed = machine.run(&[&["--json", "approvals", "list"], flags].concat(), b"");
    assert_eq!(listed.code, Some(0), "{listed:?}");
    serde_json::from_str::<Vec<Value>>(&listed.out).unwrap()
}

/// Tries until it works or patience ends.
fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        if let Some(found) = attempt() {
            return found;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("never happened: {what}");
}

/// The one call that waits.
fn asked(machine: &Machine) -> Value {
    eventually("a call waits", || approvals(machine, &[]).pop())
}

fn say(machine: &Machine, words: &[&str]) -> Ended {
    let said = machine.run(&[&["--json", "approvals"], words].concat(), b"");
    assert_eq!(said.code, Some(0), "{said:?}");
    said
}

fn answered(machine: &Machine, words: &[&str]) -> Value {
    serde_json::from_str(&say(machine, words).out).unwrap()
}

#[test]
fn an_answer_in_another_terminal_is_what_the_agent_hears() {
    let machine = machine(RULES);
    let _server = Server::start(&machine);
    let hook = waiting(&machine, "claude-code", &call("one"));
    let waits = asked(&machine);
    assert_eq!((&waits["tool_use_id"], &waits["vendor"]), (&json!("one"), &json!("claude-code")), "{waits}");
    assert!(waits["effects"].to_string().contains("made.txt"), "{waits}");
    let said = answered(&machine, &["allow", "--reason", "go on"]);
    let heard = heard(hook);
    assert_eq!(decision(&heard).0, "allow", "{heard}");
    assert!(said["delivered_at"].is_string(), "{said}");
    // The same call once more, as Claude Code asks for leave, needs nobody.
    let mut again = call("one");
    again["hook_event_name"] = json!("PermissionRequest");
    again.as_object_mut().unwrap().remove("tool_use_id");
    let output = waiting(&machine, "claude-code", &again).wait_with_output().unwrap();
    let output: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output["hookSpecificOutput"]["decision"]["behavior"], "allow", "{output}");
    assert_eq!(approvals(&machine, &["--all"]).len(), 1, "one call is one row");
    let hook = waiting(&machine, "claude-code", &call("two"));
    asked(&machine);
    say(&machine, &["deny", "--reason", "use the makefile"]);
    let heard = self::heard(hook);
    assert_eq!(decision(&heard).0, "deny", "{heard}");
    assert!(decision(&heard).1.contains("use the makefile"), "{heard}");
}

#[test]
fn a_yes_is_for_the_input_that_was_asked_about_and_not_for_the_calls_name() {
    let machine = machine(RULES);
    let _server = Server::start(&machine);
    let hook = waiting(&machine, "claude-code", &call("one"));
    asked(&machine);
    say(&machine, &["allow"]);
    assert_eq!(decision(&heard(hook)).0, "allow");
    let mut other = call("one");
    other["tool_input"]["command"] = json!("echo something else > made.txt");
    let hook = waiting(&machine, "claude-code", &other);
    let waits = asked(&machine);
    assert!(waits["input"].to_string().contains("something else"), "{waits}");
    say(&machine, &["deny", "--reason", "not that"]);
    assert_eq!(decision(&heard(hook)).0, "deny");
    assert_eq!(approvals(&machine, &["--all"]).len(), 2);
}

#[test]
fn a_changed_input_reaches_the_agent_whole() {
    let machine = machine(RULES);
    let _server = Server::start(&machine);
    let input = json!({"command": "echo changed > made.txt", "description": "as a person wants it"});
    let hook = waiting(&machine, "claude-code", &call("one"));
    asked(&machine);
    say(&machine, &["allow", "--edit", &input.to_string()]);
    let heard = heard(hook);
    assert_eq!(
        (decision(&heard).0, &heard["hookSpecificOutput"]["updatedInput"]),
        ("allow", &input),
        "{heard}"
    );
    let denied = json!({"command": "sudo rm -rf /"}).to_string();
    let hook = waiting(&machine, "claude-code", &call("two"));
    let id = asked(&machine)["id"].clone();
    let tried = machine.run(&["approvals", "allow", id.as_str().unwrap(), "--edit", &denied], b"");
    assert_eq!(tried.code, Some(126), "what is denied stays denied: {tried:?}");
    assert_eq!(asked(&machine)["id"], id);
    say(&machine, &["deny"]);
    assert_eq!(decision(&self::heard(hook)).0, "deny");
}

#[test]
fn who_waits_finds_the_next_server() {
    let machine = machine(RULES);
    let mut server = Server::start(&machine);
    let hook = waiting(&machine, "claude-code", &call("one"));
    let id = asked(&machine)["id"].clone();
    server.0.kill().unwrap();
    server.0.wait().unwrap();
    let _next = Server::start(&machine);
    assert_eq!(asked(&machine)["id"], id);
    let said = answered(&machine, &["allow"]);
    assert_eq!(decision(&heard(hook)).0, "allow");
    assert!(said["delivered_at"].is_string(), "{said}");
}

#[test]
fn what_nobody_waits_for_any_more_is_cancelled_and_says_so() {
    let machine = machine(RULES);
    let _server = Server::start(&machine);
    let mut hook = waiting(&machine, "claude-code", &call("one"));
    let id = asked(&machine)["id"].as_str().unwrap().to_owned();
    hook.kill().unwrap();
    hook.wait().unwrap();
    let over = eventually("it is cancelled", || {
        approvals(&machine, &["--all"]).into_iter().find(|approval| approval["state"] == "cancelled")
    });
    assert_eq!((&over["note"], &over["delivered_at"]), (&json!("whoever asked waits no more"), &Value::Null));
    let late = machine.run(&["approvals", "allow", &id], b"");
    assert_eq!(late.code, Some(125), "{late:?}");
    assert!(late.err.contains("cancelled"), "{late:?}");
}

#[test]
fn no_answer_in_time_is_the_agents_own_question_or_a_no() {
    let machine = machine(&RULES.replace("120s", "1s"));
    let _server = Server::start(&machine);
    for (agent, name, wanted) in [
        ("claude-code", "PreToolUse", "ask"),
        ("codex", "PreToolUse", "deny"),
        ("gemini", "BeforeTool", "deny"),
    ] {
        let mut payload = call(agent);
        payload["hook_event_name"] = json!(name);
        let said = heard(waiting(&machine, agent, &payload));
        let decided = said["decision"].as_str().unwrap_or_else(|| decision(&said).0);
        assert_eq!(decided, wanted, "{agent}: {said}");
    }
    let all = approvals(&machine, &["--all"]);
    assert!(all.iter().all(|approval| approval["state"] == "expired"), "{all:?}");
    fs::write(machine.path("home/guardian.toml"), RULES.replace("120s\"", "1s\"\nunanswered = \"deny\""))
        .unwrap();
    let mut tries = 0;
    eventually("it is a no for all", || {
        tries += 1;
        let id = format!("t{tries}");
        (decision(&heard(waiting(&machine, "claude-code", &call(&id)))).0 == "deny").then_some(())
    });
}

#[test]
fn a_person_before_the_agent_is_asked_there_unless_somebody_watches() {
    let machine = machine(RULES);
    let _server = Server::start(&machine);
    let attended = || machine.hook(&["--agent", "claude-code", "--wait", "120"], &call("one"));
    let said: Value = serde_json::from_str(&attended().out).unwrap();
    assert_eq!(decision(&said).0, "ask", "nobody watches, so the agent asks at once");
    assert!(approvals(&machine, &["--all"]).is_empty());
    let mut watcher =
        machine.belljar(&["--json", "approvals", "watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap()).lines();
    thread::scope(|scope| {
        // It takes the watcher a moment to be there.
        let hooks = scope.spawn(|| {
            eventually("it waits for the watcher", || {
                let said: Value = serde_json::from_str(&attended().out).unwrap();
                (decision(&said).0 == "allow").then_some(())
            });
        });
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!((&line["state"], &line["tool"]), (&json!("pending"), &json!("Bash")), "{line}");
        say(&machine, &["allow", line["id"].as_str().unwrap()]);
        hooks.join().unwrap();
    });
    watcher.kill().unwrap();
    watcher.wait().unwrap();
}

#[test]
fn a_session_is_not_asked_twice_about_calls_that_are_alike() {
    let machine = machine(&RULES.replace("Bash(echo:*)", "Bash(git push:*)"));
    let _server = Server::start(&machine);
    let push = |id: &str, session: &str, line: &str| {
        let mut payload = call(id);
        (payload["session_id"], payload["tool_input"]) = (json!(session), json!({ "command": line }));
        payload
    };
    let first = waiting(&machine, "claude-code", &push("one", "s1", "git push origin main"));
    asked(&machine);
    say(&machine, &["allow", "--session"]);
    assert_eq!(decision(&heard(first)).0, "allow");
    let like = heard(waiting(&machine, "claude-code", &push("two", "s1", "git push origin topic")));
    assert_eq!(decision(&like).0, "allow", "{like}");
    let other = waiting(&machine, "claude-code", &push("three", "s2", "git push origin main"));
    asked(&machine);
    say(&machine, &["deny"]);
    assert_eq!(decision(&heard(other)).0, "deny");
}

/// A session of the real client while somebody answers.
fn answering(machine: &Machine, words: &'static [&'static str]) -> (Model, Ended) {
    thread::scope(|scope| {
        let person = scope.spawn(|| {
            asked(machine);
            say(machine, words);
        });
        let session = claude_session(machine, &[("DISABLE_TELEMETRY", "1".to_owned())]);
        person.join().unwrap();
        session
    })
}

#[test]
fn claude_code_goes_on_after_a_yes_and_runs_what_a_person_made_of_it() {
    let machine = machine(RULES);
    let _server = Server::start(&machine);
    let (model, ended) = answering(&machine, &["allow"]);
    assert_eq!(ended.out, "all done\n", "{ended:?}");
    assert_eq!(
        fs::read_to_string(machine.path("project/made.txt")).unwrap(),
        "made\n",
        "{:?}",
        model.results()
    );
    fs::remove_file(machine.path("project/made.txt")).unwrap();
    let (model, ended) = answering(
        &machine,
        &["allow", "--edit", "{\"command\": \"echo other > made.txt\", \"description\": \"x\"}"],
    );
    assert_eq!(ended.out, "all done\n", "{ended:?}");
    assert_eq!(
        fs::read_to_string(machine.path("project/made.txt")).unwrap(),
        "other\n",
        "{:?}",
        model.results()
    );
    let all = approvals(&machine, &["--all"]);
    assert!(all.iter().all(|approval| approval["delivered_at"].is_string()), "{all:?}");
    assert_eq!(all.len(), 2, "{all:?}");
}

#[test]
fn claude_code_does_not_do_what_a_person_denies_and_the_model_hears_why() {
    let machine = machine(RULES);
    let _server = Server::start(&machine);
    let (model, _ended) = answering(&machine, &["deny", "--reason", "write it to the log instead"]);
    assert!(!machine.path("project/made.txt").exists());
    let results = model.results();
    assert!(results.iter().any(|result| result.contains("write it to the log instead")), "{results:?}");
}

#[test]
fn claude_code_does_not_do_what_nobody_allows_in_time() {
    let machine = machine(&RULES.replace("120s", "1s"));
    let _server = Server::start(&machine);
    let (model, _ended) = claude_session(&machine, &[("DISABLE_TELEMETRY", "1".to_owned())]);
    assert!(!machine.path("project/made.txt").exists(), "{:?}", model.results());
}

#[test]
fn claude_code_puts_a_call_off_and_goes_on_with_the_answer() {
    let machine = machine(&RULES.replace("120s\"", "1s\"\nunanswered = \"defer\""));
    let _server = Server::start(&machine);
    let env = [("DISABLE_TELEMETRY", "1".to_owned())];
    let (_model, ended) = claude_session_with(&machine, &env, &["--output-format", "json"]);
    let said: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(said["stop_reason"], "tool_deferred", "{said}");
    assert!(!machine.path("project/made.txt").exists());
    say(&machine, &["allow"]);
    let session = said["session_id"].as_str().unwrap();
    let (_model, ended) = claude_session_with(&machine, &env, &["--resume", session]);
    // The turn that was put off ends, and then the one of the new prompt.
    let said: Vec<&str> = ended.out.split_whitespace().collect();
    assert_eq!((ended.code, said.concat()), (Some(0), "alldonealldone".to_owned()), "{ended:?}");
    assert!(machine.path("project/made.txt").exists());
    assert!(approvals(&machine, &["--all"])[0]["delivered_at"].is_string());
}

#[test]
fn claude_code_stops_when_it_is_killed() {
    let machine = machine("");
    let _server = Server::start(&machine);
    let killed = machine.run(&["kill-agent", "coder", "--force", "--reason", "it went mad"], b"");
    assert_eq!(killed.code, Some(0), "{killed:?}");
    let env = [("DISABLE_TELEMETRY", "1".to_owned()), ("BELLJAR_AGENT", "coder".to_owned())];
    let (model, ended) = claude_session(&machine, &env);
    assert!(!machine.path("project/made.txt").exists(), "{:?}", model.results());
    assert_ne!(ended.out, "all done\n", "{ended:?}");
    // Nobody but a person undoes it, and then it works again.
    assert_eq!(machine.run(&["kill-agent", "coder", "--release"], b"").code, Some(0));
    let (_model, ended) = claude_session(&machine, &env);
    assert_eq!(ended.out, "all done\n", "{ended:?}");
    assert!(machine.path("project/made.txt").exists());
}

#[test]
fn who_was_killed_is_refused_without_a_server_too() {
    let machine = Machine::new();
    assert_eq!(machine.run(&["kill-agent", "s1", "--force"], b"").code, Some(0));
    let mut harmless = call("one");
    harmless["tool_input"] = json!({"command": "ls"});
    let said: Value =
        serde_json::from_str(&machine.hook(&["--agent", "claude-code"], &harmless).out).unwrap();
    assert_eq!((decision(&said).0, &said["continue"]), ("deny", &json!(false)), "{said}");
    harmless["session_id"] = json!("s2");
    assert!(machine.hook(&["--agent", "claude-code"], &harmless).is_silent());
    let mut release = Command::new(env!("CARGO_BIN_EXE_belljar"));
    release.args(["kill-agent", "s1", "--release"]).env("BELLJAR_HOME", machine.path("home"));
    assert!(release.output().unwrap().status.success());
    harmless["session_id"] = json!("s1");
    assert!(machine.hook(&["--agent", "claude-code"], &harmless).is_silent());
}
