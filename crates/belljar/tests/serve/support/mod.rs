//! A server of the test's own, gone with the value.

mod http;
mod receiver;
mod socket;

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) use http::{Answer, Client, Request};
pub(crate) use receiver::{Post, Receiver};
pub(crate) use socket::{Frame, Socket};

/// How long anything may take on a machine that is busy with other things.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A server that runs.
pub(crate) struct Served {
    dir: TempDir,
    child: Child,
    pub(crate) facts: Value,
}

impl Served {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// With variables in its environment.
    pub(crate) fn start_with(env: &[(&str, &str)]) -> Self {
        let dir = tempfile::Builder::new().prefix("belljar-serve-").tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        let (child, facts) = launch(&dir.path().join("home"), env);
        Self { dir, child, facts }
    }

    /// One that says all it does, in the file `log` of the directory of the host's, and holds nobody up.
    pub(crate) fn start_logged() -> Self {
        let dir = tempfile::Builder::new().prefix("belljar-serve-").tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        fs::write(dir.path().join("home/guardian.toml"), "mode = \"observe\"\n").unwrap();
        let log = fs::File::create(dir.path().join("work/log")).unwrap();
        let (child, facts) = launch_into(&dir.path().join("home"), &[("BELLJAR_LOG", "debug")], log.into());
        Self { dir, child, facts }
    }

    /// With a configuration file.
    pub(crate) fn start_configured(config: &str) -> Self {
        let dir = tempfile::Builder::new().prefix("belljar-serve-").tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        fs::write(dir.path().join("home/belljar.toml"), config).unwrap();
        let (child, facts) = launch(&dir.path().join("home"), &[]);
        Self { dir, child, facts }
    }

    /// Ends the server, in order or not, and starts it again in the same home.
    pub(crate) fn restart(&mut self, signal: &str) {
        self.signal(signal);
        self.child.wait().unwrap();
        self.again();
    }

    /// Starts the next server in the home of one that ended.
    pub(crate) fn again(&mut self) {
        (self.child, self.facts) = launch(&self.home(), &[]);
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for its end; the answer is whether it said that all was well.
    pub(crate) fn ended(&mut self) -> bool {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("the server does not end");
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// A directory of the host's, to be shown or attacked.
    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn port(&self) -> u16 {
        self.facts["address"].as_str().unwrap().rsplit_once(':').unwrap().1.parse().unwrap()
    }

    pub(crate) fn key(&self) -> String {
        fs::read_to_string(self.home().join("admin.key")).unwrap().trim().to_owned()
    }

    /// A client with the key.
    pub(crate) fn client(&self) -> Client {
        Client::tcp(self.port()).with("authorization", &format!("Bearer {}", self.key()))
    }

    /// A client nobody knows.
    pub(crate) fn stranger(&self) -> Client {
        Client::tcp(self.port())
    }

    /// A client at the socket.
    pub(crate) fn neighbour(&self) -> Client {
        Client::unix(&self.home().join("belljar.sock"))
    }

    /// A sandbox; the answer is its path in the API.
    pub(crate) fn sandbox(&self) -> String {
        let made = self.client().post("/api/v1/sandboxes", &serde_json::json!({}));
        assert_eq!(made.status, 201, "{made:?}");
        format!("/api/v1/sandboxes/{}", made.json()["id"].as_str().unwrap())
    }

    /// Runs a line in a sandbox and returns what it printed.
    pub(crate) fn sh(&self, sandbox: &str, line: &str) -> String {
        let ran = self.client().post(&format!("{sandbox}/exec"), &serde_json::json!({ "command": line }));
        assert_eq!(ran.status, 200, "{ran:?}");
        let ran = ran.json();
        assert_eq!(ran["exit_code"], 0, "{line}: {ran}");
        ran["stdout"].as_str().unwrap().to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Sandboxes outlive their server on purpose, so they are ended first.
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let listed = self.client().try_get("/api/v1/sandboxes?limit=1000").map(|answer| answer.json());
            for sandbox in listed.iter().flat_map(|list| list["items"].as_array().into_iter().flatten()) {
                let path = format!("/api/v1/sandboxes/{}", sandbox["id"].as_str().unwrap_or_default());
                drop(self.client().try_send(&Request::new("DELETE", &path)));
            }
            // In order, so that what it removes in the background is gone before the home is.
            self.signal("TERM");
            let until = Instant::now() + Duration::from_secs(15);
            while self.child.try_wait().is_ok_and(|ended| ended.is_none()) && Instant::now() < until {
                thread::sleep(Duration::from_millis(10));
            }
            drop(self.child.kill());
        }
        drop(self.child.wait());
    }
}

fn launch(home: &Path, env: &[(&str, &str)]) -> (Child, Value) {
    launch_into(home, env, Stdio::inherit())
}

fn launch_into(home: &Path, env: &[(&str, &str)], log: Stdio) -> (Child, Value) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_belljar"))
        .args(["--json", "serve", "--listen", "127.0.0.1:0"])
        .env("BELLJAR_HOME", home)
        // Sandboxes kept ready would outlive a server that is killed.
        .env("BELLJAR_SERVER_POOL", "0")
        .envs(env.iter().copied())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let facts =
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("the server said `{line}`: {error}"));
    (child, facts)
}

/// Tries until it works or patience ends.
pub(crate) fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Some(found) = attempt() {
            return found;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("never happened: {what}");
}
