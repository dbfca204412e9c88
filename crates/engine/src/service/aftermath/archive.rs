//! Transcripts copied into artifacts, without their secrets.
//!
//! A path comes from whoever sends a hook, so it is not believed. On the host the file must be named after the session,
//! be a regular file and no link, and belong to the user this server runs as; of a sandboxed session it is looked for in
//! the sandbox that is known to have sent the hook, and nowhere else.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use belljar_domain::{EventId, EventKind, NewEvent, SandboxPath};
use belljar_ports::store::{Artifact, Batch, Document, NewArtifact, Removal};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    super::{Result, Service, files, now, shelf},
    bundle::State,
};

const COLLECTION: &str = "session_archive";
/// The most bytes of one transcript and of one line, and the most files of subagents.
const MOST: u64 = 256 << 20;
const LINE: u64 = 16 << 20;
const SUBAGENTS: usize = 64;

/// A transcript without its secrets.
pub(super) struct Transcript {
    /// Its name in the bundle.
    pub(super) name: String,
    pub(super) text: Vec<u8>,
}

impl Service {
    /// Archives the conversation an event belongs to. What cannot be read is left out; that is recorded, too.
    pub(super) fn archive(&self, event: &NewEvent, state: State) {
        let Some(session) = event.session.clone() else { return };
        let transcripts = self.transcripts(event, &session);
        if let Err(error) = self.keep_archive(event, &session, &transcripts, state) {
            let mut failed = about(event, "session.archive_failed");
            failed.error = Some(error.to_string());
            drop(self.record(failed));
        }
    }

    fn keep_archive(
        &self,
        event: &NewEvent,
        session: &str,
        transcripts: &[Transcript],
        state: State,
    ) -> Result<()> {
        let name = |kind: &str, end: &str| {
            let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
            format!("{kind}-{}.{end}", session.chars().map(plain).take(128).collect::<String>())
        };
        let id = format!("{}/{session}", event.project.as_str());
        let before = self.store().document(COLLECTION, &id)?.map(|document| document.record);
        let link = |name: &str| before.as_ref().and_then(|record| record.get(name)).and_then(Value::as_u64);
        if transcripts.is_empty() && link("transcript").is_some() {
            // Its sandbox is gone by now, and what was kept before says more.
            return Ok(());
        }
        let mut kept: Vec<(&str, Artifact)> = Vec::new();
        if let Some(own) = transcripts.first() {
            let about = artifact(event, name("transcript", "jsonl"), "application/x-ndjson");
            kept.push(("transcript", self.store().put_artifact(&about, &mut own.text.as_slice())?));
        }
        let (bundle, summary) = self.bundle(event, session, transcripts, state)?;
        let about = artifact(event, name("session", "tar"), "application/x-tar");
        kept.push(("bundle", self.store().put_artifact(&about, &mut bundle.as_slice())?));
        // What was archived of this session before is part of this.
        let old = ["transcript", "bundle"].into_iter().filter_map(link);
        let is_new = |link: &u64| kept.iter().all(|(_, artifact)| artifact.link != *link);
        let removals = old.filter(is_new).map(Removal::Artifact).collect();
        let record = kept.iter().map(|(name, artifact)| ((*name).to_owned(), json!(artifact.link))).collect();
        let project = event.project.clone();
        let document = Document { collection: COLLECTION.to_owned(), id, project, updated: now(), record };
        let mut told = about_archive(event, &kept);
        if let Value::Object(fields) = &mut told.payload {
            fields.insert("summary".to_owned(), summary);
        }
        let batch = Batch { events: vec![told], documents: vec![document], removals, ..Batch::default() };
        self.0.recorder.commit(batch)?;
        Ok(())
    }

    fn transcripts(&self, event: &NewEvent, session: &str) -> Vec<Transcript> {
        let path = event.payload.get("transcript_path").and_then(Value::as_str).map(PathBuf::from);
        let is_named = |path: &Path| shelf::is_named_after(path, session);
        let Some(path) = path.filter(|path| is_named(path) && path.is_absolute()) else { return Vec::new() };
        let below = path.with_extension("").join("subagents");
        match event.sandbox {
            None => self.read_all(&path, names(&below), &below, on_host),
            // Whose sandbox it is must be known, or any hook could have any sandbox's files read.
            Some(id) if event.payload.get("identity").and_then(Value::as_str) == Some("known") => {
                let Ok(sandbox) = self.0.provider.find(id) else { return Vec::new() };
                let found = SandboxPath::new(&below).ok();
                let listed = found.and_then(|dir| files::entries(&*sandbox, &dir, SUBAGENTS).ok());
                let names = listed.unwrap_or_default().into_iter().map(|entry| entry.name).collect();
                self.read_all(&path, names, &below, |path| shelf::open_in(&*sandbox, path))
            }
            Some(_) => Vec::new(),
        }
    }

    fn read_all(
        &self,
        path: &Path,
        names: Vec<String>,
        below: &Path,
        open: impl Fn(&Path) -> Option<File>,
    ) -> Vec<Transcript> {
        let own =
            open(path).map(|file| Transcript { name: "transcript.jsonl".to_owned(), text: self.clean(file) });
        let of_agent = |name: &String| name.starts_with("agent-") && name.ends_with(".jsonl");
        let subagents = names.into_iter().filter(of_agent).take(SUBAGENTS).filter_map(|name| {
            let text = self.clean(open(&below.join(&name))?);
            Some(Transcript { name: format!("subagents/{name}"), text })
        });
        own.into_iter().chain(subagents).collect()
    }

    /// What a file says, line by line, without its secrets. A line that is too long is left out.
    fn clean(&self, file: File) -> Vec<u8> {
        let redactor = self.0.recorder.redactor();
        let mut reader = BufReader::new(file.take(MOST));
        let (mut text, mut line) = (Vec::new(), Vec::new());
        loop {
            line.clear();
            match reader.by_ref().take(LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return text,
                Ok(_) => {}
            }
            match serde_json::from_slice::<Value>(&line) {
                Ok(mut value) => {
                    redactor.value(&mut value);
                    text.extend(value.to_string().into_bytes());
                    text.push(b'\n');
                }
                Err(_) => text.extend_from_slice(&redactor.bytes(&line)),
            }
        }
    }
}

fn on_host(path: &Path) -> Option<File> {
    shelf::open(path, rustix::process::geteuid().as_raw())
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).take(SUBAGENTS).collect()
}

fn artifact(event: &NewEvent, name: String, media_type: &str) -> NewArtifact {
    NewArtifact {
        project: event.project.clone(),
        sandbox: event.sandbox,
        execution: event.execution,
        run: event.run,
        name,
        media_type: media_type.to_owned(),
        created: now(),
    }
}

/// An event about the same conversation.
pub(super) fn about(event: &NewEvent, kind: &str) -> NewEvent {
    let id = EventId::from_uuid(Uuid::now_v7());
    NewEvent {
        actor: event.actor.clone(),
        session: event.session.clone(),
        sandbox: event.sandbox,
        execution: event.execution,
        run: event.run,
        ..NewEvent::new(id, now(), event.project.clone(), EventKind::from(kind))
    }
}

fn about_archive(event: &NewEvent, kept: &[(&str, Artifact)]) -> NewEvent {
    let mut told = about(event, "session.archived");
    let fields = kept.iter().map(|(name, artifact)| {
        ((*name).to_owned(), json!({"digest": artifact.digest.to_string(), "bytes": artifact.bytes}))
    });
    told.payload = Value::Object(fields.collect());
    told
}
