//! The real Claude Code, offline, with hooks that `belljar hooks install` put into its settings.

use std::{fs, process::Command};

use serde_json::{Value, json};

use crate::{
    support::{Ended, Machine, Scripted, ended},
    twenty::{Server, wait},
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
    let ended = ended(client(machine, &model, env, flags), b"");
    (model, ended)
}

/// The client with the user's own settings, whatever they are.
fn client(machine: &Machine, model: &Model, env: &[(&str, String)], flags: &[&str]) -> Command {
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
    command
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
fn claude_code_tells_by_its_own_http_hooks_and_is_stopped_by_their_answer() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let events = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];
    let hook = json!({
        "type": "http", "url": format!("{}/hooks/claude-code", server.url()), "allowedEnvVars": ["BELLJAR_KEY"],
        "headers": {"Authorization": "Bearer $BELLJAR_KEY"},
    });
    let hooks: Value = events.iter().map(|event| (*event, json!([{"hooks": [hook]}]))).collect();
    fs::create_dir_all(machine.path("user/.claude")).unwrap();
    fs::write(machine.path("user/.claude/settings.json"), json!({"hooks": hooks}).to_string()).unwrap();
    let key = fs::read_to_string(machine.path("home/admin.key")).unwrap().trim().to_owned();
    let env = [("DISABLE_TELEMETRY", "1".to_owned()), ("BELLJAR_KEY", key)];
    let told = |made: &str, is_denied: bool| {
        let model = Model::asking_for(&format!("echo made > {made}"));
        let ended = ended(client(&machine, &model, &env, &[]), b"");
        assert_eq!((ended.code, ended.out.as_str()), (Some(0), "all done\n"), "{ended:?}");
        assert_eq!(machine.path("project").join(made).exists(), !is_denied, "{ended:?}");
        assert_eq!(model.results().iter().any(|said| said.contains(REASON)), is_denied);
        let is_over = |told: &[Value]| told.iter().any(|event| event["payload"]["hook"] == "SessionEnd");
        wait("it is told", || is_over(&server.told(None)));
        story(server.told(None).iter().map(|event| event["payload"]["hook"].clone()))
    };
    assert_eq!(told("first.txt", false), events);
    let rule = format!(
        "[[rule]]\nname = \"no-making\"\nmatch = \"Bash(echo made:*)\"\nverdict = \"deny\"\nreason = \"{REASON}\"\n"
    );
    fs::write(machine.path("home/guardian.toml"), rule).unwrap();
    let call = json!({"hook_event_name": "PreToolUse", "session_id": "probe", "cwd": "/w", "tool_name": "Bash",
        "tool_input": {"command": "echo made > x"}});
    wait("the rule is in force", || {
        machine.hook(&["--agent", "claude-code"], &call).out.contains("\"deny\"")
    });
    assert_eq!(told("second.txt", true), ["UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd"]);
}
