//! The Model Context Protocol, as its official Python client speaks it: over standard input and output with and without
//! a server, and over HTTP.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot be set up must fail")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

const BELLJAR: &str = env!("CARGO_BIN_EXE_belljar");
const SCRIPT: &str = "tests/mcp/client.py";

/// The Python that has the client; `cargo xtask test` makes it.
fn python() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let named = std::env::var_os("BELLJAR_TEST_MCP_PYTHON").map(PathBuf::from);
    let found = named.unwrap_or_else(|| cache.unwrap().join("belljar/mcp-client/bin/python"));
    assert!(
        found.exists(),
        "the MCP client is not at {}; `cargo xtask test` installs it, or set BELLJAR_TEST_MCP_PYTHON",
        found.display()
    );
    found
}

fn tour(arguments: &[&str]) -> Output {
    Command::new(python()).arg(SCRIPT).args(arguments).output().unwrap()
}

fn is_over(output: &Output) {
    let (said, complained) = (text(&output.stdout), text(&output.stderr));
    assert!(said.contains("the tour is over"), "{said}\n{complained}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The sandboxes left in a home.
fn left(home: &Path) -> usize {
    fs::read_dir(home.join("sandboxes")).map_or(0, Iterator::count)
}

struct Server {
    child: Child,
    home: TempDir,
    url: String,
}

impl Server {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut child = Command::new(BELLJAR)
            .args(["--json", "serve", "--pool", "0", "--listen", "127.0.0.1:0", "--home"])
            .arg(home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let facts: Value = serde_json::from_str(&line).unwrap();
        let url = format!("http://{}/mcp", facts["address"].as_str().unwrap());
        Self { child, home, url }
    }

    fn key(&self) -> String {
        fs::read_to_string(self.home.path().join("admin.key")).unwrap().trim().to_owned()
    }

    fn home(&self) -> &str {
        self.home.path().to_str().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        let _over = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _over = self.child.wait();
    }
}

#[test]
fn without_a_server_the_tools_work_and_nothing_is_left() {
    let home = tempfile::tempdir().unwrap();
    is_over(&tour(&["stdio", BELLJAR, "--home", home.path().to_str().unwrap(), "mcp"]));
    assert_eq!(left(home.path()), 0);
}

#[test]
fn with_a_server_the_tools_are_the_servers_and_what_was_made_stays() {
    let server = Server::start();
    is_over(&tour(&["stdio", BELLJAR, "--home", server.home(), "mcp"]));
    assert_eq!(left(server.home.path()), 1);
    let mut end = Command::new(BELLJAR);
    end.args(["--home", server.home(), "terminate", "--all", "--force"]);
    assert!(end.status().unwrap().success());
}

#[test]
fn over_http_the_tools_work_with_sessions_and_without() {
    let server = Server::start();
    let key = server.key();
    is_over(&tour(&["http", &server.url, &key]));
    is_over(&tour(&["modern", &server.url, &key]));
    assert_eq!(left(server.home.path()), 0);
}

#[test]
fn over_http_a_key_is_asked_for() {
    let server = Server::start();
    let refused = tour(&["http", &server.url, "wrong"]);
    assert!(!refused.status.success() && !text(&refused.stdout).contains("over"));
}

#[test]
fn two_clients_without_a_server_do_not_hinder_each_other() {
    let home = tempfile::tempdir().unwrap();
    let mut clients: Vec<Child> = (0..2).map(|_| begin(home.path())).collect();
    for client in &mut clients {
        let call = json!({ "name": "sandbox_create", "arguments": {} });
        let made = ask(client, "tools/call", &call);
        assert_eq!(made["result"]["structuredContent"]["success"], true, "{made}");
    }
    for mut client in clients {
        drop(client.stdin.take());
        assert!(client.wait().unwrap().success());
    }
    assert_eq!(left(home.path()), 0);
}

/// A client that has shaken hands.
fn begin(home: &Path) -> Child {
    let mut child = Command::new(BELLJAR)
        .arg("--home")
        .arg(home)
        .arg("mcp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let greeting = ask(&mut child, "initialize", &hello);
    assert_eq!(greeting["result"]["serverInfo"]["name"], "belljar", "{greeting}");
    let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    writeln!(child.stdin.as_mut().unwrap(), "{done}").unwrap();
    child
}

/// Asks one thing and reads one line, byte by byte so that nothing after it is taken.
fn ask(child: &mut Child, method: &str, params: &Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    writeln!(child.stdin.as_mut().unwrap(), "{request}").unwrap();
    let (mut line, mut byte) = (Vec::new(), [0]);
    while byte != *b"\n" {
        child.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
        line.extend(byte);
    }
    serde_json::from_slice(&line).unwrap()
}
