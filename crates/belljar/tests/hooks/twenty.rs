//! Twenty sessions of the real Claude Code in a row, with hooks an administrator installed: everything it tells of
//! arrives, once and in order, also when the server dies in the middle.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    agent::{self, Account},
    http::Http,
    scenes::{self, Scene},
    support::Machine,
    workbench::{claude, model::Model, require},
};

/// What a session is made of, on a machine.
type Play = fn(&Machine) -> Scene;

/// Events the client tells beside everything else.
const BESIDE: [&str; 3] = ["MessageDisplay", "InstructionsLoaded", "Notification"];

/// A server on a machine, found by its socket.
pub(crate) struct Server {
    child: Child,
    http: Http,
    url: String,
}

impl Server {
    pub(crate) fn start(machine: &Machine) -> Self {
        let mut command = machine.belljar(&["--json", "serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.env("BELLJAR_SERVER_POOL", "0").stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let facts: Value = serde_json::from_str(&line).unwrap();
        let url = facts["url"].as_str().unwrap().to_owned();
        Self { child, http: Http::new(&machine.path("home")), url }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, answer) = self.http.ask("GET", &format!("/api/v1/{path}"), None).unwrap();
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Everything hooks told of a session, in the ledger's order; of the newest one if none is named. A hook the client did
    /// not let begin is told by its transcript.
    pub(crate) fn told(&self, session: Option<&str>) -> Vec<Value> {
        let (mut told, mut after) = (Vec::<Value>::new(), 0);
        loop {
            let page = self.get(&format!("events?after={after}&limit=500"));
            let items = page["items"].as_array().unwrap();
            let Some(last) = items.last() else { break };
            after = last["seq"].as_u64().unwrap();
            told.extend(items.iter().filter(|event| event["payload"]["hook"].is_string()).cloned());
        }
        let newest = told.last().map(|event| event["session_id"].clone());
        let wanted = session.map(Value::from).or(newest);
        told.retain(|event| Some(&event["session_id"]) == wanted.as_ref());
        told
    }

    /// How the calls of a session came out, in order.
    fn outcomes(&self, session: &str) -> Vec<String> {
        let page = self.get(&format!("calls?session_id={session}"));
        let calls = page["items"].as_array().unwrap().iter().rev();
        calls.map(|call| call["outcome"].as_str().unwrap_or("open").to_owned()).collect()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that killed it is done with it.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

fn name(event: &Value) -> &str {
    event["payload"]["hook"].as_str().unwrap()
}

/// A machine with a project that is a repository.
pub(crate) fn machine() -> Machine {
    let machine = Machine::new();
    agent::settled(&machine);
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(machine.path("project"));
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(words);
        assert!(git.status().unwrap().success());
    };
    agent::put(&machine, "README.md", "# A project\n");
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "start"]);
    machine
}

/// Plays a scene to its end; somebody meanwhile makes the files it waits for.
pub(crate) fn play(machine: &Machine, server: &Server, scene: &mut Scene) -> Account {
    let model = Model::playing(std::mem::take(&mut scene.script));
    let over = AtomicBool::new(false);
    let known = server.told(None).last().map(|event| event["session_id"].clone());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut waited: BTreeSet<_> = scene.cues.iter().copied().collect();
            while !waited.is_empty() && !over.load(Ordering::Relaxed) {
                let told = server.told(None);
                let is_new = told.last().map(|event| &event["session_id"]) != known.as_ref();
                waited.retain(|(event, file, text)| {
                    let has_come = is_new && told.iter().any(|told| name(told) == *event);
                    if has_come {
                        agent::put(machine, file, text);
                    }
                    !has_come
                });
                thread::sleep(Duration::from_millis(50));
            }
        });
        // Also if it fails.
        let _over = Over(&over);
        if scene.is_terminal {
            terminal(machine, server, scene, &model)
        } else {
            printed(machine, scene, &model)
        }
    })
}

/// A process that ends with the test, whatever comes of it.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        // Mostly it has ended by itself.
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

/// Says that it is over.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn printed(machine: &Machine, scene: &Scene, model: &Model) -> Account {
    let mut args = vec!["--print", "--verbose", "--output-format", "stream-json", "--include-hook-events"];
    args.extend(scene.args.iter().map(String::as_str));
    if !scene.said.is_empty() {
        args.extend(["--input-format", "stream-json"]);
    } else if !scene.args.iter().any(|arg| arg.starts_with("/greet")) {
        args.push("Do it.");
    }
    let command = agent::agent(machine, model, &scene.env, &args);
    agent::talk(command, &scene.said)
}

/// A session as a person has it: what is typed is on the screen before it is sent.
fn terminal(machine: &Machine, server: &Server, scene: &Scene, model: &Model) -> Account {
    require("script", "bsdutils");
    let words = format!("exec '{}' {}", claude().display(), scene.args.join(" "));
    let words = ["script", "--quiet", "--return", "--command", &words, "/dev/null"];
    let mut command = agent::managed(machine, model, &scene.env, &words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let before = server.told(None).last().map(|event| event["session_id"].clone());
    let mut child = Ending(command.spawn().unwrap());
    let mut keys = child.0.stdin.take().unwrap();
    let screen = Arc::<Mutex<Vec<u8>>>::default();
    let (shown, mut output) = (Arc::clone(&screen), child.0.stdout.take().unwrap());
    let reader = thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(count @ 1..) = output.read(&mut part) {
            shown.lock().unwrap().extend_from_slice(&part[..count]);
        }
    });
    let session = || {
        server
            .told(None)
            .last()
            .map(|event| event["session_id"].clone())
            .filter(|id| Some(id) != before.as_ref())
    };
    let shows = |text: &str| screen.lock().unwrap().windows(text.len()).any(|bytes| bytes == text.as_bytes());
    wait("the session begins", || {
        // An older client wants to hear that it may pass over events it does not know.
        keys.write_all(b"\r").unwrap();
        thread::sleep(Duration::from_millis(500));
        session().is_some()
    });
    for (text, is_over) in [("work", false), ("/exit", true)] {
        if is_over {
            wait("it has stopped", || {
                let told = server.told(None);
                if !told.iter().any(|event| name(event) == "UserPromptSubmit") {
                    // On a busy machine the return may have been read as the end of something pasted.
                    keys.write_all(b"\r").unwrap();
                    thread::sleep(Duration::from_millis(500));
                }
                told.iter().filter(|event| name(event) == "Stop").count() >= scene.turns
            });
        }
        screen.lock().unwrap().clear();
        keys.write_all(text.as_bytes()).unwrap();
        wait("what is typed is shown", || shows(text));
        keys.write_all(b"\r").unwrap();
    }
    wait("the client ends", || {
        thread::sleep(Duration::from_millis(500));
        // It may want to hear once more that this is meant; somebody gone does not hear it.
        let _gone = keys.write_all(b"\r");
        child.0.try_wait().unwrap().is_some()
    });
    reader.join().unwrap();
    let code = child.0.wait().unwrap().code();
    let session = session().and_then(|id| id.as_str().map(str::to_owned)).unwrap();
    Account { code, session, ..Account::default() }
}

pub(crate) fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < until, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn count<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

/// Holds what arrived of a session against what the client itself said of it.
fn compare(which: &str, server: &Server, scene: &Scene, account: &Account) -> Vec<String> {
    assert_eq!(account.code, Some(i32::from(scene.fails)), "{which}: {account:?}");
    let mut due: Vec<&str> = ["SessionStart", "UserPromptSubmit", "SessionEnd"].into();
    due.extend(scene.hears);
    let missing = |told: &[Value]| -> Vec<&str> {
        due.iter().filter(|due| !told.iter().any(|told| name(told) == **due)).copied().collect()
    };
    // What a client that ends does not wait for may come a moment after it.
    let until = Instant::now() + Duration::from_secs(20);
    let mut told = server.told(Some(&account.session));
    while !missing(&told).is_empty() && Instant::now() < until {
        thread::sleep(Duration::from_millis(50));
        told = server.told(Some(&account.session));
    }
    let names: Vec<&str> = told.iter().map(name).collect();
    let absent = missing(&told);
    assert!(absent.is_empty(), "{which}: no {absent:?} among {names:?}; {account:?}");
    let ids: BTreeSet<_> = told.iter().map(|event| event["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), told.len(), "{which}: something is there twice");
    let (heard, started) = (count(names.iter().copied()), count(account.started.iter().map(String::as_str)));
    for (name, times) in &started {
        assert_eq!(heard.get(name), Some(times), "{which}: {name}: heard {heard:?}, started {started:?}");
    }
    for once in [
        "SessionEnd",
        "StopFailure",
        "Setup",
        "PreCompact",
        "PostCompact",
        "DirectoryAdded",
        "WorktreeRemove",
    ] {
        assert!(
            heard.get(once).is_none_or(|&times| times == 1),
            "{which}: {once} came more than once: {names:?}"
        );
    }
    if !scene.is_crowd {
        let plain = |name: &&str| !BESIDE.contains(name) && started.contains_key(*name);
        let in_order: Vec<&str> = names.iter().copied().filter(plain).collect();
        let as_started: Vec<&str> = account.started.iter().map(String::as_str).filter(plain).collect();
        assert_eq!(in_order, as_started, "{which}");
    }
    let main = told.iter().filter(|event| event["payload"]["agent_id"].is_null()).map(name);
    let story: Vec<&str> = main
        .filter(|name| {
            ["SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SessionEnd"].contains(name)
        })
        .collect();
    assert_eq!(story.first(), Some(&"SessionStart"), "{which}: {story:?}");
    // A failure is told beside the end, which does not wait for it.
    let when = || {
        told.iter()
            .map(|event| (name(event), &event["time"], &event["recv_time"], &event["payload"]["agent_type"]))
            .collect::<Vec<_>>()
    };
    assert!(scene.fails || story.last() == Some(&"SessionEnd"), "{which}: {story:?}: {:?}", when());
    paired(which, &told);
    names.into_iter().map(str::to_owned).collect()
}

/// Every call is told of before it is told how it came out, and each of it once.
fn paired(which: &str, told: &[Value]) {
    let places = |wanted: &str| -> BTreeMap<&str, usize> {
        let found = told.iter().enumerate().filter(|(_, event)| name(event) == wanted);
        let pairs: Vec<_> = found
            .filter_map(|(place, event)| Some((event["payload"]["tool_use_id"].as_str()?, place)))
            .collect();
        let count = pairs.len();
        let map: BTreeMap<_, _> = pairs.into_iter().collect();
        assert_eq!(map.len(), count, "{which}: {wanted} of one call twice: {told:?}");
        map
    };
    let before = places("PreToolUse");
    // To an administrator's hooks the client tells what failed as finished, too.
    for after in ["PostToolUse", "PostToolUseFailure"] {
        for (id, place) in places(after) {
            assert!(
                before.get(id).is_some_and(|begun| *begun < place),
                "{which}: {id} ended before it began"
            );
        }
    }
}

#[test]
fn twenty_sessions_with_managed_hooks_are_heard_whole_once_and_in_order() {
    let machine = machine();
    let server = Server::start(&machine);
    let all: [(&str, Play); 20] = [
        ("work", scenes::work),
        ("greeting", scenes::greeting),
        ("failure", scenes::failure),
        ("watching", scenes::watching),
        ("shortening", scenes::shortening),
        ("directories", scenes::directories),
        ("asking", scenes::asking),
        ("permission", scenes::permission),
        ("refusal", scenes::refusal),
        ("worktree", scenes::worktree),
        ("team", scenes::team),
        ("failure again", scenes::failure),
        ("work again", scenes::work),
        ("asking again", scenes::asking),
        ("permission again", scenes::permission),
        ("directories again", scenes::directories),
        ("shortening again", scenes::shortening),
        ("a third failure", scenes::failure),
        ("work once more", scenes::work),
        ("work, the last", scenes::work),
    ];
    let (mut heard, mut sessions) = (BTreeSet::new(), BTreeSet::new());
    for (which, scene) in all {
        fs::remove_dir_all(machine.path("project/.claude")).ok();
        let mut scene = scene(&machine);
        let account = play(&machine, &server, &mut scene);
        heard.extend(compare(which, &server, &scene, &account));
        if which.split([' ', ',']).next() == Some("work") {
            // Records follow the ledger, on a busy machine a moment later.
            wait("every call has its outcome", || {
                server.outcomes(&account.session) == ["success", "success", "success", "failure"]
            });
        }
        assert!(sessions.insert(account.session), "{which}: a session of its own");
    }
    // Everything that is registered.
    let status = machine.run(&["--json", "hooks", "test", "--agent", "claude-code"], b"");
    let status: Value = serde_json::from_str(&status.out).unwrap();
    let registered: BTreeSet<String> = status["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((registered.len(), &registered), (32, &heard));
    assert!(machine.spooled().is_empty());
}

#[test]
fn a_server_killed_in_the_middle_of_a_session_loses_nothing() {
    use crate::workbench::model::{Say, Script};
    let machine = machine();
    let mut server = Server::start(&machine);
    let script = Script::default()
        .turn([Say::run("touch before")])
        .turn([Say::run(&format!("touch now; {}", agent::until("killed")))])
        .turn([Say::run("touch after")])
        .turn([Say::text("all done")]);
    let model = Model::playing(script);
    let args = [
        "--print",
        "--verbose",
        "--output-format",
        "stream-json",
        "--include-hook-events",
        "--dangerously-skip-permissions",
        "Do it.",
    ];
    let command = agent::agent(&machine, &model, &[], &args);
    let account = thread::scope(|scope| {
        let session = scope.spawn(|| agent::talk(command, &[]));
        wait("the session is in its middle", || machine.path("project/now").exists());
        server.kill();
        agent::put(&machine, "killed", "");
        session.join().unwrap()
    });
    assert_eq!(account.code, Some(0), "{account:?}");
    assert!(machine.path("project/after").exists());
    let waiting = machine.spooled().len();
    assert!(waiting >= 6, "{waiting} wait for a server");
    let server = Server::start(&machine);
    let whole = |told: &[Value]| told.iter().any(|event| name(event) == "SessionEnd");
    wait("it is told", || whole(&server.told(Some(&account.session))));
    let told = server.told(Some(&account.session));
    let names = |beside: bool| told.iter().map(name).filter(move |name| BESIDE.contains(name) == beside);
    let turn = ["PreToolUse", "PostToolUse", "PostToolBatch"];
    let story =
        [&["SessionStart", "UserPromptSubmit"][..], &turn, &turn, &turn, &["Stop", "SessionEnd"]].concat();
    assert_eq!(names(false).collect::<Vec<_>>(), story, "{told:?}");
    paired("killed", &told);
    assert!(machine.spooled().is_empty());
}
