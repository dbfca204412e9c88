//! `belljar guardian`, from outside: verdicts, exit codes, batches, and what is written.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

fn guardian(home: &Path, args: &[&str], said: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_belljar"))
        .arg("guardian")
        .args(args)
        .env("BELLJAR_HOME", home)
        .env("HOME", "/home/dev")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(said.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

const PLACES: [&str; 6] =
    ["--cwd", "/home/dev/project", "--home", "/home/dev", "--workspace", "/home/dev/project"];

fn check(home: &Path, more: &[&str]) -> (Option<i32>, Value) {
    let output = guardian(home, &[&["check", "--json"], &PLACES[..], more].concat(), "");
    let said = serde_json::from_slice(&output.stdout);
    (output.status.code(), said.unwrap_or_else(|error| panic_with(&output, &error.to_string())))
}

fn panic_with(output: &Output, why: &str) -> Value {
    assert_eq!(why, "", "{}", String::from_utf8_lossy(&output.stderr));
    Value::Null
}

#[test]
fn scripts_can_go_by_the_exit_code() {
    let home = tempfile::tempdir().unwrap();
    for (command, code, verdict) in [
        ("rm -rf build", 0, "allow"),
        ("rm -rf /", 2, "deny"),
        ("git reset --hard", 3, "ask"),
        ("echo 'rm -rf /'", 0, "allow"),
        ("rm -rf \"$X\"/*", 2, "deny"),
    ] {
        let (exit, said) = check(home.path(), &[command]);
        assert_eq!((exit, said["verdict"].as_str()), (Some(code), Some(verdict)), "{command}: {said}");
    }
    let (_, denied) = check(home.path(), &["rm -rf /etc"]);
    assert!(denied["reason"].as_str().unwrap().contains("`/etc`"), "{denied}");
    assert!(denied["to_allow"][0].as_str().unwrap().contains("despite"), "{denied}");
    assert!(denied["effects"][0].as_str().unwrap().contains("would delete"), "{denied}");
    let (exit, read) = check(home.path(), &["--tool", "Read", "/home/dev/project/.env"]);
    assert_eq!((exit, read["rule"].as_str()), (Some(2), Some("secret-read")));
}

#[test]
fn a_sandbox_carries_what_the_host_would_not() {
    let home = tempfile::tempdir().unwrap();
    let (exit, said) = check(home.path(), &["--context", "sandbox", "rm -rf /"]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said["reason"].as_str().unwrap().contains("the sandbox's own disk"), "{said}");
}

#[test]
fn a_batch_is_answered_in_order_and_a_bad_line_does_not_stop_it() {
    let home = tempfile::tempdir().unwrap();
    let lines = "{\"id\":\"a\",\"tool\":\"Bash\",\"input\":{\"command\":\"rm -rf /\"}}\nnot json\n\
                 {\"id\":\"b\",\"tool\":\"Read\",\"input\":{\"file_path\":\"README.md\"},\"class\":\"x\"}\n";
    let output = guardian(home.path(), &[&["check", "--batch", "-", "--json"], &PLACES[..]].concat(), lines);
    assert_eq!(output.status.code(), Some(1));
    let answers: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(answers.len(), 3);
    assert_eq!((answers[0]["id"].as_str(), answers[0]["verdict"].as_str()), (Some("a"), Some("deny")));
    assert!(answers[1]["error"].as_str().unwrap().starts_with("line 2"), "{}", answers[1]);
    assert_eq!((answers[2]["id"].as_str(), answers[2]["verdict"].as_str()), (Some("b"), Some("allow")));
}

#[test]
fn a_volume_is_given_by_both_its_names_and_the_policy_is_counted() {
    let home = tempfile::tempdir().unwrap();
    let belljar = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_belljar"));
        command.arg("--json").args(args).env("BELLJAR_HOME", home.path()).current_dir("/").output().unwrap()
    };
    let counted = |field: &str| -> Value {
        let output = belljar(&["guardian-status"]);
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        said[field].clone()
    };
    let total = counted("rules_total");
    assert!(total.as_u64().unwrap() > 20 && counted("rules_enabled") == total, "{total}");
    assert_eq!((counted("acls"), counted("approved_agents")), (0.into(), 0.into()));
    let given = belljar(&[
        "add-acl",
        "/srv/data",
        "/data",
        "--mode",
        "rw",
        "--blocked",
        "*.key",
        "--blocked",
        "raw/**",
    ]);
    assert!(given.status.success(), "{given:?}");
    for (call, code) in [
        ("rm -rf /srv/data/x", 0),
        ("rm /data/deep/x", 0),
        ("cat /srv/data/deep/a.key", 2),
        ("cat /data/a.key", 2),
        ("cat /data/raw/x", 2),
        ("rm -rf /srv/database", 2),
    ] {
        assert_eq!(check(home.path(), &[call]).0, Some(code), "{call}");
    }
    assert!(belljar(&["add-acl", "/logs", "--allowed", "*.log"]).status.success());
    assert_eq!(check(home.path(), &["cat /logs/deep/a.log"]).0, Some(0));
    assert_eq!(check(home.path(), &["cat /logs/secret"]).0, Some(2));
    assert_eq!(check(home.path(), &["rm /logs/a.log"]).0, Some(2));
    assert!(!belljar(&["add-acl", "/new", "/data", "--mode", "ro"]).status.success());
    assert_eq!(counted("acls"), 8);
    fs::write(
        home.path().join("guardian.toml"),
        "[packs]\ngit = \"off\"\n[override]\nremote-commands = \"off\"\n",
    )
    .unwrap();
    assert!(counted("rules_enabled").as_u64() <= total.as_u64().map(|total| total - 2));
}

#[test]
fn a_policy_is_shown_tested_and_extended() {
    let home = tempfile::tempdir().unwrap();
    assert!(guardian(home.path(), &["add-acl", "/data", "write"], "").status.success());
    assert_eq!(check(home.path(), &["rm -rf /data/x"]).0, Some(0));
    assert_eq!(check(home.path(), &["rm -rf /database/x"]).0, Some(2));
    assert!(!guardian(home.path(), &["add-acl", "/data", "read"], "").status.success());
    assert!(!guardian(home.path(), &["add-acl", "data", "read"], "").status.success());
    let file = home.path().join("guardian.toml");
    let kept = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("override = {{ delete-outside = \"ask\" }}\n{kept}")).unwrap();
    assert_eq!(check(home.path(), &["rm -rf /database/x"]).0, Some(3));
    let rules = guardian(home.path(), &["rules", "--json"], "");
    let rules: Value = serde_json::from_slice(&rules.stdout).unwrap();
    let outside = rules["rules"].as_array().unwrap().iter().find(|rule| rule["name"] == "delete-outside");
    assert_eq!(outside.unwrap()["verdict"], "ask");
    fs::write(&file, "mode = \"gaurd\"").unwrap();
    let status = guardian(home.path(), &["status"], "");
    assert_eq!(status.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&status.stdout).contains("gaurd"));
    fs::write(&file, "override = { delete-outside = \"deny\" }").unwrap();
    let lint = guardian(home.path(), &["lint"], "");
    assert_eq!(lint.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&lint.stdout).contains("says anyway"));
}

#[test]
fn every_example_of_every_rule_holds() {
    let home = tempfile::tempdir().unwrap();
    let tested = guardian(home.path(), &["test"], "");
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let home = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_belljar"))
        .args(["guardian", "check", "--batch", "-"])
        .env("BELLJAR_HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let case = "{\"id\":\"a\",\"tool\":\"Bash\",\"input\":{\"command\":\"ls\"}}\n";
    child.stdin.take().unwrap().write_all(case.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(141), ""));
}
