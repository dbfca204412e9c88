//! The real Claude Code as an administrator sets it up: hooks in the machine's settings, in an `/etc` of its own.
//!
//! Every session has a mount namespace in which what is written below `/etc` is written to memory, and gone with it.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use serde_json::{Value, json};

use crate::{
    support::Machine,
    workbench::{BELLJAR, claude, model::Model, require},
};

/// A private `/etc` with belljar's hooks in it, then the command.
const MANAGED: &str = r#"set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/changed" "$1/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/changed,workdir=$1/work" /etc
"$2" hooks install --agent claude-code --managed >&2
shift 2
exec "$@""#;

/// What its own stream of messages said of a session.
#[derive(Debug, Default)]
pub(crate) struct Account {
    pub(crate) code: Option<i32>,
    pub(crate) session: String,
    /// The hooks it started, in order; some it does not tell of.
    pub(crate) started: Vec<String>,
    /// The calls it made, by their ids; those of its subagents too.
    pub(crate) calls: BTreeSet<String>,
    /// What it reckons all of it cost, in dollars.
    pub(crate) cost: Option<f64>,
    pub(crate) errors: String,
}

/// Words for its standard input, each a message of the protocol its own SDK speaks.
pub(crate) fn user(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

pub(crate) fn control(request: &Value) -> Value {
    json!({"type": "control_request", "request_id": format!("r-{}", request["subtype"]), "request": request})
}

/// The client, not yet started.
pub(crate) fn agent(machine: &Machine, model: &Model, env: &[(&str, String)], args: &[&str]) -> Command {
    managed(machine, model, env, &[&[claude().to_str().unwrap()], args].concat())
}

/// Any command with the same settings and environment.
pub(crate) fn managed(machine: &Machine, model: &Model, env: &[(&str, String)], words: &[&str]) -> Command {
    require("unshare", "util-linux");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "--", "sh", "-c", MANAGED, "sh"]);
    let etc = machine.path("etc");
    fs::create_dir_all(&etc).unwrap();
    command.arg(etc).arg(BELLJAR).args(words).current_dir(machine.path("project"));
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("TERM", "xterm-256color");
    command.env("HOME", machine.path("user")).env("BELLJAR_HOME", machine.path("home"));
    command.env("ANTHROPIC_BASE_URL", model.url()).env("ANTHROPIC_API_KEY", KEY);
    for flag in QUIET {
        command.env(flag, "1");
    }
    command.envs(env.iter().map(|(name, value)| (name, value)));
    command
}

const KEY: &str = "sk-ant-offline-00000000000000000000";
/// As root it wants to be told that it may; and it is to ask nobody but the model.
const QUIET: [&str; 6] = [
    "IS_SANDBOX",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
];

/// What a person has answered once and for all: the first questions of the client.
pub(crate) fn settled(machine: &Machine) {
    let project = machine.path("project");
    let answered = json!({
        "hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
        "customApiKeyResponses": {"approved": [&KEY[KEY.len() - 20..]], "rejected": []},
        "projects": {project.to_str().unwrap(): {"hasTrustDialogAccepted": true}},
    });
    fs::write(machine.path("user/.claude.json"), answered.to_string()).unwrap();
}

/// Talks a session through: says everything at once, answers what the client asks its host, and hears it out.
pub(crate) fn talk(mut command: Command, said: &[Value]) -> Account {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let errors = gather(&mut child);
    let mut input = child.stdin.take();
    for message in said {
        // A client that refused its flags is gone already, and says so on its standard error.
        let _gone = writeln!(input.as_mut().unwrap(), "{message}");
    }
    let answers_due = said.iter().filter(|message| message["type"] == "user").count();
    let (mut account, mut results) = (Account::default(), 0);
    let (mut thought_over, mut asked) = (false, None);
    if said.is_empty() {
        input = None;
    }
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.unwrap()) else { continue };
        if let Some(session) = message["session_id"].as_str() {
            session.clone_into(&mut account.session);
        }
        match (message["type"].as_str(), message["subtype"].as_str()) {
            (Some("system"), Some("hook_started")) => {
                account.started.push(message["hook_event"].as_str().unwrap().to_owned());
            }
            (Some("system"), Some("hook_response")) if message["hook_event"] == "PermissionRequest" => {
                thought_over = true;
            }
            (Some("control_request"), _) if message["request"]["subtype"] == "can_use_tool" => {
                asked = Some(answer_to(&message, &json!({"behavior": "deny", "message": "not this time"})));
            }
            (Some("control_request"), _) => {
                let given = json!({"action": "accept", "content": {"name": "somebody"}});
                writeln!(input.as_mut().unwrap(), "{}", answer_to(&message, &given)).unwrap();
            }
            (Some("assistant"), _) => {
                let blocks = message["message"]["content"].as_array().into_iter().flatten();
                let calls = blocks.filter(|block| block["type"] == "tool_use");
                account.calls.extend(calls.map(|call| call["id"].as_str().unwrap().to_owned()));
            }
            (Some("result"), _) => {
                account.cost = message["total_cost_usd"].as_f64();
                results += 1;
                if results >= answers_due {
                    input = None;
                }
            }
            _ => {}
        }
        // The client asks its hooks and its host at the same time, and goes on with whoever answers first: a person
        // takes longer than a hook, and so does this host.
        if thought_over && let Some(answer) = asked.take() {
            thought_over = false;
            writeln!(input.as_mut().unwrap(), "{answer}").unwrap();
        }
    }
    account.code = child.wait().unwrap().code();
    account.errors = errors.join().unwrap();
    account
}

fn answer_to(request: &Value, answer: &Value) -> Value {
    let response = json!({"subtype": "success", "request_id": request["request_id"], "response": answer});
    json!({"type": "control_response", "response": response})
}

fn gather(child: &mut Child) -> thread::JoinHandle<String> {
    let mut pipe = child.stderr.take().unwrap();
    thread::spawn(move || {
        let mut text = Vec::new();
        pipe.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// A command of the shell that goes on once a file is there: the test makes it when the moment has come.
pub(crate) fn until(file: &str) -> String {
    format!("until [ -e {file} ]; do sleep 0.05; done")
}

/// A file of the project, with the directories before it.
pub(crate) fn put(machine: &Machine, name: &str, text: &str) -> PathBuf {
    let path = machine.path("project").join(name);
    fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
    fs::write(&path, text).unwrap();
    path
}
