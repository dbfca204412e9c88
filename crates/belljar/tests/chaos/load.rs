//! What clients do meanwhile, and what they were told. Only what was acknowledged counts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{KILLS, SANDBOXES, SHARE, http::Http};

/// A command, and how it ends.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) sandbox: String,
    pub(crate) execution: String,
    pub(crate) code: u64,
    pub(crate) output: String,
    /// It was over when the client heard of it.
    pub(crate) is_over: bool,
}

/// What a client knows of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    Running,
    Paused,
    /// It was asked to change, and nobody heard whether it did.
    Either,
    /// It was deleted.
    Gone,
    /// It was to be deleted, and nobody heard.
    PerhapsGone,
}

/// Everything clients were told.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) commands: Mutex<Vec<Command>>,
    pub(crate) sandboxes: Mutex<BTreeMap<String, Known>>,
    /// Files by sandbox and path, and what is in them.
    pub(crate) files: Mutex<BTreeMap<(String, String), Vec<u8>>>,
    /// Snapshots, and the file that each has.
    pub(crate) snapshots: Mutex<BTreeMap<String, String>>,
    /// Snapshots that were removed.
    pub(crate) dropped: Mutex<BTreeSet<String>>,
    /// Artifacts by their digest.
    pub(crate) artifacts: Mutex<BTreeMap<String, Vec<u8>>>,
    pub(crate) made: AtomicUsize,
    /// Servers killed so far; the load is spread over all of them.
    pub(crate) kills: AtomicUsize,
    pub(crate) refused: AtomicUsize,
    /// What was asked for and never answered, by what it was.
    pub(crate) cut: Mutex<BTreeMap<&'static str, usize>>,
}

impl Told {
    pub(crate) fn summary(&self) -> String {
        format!(
            "{} sandboxes, {} commands, {} files, {} snapshots, {} artifacts acknowledged; {} refused, cut off: {:?}",
            self.sandboxes.lock().unwrap().len(),
            self.commands.lock().unwrap().len(),
            self.files.lock().unwrap().len(),
            self.snapshots.lock().unwrap().len(),
            self.artifacts.lock().unwrap().len(),
            self.refused.load(Ordering::Relaxed),
            self.cut.lock().unwrap(),
        )
    }

    fn is(&self, sandbox: &str, known: Known) {
        self.sandboxes.lock().unwrap().insert(sandbox.to_owned(), known);
    }
}

/// A number in a range, from a sequence that is the same every time.
pub(crate) fn roll(seed: &mut u64, range: std::ops::Range<u64>) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    range.start + (*seed >> 33) % (range.end - range.start)
}

/// One client: makes sandboxes and uses them in every way, until all servers have had their share.
pub(crate) fn work(http: &Http, told: &Told, number: u64) {
    let mut client = Client { http, told, seed: number };
    loop {
        let (made, kills) = (told.made.load(Ordering::Relaxed), told.kills.load(Ordering::Relaxed));
        if kills == KILLS && made >= SANDBOXES {
            return;
        }
        if made >= (kills + 1) * SHARE {
            thread::sleep(Duration::from_millis(1));
            continue;
        }
        let Some((201, made)) = client.ask("create", "POST", "/api/v1/sandboxes", Some(&json!({}))) else {
            told.refused.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(2));
            continue;
        };
        let sandbox = made["id"].as_str().unwrap().to_owned();
        told.is(&sandbox, Known::Running);
        told.made.fetch_add(1, Ordering::Relaxed);
        client.command(&sandbox);
        match roll(&mut client.seed, 0..5) {
            0 => client.hold_still(&sandbox),
            1 => client.snapshot(&sandbox),
            2 => client.upload(&sandbox),
            3 => client.artifact(),
            _ => client.delete(&sandbox),
        }
    }
}

struct Client<'a> {
    http: &'a Http,
    told: &'a Told,
    seed: u64,
}

impl Client<'_> {
    fn ask(
        &self,
        what: &'static str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        let answer = self.http.ask(method, path, body).ok();
        self.counted(what, answer)
    }

    fn send(&self, what: &'static str, method: &str, path: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
        let answer = self.http.send(method, path, "application/octet-stream", body).ok();
        self.counted(what, answer)
    }

    fn counted<T>(&self, what: &'static str, answer: Option<T>) -> Option<T> {
        if answer.is_none() {
            *self.told.cut.lock().unwrap().entry(what).or_default() += 1;
        }
        answer
    }

    /// One that goes on by itself, and one that is waited for.
    fn command(&mut self, sandbox: &str) {
        let exec = format!("/api/v1/sandboxes/{sandbox}/exec");
        let code = roll(&mut self.seed, 0..100);
        let script = format!("for i in 1 2 3 4 5; do echo {sandbox} $i; sleep 0.1; done; exit {code}");
        let order = json!({ "command": script, "background": true });
        if let Some((202, later)) = self.ask("exec", "POST", &exec, Some(&order)) {
            let output = (1..=5).map(|i| format!("{sandbox} {i}\n")).collect();
            self.promised(sandbox, &later, (code, output), false);
        }
        let order = json!({ "command": ["sh", "-c", "echo now; exit 7"] });
        if let Some((200, now)) = self.ask("exec", "POST", &exec, Some(&order)) {
            assert_eq!((&now["exit_code"], &now["stdout"]), (&json!(7), &json!("now\n")), "{now}");
            self.promised(sandbox, &now, (7, "now\n".to_owned()), true);
        }
    }

    fn promised(&self, sandbox: &str, answer: &Value, (code, output): (u64, String), is_over: bool) {
        let execution = answer["execution_id"].as_str().unwrap().to_owned();
        let sandbox = sandbox.to_owned();
        self.told.commands.lock().unwrap().push(Command { sandbox, execution, code, output, is_over });
    }

    /// Pauses it, and lets it go on.
    fn hold_still(&self, sandbox: &str) {
        for (act, then) in [("pause", Known::Paused), ("resume", Known::Running)] {
            self.told.is(sandbox, Known::Either);
            match self.ask(act, "POST", &format!("/api/v1/sandboxes/{sandbox}/{act}"), None) {
                Some((200, _)) => self.told.is(sandbox, then),
                // Told no, for it is so already: whoever asked before was not heard.
                Some((409, _)) | None => return,
                Some(other) => panic!("{act}: {other:?}"),
            }
        }
    }

    /// Writes a file of some size, whole or not at all.
    fn upload(&mut self, sandbox: &str) {
        let size = roll(&mut self.seed, 1..400_000);
        let content: Vec<u8> =
            (0..size).map(|at| u8::try_from((at * 7 + self.seed % 13) % 251).unwrap()).collect();
        let name = format!("/tmp/up/{size}");
        let path = format!("/api/v1/sandboxes/{sandbox}/files{name}?parents=true");
        if let Some((200 | 201, _)) = self.send("upload", "PUT", &path, &content) {
            self.told.files.lock().unwrap().insert((sandbox.to_owned(), name), content);
        }
    }

    /// Takes a snapshot, and sometimes lets go of it again.
    fn snapshot(&mut self, sandbox: &str) {
        // In the home of whoever runs this: scratch space is no part of a snapshot.
        let name = format!("{}/{}", std::env::var("HOME").unwrap(), roll(&mut self.seed, 0..1_000_000));
        let path = format!("/api/v1/sandboxes/{sandbox}/files{name}");
        let Some((200 | 201, _)) = self.send("upload", "PUT", &path, name.as_bytes()) else { return };
        let path = format!("/api/v1/sandboxes/{sandbox}/snapshots");
        let Some((201, taken)) = self.ask("snapshot", "POST", &path, None) else { return };
        let id = taken["id"].as_str().unwrap().to_owned();
        if roll(&mut self.seed, 0..3) > 0 {
            self.told.snapshots.lock().unwrap().insert(id, name);
            return;
        }
        if let Some((204, _)) = self.ask("drop", "DELETE", &format!("/api/v1/snapshots/{id}"), None) {
            self.told.dropped.lock().unwrap().insert(id);
        }
    }

    fn artifact(&mut self) {
        let size = roll(&mut self.seed, 1..300_000);
        let content: Vec<u8> = (0..size).map(|at| u8::try_from((at * 3 + size) % 253).unwrap()).collect();
        if let Some((201, kept)) = self.send("artifact", "POST", "/api/v1/artifacts?name=a", &content) {
            let kept: Value = serde_json::from_slice(&kept).unwrap();
            let digest = kept["digest"].as_str().unwrap().to_owned();
            self.told.artifacts.lock().unwrap().insert(digest, content);
        }
    }

    fn delete(&self, sandbox: &str) {
        self.told.is(sandbox, Known::PerhapsGone);
        if let Some((204, _)) = self.ask("delete", "DELETE", &format!("/api/v1/sandboxes/{sandbox}"), None) {
            self.told.is(sandbox, Known::Gone);
        }
    }
}
