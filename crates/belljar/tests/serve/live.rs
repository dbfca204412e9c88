//! What happens is seen live, in order, without gap or duplicate, and nobody who does not read is waited for.

use std::{thread, time::Duration};

use serde_json::json;

use crate::support::{Frame, Request, Served, Socket, eventually};

#[test]
fn a_stream_resumes_where_it_was_left() {
    let served = Served::start();
    let sandbox = served.sandbox();
    let stream = format!("{sandbox}/stream?since=0");
    let mut first = served.client().events(&Request::new("GET", &stream));
    let created = first.next().unwrap();
    drop(first);
    served.sh(&sandbox, "true");
    let resumed = Request::new("GET", &stream).with("last-event-id", &created.id.unwrap().to_string());
    let kinds: Vec<String> = served.client().events(&resumed).take(2).map(|event| event.name).collect();
    let all = served.client().get(&format!(
        "/api/v1/events?after={}&sandbox_id={}",
        created.id.unwrap(),
        sandbox.rsplit('/').next().unwrap()
    ));
    let listed: Vec<String> = all.json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .take(2)
        .map(|e| e["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, listed);
}

#[test]
fn a_socket_that_comes_back_sees_every_event_once() {
    let served = Served::start();
    let sandbox = served.sandbox();
    let id = sandbox.rsplit('/').next().unwrap().to_owned();
    let mut seen: Vec<u64> = Vec::new();
    thread::scope(|scope| {
        let work = scope.spawn(|| {
            for _ in 0..30 {
                served.sh(&sandbox, "true");
            }
        });
        // Leaves after every few events, and comes back with the last place it saw.
        while seen.len() < 50 {
            let mut socket = Socket::connect(&served.client(), "/api/v1/stream").ok().unwrap();
            let since = seen.last().copied().unwrap_or(0);
            socket.say(&json!({"type": "subscribe", "filter": {"sandbox_id": id, "kinds": ["execution"]}, "since": since}));
            assert_eq!(socket.expect("subscribed")["since"], since);
            for _ in 0..7 {
                seen.push(socket.expect("event")["seq"].as_u64().unwrap());
            }
        }
        work.join().unwrap();
    });
    let all = served
        .client()
        .get(&format!("/api/v1/events?after=0&limit=1000&kind=execution&sandbox_id={id}"))
        .json();
    let all: Vec<u64> =
        all["items"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seen, all[..seen.len()]);
}

#[test]
fn what_happens_within_a_moment_is_told_together_and_in_order() {
    let served = Served::start();
    let sandbox = served.sandbox();
    let id = sandbox.rsplit('/').next().unwrap().to_owned();
    for _ in 0..20 {
        served.sh(&sandbox, "true");
    }
    let path = format!("/api/v1/events?after=0&limit=1000&kind=execution&sandbox_id={id}");
    let all = served.client().get(&path).json()["items"].as_array().unwrap().clone();
    let mut socket = Socket::connect(&served.client(), "/api/v1/stream").ok().unwrap();
    let filter = json!({"sandbox_id": id, "kinds": ["execution"]});
    socket.say(&json!({"type": "subscribe", "filter": filter, "since": 0, "batch_ms": 50}));
    socket.expect("subscribed");
    let (mut frames, mut seen) = (0, Vec::new());
    while seen.len() < all.len() {
        frames += 1;
        for mut event in socket.expect("events")["items"].as_array().unwrap().clone() {
            // Each is what it would have been in a frame of its own.
            assert_eq!(event.as_object_mut().unwrap().remove("type").unwrap(), "event");
            seen.push(event);
        }
    }
    assert_eq!(seen, all);
    assert!(frames < all.len() / 4, "{} events came in {frames} frames", all.len());
}

#[test]
fn nonsense_is_answered_and_a_ping_heard() {
    let served = Served::start();
    let mut socket = Socket::connect(&served.client(), "/ws").ok().unwrap();
    socket.say(&json!({"type": "dance"}));
    assert!(matches!(socket.hear(), Some(Frame::Text(said)) if said["type"] == "error"));
    socket.say(&json!({"type": "subscribe", "filter": {"sandbox_id": "x"}}));
    assert!(matches!(socket.hear(), Some(Frame::Text(said)) if said["type"] == "error"));
    socket.say(&json!({"type": "ping"}));
    assert_eq!(socket.expect("heartbeat")["seq"], 0);
}

#[test]
fn a_reader_who_takes_nothing_is_let_go_and_nobody_else_waits() {
    let served = Served::start_with(&[("BELLJAR_SERVER_PATIENCE", "1s")]);
    let sandbox = served.sandbox();
    let flood = json!({"command": "head -c 9000000 /dev/zero | tr '\\0' x", "background": true});
    let started = served.client().post(&format!("{sandbox}/exec"), &flood).json();
    let execution = format!("{sandbox}/executions/{}", started["execution_id"].as_str().unwrap());
    assert_eq!(served.client().get(&format!("{execution}/wait")).json()["status"], "success");
    // Several readers, so that what the kernel holds for them is more than enough is written.
    let readers: Vec<_> = (0..4)
        .map(|_| served.client().open(&Request::new("GET", &format!("{execution}/attach"))).unwrap())
        .collect();
    let count = |name: &str| {
        let text = served.client().get("/metrics").text();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()
    };
    eventually("those who do not read are let go", || {
        (count("belljar_dropped_clients_total") >= 1.0).then_some(())
    });
    eventually("their places are free again", || (count("belljar_live_clients") < 4.0).then_some(()));
    assert_eq!(served.sh(&sandbox, "echo still here"), "still here\n");
    drop(readers);
}

#[test]
fn streams_end_with_a_goodbye_when_the_server_does() {
    let mut served = Served::start();
    let sandbox = served.sandbox();
    let mut socket = Socket::connect(&served.client(), "/api/v1/stream").ok().unwrap();
    socket.say(&json!({"type": "subscribe", "since": 0}));
    socket.expect("event");
    let mut events = served.client().events(&Request::new("GET", &format!("{sandbox}/stream?since=0")));
    events.next().unwrap();
    thread::sleep(Duration::from_millis(200));
    served.signal("TERM");
    socket.expect("goodbye");
    assert!(events.any(|event| event.name == "goodbye"));
    assert!(served.ended());
    assert!(!served.home().join("server.json").exists() && !served.home().join("belljar.sock").exists());
    served.again();
    assert_eq!(served.sh(&sandbox, "echo alive"), "alive\n");
}

#[test]
fn the_log_of_a_sandbox_is_followed_through_all_its_commands_to_its_end() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    served.sh(&sandbox, "echo first");
    let follow = |last: Option<u64>| {
        let request = Request::new("GET", &format!("{sandbox}/logs?follow=true"));
        client.events(&match last {
            Some(last) => request.with("last-event-id", &last.to_string()),
            None => request,
        })
    };
    let mut log = follow(None);
    let first = log.next().unwrap();
    assert_eq!((first.name.as_str(), &first.data["text"]), ("stdout", &json!("first\n")));
    served.sh(&sandbox, "echo second >&2");
    let second = log.next().unwrap();
    assert_eq!((second.name.as_str(), &second.data["text"]), ("stderr", &json!("second\n")));
    // Whoever comes back misses nothing and sees nothing twice, and the end is told.
    drop(log);
    served.sh(&sandbox, "echo third");
    let again = follow(first.id);
    assert_eq!(client.delete(&sandbox).status, 204);
    let told: Vec<_> = again.map(|event| (event.name, event.data["text"].clone())).collect();
    let wanted = [("stderr", json!("second\n")), ("stdout", json!("third\n")), ("end", json!(null))];
    assert_eq!(told, wanted.map(|(name, text)| (name.to_owned(), text)));
    client.get(&format!("{sandbox}/logs?follow=true&q=x")).is_problem(400, "INVALID_REQUEST");
}
