//! The README's commands, run as they are pasted.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
};

/// The shell block below a heading of the README.
fn block(heading: &str) -> String {
    let readme = fs::read_to_string("../../README.md").unwrap();
    let (_, below) = readme.split_once(heading).unwrap();
    let (_, block) = below.split_once("```sh\n").unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_walk_through_the_service_works_as_pasted() {
    // Somebody may be using the port the README names.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let home = tempfile::tempdir().unwrap();
    let built = Path::new(env!("CARGO_BIN_EXE_belljar")).parent().unwrap();
    let script = block("## As a service")
        .replace("7420", &port)
        .replace("$PWD/target/release", built.to_str().unwrap())
        .replace("$(mktemp -d)", home.path().to_str().unwrap());
    // Job control, as in the shell of whoever pastes it; the end waits for the server to leave.
    let script = format!("set -mu\n{script}\nwait\n");
    // A shell that waits for what never comes must fail, and not hang.
    let output = Command::new("timeout")
        .args(["240", "bash", "-c", &script])
        .current_dir("../..")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{errors}");
    for expected in [r#""stdout":"hello\n"#, "step 3", "hello\n", r#""intact":true"#, "server.started"] {
        assert!(said.contains(expected), "no `{expected}` in\n{said}\n{errors}");
    }
    assert!(!said.contains(r#""exit_code":1"#), "{said}");
    for wrong in ["problem", "\"status\":4", "\"status\":5", "command not found"] {
        assert!(!said.contains(wrong) && !errors.contains(wrong), "`{wrong}` in\n{said}\n{errors}");
    }
    assert_eq!(fs::read_dir(home.path().join("sandboxes")).unwrap().count(), 0, "{said}\n{errors}");
}
