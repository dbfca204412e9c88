//! Hooks get into agents' settings and out again, and nothing else in there moves.

use std::{fs, os::unix::fs::symlink};

use serde_json::Value;

use crate::support::{Ended, Machine};

/// Settings somebody cares for: an order, an indentation and hooks of their own.
const THEIRS: &str = r#"{
    "model": "opus",
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}
        ],
        "Stop": []
    },
    "alpha": [1.5, null]
}
"#;

/// Every agent with its file below the user's home.
const FILES: [(&str, &str); 5] = [
    ("claude-code", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json"),
    ("cursor", ".cursor/hooks.json"),
    ("opencode", ".config/opencode/plugins/belljar.js"),
];

fn well(ended: Ended) -> String {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.out
}

fn write(machine: &Machine, name: &str, text: &str) {
    let path = machine.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(machine: &Machine, name: &str) -> String {
    fs::read_to_string(machine.path(name)).unwrap()
}

#[test]
fn what_is_installed_is_removed_to_the_byte() {
    let machine = Machine::new();
    for (agent, file) in FILES.into_iter().filter(|(agent, _)| *agent != "opencode") {
        let file = format!("user/{file}");
        write(&machine, &file, THEIRS);
        let said = well(machine.run(&["hooks", "install", "--agent", agent], b""));
        assert!(said.starts_with("installed: ") && said.contains(&file), "{said}");
        let with: Value = serde_json::from_str(&read(&machine, &file)).unwrap();
        assert_eq!(with["model"], "opus");
        assert!(with["hooks"]["PreToolUse"][0].to_string().contains("lint"), "{agent}");
        assert!(read(&machine, &file).starts_with("{\n    \"model\": \"opus\",\n    \"hooks\""), "{agent}");

        let installed = read(&machine, &file);
        assert!(well(machine.run(&["hooks", "install", "--agent", agent], b"")).starts_with("unchanged: "));
        assert_eq!(read(&machine, &file), installed);

        assert!(well(machine.run(&["hooks", "uninstall", "--agent", agent], b"")).starts_with("removed: "));
        assert_eq!(read(&machine, &file), THEIRS, "{agent}");
        assert!(well(machine.run(&["hooks", "uninstall", "--agent", agent], b"")).starts_with("absent: "));
    }
}

#[test]
fn where_there_was_no_file_there_is_none_afterwards() {
    let machine = Machine::new();
    for (agent, file) in FILES {
        let path = machine.path("user").join(file);
        well(machine.run(&["hooks", "install", "--agent", agent], b""));
        assert!(path.exists(), "{agent}");
        well(machine.run(&["hooks", "uninstall", "--agent", agent], b""));
        assert!(!path.exists(), "{agent}");
    }
}

#[test]
fn what_others_added_since_stays() {
    let machine = Machine::new();
    write(&machine, "user/.claude/settings.json", THEIRS);
    well(machine.run(&["hooks", "install"], b""));
    let changed = read(&machine, "user/.claude/settings.json").replace("\"opus\"", "\"sonnet\"");
    write(&machine, "user/.claude/settings.json", &changed);
    well(machine.run(&["hooks", "uninstall"], b""));
    let left = read(&machine, "user/.claude/settings.json");
    assert!(left.contains("sonnet") && left.contains("lint") && !left.contains("belljar"), "{left}");
}

#[test]
fn claude_code_gets_every_event_but_the_one_that_makes_worktrees() {
    let machine = Machine::new();
    let root = machine.path("image");
    let root = root.to_str().unwrap();
    well(machine.run(&["hooks", "install", "--agent", "claude-code", "--managed", "--root", root], b""));
    let text = read(&machine, "image/etc/claude-code/managed-settings.d/50-belljar.json");
    let settings: Value = serde_json::from_str(&text).unwrap();
    let hooks = settings["hooks"].as_object().unwrap();
    assert_eq!(hooks.len(), 32);
    assert!(!hooks.contains_key("WorktreeCreate"));
    for (event, groups) in hooks {
        let hook = &groups[0]["hooks"][0];
        assert_eq!(hook["command"], env!("CARGO_BIN_EXE_belljar"));
        assert_eq!(hook["args"][0], "hook", "without a shell");
        let guards = ["PreToolUse", "PermissionRequest", "UserPromptSubmit", "ConfigChange"];
        assert!(!guards.contains(&event.as_str()) || hook["onFailure"] == "block", "{event}");
        assert!(
            hook.get("async").is_none(),
            "{event}: what is not waited for is lost at the end of a session"
        );
    }
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let machine = Machine::new();
    write(&machine, "user/.claude/settings.json", THEIRS);
    let said = well(machine.run(&["hooks", "install", "--agent", "claude-code", "--dry-run"], b""));
    assert!(
        said.contains("+++ ") && said.contains("@@") && said.contains("+        \"SessionStart\""),
        "{said}"
    );
    assert_eq!(read(&machine, "user/.claude/settings.json"), THEIRS);
    let said = well(machine.run(&["--json", "hooks", "install", "--agent", "codex", "--dry-run"], b""));
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&said["files"][0]["state"], &said["dry_run"]), (&"installed".into(), &true.into()));
    assert!(!machine.path("user/.codex").exists() && !machine.path("home/backups").exists());
}

#[test]
fn a_file_that_is_not_json_is_not_touched_and_neither_is_any_other() {
    let machine = Machine::new();
    let broken = "{\"hooks\": {}, // mine\n}";
    write(&machine, "user/.gemini/settings.json", broken);
    for act in ["install", "uninstall"] {
        let failed = machine.run(&["hooks", act, "--agent", "claude-code,gemini"], b"");
        assert_eq!(failed.code, Some(125), "{failed:?}");
        assert!(
            failed.err.contains("not valid JSON") && failed.err.contains(".gemini/settings.json"),
            "{failed:?}"
        );
    }
    assert_eq!(read(&machine, "user/.gemini/settings.json"), broken);
    assert!(!machine.path("user/.claude").exists());
    write(&machine, "user/.config/opencode/plugins/belljar.js", "export const Mine = 1");
    let failed = machine.run(&["hooks", "install", "--agent", "opencode"], b"");
    assert!(failed.code == Some(125) && failed.err.contains("not written by belljar"), "{failed:?}");
}

#[test]
fn a_place_that_does_not_exist_is_named() {
    let machine = Machine::new();
    for (args, words) in [
        (&["--agent", "codex", "--managed"][..], "codex has no managed settings"),
        (&["--agent", "gemini", "--local"], "gemini has no local settings"),
        (&["--agent", "aider"], "there is no agent `aider`"),
    ] {
        let failed = machine.run(&[&["hooks", "install"], args].concat(), b"");
        assert!(failed.code == Some(125) && failed.err.contains(words), "{failed:?}");
    }
    write(&machine, "user/.codex/config.toml", "[hooks]\n");
    let failed = machine.run(&["hooks", "install", "--agent", "codex"], b"");
    assert!(failed.err.contains("has hooks already"), "{failed:?}");
}

#[test]
fn a_link_stays_a_link_and_projects_have_their_own() {
    let machine = Machine::new();
    write(&machine, "dotfiles/claude.json", "{}\n");
    fs::create_dir(machine.path("user/.claude")).unwrap();
    symlink(machine.path("dotfiles/claude.json"), machine.path("user/.claude/settings.json")).unwrap();
    well(machine.run(&["hooks", "install"], b""));
    assert!(machine.path("user/.claude/settings.json").is_symlink());
    assert!(read(&machine, "dotfiles/claude.json").contains("SessionStart"));
    well(machine.run(&["hooks", "install", "--agent", "claude-code", "--local"], b""));
    assert!(machine.path("project/.claude/settings.local.json").exists());
    assert!(!machine.path("project/.claude/settings.json").exists());
}

#[test]
fn status_tells_what_is_where() {
    let machine = Machine::new();
    well(machine.run(&["hooks", "install", "--agent", "cursor"], b""));
    machine.hook(&["--agent", "cursor"], &serde_json::json!({"hook_event_name": "stop"}));
    write(&machine, "user/.gemini/settings.json", "nonsense");
    let outdated = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/belljar", "args": ["hook"]}]}]}}"#;
    write(&machine, "project/.claude/settings.json", outdated);
    let said: Value = serde_json::from_str(&well(machine.run(&["--json", "hooks", "status"], b""))).unwrap();
    let state = |agent: &str, scope: &str| {
        let all = said["hooks"].as_array().unwrap();
        let found = all.iter().find(|hook| hook["agent"] == agent && hook["scope"] == scope).unwrap();
        found["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state("cursor", "user"), "installed");
    assert_eq!(state("codex", "user"), "absent");
    assert_eq!(state("claude-code", "project"), "outdated");
    assert!(state("gemini", "user").starts_with("unreadable: "));
    assert_eq!((&said["server"], &said["spool"]["entries"]), (&false.into(), &1.into()));
    let table = well(machine.run(&["hooks", "status"], b""));
    assert!(table.contains("spool: 1 hooks") && table.contains("server: not running"), "{table}");
}
