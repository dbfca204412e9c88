//! What an operator needs: health, metrics, the document, a safe bind.

use std::process::Command;

use serde_json::json;

use crate::support::{Served, eventually};

#[test]
fn health_version_and_document_are_open() {
    let served = Served::start();
    let stranger = served.stranger();
    assert_eq!(stranger.get("/healthz").json()["status"], "ok");
    let ready = json!({"ready": true, "store": true, "disk": true, "provider": true});
    assert_eq!(stranger.get("/readyz").json(), ready);
    assert_eq!(stranger.get("/api/v1/version").json()["name"], "belljar");
    let document = stranger.get("/openapi.json");
    assert_eq!(document.json()["openapi"], "3.1.0");
    assert_eq!(document.body, stranger.get("/api/v1/openapi.json").body);
}

#[test]
fn a_server_without_room_or_places_for_sandboxes_is_not_ready() {
    let wrongs = |served: &Served| {
        let answer = served.stranger().get("/readyz");
        answer.is_problem(503, "NOT_READY");
        let problem = answer.json();
        let wrongs = problem["errors"].as_array().unwrap().iter();
        wrongs.map(|wrong| wrong["field"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let full = Served::start_with(&[("BELLJAR_SERVER_DISK_FLOOR", "1000000G")]);
    assert_eq!(wrongs(&full), ["disk"]);
    assert_eq!(full.stranger().get("/healthz").status, 200, "it lives all the same");
    let lost = Served::start();
    let (place, aside) = (lost.home().join("making"), lost.home().join("aside"));
    std::fs::rename(&place, &aside).unwrap();
    std::fs::write(&place, "in the way").unwrap();
    assert_eq!(wrongs(&lost), ["provider"]);
    std::fs::remove_file(&place).unwrap();
    std::fs::rename(&aside, &place).unwrap();
    eventually("it is ready again", || (lost.stranger().get("/readyz").status == 200).then_some(()));
}

#[test]
fn a_server_whose_store_takes_no_writes_is_not_ready() {
    let served = Served::start();
    assert_eq!(served.stranger().get("/readyz").status, 200);
    // Somebody else holds the database and does not let go.
    let db = rusqlite::Connection::open(served.home().join("belljar.db")).unwrap();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let problem = eventually("the store is found out", || {
        let answer = served.stranger().get("/readyz");
        (answer.status == 503).then(|| answer.json())
    });
    assert_eq!(problem["errors"][0]["field"], "store", "{problem}");
    db.execute_batch("ROLLBACK").unwrap();
    eventually("it is ready again", || (served.stranger().get("/readyz").status == 200).then_some(()));
}

#[test]
fn metrics_count_what_happened() {
    let served = Served::start();
    let sandbox = served.sandbox();
    served.sh(&sandbox, "true");
    let missing = json!({"command": ["no-such-program"]});
    served.client().post(&format!("{sandbox}/exec"), &missing);
    let text = served.client().get("/metrics").text();
    for line in [
        "sandbox_active_count{project=\"default\",provider=\"process\",state=\"running\"} 1",
        "sandbox_spawn_total 1",
        "sandbox_execution_duration_seconds_count 1",
        "sandbox_error_total{code=\"EXECUTION_ERROR\"} 1",
        "http_request_duration_seconds_count{method=\"POST\",route=\"/api/v1/sandboxes\",status=\"2xx\"} 1",
        "belljar_pool_target 0",
        "belljar_writer_lag_seconds",
        "belljar_create_stage_seconds_count{stage=\"judge\"} 1",
        "belljar_create_stage_seconds_count{stage=\"queue\"} 1",
        "belljar_create_stage_seconds_count{stage=\"claim\"} 0",
        "belljar_create_stage_seconds_count{stage=\"build\"} 1",
        "belljar_create_stage_seconds_count{stage=\"record\"} 1",
        "belljar_cost_usd_total 0",
        // Nothing failed, and whoever looks for that finds it.
        "sandbox_error_total{code=\"TIMEOUT\"} 0",
        "sandbox_error_total{code=\"LIMIT_REACHED\"} 0",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("sbx_"), "no label comes from outside");
}

#[test]
fn listening_beyond_loopback_is_refused_with_the_remedy() {
    let home = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let refused = Command::new(env!("CARGO_BIN_EXE_belljar"))
            .args(["serve", "--listen", address])
            .env("BELLJAR_HOME", home.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("proxy with TLS"), "{address}: {said}");
    }
}

#[test]
fn a_second_server_in_the_same_home_is_refused() {
    let served = Served::start();
    let second = Command::new(env!("CARGO_BIN_EXE_belljar"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("BELLJAR_HOME", served.home())
        .output()
        .unwrap();
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("in use by"), "{second:?}");
    assert_eq!(served.client().get("/api/v1/whoami").status, 200, "the first goes on");
}

#[test]
fn what_others_may_not_read_is_closed_to_them() {
    use std::os::unix::fs::PermissionsExt as _;
    let served = Served::start();
    let mode = |name: &str| std::fs::metadata(served.home().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("admin.key"), mode("belljar.sock"), mode("server.json")), (0o600, 0o600, 0o600));
}
