//! The real Claude Code, offline, with hooks that `belljar hooks install` put into its settings.

use std::process::Command;

use serde_json::{Value, json};

use crate::{
    support::{Machine, Scripted, ended},
    workbench::{claude, model::Model},
};

const REASON: &str = "nothing is made here";

/// One session in which the model wants a file to be made.
fn session(machine: &Machine) -> Model {
    let installed = machine.run(&["hooks", "install", "--agent", "claude-code"], b"");
    assert_eq!(installed.code, Some(0), "{installed:?}");
    let model = Model::asking_for("echo made > made.txt");
    let mut command = Command::new(claude());
    command
        .args(["--print", "Do it.", "--dangerously-skip-permissions"])
        .current_dir(machine.path("project"));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", machine.path("user"));
    command.env("BELLJAR_HOME", machine.path("home"));
    command.env("ANTHROPIC_BASE_URL", model.url()).env("ANTHROPIC_API_KEY", "sk-ant-none");
    // As root it wants to be told that it may.
    for flag in
        ["IS_SANDBOX", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY"]
    {
        command.env(flag, "1");
    }
    let ended = ended(command, b"");
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "all done\n"), "{ended:?}");
    model
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
