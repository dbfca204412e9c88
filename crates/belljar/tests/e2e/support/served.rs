//! A server in the glass's home, ended in order with the value.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{Glass, http::Http, until};

pub(crate) struct Served {
    child: Child,
    http: Http,
    facts: Value,
}

impl Served {
    pub(crate) fn start(glass: &Glass) -> Self {
        let mut command = glass.belljar(&["--json", "serve", "--listen", "127.0.0.1:0"]);
        // Sandboxes kept ready would outlive a server that is killed.
        command.env("BELLJAR_SERVER_POOL", "0").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let facts = serde_json::from_str(&line).unwrap_or_else(|error| panic!("`{line}`: {error}"));
        Self { child, http: Http::new(&glass.home()), facts }
    }

    pub(crate) fn url(&self) -> &str {
        self.facts["url"].as_str().unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, found) = self.http.ask("GET", path, None).unwrap();
        assert_eq!(status, 200, "{found}");
        found
    }

    /// Makes a sandbox with this name; the answer is its id.
    pub(crate) fn make(&self, name: &str) -> String {
        let (status, made) =
            self.http.ask("POST", "/api/v1/sandboxes", Some(&json!({ "name": name }))).unwrap();
        assert_eq!(status, 201, "{made}");
        made["id"].as_str().unwrap().to_owned()
    }

    /// Runs a line in a sandbox to its end.
    pub(crate) fn sh(&self, id: &str, line: &str) {
        let path = format!("/api/v1/sandboxes/{id}/exec");
        let (status, ran) = self.http.ask("POST", &path, Some(&json!({ "command": line }))).unwrap();
        assert!(status == 200 && ran["exit_code"] == 0, "{ran}");
    }

    pub(crate) fn end(mut self, signal: Signal) {
        self.send(signal);
    }

    fn send(&mut self, signal: Signal) {
        let _gone = kill_process(Pid::from_child(&self.child), signal);
        until("the server ends", || self.child.try_wait().unwrap().is_some());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.send(Signal::TERM);
        }
    }
}
