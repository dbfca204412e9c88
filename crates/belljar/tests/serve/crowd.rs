//! Many watch at once: each of them sees everything, in order, whatever the others do.

use std::{collections::BTreeSet, thread};

use serde_json::json;

use crate::support::{Served, Socket};

const READERS: usize = 200;
const EVENTS: usize = 1_000;
const BATCH: usize = 100;

/// The place a frame names, without reading the rest of it: there are many of them.
fn place(frame: &[u8]) -> Option<u64> {
    let name = b"\"seq\":";
    let at = frame.windows(name.len()).position(|part| part == name)? + name.len();
    let digits = frame[at..].iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

#[test]
fn two_hundred_readers_of_a_busy_ledger_miss_nothing() {
    let served = Served::start();
    let client = served.client();
    let sockets: Vec<Socket> = (0..READERS)
        .map(|_| {
            let mut socket = Socket::connect(&client, "/api/v1/stream").ok().unwrap();
            socket.say(&json!({"type": "subscribe", "filter": {"kinds": ["crowd"]}}));
            socket.expect("subscribed");
            socket
        })
        .collect();
    thread::scope(|scope| {
        let readers: Vec<_> = sockets
            .into_iter()
            .map(|mut socket| {
                scope.spawn(move || {
                    let mut places = Vec::with_capacity(EVENTS);
                    while places.len() < EVENTS {
                        let Some(frame) = socket.hear_bytes() else { break };
                        if frame.starts_with(br#"{"type":"event""#) {
                            places.extend(place(&frame));
                        }
                    }
                    places
                })
            })
            .collect();
        for batch in 0..EVENTS / BATCH {
            let told: Vec<_> = (0..BATCH)
                .map(|at| json!({"kind": "crowd.told", "session_id": "s", "payload": {"number": batch * BATCH + at}}))
                .collect();
            assert_eq!(client.post("/api/v1/events/ingest", &json!(told)).json()["accepted"], BATCH);
        }
        let seen: BTreeSet<Vec<u64>> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
        assert_eq!(seen.len(), 1, "all have seen the same");
        let seen = seen.first().unwrap();
        assert_eq!(seen.len(), EVENTS);
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "in order, and nothing twice");
    });
}
