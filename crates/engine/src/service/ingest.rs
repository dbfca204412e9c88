//! Events told from outside: checked, made theirs, recorded once however often they are told.

use belljar_domain::{NewEvent, Principal};
use belljar_ports::store::{Appended, Batch, Document};
use serde_json::Value;

use super::{Result, Service, ServiceError};

/// Events told at one time.
const MOST_TOLD: usize = 1000;
/// Events that are made ready in no time, and how much each may say.
const FEW: usize = 4;
const SMALL: usize = 16 * 1024;
/// Batches that may wait in the store: far fewer than would make an appender wait.
const KEEPS_UP: u64 = 1024;

/// What became of events that were told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ingested {
    /// Events that are in the ledger now.
    pub accepted: u64,
    /// Events that were there already.
    pub duplicates: u64,
    /// The place of the last one that was new.
    pub last: Option<u64>,
}

impl Ingested {
    fn of(told: usize, appended: Appended) -> Self {
        let accepted = (appended.last + 1).saturating_sub(appended.first);
        let told = u64::try_from(told).unwrap_or(u64::MAX);
        let last = (accepted > 0).then_some(appended.last);
        Self { accepted, duplicates: told.saturating_sub(accepted), last }
    }
}

impl Service {
    /// Records what somebody outside saw. The answer comes when it is durable.
    ///
    /// # Errors
    /// When there are too many, or one claims to be what only belljar itself may tell; then none is recorded.
    pub fn ingest(&self, who: &Principal, events: Vec<NewEvent>) -> Result<Ingested> {
        self.ingest_with(who, events, Vec::new())
    }

    /// As [`Service::ingest`], with what is to be done about it, written down at once with it.
    pub(super) fn ingest_with(
        &self,
        who: &Principal,
        events: Vec<NewEvent>,
        documents: Vec<Document>,
    ) -> Result<Ingested> {
        let told = events.len();
        let batch = Batch { documents, ..theirs(who, events)? };
        if told == 0 {
            return Ok(Ingested { accepted: 0, duplicates: 0, last: None });
        }
        Ok(Ingested::of(told, self.0.recorder.commit(batch)?))
    }

    /// As [`Service::ingest`], for a caller that must not wait: the answer is given to `then`, on the store's own thread,
    /// once it is durable. Events that would take longer to hand over than to wait for are given back.
    ///
    /// # Errors
    /// As [`Service::ingest`].
    pub fn ingest_then(
        &self,
        who: &Principal,
        events: Vec<NewEvent>,
        then: impl FnOnce(Result<Ingested>) + Send + 'static,
    ) -> Result<Option<Vec<NewEvent>>> {
        let told = events.len();
        let is_quick = (1..=FEW).contains(&told)
            && events.iter().all(|event| size(&event.payload) < SMALL)
            && self.store().health().queued < KEEPS_UP;
        if !is_quick {
            return Ok(Some(events));
        }
        self.0.recorder.append(theirs(who, events)?).then(move |outcome| {
            then(outcome.map(|appended| Ingested::of(told, appended)).map_err(ServiceError::from));
        });
        Ok(None)
    }
}

/// Events as they are recorded: checked, and of whoever tells them.
fn theirs(who: &Principal, events: Vec<NewEvent>) -> Result<Batch> {
    let count = events.len();
    if count > MOST_TOLD {
        return Err(ServiceError::TooLarge(format!("{count} events at once; at most {MOST_TOLD}")));
    }
    if let Some(event) = events.iter().find(|event| !event.kind.may_be_told()) {
        return Err(ServiceError::Invalid(format!(
            "`{}` is told by belljar alone; use a kind such as `tool.finished` or one of your own",
            event.kind
        )));
    }
    let theirs = |event: NewEvent| NewEvent { project: who.project.clone(), ..event };
    let events = events.into_iter().map(theirs).collect();
    Ok(Batch { events, skip_known: true, ..Batch::default() })
}

/// Roughly how much there is to look through.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 8,
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + size(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}
