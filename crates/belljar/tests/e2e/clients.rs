//! With a server up the commands ask it, without one they work by themselves: the answers are the same.

use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Ended, Glass, Served, promises, until};

promises! { [root, user]:
    a_server_and_none_give_the_same_answers,
    what_a_server_made_is_there_without_it,
    output_is_the_same_whoever_ran_the_command,
    an_agent_is_killed_and_the_ledger_says_so,
    a_socket_without_a_server_is_no_server,
    a_refusal_has_the_servers_words,
    another_machines_server_is_asked_by_its_address,
}

promises! { [root, delegated]:
    what_one_does_the_other_sees,
}

fn a_server_and_none_give_the_same_answers(glass: &Glass) {
    let one = glass.keep(&["--agent", "coder", "--label", "task=7"]);
    glass.keep(&["--workspace", "none", "--memory", "64M"]);
    let stopped = glass.keep(&["--agent", "coder"]);
    glass.exec(&stopped, "echo x > made").ok();
    glass.run(&["terminate", "--force", &stopped]).ok();
    let questions: [&[&str]; 7] = [
        &["list"],
        &["list", "--all"],
        &["list", "--agent", "coder"],
        &["list", "--all", "--label", "task=7"],
        &["inspect", &one],
        &["ports", &one],
        &["snapshot", "--list"],
    ];
    let ask = || questions.map(|question| steady(glass.json(question)));
    let alone = ask();
    let served = Served::start(glass);
    let with_server = ask();
    drop(served);
    let afterwards = ask();
    for (place, question) in questions.iter().enumerate() {
        assert_eq!(alone[place], with_server[place], "{question:?}");
        assert_eq!(with_server[place], afterwards[place], "{question:?}");
    }
    assert_eq!(alone[0].as_array().unwrap().len(), 2);
}

/// Without what differs from one moment to the next, or is known once a server was there.
fn steady(mut answer: Value) -> Value {
    if let Some(object) = answer.as_object_mut() {
        for name in ["usage", "uptime_seconds", "expires", "last_activity", "metadata"] {
            object.remove(name);
        }
    }
    answer
}

fn what_a_server_made_is_there_without_it(glass: &Glass) {
    let served = Served::start(glass);
    let made = served.make("blue");
    assert_eq!(glass.json(&["inspect", "blue"])["id"], json!(made));
    assert_eq!(glass.run(&["exec", "blue", "--", "echo", "hi"]).ok(), "hi\n");
    let snapshot = glass.json(&["snapshot", &made, "--name", "kept"]);
    let again = glass.json(&["restore", "kept"])["sandbox"].as_str().unwrap().to_owned();
    drop(served);
    let listed = glass.json(&["list"]);
    assert_eq!(listed[0]["name"], "blue");
    let ids: Vec<_> = listed.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [made.as_str(), again.as_str()]);
    assert_eq!(glass.json(&["snapshot", "--list"])[0]["id"], snapshot["id"]);
    assert_eq!(glass.json(&["inspect", "blue"])["id"], json!(made));
    glass.exec(&again, "true").ok();
    glass.run(&["terminate", "--all", "--force"]).ok();
    glass.run(&["discard", "--all"]).ok();
    glass.run(&["snapshot", "--remove", snapshot["id"].as_str().unwrap()]).ok();
}

fn what_one_does_the_other_sees(glass: &Glass) {
    let id = glass.keep(&[]);
    let served = Served::start(glass);
    assert_eq!(glass.json(&["extend", &id, "2h"])["ttl_seconds"], 7200);
    assert_eq!(glass.json(&["pause", &id])["state"], "paused");
    drop(served);
    assert_eq!(glass.json(&["list"])[0]["state"], "paused");
    assert_eq!(glass.json(&["resume", &id])["state"], "running");
    let _served = Served::start(glass);
    assert_eq!(glass.json(&["list"])[0]["state"], "running");
    // One that is made while the server runs is there at once, although nobody told it.
    let late = glass.keep(&[]);
    assert!(glass.run(&["list", "--json"]).ok().contains(&late));
    assert_eq!(glass.json(&["stats", &late])[0]["id"], json!(late));
    assert_eq!(glass.json(&["metrics"])["sandboxes"].as_array().unwrap().len(), 2);
}

fn output_is_the_same_whoever_ran_the_command(glass: &Glass) {
    let served = Served::start(glass);
    let id = served.make("talker");
    glass.exec(&id, "echo first").ok();
    served.sh(&id, "echo second zebra");
    glass.exec(&id, "echo third").ok();
    assert_eq!(glass.run(&["logs", &id]).ok(), "first\nsecond zebra\nthird\n");
    let deeds = glass.json(&["logs", "--sandbox", &id, "--operation", "command_execute"]);
    assert_eq!(deeds.as_array().unwrap().len(), 3);
    assert_eq!(deeds[0]["status"], "success");
    until("the words are found", || {
        glass.json(&["logs", "--search", "zebra"])["hits"].as_array().is_some_and(|hits| hits.len() == 1)
    });
    drop(served);
    assert_eq!(glass.run(&["logs", &id]).ok(), "first\nsecond zebra\nthird\n");
    assert_eq!(glass.json(&["logs", "--sandbox", &id, "--operation", "command_execute"]), deeds);
}

fn an_agent_is_killed_and_the_ledger_says_so(glass: &Glass) {
    let _served = Served::start(glass);
    let kept = glass.keep(&["--agent", "rogue"]);
    glass.exec(&kept, "echo mine > made").ok();
    let bare = glass.keep(&["--agent", "rogue", "--workspace", "none"]);
    let other = glass.keep(&["--agent", "calm"]);
    glass.run(&["kill-agent", "rogue", "--force"]).ok();
    assert_eq!(glass.json(&["list"])[0]["id"], json!(other));
    until("both ends are in the ledger", || {
        let told = glass.json(&["logs", "--agent", "rogue", "--operation", "sandbox.ended"]);
        let told = told.as_array().unwrap();
        told.len() == 2 && told.iter().all(|event| event["details"].as_str().unwrap().contains("killswitch"))
    });
    // What was changed in a workspace is kept, whoever ends the sandbox.
    assert!(glass.run(&["diff", &kept]).ok().contains("mine"));
    assert_eq!(glass.json(&["inspect", &bare])["state"], "destroyed");
}

fn a_socket_without_a_server_is_no_server(glass: &Glass) {
    let id = glass.keep(&[]);
    Served::start(glass).end(Signal::KILL);
    assert!(glass.home().join("belljar.sock").exists());
    assert_eq!(glass.json(&["list"])[0]["id"], json!(id));
    glass.run(&["audit", "verify"]).ok();
}

fn a_refusal_has_the_servers_words(glass: &Glass) {
    let _served = Served::start(glass);
    let id = glass.keep(&[]);
    glass.run(&["terminate", "--force", &id]).ok();
    glass.run(&["pause", &id]).code(125).says("is stopped");
    glass.run(&["inspect", "sbx_00000000000070008000000000000000"]).code(125).says("there is no sandbox");
}

fn another_machines_server_is_asked_by_its_address(glass: &Glass) {
    let served = Served::start(glass);
    let id = served.make("far");
    let key = std::fs::read_to_string(glass.home().join("admin.key")).unwrap();
    let from_afar = |args: &[&str], key: &str| {
        let mut command = glass.belljar(args);
        command.env("BELLJAR_URL", served.url()).env("BELLJAR_TOKEN", key);
        // Nothing of this machine's helps.
        command.env("BELLJAR_HOME", glass.user_home().join("empty"));
        Ended::of(&mut command)
    };
    let listed = from_afar(&["--json", "list"], &key);
    assert_eq!(listed.json()[0]["id"], json!(id));
    assert_eq!(from_afar(&["--json", "inspect", "far"], &key).json()["name"], "far");
    served.sh(&id, "echo over there");
    assert_eq!(from_afar(&["logs", "far"], &key).ok(), "over there\n");
    from_afar(&["list"], "wrong").code(125).says("hint:");
    assert_eq!(from_afar(&["exec", "far", "--", "sh", "-c", "echo hi; exit 4"], &key).code(4).out, "hi\n");
    from_afar(&["exec", "--direct", "far", "--", "true"], &key).code(125).says("unset BELLJAR_URL");
    // Files travel both ways, whole directories too.
    glass.write("sent", "to the other side\n");
    let (here, back) = (glass.work(), glass.work().join("back"));
    let word = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    from_afar(&["cp", &word(&here.join("sent")), "far:/tmp/sent"], &key).ok();
    served.sh(&id, "mkdir -p /tmp/d/e && cp /tmp/sent /tmp/d/e/f && ln -s e/f /tmp/d/l");
    from_afar(&["cp", "far:/tmp/d", &word(&back)], &key).ok();
    assert_eq!(glass.read("back/e/f"), "to the other side\n");
    assert_eq!(glass.read("back/l"), "to the other side\n");
    from_afar(&["cp", &word(&back), "far:/tmp/again"], &key).ok();
    from_afar(&["cp", "far:/tmp/again/l", &word(&here.join("once"))], &key).ok();
    assert_eq!(glass.read("once"), "to the other side\n");
    // A directory that is there takes what comes, and what may be run stays so.
    served.sh(&id, "mkdir /tmp/into && printf '#!/bin/sh' > /tmp/tool && chmod 755 /tmp/tool");
    from_afar(&["cp", &word(&here.join("sent")), "far:/tmp/into"], &key).ok();
    from_afar(&["cp", &word(&back), "far:/tmp/into/"], &key).ok();
    from_afar(&["exec", "far", "--", "cmp", "/tmp/into/sent", "/tmp/into/back/e/f"], &key).ok();
    from_afar(&["cp", "far:/tmp/tool", &word(&here)], &key).ok();
    assert_ne!(std::fs::metadata(here.join("tool")).unwrap().permissions().mode() & 0o100, 0);
    from_afar(&["cp", "far:/tmp/none", &word(&here.join("none"))], &key).code(125);
    assert!(!here.join("none").exists());
    for all in [&["--json", "health", "--all"][..], &["--json", "health", "far"]] {
        assert_eq!(from_afar(all, &key).json()[0]["healthy"], true);
    }
    assert_eq!(from_afar(&["--json", "stats", "--all"], &key).json()[0]["id"], json!(id));
    from_afar(&["terminate", "--force", "far"], &key).ok();
    assert_eq!(from_afar(&["--json", "list"], &key).json(), json!([]));
}
