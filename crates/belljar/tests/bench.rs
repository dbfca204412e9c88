//! `belljar bench` measures real sandboxes and leaves none behind.
#![cfg(test)]

use std::{
    ffi::OsString,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

fn bench(home: &Path, arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_belljar"))
        .env("BELLJAR_HOME", home)
        .arg("bench")
        .args(arguments)
        .arg("--json")
        .output()
        .expect("belljar starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {out}{err}", output.status);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"))
}

/// What is still there after a while: a sandbox is removed by its keeper, which may outlive the command that made it.
fn left_in(home: &Path, name: &str) -> Vec<OsString> {
    let look = || -> Vec<OsString> {
        let Ok(entries) = home.join(name).read_dir() else { return Vec::new() };
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let start = Instant::now();
    while !look().is_empty() && start.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(5));
    }
    look()
}

#[test]
fn every_bench_answers_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, count) in [
        (&["run", "--count", "3"][..], 3),
        (&["exec", "--count", "2"], 2),
        (&["create", "--count", "2", "--live", "1,0"], 2),
        (&["fork", "--count", "3"], 3),
        (&["best-of", "--count", "2"], 3),
    ] {
        let report = bench(home.path(), arguments);
        assert_eq!(report["bench"], arguments[0], "{report}");
        let series = report["series"].as_array().expect("some series");
        assert_eq!(series.last().unwrap()["count"], count, "{report}");
        for one in series {
            assert_eq!(one["failure_rate"], 0.0, "{report}");
            let number = |name: &str| one[name].as_f64().unwrap_or_else(|| panic!("{name} in {report}"));
            assert!(number("min") > 0.0 && number("min") <= number("p50"), "{report}");
            assert!(number("p50") <= number("p95") && number("p99") <= number("max"), "{report}");
        }
        for place in ["sandboxes", "making", "snapshots"] {
            assert_eq!(left_in(home.path(), place), Vec::<OsString>::new(), "{place}: {report}");
        }
    }
}
