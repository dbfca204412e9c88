//! Turns that broke off and that no hook told of. An agent that ends over a failed request starts a hook that says so and
//! waits for nothing; on a busy machine the hook is ended before it has begun. The transcript says it too.
//!
//! Owns: telling what is missing once a hook has had its time. Refuses: to say it twice, or in the words of a hook: the
//! event names its source.

use belljar_capture::transcript::BrokenTurn;
use belljar_domain::{Actor, EventKind, EventStatus, NewEvent, ProjectId, Timestamp};
use belljar_ports::store::{Batch, Document, EventFilter};
use serde::Deserialize as _;
use serde_json::json;

use super::{
    Result, Service, now,
    transcripts::{TRANSCRIPTS, TranscriptPlace, Whose, same_event},
};

/// Where a transcript's document keeps them until they are told.
pub(super) const FIELD: &str = "broken_turns";
/// How far apart the two may be in telling when it was, in microseconds: a hook says when it began.
const BEFORE: i64 = 1_000_000;
const AFTER: i64 = 5_000_000;

/// The turns a transcript's document keeps.
pub(super) fn kept(document: Option<&serde_json::Value>) -> Vec<BrokenTurn> {
    let kept = document.and_then(|document| document.get(FIELD));
    kept.and_then(|kept| Vec::deserialize(kept).ok()).unwrap_or_default()
}

impl Service {
    /// Tells of the turns a transcript says broke off, unless a hook did.
    pub(super) fn tell_broken_turns(&self, project: &ProjectId, place: &TranscriptPlace) -> Result<()> {
        let name = place.name_of(project, &place.path);
        let Some(document) = self.store().document(TRANSCRIPTS, &name)? else { return Ok(()) };
        let turns = kept(Some(&document.record));
        if turns.is_empty() {
            return Ok(());
        }
        let mut events = Vec::new();
        for turn in &turns {
            let time = turn.time.parse().unwrap_or_else(|_unreadable| now());
            if !self.is_told(project, place, time)? {
                events.push(event(project, place, &name, turn, time));
            }
        }
        let mut record = document.record;
        if let Some(fields) = record.as_object_mut() {
            fields.remove(FIELD);
        }
        let documents = vec![Document { updated: now(), record, ..document }];
        let batch = Batch { events, documents, skip_known: true, ..Batch::default() };
        self.0.recorder.append(batch).wait()?;
        Ok(())
    }

    fn is_told(&self, project: &ProjectId, place: &TranscriptPlace, time: Timestamp) -> Result<bool> {
        let near = |micros: i64| Some(Timestamp::from_micros(time.as_micros().saturating_add(micros)));
        let filter = EventFilter {
            project: Some(project.clone()),
            kinds: vec![EventKind::TurnFailed.as_str().to_owned()],
            session: Some(place.session.clone()),
            from: near(-BEFORE),
            until: near(AFTER),
            ..EventFilter::default()
        };
        Ok(!self.store().events(&filter, 0, 1)?.is_empty())
    }
}

fn event(
    project: &ProjectId,
    place: &TranscriptPlace,
    name: &str,
    turn: &BrokenTurn,
    time: Timestamp,
) -> NewEvent {
    let id = same_event(&format!("{name}\0broken\0{}", turn.id));
    let mut event = NewEvent::new(id, time, project.clone(), EventKind::TurnFailed);
    event.session = Some(place.session.clone());
    if let Whose::Sandbox(id) = place.whose {
        event.sandbox = Some(id);
    }
    event.actor = Actor { id: Some(place.session.clone()), name: Some(place.agent.to_string()), role: None };
    event.status = Some(EventStatus::Failure);
    event.error = Some(turn.said());
    event.payload = json!({
        "source": "transcript", "vendor": place.agent, "hook": "StopFailure", "path": place.path, "line": turn.id,
        "rest": { "error": turn.error, "api_status": turn.status, "api_error": turn.kind },
    });
    event
}
