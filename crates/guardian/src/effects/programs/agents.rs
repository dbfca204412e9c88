//! The guard's own program and the agents it guards: what would weaken them or go around them.

use super::call::Call;
use super::options::Options;
use crate::effects::act::Act;
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `belljar`, `claude`, `codex`, `gemini` and other agents.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let outcome = if call.name == "belljar" { belljar(call) } else { agent(call) };
    let starts =
        call.name != "belljar" && outcome.acts.iter().any(|(act, _)| matches!(act, Act::Spawn { .. }));
    match call.invocation.environment.iter().find(|(name, _)| starts && moves_settings(name)) {
        Some((name, _)) => {
            tamper(format!("{} with other settings by {}", call.name, String::from_utf8_lossy(name)))
        }
        None => outcome,
    }
}

/// Variables that say where an agent or the guard finds what it goes by.
fn moves_settings(name: &[u8]) -> bool {
    moves_guard(name)
        || matches!(
            name,
            b"HOME"
                | b"XDG_CONFIG_HOME"
                | b"CLAUDE_CONFIG_DIR"
                | b"CODEX_HOME"
                | b"GEMINI_CLI_HOME"
                | b"OPENCODE_CONFIG"
        )
}

/// Whether a variable says where the guard is, who asks it, or how it is set.
pub(crate) fn moves_guard(name: &[u8]) -> bool {
    name.starts_with(b"BELLJAR_") && name != b"BELLJAR_LOG"
}

fn tamper(how: impl Into<String>) -> Outcome {
    Outcome::of([Act::Tamper { how: how.into() }])
}

fn belljar(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("", "home= server= token= json"));
    let words: Vec<&str> = read.operands.iter().filter_map(Value::text).collect();
    let moved = call.invocation.environment.iter().any(|(name, _)| moves_guard(name))
        || read.has("home server token");
    let weakens = match words.as_slice() {
        // With another home or another identity it is another guard that answers.
        ["hook" | "exec" | "run" | "mcp", ..] if moved => true,
        ["hooks", "status" | "list" | "show", ..] => false,
        ["hooks", ..] => words.get(1) != Some(&"install") || moved,
        ["guardian", "check" | "explain" | "rules" | "status" | "test" | "lint" | "suggest", ..] => {
            read.has("write apply")
        }
        ["guardian", ..] => words.len() > 1,
        ["approvals", "list" | "watch" | "show", ..] | ["approvals"] => false,
        ["approvals" | "approve", ..] => true,
        [
            "approve-agent" | "revoke-agent" | "stop" | "shutdown" | "uninstall" | "reset" | "quit" | "down"
            | "grant",
            ..,
        ] => true,
        ["budget" | "agents", verb, ..] => {
            !matches!(*verb, "show" | "list" | "status" | "history" | "export" | "suggest-role")
        }
        ["killswitch", ..] => read.has("release off lift") || words.len() > 1,
        ["kill-agent", ..] => read.has("release"),
        ["policy" | "config" | "token" | "tokens" | "identity", verb, ..] => {
            !matches!(*verb, "show" | "list" | "get")
        }
        ["service", verb, ..] => matches!(*verb, "stop" | "disable" | "uninstall" | "remove"),
        _ => false,
    };
    if weakens {
        return tamper(format!("belljar {}", words.join(" ")));
    }
    Outcome::harmless()
}

/// Options that take an agent's own guard away.
fn agent(call: &Call<'_>) -> Outcome {
    const OFF: [&str; 12] = [
        "--dangerously-skip-permissions",
        "--dangerously-bypass-approvals-and-sandbox",
        "--yolo",
        "-y",
        "--allow-dangerously-skip-permissions",
        "--full-auto",
        "--auto-approve",
        "--yes-always",
        "--no-sandbox",
        "--dangerously-allow-all",
        "--bypass",
        "--trust-all-tools",
    ];
    let words: Vec<&str> = call.words().collect();
    let off = words.iter().find(|word| OFF.contains(word) && !(**word == "-y" && call.name != "gemini"));
    if let Some(off) = off {
        return tamper(format!("{} {off}", call.name));
    }
    let read = call.read(&Options::new(
        "p?c:s:a:m:",
        "permission-mode= settings= sandbox= ask-for-approval= approval-mode= config= allowedTools= allowed-tools= \
         setting-sources= mcp-config= model= print",
    ));
    let loose = |names: &str, wanted: &[&str]| {
        read.values(names).filter_map(Value::text).any(|value| wanted.iter().any(|word| value.contains(word)))
    };
    if loose("permission-mode approval-mode", &["bypass", "yolo", "dontAsk", "never"])
        || loose("settings", &["disableAllHooks", "hooks", "bypass"])
        || loose("sandbox s", &["danger"])
        || loose("ask-for-approval a", &["never"])
        || loose("c config", &["approval_policy", "sandbox_mode", "hooks"])
    {
        return tamper(format!("{} without its own guard", call.name));
    }
    let verbs: Vec<&str> = words.iter().filter(|word| !word.starts_with('-')).copied().collect();
    match verbs.as_slice() {
        ["config", "set" | "add" | "remove" | "rm" | "unset", key, ..]
            if ["hooks", "permissions", "allowedTools", "sandbox", "approval", "disableAllHooks", "env"]
                .iter()
                .any(|word| key.contains(word)) =>
        {
            tamper(format!("{} config {key}", call.name))
        }
        ["mcp", "add" | "add-json" | "remove", ..] => {
            tamper(format!("{} mcp: tools nobody has seen", call.name))
        }
        ["hooks" | "plugin", "remove" | "uninstall" | "disable", ..] => {
            tamper(format!("{} {}", call.name, verbs.join(" ")))
        }
        [
            "config" | "mcp" | "hooks" | "plugin" | "doctor" | "update" | "login" | "logout"
            | "migrate-installer",
            ..,
        ]
        | [] => Outcome::harmless(),
        _ => Outcome::of([Act::Spawn { agent: call.name.to_owned() }]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn the_guard_is_asked_and_not_moved() {
        check(&[
            ("belljar list", "compute"),
            ("belljar hooks uninstall", "tamper belljar hooks uninstall"),
            ("belljar guardian check 'rm -rf /'", "compute"),
            ("belljar guardian mode observe", "tamper belljar guardian mode observe"),
            ("belljar approvals list", "compute"),
            ("belljar approvals allow 1", "tamper belljar approvals allow 1"),
            ("claude --dangerously-skip-permissions -p x", "tamper claude --dangerously-skip-permissions"),
            ("claude -p --permission-mode bypassPermissions x", "tamper claude without its own guard"),
            ("claude -p 'explain this'", "spawn claude"),
            ("codex exec --yolo x", "tamper codex --yolo"),
            ("claude --version", "compute"),
        ]);
    }
}
