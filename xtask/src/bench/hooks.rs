//! The hook: what an agent waits for at every call, beside a bare process and the same thing written in Python.

use std::{fs, time::Duration};

use anyhow::Context as _;
use serde_json::json;

use super::{
    contestant::{Contestant, HOOK, HOOK_DENY, How, PYTHON_HOOK},
    service::Server,
    site::Site,
};

const SETTLE: Duration = Duration::from_millis(10);

/// What hooks in Python commonly do: read, post, exit.
const PYTHON: &str = r#"import json, sys, urllib.request
said = json.load(sys.stdin)
body = json.dumps({"source_app": "bench", "session_id": said["session_id"],
                   "hook_event_type": said["hook_event_name"], "payload": said}).encode()
request = urllib.request.Request(sys.argv[1], data=body, headers={"Content-Type": "application/json",
                                                                  "Authorization": "Bearer " + sys.argv[2]})
urllib.request.urlopen(request, timeout=5).read()
"#;

/// The same call told by each hook, and one that is not allowed.
pub(crate) fn contestants(site: &Site, server: &Server) -> anyhow::Result<Vec<Contestant>> {
    let script = site.dir.join("hook.py");
    fs::write(&script, PYTHON).context("write the hook in Python")?;
    let hook = || {
        let mut command = site.belljar(&site.maker, &["hook", "--agent", "claude-code"]);
        command.env("BELLJAR_HOME", &server.home);
        command
    };
    let fed = |name, command, input| Contestant { name, how: How::Fed(command, input), settle: SETTLE };
    let mut python = site.plain("python3");
    python.arg(&script).arg(format!("http://{}/events", server.address)).arg(&server.key);
    Ok(vec![
        fed(HOOK, hook(), payload("PostToolUse", "cargo test --workspace")),
        fed(HOOK_DENY, hook(), payload("PreToolUse", "rm -rf /")),
        fed(PYTHON_HOOK, python, payload("PostToolUse", "cargo test --workspace")),
    ])
}

/// About a kilobyte, as Claude Code says it.
fn payload(event: &str, command: &str) -> Vec<u8> {
    let output = "test result: ok. 12 passed; 0 failed; 0 ignored; finished in 0.31s\n".repeat(8);
    let said = json!({
        "session_id": "6f1b0b52-3a0e-4c4e-9b57-0f6a3c1d2e4f",
        "transcript_path": "/home/dev/.claude/projects/-home-dev-project/6f1b0b52.jsonl",
        "cwd": "/home/dev/project",
        "permission_mode": "default",
        "hook_event_name": event,
        "tool_name": "Bash",
        "tool_input": { "command": command, "description": "as asked" },
        "tool_response": { "stdout": output, "stderr": "", "interrupted": false },
        "tool_use_id": "toolu_01ABCDEFGHJKMNPQRSTVWXYZ",
    });
    said.to_string().into_bytes()
}
