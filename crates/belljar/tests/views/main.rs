//! The views of what agents did, in a real browser, on the demonstration's own data: every one on a desktop and a phone,
//! light and dark.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use serde_json::Value;

/// A demonstration that plays until it is dropped.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        drop(Command::new("kill").args(["-s", "TERM", &self.0.id().to_string()]).status());
        drop(self.0.wait());
    }
}

/// Where playwright-core and axe-core are; `cargo xtask test` installs them.
fn modules() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let named = std::env::var_os("BELLJAR_TEST_BROWSER").map(PathBuf::from);
    let found = named.unwrap_or_else(|| cache.unwrap().join("belljar/browser"));
    assert!(
        found.join("node_modules/playwright-core").exists(),
        "playwright-core is not below {}: npm install --prefix there playwright-core axe-core, or set BELLJAR_TEST_BROWSER",
        found.display()
    );
    found
}

#[test]
fn a_person_walks_through_what_agents_did() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_belljar"))
        .args(["--json", "demo", "--listen", "127.0.0.1:0", "--speed", "3", "--only", "fern,moss,sorrel"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let facts: Value = serde_json::from_str(&line).unwrap();
    let _demo = Demo(child);
    let walked = Command::new("node")
        .arg("tests/views/walk.mjs")
        .env("BELLJAR_LOGIN", facts["login_url"].as_str().unwrap())
        .env("BELLJAR_TEST_BROWSER", modules())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, complained) = (text(&walked.stdout), text(&walked.stderr));
    assert!(walked.status.success() && said.contains("the script is over"), "{said}\n{complained}");
}
