//! Transcripts: what agents write about their conversations, read as it grows.
//!
//! Owns: which files are read, and how far each was. A path comes from whoever sends a hook, so it is not believed: the
//! file must be named after the session, be a regular file and no link, and belong to the user the hook's process runs
//! as (the kernel says who that is at the socket; with a key it is the server's own user). Whoever could send the hook
//! could read the file. Of a sandbox that is known to have sent the hook, it is looked for there and nowhere else.
//! Refuses: prose; what is kept are facts about usage and calls, as one event for many of them.

use std::{
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::PoisonError,
    time::Duration,
};

use belljar_capture::{
    Agent,
    transcript::{BrokenTurn, Reader, Rollout, TranscriptFact},
};
use belljar_domain::{Actor, EventId, EventKind, NewEvent, Principal, ProjectId, SandboxId};
use belljar_ports::store::{Batch, Document, Removal};
use serde::Deserialize as _;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use uuid::Builder;

use super::{
    Ingested, Result, Service, ServiceError, broken_turns, now,
    shelf::{self, Shelf},
};

/// Where it is kept how far each was read.
pub(super) const TRANSCRIPTS: &str = "transcript";
/// Facts of one event.
const FACTS: usize = 400;
const PIECE: usize = 256 * 1024;
/// Bytes read at one time of one file; the next hook goes on.
const MOST: u64 = 256 << 20;
/// Files of one session's subagents.
pub(super) const SUBAGENTS: usize = 512;
/// Agents write their last lines after they ran the hook.
const AFTERTHOUGHT: Duration = Duration::from_secs(2);
/// Transcripts that are to be read, until they were; and how many are looked at when a server begins.
const DUE: &str = "transcript_due";
const PAGE: usize = 500;

/// A transcript a hook named.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TranscriptPlace {
    /// Where it is, as the hook says.
    pub path: PathBuf,
    /// The session it must be named after.
    pub session: String,
    /// Whose it must be.
    pub whose: Whose,
    /// Who writes it.
    pub agent: Agent,
}

impl TranscriptPlace {
    /// What its document, or that of a file beside it, is called.
    pub(super) fn name_of(&self, project: &ProjectId, path: &Path) -> String {
        // Every sandbox has files of the same names.
        let inside = match self.whose {
            Whose::User(_) => String::new(),
            Whose::Sandbox(id) => format!("\0{id}"),
        };
        hex(&Sha256::digest(format!("{}\0{}{inside}", project.as_str(), path.display())))
    }
}

/// Whose file a transcript must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// A user's of this machine.
    User(u32),
    /// A file in a sandbox.
    Sandbox(SandboxId),
}

impl Whose {
    fn text(self) -> String {
        match self {
            Self::User(id) => id.to_string(),
            Self::Sandbox(id) => id.to_string(),
        }
    }

    fn read(text: &str) -> Option<Self> {
        text.parse().map(Self::User).ok().or_else(|| text.parse().map(Self::Sandbox).ok())
    }
}

/// A transcript that is to be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    project: ProjectId,
    place: TranscriptPlace,
}

impl Due {
    fn name(&self) -> String {
        let TranscriptPlace { path, session, whose, .. } = &self.place;
        let (project, whose) = (self.project.as_str(), whose.text());
        hex(&Sha256::digest(format!("{project}\0{}\0{session}\0{whose}", path.display())))
    }

    fn document(&self) -> Document {
        let TranscriptPlace { path, session, whose, agent } = &self.place;
        Document {
            collection: DUE.to_owned(),
            id: self.name(),
            project: self.project.clone(),
            updated: now(),
            record: json!({ "path": path, "session": session, "whose": whose.text(), "agent": agent }),
        }
    }

    fn of(document: &Document) -> Option<Self> {
        let text = |field: &str| Some(document.record.get(field)?.as_str()?.to_owned());
        let whose = Whose::read(&text("whose")?)?;
        let agent = text("agent")?.into();
        let place = TranscriptPlace { path: text("path")?.into(), session: text("session")?, whose, agent };
        Some(Self { project: document.project.clone(), place })
    }
}

impl Service {
    /// Records what a hook told, and has the transcript it names read soon, and once more a moment later. Nobody waits for
    /// that; what is to be read is written down with the event, so that the next server reads it if this one is killed.
    ///
    /// # Errors
    /// As [`Service::ingest`].
    pub fn ingest_following(
        &self,
        who: &Principal,
        event: NewEvent,
        place: &TranscriptPlace,
    ) -> Result<Ingested> {
        // Where it was read to is kept under its name; what has a secret for a name is no session.
        if [&place.session, &*place.path.to_string_lossy()]
            .iter()
            .any(|&text| self.without_secrets(text) != *text)
        {
            return self.ingest(who, vec![event]);
        }
        let due = Due { project: who.project.clone(), place: place.clone() };
        if matches!(place.whose, Whose::Sandbox(_)) && event.kind == EventKind::SessionEnded {
            // Whoever is answered now may be gone in a moment, and its sandbox too.
            self.read_transcripts(&due.project, place);
        }
        let waits = self.await_reading(&due);
        let told = self.ingest_with(who, vec![event], vec![due.document()]);
        self.read_soon(&due, waits);
        told
    }

    /// Has read what an earlier server was to read.
    pub(super) fn resume_transcripts(&self) -> Result<()> {
        let mut after = String::new();
        loop {
            let page = self.store().documents(DUE, None, &after, PAGE)?;
            let Some(last) = page.last() else { return Ok(()) };
            after.clone_from(&last.id);
            for due in page.iter().filter_map(Due::of) {
                let waits = self.await_reading(&due);
                self.read_soon(&due, waits);
            }
        }
    }

    /// Notes that one is to be read, before that is written down; one that waits already will see what there is by then.
    fn await_reading(&self, due: &Due) -> [bool; 2] {
        let mut waiting = self.0.transcripts.lock().unwrap_or_else(PoisonError::into_inner);
        [false, true].map(|is_late| waiting.insert((due.clone(), is_late)))
    }

    fn read_soon(&self, due: &Due, waits: [bool; 2]) {
        for (is_late, is_new) in [false, true].into_iter().zip(waits) {
            if is_new {
                let (own, due) = (self.clone(), due.clone());
                let wait = if is_late { AFTERTHOUGHT } else { Duration::ZERO };
                self.0.crew.after(wait, move || own.read_due(&due, is_late));
            }
        }
    }

    fn read_due(&self, due: &Due, is_late: bool) {
        let lock = || self.0.transcripts.lock().unwrap_or_else(PoisonError::into_inner);
        lock().remove(&(due.clone(), is_late));
        self.read_transcripts(&due.project, &due.place);
        if is_late {
            let _turn = self.0.reading.lock().unwrap_or_else(PoisonError::into_inner);
            // What cannot be told now is told at the next hook, or by the next server.
            let _untold = self.tell_broken_turns(&due.project, &due.place);
        }
        // Whoever is told meanwhile waits for this lock before it writes down that it is due again.
        let waiting = lock();
        if is_late && [false, true].into_iter().all(|is_late| !waiting.contains(&(due.clone(), is_late))) {
            let removals = vec![Removal::Document(DUE.to_owned(), due.name())];
            drop(self.0.recorder.append(Batch { removals, ..Batch::default() }));
        }
    }

    fn read_transcripts(&self, project: &ProjectId, place: &TranscriptPlace) {
        let _turn = self.0.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if !shelf::is_named_after(&place.path, &place.session) {
            return;
        }
        let Some(shelf) = Shelf::of(self, place.whose) else { return };
        // What cannot be read now is tried at the next hook; agents do without.
        let _unread = self.read_transcript(&shelf, project, place, &place.path, None);
        let below = place.path.with_extension("").join("subagents");
        for name in shelf.names(&below) {
            if let Some(agent) = Reader::agent_of(&name) {
                let _unread = self.read_transcript(&shelf, project, place, &below.join(&name), Some(agent));
            }
        }
    }

    /// Reads one file from where it was left.
    fn read_transcript(
        &self,
        shelf: &Shelf,
        project: &ProjectId,
        place: &TranscriptPlace,
        path: &Path,
        agent: Option<&str>,
    ) -> Result<()> {
        let Some(file) = shelf.open(path) else { return Ok(()) };
        let about = file.metadata().map_err(|error| unread(path, &error))?;
        let name = place.name_of(project, path);
        let before = self.store().document(TRANSCRIPTS, &name)?.map(|document| document.record);
        let number = |field: &str| before.as_ref()?.get(field)?.as_u64();
        let is_same = number("inode") == Some(about.ino()) && number("offset").unwrap_or(0) <= about.len();
        let mut at = number("offset").filter(|_| is_same).unwrap_or(0);
        let (mut from, until) = (at, at.saturating_add(MOST));
        let known = before.as_ref().filter(|_| is_same).and_then(|before| before.get("rollout"));
        let known = known.and_then(|known| Rollout::deserialize(known).ok()).unwrap_or_default();
        let reader = agent.map_or_else(|| Reader::new(at), |agent| Reader::of_agent(agent, at));
        let mut reader = reader.after(known);
        let (mut facts, mut piece) = (Vec::new(), vec![0; PIECE]);
        let mut broken = broken_turns::kept(before.as_ref().filter(|_| is_same));
        loop {
            let length = file.read_at(&mut piece, at).map_err(|error| unread(path, &error))?;
            let is_end = length == 0 || at >= until;
            facts.extend(reader.feed(piece.get(..length).unwrap_or_default()));
            broken.extend(reader.broken_turns());
            at += length as u64;
            let is_news = reader.offset() > from;
            if is_news && (is_end || facts.len() >= FACTS) {
                let (broken, inode) = (&broken, about.ino());
                let spot = Spot { project, place, path, agent, name: &name, inode, broken };
                self.keep(&spot, from, &reader, std::mem::take(&mut facts))?;
                from = reader.offset();
            }
            if is_end {
                return Ok(());
            }
        }
    }

    /// Records facts, and how far they go, at once: after a crash they are not told twice.
    fn keep(
        &self,
        spot: &Spot<'_>,
        from: u64,
        reader: &Reader,
        mut facts: Vec<TranscriptFact>,
    ) -> Result<()> {
        let (mut nth, to): (u64, u64) = (0, reader.offset());
        let mut events = Vec::new();
        while !facts.is_empty() {
            let rest = facts.split_off(facts.len().min(FACTS));
            events.push(spot.event(from, to, nth, std::mem::replace(&mut facts, rest)));
            nth += 1;
        }
        let mut record = json!({
            "path": spot.path, "offset": to, "inode": spot.inode, "rollout": reader.rollout(),
        });
        if let Some(fields) = record.as_object_mut().filter(|_| !spot.broken.is_empty()) {
            fields.insert(broken_turns::FIELD.to_owned(), json!(spot.broken));
        }
        let document = Document {
            collection: TRANSCRIPTS.to_owned(),
            id: spot.name.to_owned(),
            project: spot.project.clone(),
            updated: now(),
            record,
        };
        let batch = Batch { events, documents: vec![document], skip_known: true, ..Batch::default() };
        self.0.recorder.append(batch).wait()?;
        Ok(())
    }
}

struct Spot<'s> {
    project: &'s ProjectId,
    place: &'s TranscriptPlace,
    path: &'s Path,
    agent: Option<&'s str>,
    name: &'s str,
    inode: u64,
    /// What it said of turns that broke off, and was not told yet.
    broken: &'s [BrokenTurn],
}

/// The identity of an event that is told of this, however often it is.
pub(super) fn same_event(of: &str) -> EventId {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(Sha256::digest(of).iter()).for_each(|(to, from)| *to = *from);
    EventId::from_uuid(Builder::from_custom_bytes(bytes).into_uuid())
}

impl Spot<'_> {
    fn event(&self, from: u64, to: u64, nth: u64, facts: Vec<TranscriptFact>) -> NewEvent {
        let id = same_event(&format!("{}\0{}\0{from}\0{to}\0{nth}", self.name, self.inode));
        let kind = EventKind::Other("transcript.read".to_owned());
        let mut event = NewEvent::new(id, now(), self.project.clone(), kind);
        event.session = Some(self.place.session.clone());
        if let Whose::Sandbox(id) = self.place.whose {
            event.sandbox = Some(id);
        }
        event.actor = Actor {
            id: Some(self.agent.unwrap_or(&self.place.session).to_owned()),
            name: Some(self.place.agent.to_string()),
            role: None,
        };
        event.payload = json!({
            "source": "transcript", "vendor": self.place.agent, "path": self.path, "from": from, "to": to,
            "agent_id": self.agent, "facts": TranscriptFact::pack(facts),
        });
        event
    }
}

fn unread(path: &Path, error: &std::io::Error) -> ServiceError {
    ServiceError::Invalid(format!("{}: {error}", path.display()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
