//! The dashboard in a real browser, on the real program: Debian's Chromium, driven by scripts that do what a person does.
//!
//! Each test has a server and a home of its own. A script fails on anything the browser complains about: an error in the
//! console, a breach of the content policy, a serious finding of axe-core.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot be set up must fail")]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

const BELLJAR: &str = env!("CARGO_BIN_EXE_belljar");
const SCRIPTS: &str = "tests/browser";

/// Rules under which a person is asked, about something harmless and about something grave.
const RULES: &str = r#"
[approval]
wait = "900s"

[[rule]]
name = "making"
match = "Bash(echo:*)"
verdict = "ask"
risk = "medium"
reason = "Somebody must know what is made."

[[rule]]
name = "grave"
match = "Bash(printf:*)"
verdict = "ask"
risk = "critical"
reason = "This one is grave."
"#;

/// Where playwright-core and axe-core are; `cargo xtask test` installs them.
fn modules() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let named = std::env::var_os("BELLJAR_TEST_BROWSER").map(PathBuf::from);
    let found = named.unwrap_or_else(|| cache.unwrap().join("belljar/browser"));
    assert!(
        found.join("node_modules/playwright-core").exists(),
        "playwright-core is not below {}; `cargo xtask test` installs it, or set BELLJAR_TEST_BROWSER",
        found.display()
    );
    found
}

struct Server {
    child: Child,
    dir: TempDir,
    facts: Value,
}

impl Server {
    fn start() -> Self {
        let dir = tempfile::Builder::new().prefix("belljar-browser-").tempdir().unwrap();
        for name in ["home", "work", "user"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join("home/guardian.toml"), RULES).unwrap();
        fs::write(dir.path().join("work/greeting.txt"), "hello\n").unwrap();
        let mut child = Command::new(BELLJAR)
            .args(["--json", "serve", "--pool", "0", "--listen", "127.0.0.1:0"])
            .env("BELLJAR_HOME", dir.path().join("home"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { child, dir, facts: serde_json::from_str(&line).unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Plays a script; what it prints is told when it fails.
    fn plays(&self, script: &str) {
        let output = Command::new("node")
            .arg(Path::new(SCRIPTS).join(script))
            .env("BELLJAR", BELLJAR)
            .env("BELLJAR_HOME", self.path("home"))
            .env("BELLJAR_WORK", self.path("work"))
            .env("HOME", self.path("user"))
            .env("BELLJAR_LOGIN", self.facts["login_url"].as_str().unwrap())
            .env("BELLJAR_TEST_BROWSER", modules())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (said, complained) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success() && said.contains("the script is over"), "{said}\n{complained}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Sandboxes outlive their server on purpose, so they are ended first.
        let home = self.path("home");
        let listed = Command::new(BELLJAR).args(["--json", "list"]).env("BELLJAR_HOME", &home).output();
        let listed: Value =
            listed.ok().and_then(|it| serde_json::from_slice(&it.stdout).ok()).unwrap_or_default();
        let list = listed.as_array().or_else(|| listed["items"].as_array()).cloned().unwrap_or_default();
        for id in list.iter().filter_map(|sandbox| sandbox["id"].as_str()) {
            drop(
                Command::new(BELLJAR).args(["terminate", "--force", id]).env("BELLJAR_HOME", &home).output(),
            );
        }
        drop(Command::new("kill").args(["-s", "TERM", &self.child.id().to_string()]).status());
        drop(self.child.wait());
    }
}

#[test]
fn a_person_logs_in_and_watches_a_session_arrive() {
    Server::start().plays("watching.mjs");
}

#[test]
fn an_answer_from_the_page_lets_the_agent_go_on() {
    Server::start().plays("answering.mjs");
}

#[test]
fn what_an_agent_says_stands_beside_what_was_seen() {
    Server::start().plays("comparing.mjs");
}

#[test]
fn time_is_selected_replayed_and_told() {
    Server::start().plays("replaying.mjs");
}

#[test]
fn a_sandbox_is_made_worked_in_and_ended_from_the_page() {
    Server::start().plays("sandboxing.mjs");
}

#[test]
fn a_run_is_begun_read_compared_and_overruled() {
    Server::start().plays("running.mjs");
}

#[test]
fn a_long_session_is_whole_and_scrolls() {
    Server::start().plays("reading.mjs");
}

#[test]
fn what_agents_say_neither_runs_nor_breaks_nor_deceives() {
    Server::start().plays("hostile.mjs");
}

#[test]
fn every_size_and_theme_is_accessible() {
    Server::start().plays("accessible.mjs");
}
