//! Tools of all agents, and the acts they come to.

use serde_json::json;

use super::super::programs::testing::{act_shown, context, said};
use super::*;

fn done(tool: &str, input: &Json) -> String {
    let call = Call { tool, input, cwd: Some("/home/dev/project"), home: Some("/home/dev") };
    let outcome = of_call(&call, &context());
    let effects = outcome.effects.iter().map(|effect| act_shown(&effect.act));
    let commands = outcome.commands.iter().map(|line| match line {
        Line::Shell { text, cwd } => format!("$ {} in {}", String::from_utf8_lossy(text), said(cwd)),
        Line::Program { argv, cwd } => {
            format!("> {} in {}", argv.iter().map(said).collect::<Vec<_>>().join(" "), said(cwd))
        }
    });
    effects.chain(commands).collect::<Vec<_>>().join("; ")
}

#[test]
fn tools_of_all_agents_do_the_same() {
    for (tool, input, expected) in [
        ("Read", json!({"file_path": "/home/dev/project/docs/../.env"}), "read /home/dev/project/.env"),
        ("read", json!({"filePath": "~/.ssh/id_rsa"}), "read /home/dev/.ssh/id_rsa"),
        ("read_many_files", json!({"paths": ["a", "../b"]}), "read /home/dev/project/a; read /home/dev/b"),
        (
            "Write",
            json!({"file_path": "/home/dev/.profile", "content": "x"}),
            "write:Replace /home/dev/.profile",
        ),
        ("write_file", json!({"file_path": "a", "content": "x"}), "write:Replace /home/dev/project/a"),
        ("Edit", json!({"file_path": "a", "new_string": "x"}), "write:Edit /home/dev/project/a"),
        ("MultiEdit", json!({"file_path": "a", "edits": []}), "write:Edit /home/dev/project/a"),
        ("NotebookEdit", json!({"notebook_path": "a.ipynb"}), "write:Edit /home/dev/project/a.ipynb"),
        ("replace", json!({"file_path": "a"}), "write:Edit /home/dev/project/a"),
        ("str_replace_editor", json!({"command": "view", "path": "/a"}), "read /a"),
        ("str_replace_editor", json!({"command": "create", "path": "/a"}), "write:Replace /a"),
        ("delete_file", json!({"target_file": "a"}), "delete/ /home/dev/project/a"),
        ("Grep", json!({"pattern": "x"}), "read/ /home/dev/project"),
        ("Grep", json!({"pattern": "x", "glob": ".env"}), "read /home/dev/project/.env"),
        ("Glob", json!({"pattern": "**/*.rs"}), "look /home/dev/project/[**/*.rs]"),
        ("Glob", json!({"pattern": "/etc/*"}), "look /etc/[*]"),
        ("LS", json!({"path": "/"}), "look /"),
        ("WebFetch", json!({"url": "https://x.test/", "prompt": "p"}), "fetch https://x.test/"),
        ("WebSearch", json!({"query": "rm -rf /"}), "compute"),
        ("TodoWrite", json!({"todos": []}), "compute"),
        ("Task", json!({"subagent_type": "explore", "prompt": "rm -rf /"}), "spawn explore"),
        ("KillShell", json!({"shell_id": "1"}), "signal KillShell"),
        ("Bash", json!({"command": "ls"}), "$ ls in /home/dev/project"),
        ("run_shell_command", json!({"command": "ls", "directory": "x"}), "$ ls in /home/dev/project"),
        ("shell", json!({"command": ["bash", "-lc", "ls"], "workdir": "/w"}), "> bash -lc ls in /w"),
        (
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Update File: a\n*** Delete File: /etc/x\n"}),
            "write:Edit /home/dev/project/a; delete /etc/x",
        ),
        ("mcp__db__query", json!({"sql": "select 1"}), "tool mcp__db__query; sql select 1"),
        ("mcp__fs__read_file", json!({"path": "/etc/passwd"}), "tool mcp__fs__read_file; read /etc/passwd"),
        (
            "mcp__fs__write_file",
            json!({"path": "a"}),
            "tool mcp__fs__write_file; write:Replace /home/dev/project/a",
        ),
        ("Read", json!({}), "unknown Read without a path"),
        ("Bash", json!({"command": 1}), "unknown Bash without a command"),
    ] {
        assert_eq!(done(tool, &input), expected, "{tool} {input}");
    }
}
