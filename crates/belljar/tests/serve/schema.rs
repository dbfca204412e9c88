//! Whatever the OpenAPI document allows, and what it does not, is thrown at the server: nothing makes it fail, and it
//! answers as the document says.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use crate::support::Served;

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

#[test]
fn nothing_that_is_sent_makes_the_server_fail() {
    let served = Served::start_with(&[("BELLJAR_QUOTAS_PATIENCE", "1s"), ("BELLJAR_QUOTAS_TOTAL", "20")]);
    // Requests about a sandbox that exists reach further than those about one that does not.
    let sandbox = served.sandbox();
    let order = json!({"command": "cat", "background": true, "terminal": {"rows": 24, "cols": 80}});
    let execution = served.client().post(&format!("{sandbox}/exec"), &order).json();
    let config = served.work().join("schemathesis.toml");
    let id = sandbox.rsplit('/').next().unwrap();
    let known =
        format!("[parameters]\n\"path.id\" = \"{id}\"\n\"path.exe\" = {}\n", execution["execution_id"]);
    std::fs::write(&config, known).unwrap();
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
        .args([
            "--phases",
            "examples,coverage,fuzzing",
            "--max-examples",
            "10",
            "--request-timeout",
            "20",
            "--no-color",
        ])
        // Streams do not end by themselves; a deleted, paused or logged-out world would hide the rest.
        .args(["--exclude-path-regex", "(stream|watch|attach|/ws|/pause|logout|login|/wait)"])
        .args(["--exclude-operation-id", "sandboxes_delete", "--suppress-health-check", "all"])
        .current_dir(served.work())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(served.client().get("/healthz").status, 200);
}
