//! Whoever sends too much, or too slowly, is told so and let go; nobody else waits for them.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{Request, Served};

/// More than any body that is held in memory, but for a bundle's.
const HUGE: usize = 40 << 20;

#[test]
fn every_route_bounds_its_body() {
    let served = Served::start();
    let sandbox = served.sandbox();
    let id = sandbox.rsplit('/').next().unwrap();
    let document = served.client().get("/openapi.json").json();
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let content = operation["requestBody"]["content"].as_object();
            let takes_json = content.is_some_and(|content| content.keys().any(|kind| kind.contains("json")));
            if !takes_json {
                continue;
            }
            let place = path.replace("{id}", id).replace(['{', '}'], "");
            let mut body = vec![b' '; HUGE];
            body[0] = b'[';
            let request = Request::new(&method.to_uppercase(), &place)
                .with("content-type", "application/json")
                .with("expect", "")
                .body(body);
            let answer = served.client().send(&request);
            // Told so, or told before that it makes no sense.
            assert!((400..500).contains(&answer.status), "{method} {path}: {answer:?}");
            asked += 1;
        }
    }
    assert!(asked > 25, "{asked}");
    assert_eq!(served.client().get("/healthz").status, 200);
}

/// Sends the beginning at once, and then a byte whenever one may; the answer is how long the server bore it, and what it said.
fn drip(port: u16, beginning: &str) -> (Duration, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(beginning.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let (began, mut said) = (Instant::now(), Vec::new());
    loop {
        let mut bytes = [0; 4096];
        match stream.read(&mut bytes) {
            Ok(0) => break,
            Ok(count) => said.extend_from_slice(&bytes[..count]),
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) =>
            {
                if stream.write_all(b" ").is_err() {
                    break;
                }
            }
            Err(_) => break,
        }
        assert!(
            began.elapsed() < Duration::from_secs(150),
            "{beginning}: {}",
            String::from_utf8_lossy(&said)
        );
    }
    (began.elapsed(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn whoever_drips_is_let_go() {
    let served = Served::start();
    let (port, key, sandbox) = (served.port(), served.key(), served.sandbox());
    let asking = |path: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
        )
    };
    let head = format!("GET /healthz HTTP/1.1\r\nHost: localhost:{port}\r\nX-Slow: ");
    // A head, a body of a route that is quick, and one of a route that may take as long as a command does.
    let ways = [head, asking("/api/v1/webhooks"), asking(&format!("{sandbox}/exec"))];
    thread::scope(|scope| {
        let all: Vec<_> = ways.iter().map(|way| scope.spawn(move || drip(port, way))).collect();
        for (way, dripped) in ways.iter().zip(all) {
            let (lasted, said) = dripped.join().unwrap();
            let most = if way.starts_with("GET") { 40 } else { 120 };
            assert!(lasted < Duration::from_secs(most), "{way}: {lasted:?}");
            if way.starts_with("POST") {
                assert!(said.starts_with("HTTP/1.1 408"), "{way}: {said}");
                let problem: Value = serde_json::from_str(said.split("\r\n\r\n").nth(1).unwrap()).unwrap();
                assert_eq!(problem["code"], "TIMEOUT");
            }
        }
        // Meanwhile everybody else is served.
        assert_eq!(served.sh(&sandbox, "echo well"), "well\n");
    });
}
