//! Whatever the OpenAPI document allows, and what it does not, is thrown at the server: nothing makes it fail, and it
//! answers as the document says.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use crate::support::{Request, Served};

/// The program `cargo xtask test` keeps in its cache, or the one the caller names.
fn schemathesis() -> PathBuf {
    if let Some(named) = std::env::var_os("BELLJAR_TEST_SCHEMATHESIS") {
        return named.into();
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache =
        cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache"))).unwrap_or_default();
    let home = cache.join("belljar/schemathesis");
    let program = home.join("bin/schemathesis");
    assert!(
        program.is_file(),
        "schemathesis is missing: run `python3 -m venv {0} && {0}/bin/pip install schemathesis`, or set BELLJAR_TEST_SCHEMATHESIS",
        home.display()
    );
    program
}

/// Throws what a document allows at a server, with these settings; none of it may end in a server error.
fn throw(served: &Served, settings: &str, which: &[&str]) {
    let config = served.work().join("schemathesis.toml");
    std::fs::write(&config, settings).unwrap();
    let ran = Command::new(schemathesis())
        .arg("--config-file")
        .arg(&config)
        .arg("run")
        .arg(format!("{}/openapi.json", served.facts["url"].as_str().unwrap()))
        .args(["--header", &format!("Authorization: Bearer {}", served.key())])
        .args([
            "--checks",
            "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
        ])
        .args(["--max-examples", "10", "--request-timeout", "20", "--no-color"])
        .args(["--suppress-health-check", "all"])
        .args(which)
        .current_dir(served.work())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(served.client().get("/healthz").status, 200);
}

#[test]
fn nothing_that_is_sent_makes_the_server_fail() {
    let served = Served::start_with(&[("BELLJAR_QUOTAS_PATIENCE", "1s"), ("BELLJAR_QUOTAS_TOTAL", "20")]);
    // Requests about a sandbox that exists reach further than those about one that does not.
    let sandbox = served.sandbox();
    let order = json!({"command": "cat", "background": true, "terminal": {"rows": 24, "cols": 80}});
    let execution = served.client().post(&format!("{sandbox}/exec"), &order).json();
    let id = sandbox.rsplit('/').next().unwrap();
    let known =
        format!("[parameters]\n\"path.id\" = \"{id}\"\n\"path.exe\" = {}\n", execution["execution_id"]);
    // Streams do not end by themselves; a deleted, paused or logged-out world would hide the rest.
    let without = "(stream|watch|attach|/ws|/pause|logout|login|/wait)";
    throw(
        &served,
        &known,
        &[
            "--phases",
            "examples,coverage,fuzzing",
            "--exclude-path-regex",
            without,
            "--exclude-operation-id",
            "sandboxes_delete",
        ],
    );
}

#[test]
fn nothing_that_is_sent_about_what_there_is_makes_the_server_fail() {
    let served = Served::start_with(&[("BELLJAR_QUOTAS_PATIENCE", "1s"), ("BELLJAR_QUOTAS_TOTAL", "20")]);
    let (client, sandbox) = (served.client(), served.sandbox());
    served.sh(&sandbox, "mkdir /tmp/d && echo x > /tmp/d/f && echo y >&2");
    let snapshot = client.post(&format!("{sandbox}/snapshots"), &json!({})).json();
    let artifact = client.post("/api/v1/artifacts?name=a", &json!({"a": 1})).json();
    let hook = json!({"url": "http://hooks.invalid/hook", "events": ["sandbox.created"]});
    let hook = client.post("/api/v1/webhooks", &hook).json();
    let agent = json!({"role": "developer"});
    let agent = client.send(&Request::new("PUT", "/api/v1/agents/coder").json(&agent));
    assert!(agent.status < 300, "{agent:?}");
    let budget =
        client.send(&Request::new("PUT", "/api/v1/budgets/agent:coder:day").json(&json!({"tokens": 5})));
    assert!(budget.status < 300, "{budget:?}");
    let told = json!({"kind": "model.called", "session_id": "s1", "cost_usd": 1.0, "tokens": 9,
        "payload": {"model": "claude-sonnet-4-5", "request_id": "r"}});
    assert!(client.post("/api/v1/events/ingest", &told).status < 300);
    let mut known =
        format!("[parameters]\n\"path.path\" = \"tmp/d/f\"\n\"path.digest\" = {}\n", artifact["digest"]);
    for (paths, id) in [
        ("/sandboxes/", json!(sandbox.rsplit('/').next().unwrap())),
        ("/snapshots/", snapshot["id"].clone()),
        ("/webhooks/", hook["id"].clone()),
        ("/agents/", json!("coder")),
        ("/budgets/", json!("agent:coder:day")),
        ("/sessions/", json!("s1")),
    ] {
        known.push_str(&format!(
            "[[operations]]\ninclude-path-regex = \"{paths}\"\nparameters = {{ \"path.id\" = {id} }}\n"
        ));
    }
    let about = "/(snapshots|webhooks|artifacts|agents|budgets|sessions|templates|files|logs|diff|apply|history|health|cost|tools)";
    throw(
        &served,
        &known,
        &[
            "--phases",
            "coverage,fuzzing,stateful",
            "--include-path-regex",
            about,
            "--exclude-method",
            "DELETE",
            "--exclude-path-regex",
            "(stream|watch|/test|kill)",
        ],
    );
}
