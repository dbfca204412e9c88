//! A session in one file: its events, transcripts, changes, and a summary.

use std::collections::{BTreeMap, BTreeSet};

use belljar_domain::{Event, EventKind, EventStatus, NewEvent, Verdict};
use belljar_ports::store::{EventFilter, PAGE_LIMIT};
use serde_json::{Value, json};
use tar::{Builder, Header};

use super::{
    super::{Result, Service, ServiceError, now},
    archive::Transcript,
};
use crate::changes;

/// The most events of one bundle; the oldest stay out.
const MOST_EVENTS: usize = 50_000;
const MOST_CHANGES: usize = 64 << 20;

/// Whether a session is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Over,
    GoesOn,
}

impl Service {
    /// The bundle as a tar, and its summary.
    pub(super) fn bundle(
        &self,
        event: &NewEvent,
        session: &str,
        transcripts: &[Transcript],
        state: State,
    ) -> Result<(Vec<u8>, Value)> {
        let events = self.session_events(event, session)?;
        let summary = summary(session, &events, transcripts, state);
        let lines: Vec<u8> = events
            .iter()
            .filter_map(|event| serde_json::to_vec(event).ok())
            .flat_map(|line| line.into_iter().chain(*b"\n"))
            .collect();
        let mut tar = Builder::new(Vec::new());
        let pretty = serde_json::to_vec_pretty(&summary).unwrap_or_default();
        let mut files: Vec<(&str, Vec<u8>)> = vec![("summary.json", pretty), ("events.jsonl", lines)];
        let diff = event.sandbox.and_then(|id| {
            let found = self.0.provider.find(id).ok()?.changes().ok()?;
            let mut text = Vec::new();
            changes::diff(&found, &mut text, changes::Look::Patch).ok()?;
            let clean = self.0.recorder.redactor().bytes(&text).into_owned();
            Some(clean).filter(|text| !text.is_empty() && text.len() <= MOST_CHANGES)
        });
        files.extend(diff.map(|diff| ("changes.diff", diff)));
        let said = transcripts.iter().map(|transcript| (transcript.name.as_str(), transcript.text.clone()));
        for (name, content) in files.into_iter().chain(said) {
            let mut header = Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o600);
            header.set_mtime(u64::try_from(now().as_micros() / 1_000_000).unwrap_or(0));
            tar.append_data(&mut header, name, content.as_slice()).map_err(|error| broken(&error))?;
        }
        Ok((tar.into_inner().map_err(|error| broken(&error))?, summary))
    }

    fn session_events(&self, event: &NewEvent, session: &str) -> Result<Vec<Event>> {
        let filter = EventFilter {
            project: Some(event.project.clone()),
            session: Some(session.to_owned()),
            ..EventFilter::default()
        };
        let (mut found, mut before) = (Vec::new(), u64::MAX);
        while found.len() < MOST_EVENTS {
            let page = self.store().events_before(&filter, before, PAGE_LIMIT)?;
            let Some(last) = page.last().map(|event| event.seq) else { break };
            before = last;
            found.extend(page);
        }
        found.reverse();
        Ok(found)
    }
}

/// What happened in a session, for people and for whoever reads many of them.
fn summary(session: &str, events: &[Event], transcripts: &[Transcript], state: State) -> Value {
    #[derive(Default)]
    struct Tally {
        calls: u64,
        failed: u64,
        denied: u64,
    }
    impl Tally {
        fn count(&mut self, how: Option<EventStatus>) {
            self.calls += 1;
            self.failed += u64::from(matches!(how, Some(EventStatus::Failure | EventStatus::Cancelled)));
            self.denied += u64::from(how == Some(EventStatus::Denied));
        }
    }
    let mut tools: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut agents: BTreeMap<&str, (Option<&str>, Tally, &'static str)> = BTreeMap::new();
    let (mut prompts, mut told) = (0_u64, BTreeSet::new());
    let text = |event: &'_ Event, field: &str| {
        event.what.payload.get(field).and_then(Value::as_str).map(str::to_owned)
    };
    for event in events {
        let what = &event.what;
        let agent = what.payload.get("agent_id").and_then(Value::as_str);
        let failed = matches!(what.status, Some(EventStatus::Failure | EventStatus::Cancelled));
        prompts += u64::from(what.kind == EventKind::PromptSubmitted);
        // Some agents tell twice how a call came out.
        let call = what.payload.get("tool_use_id").and_then(Value::as_str);
        let denied = is_denied(what);
        let how = if denied { Some(EventStatus::Denied) } else { what.status };
        let is_over = (denied || matches!(what.kind, EventKind::ToolFinished | EventKind::ToolFailed))
            && call.is_none_or(|call| told.insert(call));
        if is_over {
            tools.entry(what.tool.as_deref().unwrap_or("?")).or_default().count(how);
        }
        let Some(agent) = agent else { continue };
        let kind = what.payload.get("agent_type").and_then(Value::as_str);
        let entry = agents.entry(agent).or_insert((kind, Tally::default(), "unknown"));
        match what.kind {
            EventKind::AgentStarted => entry.2 = "running",
            EventKind::AgentStopped => entry.2 = if failed { "failed" } else { "done" },
            _ if is_over => entry.1.count(how),
            _ => {}
        }
    }
    let last = events.iter().rev().find_map(|event| {
        (event.what.kind == EventKind::TurnEnded).then(|| text(event, "message")).flatten()
    });
    let rest = events.iter().rev().find(|event| event.what.kind == EventKind::SessionEnded);
    json!({
        "session_id": session,
        "state": if state == State::Over { "over" } else { "running" },
        "reason": rest.and_then(|event| event.what.payload.pointer("/rest/reason")),
        "agent": events.first().and_then(|event| event.what.actor.name.clone()),
        "model": events.iter().find_map(|event| text(event, "model")),
        "started_at": events.first().map(|event| event.what.time.to_string()),
        "last_at": events.last().map(|event| event.what.time.to_string()),
        "events": events.len(),
        "prompts": prompts,
        "tools": tools.into_iter().map(|(name, tally)| json!({"tool": name, "calls": tally.calls, "failed": tally.failed, "denied": tally.denied})).collect::<Vec<_>>(),
        "subagents": agents.into_iter().map(|(id, (kind, tally, state))| json!({"agent_id": id, "agent_type": kind, "state": state, "calls": tally.calls, "failed": tally.failed, "denied": tally.denied})).collect::<Vec<_>>(),
        "last_message": last,
        "transcripts": transcripts.iter().map(|transcript| transcript.name.clone()).collect::<Vec<_>>(),
    })
}

/// Whether an event says that a call is not made: nothing is told of it afterwards.
fn is_denied(what: &NewEvent) -> bool {
    let is_held = what.payload.get("observed_only").is_none();
    let is_refused = matches!(what.kind, EventKind::ToolRequested) && what.decision == Some(Verdict::Deny);
    what.kind == EventKind::PermissionDenied || is_refused && is_held
}

fn broken(error: &std::io::Error) -> ServiceError {
    ServiceError::Invalid(format!("the bundle cannot be written: {error}"))
}
