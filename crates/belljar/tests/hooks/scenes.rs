//! Sessions that make the real client tell everything it can: each provokes some of its events.

use serde_json::{Value, json};

use super::agent::{control, put, until, user};
use crate::{
    support::Machine,
    workbench::model::{Say, Script},
};

/// One session.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    pub(crate) script: Script,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(&'static str, String)>,
    /// What is said on standard input; without it there is one prompt among the arguments.
    pub(crate) said: Vec<Value>,
    /// Events that must be heard of, besides those of every session.
    pub(crate) hears: &'static [&'static str],
    /// When an event has been heard, a file is written: mostly one that a command waits for.
    pub(crate) cues: Vec<(&'static str, &'static str, &'static str)>,
    /// The turn fails.
    pub(crate) fails: bool,
    /// Other agents work beside the main one, so the order is each one's own.
    pub(crate) is_crowd: bool,
    /// It is a person's terminal in the place of `--print`.
    pub(crate) is_terminal: bool,
    /// How many turns a person at a terminal waits for.
    pub(crate) turns: usize,
}

impl Scene {
    fn of(script: Script, hears: &'static [&'static str]) -> Self {
        Self { script, hears, args: words(BYPASS), ..Self::default() }
    }
}

const BYPASS: &[&str] = &["--dangerously-skip-permissions"];

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn done() -> [Say; 1] {
    [Say::text("all done")]
}

/// Files, a command that works and one that does not.
pub(crate) fn work(machine: &Machine) -> Scene {
    let file = put(machine, "hello.txt", "hello\n");
    let script = Script::default()
        .turn([Say::text("I look at it."), Say::call("Read", json!({"file_path": file}))])
        .turn([Say::call("Edit", json!({"file_path": file, "old_string": "hello", "new_string": "goodbye"}))])
        .turn([Say::run("cat hello.txt")])
        .turn([Say::run("ls /nowhere-at-all")])
        .turn(done());
    Scene::of(
        script,
        &["PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "MessageDisplay", "Stop"],
    )
}

/// A turn that breaks off.
pub(crate) fn failure(_machine: &Machine) -> Scene {
    let script =
        Script::default().turn([Say::Fail { status: "400 Bad Request", kind: "invalid_request_error" }]);
    Scene { fails: true, ..Scene::of(script, &["StopFailure"]) }
}

/// A command of the project's own, instructions further down, another directory, and a subagent.
pub(crate) fn greeting(machine: &Machine) -> Scene {
    put(machine, ".claude/commands/greet.md", "---\ndescription: Greets somebody\n---\nGreet $ARGUMENTS.\n");
    put(machine, "CLAUDE.md", "# Rules\n");
    put(machine, "sub/CLAUDE.md", "# Rules further down\n");
    let data = put(machine, "sub/data.txt", "one\n");
    let part =
        json!({"description": "Do a part", "prompt": "PART-ONE: do it", "subagent_type": "general-purpose"});
    let script = Script::default()
        .whenever_begun(
            "PART-ONE",
            vec![vec![Say::run("touch part-one")], vec![Say::text("the part is done")]],
        )
        .turn([Say::call("Read", json!({"file_path": data}))])
        .turn([Say::call("Agent", part)])
        .turn([Say::run(&until("subagent-stopped"))])
        .turn([Say::run("cd sub && pwd")])
        .turn(done());
    let mut scene = Scene::of(
        script,
        &[
            "Setup",
            "InstructionsLoaded",
            "UserPromptExpansion",
            "SubagentStart",
            "SubagentStop",
            "CwdChanged",
            "Stop",
        ],
    );
    scene.args.extend(words(&["--init"]));
    scene.args.push("/greet world".to_owned());
    scene.cues = vec![("SubagentStop", "subagent-stopped", "")];
    Scene { is_crowd: true, ..scene }
}

/// Files that are watched, and a list of tasks.
pub(crate) fn watching(machine: &Machine) -> Scene {
    put(machine, ".envrc", "A=1\n");
    put(machine, ".claude/settings.json", "{}\n");
    let script = Script::default()
        .turn([Say::run("until [ -e file-seen ]; do date +A=%N > .envrc; sleep 3; done")])
        // Its own settings are not the agent's to write: somebody else does.
        .turn([Say::run(&until("settings-seen"))])
        .turn([Say::call("TaskCreate", json!({"subject": "Report", "description": "Write the report"}))])
        .turn([Say::call("TaskUpdate", json!({"taskId": "1", "status": "completed"}))])
        .turn(done());
    let hears = &["FileChanged", "ConfigChange", "TaskCreated", "TaskCompleted", "Stop"];
    let mut scene = Scene::of(script, hears);
    scene.env = vec![("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1".to_owned())];
    scene.cues = vec![
        ("FileChanged", "file-seen", ""),
        ("FileChanged", ".claude/settings.json", r#"{"env": {"A": "1"}}"#),
        ("ConfigChange", "settings-seen", ""),
    ];
    // Those that watch tell beside the conversation.
    Scene { is_crowd: true, ..scene }
}

/// Another model, and a conversation made shorter.
pub(crate) fn shortening(_machine: &Machine) -> Scene {
    let script = Script::default()
        .whenever_asked("summary", "<summary>It was short.</summary>")
        .turn([Say::text("the first answer")])
        .turn([Say::text("the second answer")])
        .turn([Say::text("the third answer")]);
    let hears = &["PreModelSwitch", "PostModelSwitch", "PreCompact", "PostCompact", "Stop"];
    let said = vec![
        user("FIRST"),
        user("SECOND"),
        control(&json!({"subtype": "set_model", "model": "sonnet"})),
        user("/compact keep it short"),
        user("LAST"),
    ];
    Scene { said, is_crowd: true, ..Scene::of(script, hears) }
}

/// A further directory to work in.
pub(crate) fn directories(machine: &Machine) -> Scene {
    put(machine, "further/data.txt", "x\n");
    let further = machine.path("project/further");
    let said = vec![
        control(&json!({"subtype": "initialize"})),
        control(&json!({"subtype": "register_repo_root", "directory": further})),
        user("Do it."),
    ];
    let script = Script::default().turn([Say::run("true")]).turn(done());
    Scene { said, is_crowd: true, ..Scene::of(script, &["DirectoryAdded", "Stop"]) }
}

/// A tool that asks the person.
pub(crate) fn asking(machine: &Machine) -> Scene {
    let server = put(machine, "elicit.py", include_str!("elicit.py"));
    let config = json!({"mcpServers": {"elicit": {"command": "python3", "args": [server]}}});
    let script = Script::default().turn([Say::call("mcp__elicit__ask", json!({}))]).turn(done());
    let mut scene = Scene::of(script, &["Elicitation", "ElicitationResult", "Notification", "Stop"]);
    scene.args.extend(["--mcp-config".to_owned(), config.to_string()]);
    Scene { said: vec![control(&json!({"subtype": "initialize"})), user("Do it.")], ..scene }
}

/// A permission that the person does not give.
pub(crate) fn permission(_machine: &Machine) -> Scene {
    let script = Script::default().turn([Say::run("touch made.txt")]).turn(done());
    let scene = Scene::of(script, &["PermissionRequest", "Stop"]);
    let args = words(&["--permission-mode", "default", "--permission-prompt-tool", "stdio"]);
    Scene { args, said: vec![control(&json!({"subtype": "initialize"})), user("Do it.")], ..scene }
}

/// A permission the agent refuses itself.
pub(crate) fn refusal(_machine: &Machine) -> Scene {
    let script = Script::default()
        .whenever_instructed("classif", "<block>yes</block><reason>the script says so</reason>")
        .turn([Say::run("make deploy TARGET=production")])
        .turn(done());
    let scene = Scene::of(script, &["PermissionDenied", "Stop"]);
    let env = vec![("CLAUDE_CODE_ENABLE_AUTO_MODE", "1".to_owned())];
    Scene { args: words(&["--permission-mode", "auto"]), env, ..scene }
}

/// A worktree that the project's own hook makes; belljar's only hears that it goes.
pub(crate) fn worktree(machine: &Machine) -> Scene {
    let made = machine.path("worktree");
    let script = format!("mkdir -p '{0}' && echo '{0}'", made.display());
    let hooks = json!({"hooks": {"WorktreeCreate": [{"hooks": [{"type": "command", "command": script}]}]}});
    put(machine, ".claude/settings.json", &hooks.to_string());
    let script = Script::default()
        .turn([Say::call("EnterWorktree", json!({"name": "beside"}))])
        .turn([Say::run("pwd")])
        .turn([Say::call("ExitWorktree", json!({"action": "remove", "discard_changes": true}))])
        .turn(done());
    Scene { is_crowd: true, ..Scene::of(script, &["WorktreeRemove", "Stop"]) }
}

/// Somebody else in the team, who has nothing left to do.
pub(crate) fn team(_machine: &Machine) -> Scene {
    let bob = json!({
        "description": "Bob", "prompt": "TEAM-BOB: work", "subagent_type": "general-purpose", "name": "bob",
    });
    let script = Script::default()
        .whenever_begun("TEAM-BOB", vec![vec![Say::text("Bob is done.")]])
        .turn([Say::call("Agent", bob)])
        .turn([Say::run(&until("bob-is-idle"))])
        .turn(done())
        // What Bob says when he is done begins a turn of its own, once this one is over.
        .turn([Say::text("I heard Bob.")]);
    let mut scene = Scene::of(script, &["TeammateIdle", "Stop"]);
    scene.env = vec![("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "1".to_owned())];
    scene.cues = vec![("TeammateIdle", "bob-is-idle", "")];
    Scene { is_crowd: true, is_terminal: true, turns: 2, ..scene }
}
