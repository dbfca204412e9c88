//! A server that is killed again and again under load: whatever it acknowledged is there in the end, whatever it made is
//! found again or gone, nothing is left over, and the ledger is whole.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up must fail"
)]

#[path = "../support/http.rs"]
mod http;
mod load;
mod remains;
#[expect(dead_code, reason = "other tests look for more")]
#[path = "../support/traces.rs"]
mod traces;
mod truth;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use http::Http;
use load::{Told, roll, work};
use serde_json::json;
use traces::Watch;

const SANDBOXES: usize = 200;
const KILLS: usize = 20;
const WORKERS: usize = 4;
/// Sandboxes for each server to make.
const SHARE: usize = SANDBOXES / KILLS;
/// Sandboxes each server keeps ready.
const POOL: usize = 2;

/// A server that does not outlive its test.
struct Server(Child);

impl Server {
    /// Starts one. Everything it starts carries the mark.
    fn start(home: &Path, mark: u64) -> Self {
        let server = Command::new("prlimit")
            .args([&format!("--rttime={mark}:{mark}"), "--", env!("CARGO_BIN_EXE_belljar")])
            .args(["serve", "--listen", "127.0.0.1:0", "--json", "--pool", &POOL.to_string()])
            .env("BELLJAR_HOME", home)
            .env("BELLJAR_QUOTAS_TOTAL", "1000")
            .env("BELLJAR_QUOTAS_PROJECT", "1000")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::options().append(true).create(true).open(log(home)).unwrap())
            .spawn();
        Self(server.unwrap())
    }

    /// Waits until it answers.
    fn up(&mut self, http: &Http, home: &Path) {
        until("the server is up", || {
            let gone = self.0.try_wait().unwrap();
            assert!(gone.is_none(), "{gone:?}: {}", fs::read_to_string(log(home)).unwrap());
            http.ask("GET", "/healthz", None).is_ok_and(|(status, _)| status == 200)
        });
    }

    fn kill(&mut self) {
        let _over = self.0.kill();
        let _over = self.0.wait();
    }

    /// Asks it to end, and waits for that.
    fn stop(&mut self, home: &Path) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.0.wait().unwrap().success(), "{}", fs::read_to_string(log(home)).unwrap());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What servers say, beside the home: nothing may be in it that is not theirs.
fn log(home: &Path) -> PathBuf {
    home.with_file_name("log")
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_was_acknowledged_survives_every_kill() {
    let dir = tempfile::Builder::new().prefix("belljar-chaos-").tempdir().unwrap();
    let home = dir.path().join("home");
    for name in ["", "sandboxes", "making"] {
        fs::create_dir(home.join(name)).unwrap();
    }
    let mark = 2_000_000_000_000 + u64::from(std::process::id());
    let watch = Watch::over(&home, mark);
    let (http, told) = (Http::new(&home), Told::default());
    let mut server = Server::start(&home, mark);
    server.up(&http, &home);
    let mut networks = BTreeSet::new();
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
            networks.append(&mut remains::networks(&watch));
            thread::sleep(Duration::from_millis(roll(&mut seed, 0..60)));
            server.kill();
            server = Server::start(&home, mark);
            server.up(&http, &home);
            told.kills.fetch_add(1, Ordering::Relaxed);
        }
    });
    println!("{}", told.summary());
    networks.append(&mut remains::networks(&watch));
    assert!(networks.len() > SANDBOXES / 2, "the namespaces of sandboxes were not seen: {networks:?}");
    truth::check(&http, &told);
    remains::check_known(&http, &home);
    truth::end_all(&http, &told);
    until("every sandbox but those kept ready is gone", || {
        fs::read_dir(home.join("sandboxes")).unwrap().count() <= POOL
    });
    let (status, verified) = http.ask("GET", "/api/v1/audit/verify", None).unwrap();
    assert!(status == 200 && verified["intact"] == json!(true), "{verified}");
    server.stop(&home);
    remains::check_gone(&home, &watch, &networks);
}
