//! Alerts: raised and resolved against a real AlertManager and a webhook; the files in deploy against the real tools.

use std::{
    collections::BTreeSet,
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Client, PATIENCE, Receiver, Served, eventually};

fn deploy(name: &str) -> PathBuf {
    Path::new("../../deploy").join(name)
}

/// Debian's AlertManager on a free port, gone with the value.
struct AlertManager {
    child: Child,
    port: u16,
    _dir: TempDir,
}

impl AlertManager {
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config.yml");
        fs::write(&config, "route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n").unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new("prometheus-alertmanager")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.path={}", dir.path().display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .arg("--cluster.listen-address=")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("prometheus-alertmanager ({error}); `cargo xtask test` installs it")
            });
        Self { child, port, _dir: dir }
    }

    /// The names of the alerts that are on.
    fn active(&self) -> Option<BTreeSet<String>> {
        let answer = Client::tcp(self.port).try_get("/api/v2/alerts?active=true")?;
        let names =
            answer.json().as_array()?.iter().map(|alert| alert["labels"]["alertname"].clone()).collect();
        serde_json::from_value(Value::Array(names)).ok()
    }

    fn wait_for(&self, wanted: &[&str]) {
        let until = Instant::now() + PATIENCE;
        loop {
            let found = self.active().unwrap_or_default();
            if found.iter().map(String::as_str).eq(wanted.iter().copied()) && self.active().is_some() {
                return;
            }
            assert!(Instant::now() < until, "{found:?} instead of {wanted:?}");
            thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for AlertManager {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn an_alert_is_raised_and_resolved_at_a_real_alertmanager() {
    let (manager, receiver) = (AlertManager::start(), Receiver::listen());
    manager.wait_for(&[]);
    let served = Served::start_configured(&format!(
        "[alerts]\nalertmanager = \"http://127.0.0.1:{}\"\nwebhook = \"{}\"\nsecret = \"sixteen letters!\"\n\
         hold = \"1s\"\ninterval = \"300ms\"\nwindow = \"8s\"\n",
        manager.port,
        receiver.url()
    ));
    let sandbox = served.sandbox();
    for _ in 0..6 {
        let order = json!({ "command": "sleep 60", "timeout_seconds": 1, "background": true });
        assert_eq!(served.client().post(&format!("{sandbox}/exec"), &order).status, 202);
    }
    manager.wait_for(&["SandboxTimeoutRateHigh"]);
    let raised = receiver.next();
    assert_eq!(raised.json()["type"], "alert.raised", "{raised:?}");
    assert_eq!(raised.json()["rule"], "SandboxTimeoutRateHigh");
    assert!(raised.headers["x-belljar-signature"].starts_with("v1="));
    manager.wait_for(&[]);
    assert_eq!(receiver.next().json()["type"], "alert.resolved");
    let events = served.client().get("/api/v1/events?kind=alert").json();
    let kinds: Vec<_> = events["items"].as_array().unwrap().iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["alert.resolved", "alert.raised"], "{events}");
}

#[test]
fn what_agents_cost_is_counted_and_raises_an_alert() {
    let receiver = Receiver::listen();
    let served = Served::start_configured(&format!(
        "[alerts]\nwebhook = \"{}\"\ncost_micros = 4000000\nhold = \"100ms\"\ninterval = \"100ms\"\nwindow = \"30s\"\n",
        receiver.url()
    ));
    let cost = || {
        let text = served.client().get("/metrics").text();
        let line =
            text.lines().find_map(|line| line.strip_prefix("belljar_cost_usd_total ").map(str::to_owned));
        line.unwrap_or_else(|| panic!("{text}")).parse::<f64>().unwrap()
    };
    assert!(cost().abs() < f64::EPSILON);
    let tell = |request: &str, dollars: f64| {
        let told = json!({
            "kind": "model.called", "session_id": "s1", "cost_usd": dollars, "tokens": 9000,
            "payload": {"model": "claude-sonnet-4-5", "request_id": request},
        });
        let taken = served.client().post("/api/v1/events/ingest", &told);
        assert!(matches!(taken.status, 200 | 201), "{taken:?}");
    };
    tell("req_1", 2.5);
    tell("req_1", 2.5);
    eventually("one request is counted once", || ((cost() - 2.5).abs() < 1e-6).then_some(()));
    tell("req_2", 2.0);
    let raised = receiver.next().json();
    assert_eq!((&raised["type"], &raised["rule"]), (&json!("alert.raised"), &json!("SandboxCostHigh")));
    assert_eq!((&raised["value"], &raised["threshold"]), (&json!(4_500_000), &json!(4_000_000)), "{raised}");
    assert_eq!(raised["summary"], "agents cost $4.50 (threshold $4.00)");
    eventually("both are counted", || ((cost() - 4.5).abs() < 1e-6).then_some(()));
}

#[test]
fn the_rules_for_prometheus_hold_what_they_say() {
    for arguments in [["check", "rules", "sandbox.yml"], ["test", "rules", "sandbox.test.yml"]] {
        let checked = Command::new("promtool").args(arguments).current_dir(deploy("alerts")).output();
        let checked =
            checked.unwrap_or_else(|error| panic!("promtool ({error}); `cargo xtask test` installs it"));
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}

#[test]
fn every_metric_the_board_and_the_alerts_use_is_exported() {
    let served = Served::start();
    let sandbox = served.sandbox();
    served.sh(&sandbox, "true");
    served.client().post(&format!("{sandbox}/exec"), &json!({"command": ["no-such-program"]}));
    let exported = served.client().get("/metrics").text();
    let exported: BTreeSet<&str> =
        exported.lines().filter_map(|line| line.split(['{', ' ']).next()).collect();
    let mut used = BTreeSet::new();
    for file in ["alerts/sandbox.yml", "grafana/belljar.json"] {
        let text = fs::read_to_string(deploy(file)).unwrap();
        let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
        let words = text.split(|c| !is_name(c)).map(str::to_owned);
        let ours = ["sandbox_", "belljar_", "http_request"];
        used.extend(words.filter(|word| ours.iter().any(|start| word.starts_with(start))));
    }
    assert!(used.len() > 12, "{used:?}");
    let missing: Vec<_> = used.iter().filter(|name| !exported.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?} are not among {exported:?}");
}

#[test]
fn the_unit_is_one_systemd_understands() {
    let version = Command::new("systemd-analyze").arg("--version").output();
    version.unwrap_or_else(|error| panic!("systemd-analyze ({error}); `cargo xtask test` installs it"));
    let dir = tempfile::tempdir().unwrap();
    let unit = fs::read_to_string(deploy("systemd/belljar.service")).unwrap();
    let unit = unit.replace("/usr/local/bin/belljar", env!("CARGO_BIN_EXE_belljar"));
    fs::write(dir.path().join("belljar.service"), unit).unwrap();
    let checked = Command::new("systemd-analyze")
        .args(["verify", "--man=no", "--recursive-errors=no"])
        .arg(dir.path().join("belljar.service"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success() && said.is_empty(), "{said}");
}
