//! An agent's machine: a home of its own, a belljar home, and a server that says what the test wants.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::net::{UnixListener, UnixStream},
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Machine {
    dir: TempDir,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) took: Duration,
}

impl Ended {
    /// Nothing was said, and nothing was blocked.
    pub(crate) fn is_silent(&self) -> bool {
        self.code == Some(0) && self.out.is_empty() && self.err.is_empty()
    }
}

impl Machine {
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("belljar-hooks-").tempdir().unwrap();
        for name in ["home", "user", "project"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    /// A file or directory: `home` is belljar's, `user` the caller's, `project` where commands start.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn belljar(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_belljar"));
        command.args(args).env_clear().current_dir(self.path("project"));
        command
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.path("user"))
            .env("BELLJAR_HOME", self.path("home"));
        command
    }

    pub(crate) fn run(&self, args: &[&str], stdin: &[u8]) -> Ended {
        ended(self.belljar(args), stdin)
    }

    /// The hook with a payload on standard input.
    pub(crate) fn hook(&self, args: &[&str], payload: &Value) -> Ended {
        self.run(&[&["hook"], args].concat(), format!("{payload}\n").as_bytes())
    }

    /// The names in the spool that hold something.
    pub(crate) fn spooled(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path("home/spool")) else { return Vec::new() };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut whole: Vec<_> = names.filter(|name| name.ends_with(".jsonl")).collect();
        whole.sort();
        whole
    }
}

pub(crate) fn ended(mut command: Command, stdin: &[u8]) -> Ended {
    let started = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // Whoever is asked for help reads no input.
    let _unread = pipe.write_all(stdin);
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        took: started.elapsed(),
    }
}

/// One request, as a server sees it.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Answer(u16, String),
    /// Says this to one event, and to others that there is nothing to say.
    AnswerTo(String, String),
    /// Says nothing, for this long.
    Silence(Duration),
    /// Ends the connection.
    HangUp,
}

/// A server that plays its part, over and over.
pub(crate) struct Scripted {
    pub(crate) requests: Arc<Mutex<Vec<Request>>>,
    socket: PathBuf,
}

impl Scripted {
    pub(crate) fn start(machine: &Machine, act: Act) -> Self {
        let socket = machine.path("home/belljar.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (act, seen) = (act.clone(), Arc::clone(&seen));
                thread::spawn(move || play(stream.unwrap(), &act, &seen));
            }
        });
        Self { requests, socket }
    }

    pub(crate) fn verdict(machine: &Machine, verdict: &Value) -> Self {
        Self::start(machine, Act::Answer(200, serde_json::json!({"verdict": verdict}).to_string()))
    }

    /// A verdict for one event, and nothing to say on all others.
    pub(crate) fn verdict_on(machine: &Machine, event: &str, verdict: &Value) -> Self {
        let answer = serde_json::json!({"verdict": verdict}).to_string();
        Self::start(machine, Act::AnswerTo(event.to_owned(), answer))
    }

    pub(crate) fn seen(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        // The next one binds the same name; the thread ends with the test.
        let _gone = fs::remove_file(&self.socket);
    }
}

fn play(stream: UnixStream, act: &Act, seen: &Mutex<Vec<Request>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap() == 0 {
        // Somebody only looked whether one listens.
        return;
    }
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let act = match act {
        Act::AnswerTo(event, text) if body["event"] == event.as_str() => Act::Answer(200, text.clone()),
        Act::AnswerTo(..) => Act::Answer(200, r#"{"verdict":null}"#.to_owned()),
        act => act.clone(),
    };
    seen.lock().unwrap().push(Request { line: line.trim_end().to_owned(), headers, body });
    let mut stream = stream;
    match act {
        Act::Answer(status, text) => {
            let length = text.len();
            // A client that gave up is part of some tests.
            let _gone = write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n{text}");
        }
        Act::Silence(span) => thread::sleep(span),
        Act::HangUp | Act::AnswerTo(..) => {}
    }
}
