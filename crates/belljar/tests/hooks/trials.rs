//! `belljar hooks test`, and the plugin for opencode under a real JavaScript engine.

use std::{fs, process::Command};

use serde_json::{Value, json};

use crate::support::{Machine, Scripted, ended};

#[test]
fn every_event_is_fired_and_its_reply_and_time_are_shown() {
    let machine = Machine::new();
    let server = Scripted::verdict(&machine, &json!({"decision": "deny", "reason": "a test"}));
    let done = machine.run(&["--json", "hooks", "test"], b"");
    assert_eq!(done.code, Some(0), "{done:?}");
    let said: Value = serde_json::from_str(&done.out).unwrap();
    let events = said["events"].as_array().unwrap();
    assert_eq!((events.len(), server.seen().len()), (32, 32));
    for event in events {
        let code = event["exit"].as_i64().unwrap();
        assert!(
            (code == 0 || code == 2) && event["fate"] == "delivered" && event["micros"].as_u64() > Some(0),
            "{event}"
        );
    }
    let of = |name: &str| events.iter().find(|event| event["event"] == name).unwrap();
    assert!(of("PreToolUse")["reply"].as_str().unwrap().contains("\"deny\""));
    assert_eq!((&of("ConfigChange")["exit"], &of("ConfigChange")["reply"]), (&json!(2), &json!("a test")));
    assert_eq!(of("SessionStart")["reply"], "");
}

#[test]
fn without_a_server_the_test_says_so_and_leaves_nothing() {
    let machine = Machine::new();
    let done = machine.run(&["hooks", "test", "--agent", "codex,gemini,cursor,opencode"], b"");
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains("tool.execute.before") && done.out.contains("not delivered: "), "{}", done.out);
    assert!(machine.spooled().is_empty());
}

/// Plays opencode: loads the plugin and goes through a session.
const SESSION: &str = r#"
import { Belljar } from "./belljar.mjs"
const hooks = await Belljar({ directory: "/srv/app" })
await hooks.event({ event: { type: "session.created", properties: { info: { id: "s" } } } })
await hooks.event({ event: { type: "message.part.updated", properties: {} } })
const info = { id: "m", sessionID: "s", role: "assistant", time: { created: 1 }, modelID: "gpt-5.3-codex", cost: 0.25 }
await hooks.event({ event: { type: "message.updated", properties: { info } } })
info.time.completed = 2
for (const _ of "ab") await hooks.event({ event: { type: "message.updated", properties: { info } } })
await hooks["chat.message"]({ sessionID: "s" }, { parts: [{ type: "text", text: "go" }] })
const asked = { status: "ask" }
await hooks["permission.ask"]({ sessionID: "s" }, asked)
try {
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args: { command: "rm -rf /" } })
  console.log("it ran", asked.status)
} catch (error) {
  console.log(error.message, asked.status)
}
"#;

fn opencode(machine: &Machine) -> String {
    let installed = machine.run(&["hooks", "install", "--agent", "opencode"], b"");
    assert_eq!(installed.code, Some(0), "{installed:?}");
    let plugin = machine.path("user/.config/opencode/plugins/belljar.js");
    // The name tells this engine what opencode's knows by itself.
    fs::copy(plugin, machine.path("project/belljar.mjs")).unwrap();
    fs::write(machine.path("project/session.mjs"), SESSION).unwrap();
    let mut node = Command::new("node");
    node.arg("session.mjs").current_dir(machine.path("project"));
    node.env("BELLJAR_HOME", machine.path("home"));
    let ended = ended(node, b"");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.out
}

#[test]
fn opencode_is_told_on_and_stopped() {
    let machine = Machine::new();
    let server = Scripted::verdict(&machine, &json!({"decision": "deny", "reason": "not here"}));
    assert_eq!(opencode(&machine), "not here deny\n");
    let told: Vec<_> = server.seen().iter().map(|request| request.body["event"].clone()).collect();
    let once =
        ["session.created", "message.updated", "chat.message", "permission.ask", "tool.execute.before"];
    assert_eq!(told, once);
    assert_eq!(server.seen()[1].body["payload"]["properties"]["info"]["cost"], 0.25);
    assert_eq!(server.seen()[4].body["payload"]["args"]["command"], "rm -rf /");
}

#[test]
fn opencode_goes_on_without_a_server_and_the_rules_hold() {
    let machine = Machine::new();
    let said = opencode(&machine);
    assert!(said.starts_with("`rm` would delete `/`") && said.ends_with(" ask\n"), "{said}");
    assert_eq!(machine.spooled().len(), 5);
}
