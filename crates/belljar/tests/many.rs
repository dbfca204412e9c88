//! Many at once: a thousand sandboxes alive answer, lists page through them, and two hundred readers of one command all see
//! every line in order.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up must fail"
)]

#[path = "support/http.rs"]
mod http;

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use http::Http;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server with room for a crowd; dropped, it and everything it made is gone.
struct Host {
    home: TempDir,
    http: Http,
    server: Child,
}

impl Host {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let server = Command::new(env!("CARGO_BIN_EXE_belljar"))
            .args(["serve", "--listen", "127.0.0.1:0", "--pool", "0"])
            .env("BELLJAR_HOME", home.path())
            .envs(["TOTAL", "PROJECT"].map(|quota| (format!("BELLJAR_QUOTAS_{quota}"), "2000")))
            // A thousand of the usual size would promise more memory than a small machine has; none uses it.
            .env("BELLJAR_LIMITS_MEMORY", "64M")
            .env("BELLJAR_LIMITS_DISK", "16M")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(home.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let host = Self { http: Http::new(home.path()), home, server };
        host.until("the server is up", || host.http.ask("GET", "/healthz", None).is_ok());
        host
    }

    fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !holds() {
            let log = || fs::read_to_string(self.home.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "never came true: {what}\n{}", log());
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn create(&self) -> String {
        let (status, made) = self.http.ask("POST", "/api/v1/sandboxes", Some(&json!({}))).unwrap();
        assert_eq!(status, 201, "{made}");
        made["id"].as_str().unwrap().to_owned()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let ids: Vec<String> = fs::read_dir(self.home.path().join("sandboxes"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        for id in &ids {
            let _gone = self.http.ask("DELETE", &format!("/api/v1/sandboxes/{id}"), None);
        }
        let left = || fs::read_dir(self.home.path().join("sandboxes")).map_or(0, Iterator::count);
        let deadline = Instant::now() + Duration::from_secs(60);
        while left() > 0 && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(20));
        }
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.server.id()).unwrap()).unwrap();
        let _ending = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ended = self.server.wait();
        if !thread::panicking() {
            assert_eq!(left(), 0, "directories are left");
        }
    }
}

#[test]
fn a_thousand_sandboxes_are_alive_and_answer() {
    const CROWD: usize = 1000;
    const WORKERS: usize = 4;
    let host = Host::new();
    let made = AtomicUsize::new(0);
    let ids: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|_| {
                scope.spawn(|| {
                    let mut own = Vec::new();
                    while made.fetch_add(1, Ordering::Relaxed) < CROWD {
                        own.push(host.create());
                    }
                    own
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(ids.len(), CROWD);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(id) = ids.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let path = format!("/api/v1/sandboxes/{id}/exec");
                    let (status, done) =
                        host.http.ask("POST", &path, Some(&json!({ "command": ["true"] }))).unwrap();
                    assert_eq!((status, &done["exit_code"]), (200, &json!(0)), "{done}");
                }
            });
        }
    });
    // Every page comes from the one before, and together they are all there are.
    let (mut seen, mut cursor) = (BTreeSet::new(), String::new());
    loop {
        let (status, page) =
            host.http.ask("GET", &format!("/api/v1/sandboxes?limit=100{cursor}"), None).unwrap();
        assert_eq!(status, 200, "{page}");
        for view in page["items"].as_array().unwrap() {
            assert!(seen.insert(view["id"].as_str().unwrap().to_owned()), "{view} is listed twice");
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ids.into_iter().collect());
}

#[test]
fn two_hundred_readers_see_every_line_in_order() {
    const READERS: usize = 200;
    const LINES: usize = 400;
    let host = Host::new();
    let id = host.create();
    let script = format!(
        "while [ ! -e /tmp/go ]; do sleep 0.05; done; \
         i=0; while [ $i -lt {LINES} ]; do echo line $i; i=$((i+1)); [ $((i % 20)) = 0 ] && sleep 0.01; done"
    );
    let body = json!({ "command": script, "background": true });
    let (_, started) = host.http.ask("POST", &format!("/api/v1/sandboxes/{id}/exec"), Some(&body)).unwrap();
    let execution = started["execution_id"].as_str().unwrap();
    let path = format!("/api/v1/sandboxes/{id}/executions/{execution}/attach");
    let ready = AtomicUsize::new(0);
    let expected: String = (0..LINES).map(|line| format!("line {line}\n")).collect();
    thread::scope(|scope| {
        let readers: Vec<_> =
            (0..READERS).map(|_| scope.spawn(|| read_stream(host.home.path(), &path, &ready))).collect();
        host.until("everybody reads", || ready.load(Ordering::Relaxed) == READERS);
        let go = json!({ "command": ["touch", "/tmp/go"] });
        host.http.ask("POST", &format!("/api/v1/sandboxes/{id}/exec"), Some(&go)).unwrap();
        for reader in readers {
            assert_eq!(reader.join().unwrap(), expected);
        }
    });
}

/// Everything a stream of server-sent events says on standard output.
fn read_stream(home: &Path, path: &str, ready: &AtomicUsize) -> String {
    let mut stream = UnixStream::connect(home.join("belljar.sock")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n").unwrap();
    let (mut text, mut event) = (String::new(), String::new());
    let mut lines = BufReader::new(stream).lines();
    assert!(lines.next().unwrap().unwrap().contains("200"));
    ready.fetch_add(1, Ordering::Relaxed);
    for line in lines {
        let line = line.unwrap_or_else(|error| panic!("{error} after {text}"));
        if let Some(name) = line.strip_prefix("event: ") {
            name.clone_into(&mut event);
        } else if let Some(data) = line.strip_prefix("data: ") {
            let data: Value = serde_json::from_str(data).unwrap();
            match event.as_str() {
                "stdout" => text.push_str(data["text"].as_str().unwrap()),
                "exit" => break,
                _ => {}
            }
        }
    }
    text
}
