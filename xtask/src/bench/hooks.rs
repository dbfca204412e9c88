//! The hook: what an agent waits for at every call, beside a bare process and the same thing written in Python.

use std::{fs, path::Path, time::Duration};

use anyhow::Context as _;
use serde_json::json;

use super::{
    contestant::{Contestant, HOOK, HOOK_BEHIND, HOOK_DENY, HOOK_DENY_KILLED, HOOK_KILLED, How, PYTHON_HOOK},
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

/// What waits in the spool of a home whose server is long gone.
const WAITING: usize = 10_000;

/// The same call told by each hook, and one that is not allowed; with a server, right after one was killed, and long after.
pub(crate) fn contestants(site: &Site, server: &Server) -> anyhow::Result<Vec<Contestant>> {
    let script = site.dir.join("hook.py");
    fs::write(&script, PYTHON).context("write the hook in Python")?;
    let hook = |home: &Path| {
        let mut command = site.belljar(&site.maker, &["hook", "--agent", "claude-code"]);
        command.env("BELLJAR_HOME", home);
        command
    };
    let killed = Server::start(site, "killed", "0")?.kill()?;
    let behind = site.dir.join("behind");
    fill(&behind.join("spool"))?;
    let fed = |name, command, input| Contestant { name, how: How::Fed(command, input), settle: SETTLE };
    let mut python = site.plain("python3");
    python.arg(&script).arg(format!("http://{}/events", server.address)).arg(&server.key);
    Ok(vec![
        fed(HOOK, hook(&server.home), payload("PostToolUse", "cargo test --workspace")),
        fed(HOOK_DENY, hook(&server.home), payload("PreToolUse", "rm -rf /")),
        fed(HOOK_KILLED, hook(&killed), payload("PostToolUse", "cargo test --workspace")),
        fed(HOOK_DENY_KILLED, hook(&killed), payload("PreToolUse", "rm -rf /")),
        fed(HOOK_BEHIND, hook(&behind), payload("PostToolUse", "cargo test --workspace")),
        fed(PYTHON_HOOK, python, payload("PostToolUse", "cargo test --workspace")),
    ])
}

/// A spool as a long outage leaves it.
fn fill(spool: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(spool).context("make a spool")?;
    let line = payload("PostToolUse", "cargo test --workspace");
    for at in 0..WAITING {
        let name = format!("{at:020}-{at:010}-{}-00000000.jsonl", line.len());
        fs::write(spool.join(name), &line).context("fill the spool")?;
    }
    fs::write(spool.join("tally"), vec![b'.'; WAITING]).context("fill the spool")
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
