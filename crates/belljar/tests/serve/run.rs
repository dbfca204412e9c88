//! `belljar run` where a server is up: the server makes the sandbox, runs the command and remembers both.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{Served, eventually};

fn run(served: &Served, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_belljar"));
    command.current_dir(served.work()).env("BELLJAR_HOME", served.home()).arg("run").args(flags);
    command
}

fn sandboxes(served: &Served) -> Vec<Value> {
    served.client().get("/api/v1/sandboxes").json()["items"].as_array().unwrap().clone()
}

#[test]
fn what_is_run_is_in_the_ledger_and_the_logs_and_its_changes_are_kept() {
    let served = Served::start();
    fs::write(served.work().join("a"), "a\n").unwrap();
    let script = "cat a; cat; echo b > b; echo wrong >&2; echo $LC_TEST; exit 3";
    let mut child = run(&served, &["--agent", "coder", "--", "sh", "-c", script])
        .env("LC_TEST", "taken over")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"typed\n").unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(3), "{done:?}");
    assert_eq!(
        (String::from_utf8_lossy(&done.stdout).as_ref(), String::from_utf8_lossy(&done.stderr).as_ref()),
        ("a\ntyped\ntaken over\n", "wrong\n")
    );
    let all = sandboxes(&served);
    let sandbox = &all[0];
    assert_eq!(
        (all.len(), &sandbox["state"], &sandbox["cause"]),
        (1, &json!("stopped"), &json!(null)),
        "{sandbox}"
    );
    assert_eq!(sandbox["agent"], "coder");
    let id = sandbox["id"].as_str().unwrap();
    let path = format!("/api/v1/sandboxes/{id}");
    let ran = served.client().get(&format!("{path}/executions")).json()["items"][0].clone();
    assert_eq!((&ran["exit_code"], &ran["command"][2]), (&json!(3), &json!(script)), "{ran}");
    let events = served.client().get(&format!("/api/v1/events?after=0&sandbox_id={id}")).json();
    let kinds: Vec<_> =
        events["items"].as_array().unwrap().iter().map(|event| event["kind"].clone()).collect();
    assert_eq!(
        kinds,
        ["sandbox.created", "execution.started", "execution.ended", "sandbox.ended"],
        "{events}"
    );
    let mut diff = Command::new(env!("CARGO_BIN_EXE_belljar"));
    let diff = diff
        .current_dir(served.work())
        .env("BELLJAR_HOME", served.home())
        .args(["diff", id])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&diff.stdout).contains("+b"), "{diff:?}");
    assert!(!served.work().join("b").exists());
}

#[test]
fn what_changed_nothing_leaves_nothing_and_direct_goes_beside_the_server() {
    let served = Served::start();
    assert!(run(&served, &["--", "true"]).status().unwrap().success());
    assert_eq!(sandboxes(&served)[0]["state"], "destroyed");
    let much = run(&served, &["--direct", "--", "head", "-c", "20000000", "/dev/zero"]).output().unwrap();
    assert_eq!((much.status.code(), much.stdout.len()), (Some(0), 20_000_000));
    let same = run(&served, &["--", "head", "-c", "20000000", "/dev/zero"]).output().unwrap();
    assert_eq!((same.status.code(), same.stdout.len()), (Some(0), 20_000_000));
    assert_eq!(sandboxes(&served).len(), 2);
    let kept = run(&served, &["--keep", "--workspace", "none", "--", "sh", "-c", "echo kept > ~/f"])
        .status()
        .unwrap();
    assert!(kept.success());
    let id = sandboxes(&served)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(served.sh(&format!("/api/v1/sandboxes/{id}"), "cat ~/f"), "kept\n");
}

#[test]
fn a_run_that_is_killed_takes_its_command_along() {
    let served = Served::start();
    let mut child = run(&served, &["--", "sleep", "1000"]).stdin(Stdio::null()).spawn().unwrap();
    let execution = eventually("it runs", || {
        let id = sandboxes(&served).first()?["id"].as_str()?.to_owned();
        let ran = served.client().get(&format!("/api/v1/sandboxes/{id}/executions")).json();
        (ran["items"][0]["status"] == "running")
            .then(|| (id, ran["items"][0]["id"].as_str().unwrap().to_owned()))
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let path = format!("/api/v1/sandboxes/{}/executions/{}", execution.0, execution.1);
    eventually("it is over", || (served.client().get(&path).json()["status"] != "running").then_some(()));
    // What is left of it goes by itself, soon.
    assert_eq!(served.client().get(&format!("/api/v1/sandboxes/{}", execution.0)).json()["idle_seconds"], 60);
}
