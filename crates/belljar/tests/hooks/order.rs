//! Nothing overtakes: what a session said before, and no server took, is told before what it says now.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    support::{Act, Machine, Scripted},
    twenty::Server,
};

fn event(name: &str, session: &str) -> Value {
    json!({"hook_event_name": name, "session_id": session, "cwd": "/w"})
}

fn say(machine: &Machine, name: &str, session: &str) {
    let heard = machine.hook(&["--agent", "claude-code"], &event(name, session));
    assert!(heard.is_silent(), "{heard:?}");
}

/// The events of a session in the ledger, each of which is there once.
fn told(server: &Server, session: &str) -> Vec<String> {
    let told = server.told(Some(session));
    let mut ids: Vec<_> = told.iter().map(|event| event["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), told.len(), "something is there twice: {told:?}");
    told.iter().map(|event| event["payload"]["hook"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_was_spooled_while_the_server_could_not_be_reached_is_told_before_the_next_word() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let (socket, aside) = (machine.path("home/belljar.sock"), machine.path("home/aside.sock"));
    for round in 0..5 {
        let session = format!("s-{round}");
        say(&machine, "SessionStart", &session);
        fs::rename(&socket, &aside).unwrap();
        say(&machine, "PostToolUse", &session);
        say(&machine, "Stop", &session);
        fs::rename(&aside, &socket).unwrap();
        say(&machine, "SessionEnd", &session);
        assert_eq!(told(&server, &session), ["SessionStart", "PostToolUse", "Stop", "SessionEnd"]);
        assert!(machine.spooled().is_empty());
    }
}

#[test]
fn what_was_spooled_while_the_server_stood_still_is_told_once_and_before_the_next_word() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    say(&machine, "SessionStart", "s");
    server.signal(Signal::STOP);
    // Both reach its socket, where they wait beside what the spool holds of them.
    say(&machine, "PostToolUse", "s");
    say(&machine, "Stop", "s");
    assert_eq!(machine.spooled().len(), 2);
    server.signal(Signal::CONT);
    let heard = machine.hook(&["--agent", "claude-code"], &event("SessionEnd", "s"));
    assert!(heard.is_silent(), "{heard:?}");
    crate::twenty::wait("the end is told", || told(&server, "s").len() >= 4);
    assert_eq!(told(&server, "s"), ["SessionStart", "PostToolUse", "Stop", "SessionEnd"]);
    crate::twenty::wait("nothing waits", || machine.spooled().is_empty());
    assert_eq!(told(&server, "s").len(), 4);
}

#[test]
fn an_observer_goes_behind_what_it_cannot_tell_and_a_guard_asks_all_the_same() {
    let machine = Machine::new();
    for _ in 0..40 {
        say(&machine, "PostToolUse", "s");
    }
    say(&machine, "Stop", "another");
    let server = Scripted::start(&machine, Act::Answer(200, r#"{"verdict":null}"#.to_owned()));
    say(&machine, "Stop", "s");
    let seen = server.seen();
    assert!((1..=32).contains(&seen.len()), "a hook tells so much before it speaks, and goes on");
    assert!(seen.iter().all(|request| request.line.contains("late=true")));
    assert_eq!(machine.spooled().len(), 40 - seen.len() + 2, "it went behind what waits");
    let mut story = vec![json!("PostToolUse"); 40];
    story.push(json!("Stop"));
    while machine.spooled().len() > 1 {
        say(&machine, "MessageDisplay", "s");
        story.push(json!("MessageDisplay"));
        assert!(story.len() < 100, "each tells some of it");
    }
    let told: Vec<_> = server.seen().iter().map(|request| request.body["event"].clone()).collect();
    assert_eq!(told, story, "and what another session said is not its to tell");
    drop(server);

    for act in [Act::Answer(503, String::new()), Act::HangUp] {
        let machine = Machine::new();
        say(&machine, "PostToolUse", "s");
        let server = Scripted::start(&machine, act);
        say(&machine, "Stop", "s");
        assert_eq!(server.seen().len(), 1, "one word is enough to know");
        let guard = machine.hook(&["--agent", "claude-code"], &event("PreToolUse", "s"));
        assert_eq!(guard.code, Some(0), "{guard:?}");
        let last = server.seen().last().unwrap().body["event"].clone();
        assert_eq!((last, machine.spooled().len()), (json!("PreToolUse"), 3));
    }
}

#[test]
fn many_who_tell_the_same_at_once_tell_it_once() {
    let machine = Machine::new();
    for _ in 0..20 {
        say(&machine, "PostToolUse", "s");
    }
    let server = Server::start(&machine);
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while count.fetch_add(1, Ordering::Relaxed) < 20 {
                    machine.hook(&["--agent", "claude-code"], &event("MessageDisplay", "s"));
                }
            });
        }
    });
    crate::twenty::wait("all of it is told", || {
        told(&server, "s").len() >= 40 && machine.spooled().is_empty()
    });
    let names = told(&server, "s");
    assert_eq!(names.len(), 40);
    assert!(names[..20].iter().all(|name| name == "PostToolUse"), "{names:?}");
}
