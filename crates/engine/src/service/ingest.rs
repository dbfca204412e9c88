//! Events told from outside: checked, made theirs, recorded once however often they are told.

use belljar_domain::{NewEvent, Principal};
use belljar_ports::store::Batch;

use super::{Result, Service, ServiceError, aftermath::is_stop};

/// Events told at one time.
const MOST_TOLD: usize = 1000;

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

impl Service {
    /// Records what somebody outside saw. The answer comes when it is durable.
    ///
    /// # Errors
    /// When there are too many, or one claims to be what only belljar itself may tell; then none is recorded.
    pub fn ingest(&self, who: &Principal, events: Vec<NewEvent>) -> Result<Ingested> {
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
        if events.is_empty() {
            return Ok(Ingested { accepted: 0, duplicates: 0, last: None });
        }
        let theirs = |event: NewEvent| {
            let bytes = serde_json::to_vec(&event.payload).map_or(0, |json| json.len());
            NewEvent { project: who.project.clone(), ..event }.clipped(bytes)
        };
        let events: Vec<NewEvent> = events.into_iter().map(theirs).collect();
        let stops = events.iter().filter(|event| is_stop(event)).cloned().collect();
        let batch = Batch { events, skip_known: true, ..Batch::default() };
        let appended = self.0.recorder.commit(batch)?;
        let accepted = (appended.last + 1).saturating_sub(appended.first);
        let told = u64::try_from(count).unwrap_or(u64::MAX);
        let last = (accepted > 0).then_some(appended.last);
        if accepted > 0 {
            self.afterwards(stops);
        }
        Ok(Ingested { accepted, duplicates: told.saturating_sub(accepted), last })
    }
}
