//! Hooks get into agents' settings and out again, and nothing else in there moves.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    process::Command,
};

use serde_json::Value;

use crate::{
    support::{Ended, Machine, ended},
    workbench::BELLJAR,
};

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
fn a_link_to_a_file_that_is_not_there_yet_is_followed_both_ways() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("dotfiles")).unwrap();
    fs::create_dir(machine.path("user/.claude")).unwrap();
    let link = machine.path("user/.claude/settings.json");
    symlink("../../dotfiles/claude.json", &link).unwrap();
    well(machine.run(&["hooks", "install", "--agent", "claude-code"], b""));
    assert!(link.is_symlink() && read(&machine, "dotfiles/claude.json").contains("SessionStart"));
    well(machine.run(&["hooks", "uninstall", "--agent", "claude-code"], b""));
    assert!(link.is_symlink() && !link.exists());
}

#[test]
fn a_file_that_is_read_only_is_left_alone_and_so_is_every_other() {
    let machine = Machine::new();
    write(&machine, "user/.gemini/settings.json", THEIRS);
    let file = machine.path("user/.gemini/settings.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    for (act, words) in [("install", &["--dry-run"][..]), ("install", &[])] {
        let words = [&["hooks", act, "--agent", "claude-code,gemini"], words].concat();
        let failed = machine.run(&words, b"");
        let is_told = failed.err.contains("read-only") && failed.err.contains(".gemini/settings.json");
        assert!(failed.code == Some(125) && is_told, "{failed:?}");
    }
    assert_eq!(read(&machine, "user/.gemini/settings.json"), THEIRS);
    assert!(!machine.path("user/.claude").exists());
}

#[test]
fn a_mark_before_everything_else_stays_there() {
    let machine = Machine::new();
    write(&machine, "user/.claude/settings.json", "\u{feff}{\"model\": \"opus\"}");
    well(machine.run(&["hooks", "install", "--agent", "claude-code"], b""));
    assert!(read(&machine, "user/.claude/settings.json").starts_with("\u{feff}{"));
    well(machine.run(&["hooks", "uninstall", "--agent", "claude-code"], b""));
    assert_eq!(read(&machine, "user/.claude/settings.json"), "\u{feff}{\"model\": \"opus\"}");
}

#[test]
fn layout_and_comments_stay_as_they_were_written() {
    let machine = Machine::new();
    let theirs =
        "{\n  // Ours.\n  \"model\": {\"name\": \"x\"}, /* why */\n  \"hooks\": { \"AfterTool\": [ ] }\n}\n";
    write(&machine, "user/.gemini/settings.json", theirs);
    well(machine.run(&["hooks", "install", "--agent", "gemini"], b""));
    let with = read(&machine, "user/.gemini/settings.json");
    assert!(
        with.starts_with(theirs.split("\"hooks\"").next().unwrap()) && with.contains("BeforeTool"),
        "{with}"
    );
    // Also where somebody changed something since.
    write(&machine, "user/.gemini/settings.json", &with.replace("\"x\"", "\"y\""));
    well(machine.run(&["hooks", "uninstall", "--agent", "gemini"], b""));
    let left = read(&machine, "user/.gemini/settings.json");
    assert!(left.starts_with("{\n  // Ours.\n  \"model\": {\"name\": \"y\"}"), "{left}");
    assert!(left.contains("/* why */") && !left.contains("belljar"), "{left}");
    // Who does not read comments would go by none of the settings.
    write(&machine, "user/.claude/settings.json", theirs);
    let failed = machine.run(&["hooks", "install", "--agent", "claude-code"], b"");
    assert!(
        failed.code == Some(125) && failed.err.contains("comment") && failed.err.contains("line 2"),
        "{failed:?}"
    );
    let lists = "{\"permissions\": {\"allow\": [\"Bash(ls:*)\", \"Read\"]},\n \"n\": 1e2}\n";
    write(&machine, "user/.claude/settings.json", lists);
    let shown = well(machine.run(&["hooks", "install", "--agent", "claude-code", "--dry-run"], b""));
    let gone: Vec<_> =
        shown.lines().filter(|line| line.starts_with('-') && !line.starts_with("---")).collect();
    assert_eq!(gone, ["- \"n\": 1e2}"], "only what must be is moved");
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

#[test]
fn installed_hooks_go_by_the_home_they_were_installed_with() {
    let machine = Machine::new();
    let rule = "[[rule]]\nname = \"no-push\"\nmatch = \"Bash(git push:*)\"\nverdict = \"deny\"\nreason = \"not here\"\n";
    write(&machine, "home/guardian.toml", rule);
    write(&machine, "other/guardian.toml", "mode = \"observe\"\n");
    let payload = r#"{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w",
        "tool_name": "Bash", "tool_input": {"command": "git push"}}"#;
    for (agent, file) in [("claude-code", "user/.claude/settings.json"), ("codex", "user/.codex/hooks.json")]
    {
        well(machine.run(&["hooks", "install", "--agent", agent], b""));
        let settings: Value = serde_json::from_str(&read(&machine, file)).unwrap();
        let hook = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
        let mut command = match hook["args"].as_array() {
            Some(words) => {
                let mut command = std::process::Command::new(hook["command"].as_str().unwrap());
                command.args(words.iter().map(|word| word.as_str().unwrap()));
                command
            }
            None => {
                let mut command = std::process::Command::new("sh");
                command.args(["-c", hook["command"].as_str().unwrap()]);
                command
            }
        };
        // What an agent's environment says of belljar is the agent's word.
        command.env("BELLJAR_HOME", machine.path("other")).env("BELLJAR_URL", "http://127.0.0.1:9");
        command.env("HOME", machine.path("other")).env("XDG_DATA_HOME", machine.path("other"));
        let said = crate::support::ended(command, payload.as_bytes());
        assert!(format!("{}{}", said.out, said.err).contains("not here"), "{agent}: {said:?}");
    }
    assert_eq!(machine.spooled().len(), 2);
    assert!(!machine.path("other/spool").exists());
}

#[test]
fn a_server_elsewhere_is_pinned_and_an_image_is_given_nothing_of_this_machine() {
    let machine = Machine::new();
    let mut install = machine.belljar(&["hooks", "install", "--agent", "claude-code"]);
    install.env("BELLJAR_URL", "http://127.0.0.1:7431");
    well(crate::support::ended(install, b""));
    let text = read(&machine, "user/.claude/settings.json");
    assert!(text.contains("\"--url\"") && text.contains("http://127.0.0.1:7431"), "{text}");
    let root = machine.path("image");
    let words = ["hooks", "install", "--agent", "claude-code", "--managed", "--root", root.to_str().unwrap()];
    well(machine.run(&words, b""));
    let text = read(&machine, "image/etc/claude-code/managed-settings.d/50-belljar.json");
    assert!(!text.contains("--home") && !text.contains("--url"), "{text}");
}

#[test]
fn hooks_of_a_program_by_another_name_are_known_again() {
    let machine = Machine::new();
    let mut outcomes = Vec::new();
    // As packages wrap programs, and as people call them.
    for name in [".belljar-wrapped", "belljar_2", "eye"] {
        let own = machine.path(name);
        fs::hard_link(BELLJAR, &own).or_else(|_| fs::copy(BELLJAR, &own).map(drop)).unwrap();
        let run = |words: &[&str]| {
            let mut command = Command::new(&own);
            command.args(words).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", machine.path("user"));
            command.env("BELLJAR_HOME", machine.path("home")).current_dir(machine.path("project"));
            well(ended(command, b""))
        };
        run(&["hooks", "install", "--agent", "claude-code"]);
        let again = run(&["hooks", "install", "--agent", "claude-code"]);
        let status = run(&["hooks", "status", "--agent", "claude-code", "--user"]);
        run(&["hooks", "uninstall", "--agent", "claude-code"]);
        outcomes.push((again.starts_with("unchanged"), status.contains(" installed ")));
        assert!(!machine.path("user/.claude/settings.json").exists(), "{name}");
    }
    assert_eq!(outcomes, [(true, true); 3]);
}
