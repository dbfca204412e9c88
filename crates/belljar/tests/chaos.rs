//! A server that is killed again and again under load: whatever it acknowledged is there in the end, whatever it made is
//! found again or gone, and the ledger is whole.
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
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use http::Http;
use serde_json::{Value, json};

const SANDBOXES: usize = 200;
const KILLS: usize = 20;
const WORKERS: usize = 4;
/// Sandboxes for each server to make.
const SHARE: usize = SANDBOXES / KILLS;

/// What a client was told.
#[derive(Debug)]
struct Promise {
    sandbox: String,
    execution: String,
    code: u64,
    output: String,
}

#[derive(Default)]
struct Told {
    promises: Mutex<Vec<Promise>>,
    sandboxes: Mutex<BTreeSet<String>>,
    made: AtomicUsize,
    /// Servers killed so far; the load is spread over all of them.
    kills: AtomicUsize,
    failures: AtomicUsize,
    /// Commands that were asked for and never answered.
    cut: AtomicUsize,
}

/// A server that does not outlive its test.
struct Server(Child);

impl Server {
    fn kill(&mut self) {
        let _over = self.0.kill();
        let _over = self.0.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn serve(home: &Path) -> Server {
    let server = Command::new(env!("CARGO_BIN_EXE_belljar"))
        .args(["serve", "--listen", "127.0.0.1:0", "--pool", "2", "--json"])
        .env("BELLJAR_HOME", home)
        .env("BELLJAR_QUOTAS_TOTAL", "1000")
        .env("BELLJAR_QUOTAS_PROJECT", "1000")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::options().append(true).create(true).open(home.join("log")).unwrap())
        .spawn();
    Server(server.unwrap())
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A number in a range, from a sequence that is the same every time.
fn roll(seed: &mut u64, range: std::ops::Range<u64>) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    range.start + (*seed >> 33) % (range.end - range.start)
}

/// One client: makes sandboxes and runs commands, and remembers only what was acknowledged.
fn work(http: &Http, told: &Told, number: u64) {
    let mut seed = number;
    let ask = |method: &str, path: &str, body: Option<&Value>| http.ask(method, path, body).ok();
    loop {
        let (made, kills) = (told.made.load(Ordering::Relaxed), told.kills.load(Ordering::Relaxed));
        if kills == KILLS && made >= SANDBOXES {
            return;
        }
        if made >= (kills + 1) * SHARE {
            thread::sleep(Duration::from_millis(1));
            continue;
        }
        let Some((201, made)) = ask("POST", "/api/v1/sandboxes", Some(&json!({}))) else {
            told.failures.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(2));
            continue;
        };
        let sandbox = made["id"].as_str().unwrap().to_owned();
        told.sandboxes.lock().unwrap().insert(sandbox.clone());
        told.made.fetch_add(1, Ordering::Relaxed);
        let exec = format!("/api/v1/sandboxes/{sandbox}/exec");
        let code = roll(&mut seed, 0..100);
        let script = format!("for i in 1 2 3 4 5; do echo {sandbox} $i; sleep 0.1; done; exit {code}");
        let later = ask("POST", &exec, Some(&json!({ "command": script, "background": true })));
        told.cut.fetch_add(usize::from(later.is_none()), Ordering::Relaxed);
        if let Some((202, later)) = later {
            let output = (1..=5).map(|i| format!("{sandbox} {i}\n")).collect();
            let execution = later["execution_id"].as_str().unwrap().to_owned();
            told.promises.lock().unwrap().push(Promise { sandbox: sandbox.clone(), execution, code, output });
        }
        let now = ask("POST", &exec, Some(&json!({ "command": ["sh", "-c", "echo now; exit 7"] })));
        told.cut.fetch_add(usize::from(now.is_none()), Ordering::Relaxed);
        if let Some((200, now)) = now {
            assert_eq!((&now["exit_code"], &now["stdout"]), (&json!(7), &json!("now\n")), "{now}");
            let execution = now["execution_id"].as_str().unwrap().to_owned();
            let output = "now\n".to_owned();
            told.promises.lock().unwrap().push(Promise { sandbox, execution, code: 7, output });
        }
    }
}

#[test]
fn what_was_acknowledged_survives_every_kill() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let (http, told) = (Http::new(home), Told::default());
    let up = |server: &mut Server| {
        until("the server is up", || {
            let gone = server.0.try_wait().unwrap();
            assert!(gone.is_none(), "{gone:?}: {}", fs::read_to_string(home.join("log")).unwrap());
            http.ask("GET", "/healthz", None).is_ok_and(|(status, _)| status == 200)
        });
    };
    let mut server = serve(home);
    up(&mut server);
    thread::scope(|scope| {
        for number in 0..WORKERS {
            let (http, told) = (&http, &told);
            scope.spawn(move || work(http, told, number as u64 + 1));
        }
        let mut seed = 7;
        for kill in 0..KILLS {
            // Somewhere within the load of this server, which some of them have hardly begun with.
            let before = kill * SHARE + usize::try_from(roll(&mut seed, 0..SHARE as u64)).unwrap();
            until("the load goes on", || told.made.load(Ordering::Relaxed) >= before);
            thread::sleep(Duration::from_millis(roll(&mut seed, 0..60)));
            server.kill();
            server = serve(home);
            up(&mut server);
            told.kills.fetch_add(1, Ordering::Relaxed);
        }
    });
    println!(
        "{} sandboxes and {} executions acknowledged, {} and {} cut off",
        told.sandboxes.lock().unwrap().len(),
        told.promises.lock().unwrap().len(),
        told.failures.load(Ordering::Relaxed),
        told.cut.load(Ordering::Relaxed),
    );
    check_promises(&http, &told);
    check_sandboxes(&http, home, &told);
    let (status, verified) = http.ask("GET", "/api/v1/audit/verify", None).unwrap();
    assert!(status == 200 && verified["intact"] == json!(true), "{verified}");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(i32::try_from(server.0.id()).unwrap()).unwrap(),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    assert!(server.0.wait().unwrap().success(), "{}", fs::read_to_string(home.join("log")).unwrap());
    assert_eq!(fs::read_dir(home.join("sandboxes")).unwrap().count(), 0, "directories are left");
    assert!(leftovers(&told).is_empty(), "{:?}", leftovers(&told));
}

fn check_promises(http: &Http, told: &Told) {
    let promises = told.promises.lock().unwrap();
    assert!(promises.len() > SANDBOXES, "too little was acknowledged: {}", promises.len());
    assert!(told.failures.load(Ordering::Relaxed) > KILLS, "the kills hit nobody");
    assert!(told.cut.load(Ordering::Relaxed) > 0, "the kills hit no command");
    for promise in promises.iter() {
        let base = format!("/api/v1/sandboxes/{}/executions/{}", promise.sandbox, promise.execution);
        let (status, ended) = http.ask("GET", &format!("{base}/wait?timeout_seconds=60"), None).unwrap();
        assert_eq!((status, &ended["exit_code"]), (200, &json!(promise.code)), "{promise:?}: {ended}");
        let (_, page) = http.ask("GET", &format!("{base}/output"), None).unwrap();
        let output = &text(&page);
        assert_eq!(output, &promise.output, "{promise:?}: {page}");
    }
}

/// What a page of output says on standard output.
fn text(page: &Value) -> String {
    let pieces = page["items"].as_array().unwrap_or_else(|| panic!("no output: {page}"));
    pieces.iter().filter_map(|piece| piece["text"].as_str()).collect()
}

fn check_sandboxes(http: &Http, home: &Path, told: &Told) {
    for id in told.sandboxes.lock().unwrap().iter() {
        let path = format!("/api/v1/sandboxes/{id}");
        let (status, view) = http.ask("GET", &path, None).unwrap();
        assert_eq!((status, &view["state"]), (200, &json!("running")), "{view}");
        let (status, _) = http.ask("DELETE", &path, None).unwrap();
        assert!((200..300).contains(&status), "{status}");
    }
    // Those that were made for clients who never heard of them are found, too.
    until("every sandbox is listed and gone", || {
        let (_, page) = http.ask("GET", "/api/v1/sandboxes?state=running&limit=500", None).unwrap();
        let left = page["items"].as_array().unwrap_or_else(|| panic!("{page}"));
        for view in left {
            let path = format!("/api/v1/sandboxes/{}", view["id"].as_str().unwrap());
            http.ask("DELETE", &path, None).unwrap();
        }
        let pooled = 2;
        left.is_empty() && fs::read_dir(home.join("sandboxes")).unwrap().count() <= pooled
    });
}

/// Control groups and processes of sandboxes that should be gone.
fn leftovers(told: &Told) -> Vec<String> {
    let mut found = Vec::new();
    let ids = told.sandboxes.lock().unwrap();
    for hierarchy in fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten() {
        for group in fs::read_dir(hierarchy.path()).into_iter().flatten().flatten() {
            let name = group.file_name().to_string_lossy().into_owned();
            if name.strip_prefix("belljar-").is_some_and(|id| ids.contains(id)) {
                found.push(name);
            }
        }
    }
    found
}
