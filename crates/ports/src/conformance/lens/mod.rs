//! The suite for databases of records: everything the port promises, asserted through the port alone.

mod lists;
mod revisions;
mod sums;

use belljar_domain::{
    EventStatus, ProjectId, Timestamp,
    eye::{AgentRecord, Call, CallTold, ModelRequest, Session, Told, record_id},
};

use super::Verdict;
use crate::{lens::Lens, lens::LensShelf, store::StoreError};

/// Opens the one database of a check; after it was dropped, the same again.
pub struct Bench<'a> {
    /// Opens it.
    pub open: &'a dyn Fn() -> Result<Box<dyn Lens>, StoreError>,
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").finish_non_exhaustive()
    }
}

impl Bench<'_> {
    fn lens(&self) -> Result<Box<dyn Lens>, String> {
        ok((self.open)())
    }
}

/// One check.
pub type Check = fn(&Bench<'_>) -> Verdict;

/// Every check by name.
pub const CHECKS: [(&str, Check); 9] = [
    ("a_place_is_reached_once_and_kept", revisions::once),
    ("what_fails_leaves_nothing", revisions::all_or_nothing),
    ("records_are_found_by_every_name_they_have", revisions::found),
    ("calls_are_selected_and_paged", lists::calls),
    ("sessions_agents_and_errors_are_selected", lists::others),
    ("events_are_found_by_words_and_fields", lists::events),
    ("sums_follow_records_that_change", sums::follow),
    ("money_is_put_together_by_everything", sums::money),
    ("what_is_old_is_removed_and_sums_stay", sums::pruned),
];

fn ok<T>(outcome: Result<T, StoreError>) -> Result<T, String> {
    outcome.map_err(|error| super::chain(&error))
}

fn revise(
    lens: &dyn Lens,
    to: u64,
    mut work: impl FnMut(&mut LensShelf<'_>) -> Result<(), StoreError>,
) -> Verdict {
    ok(lens.revise(to, &mut work))
}

/// A moment on the first of June 2026, so many seconds after noon.
fn noon(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_780_315_200 + seconds) * 1_000_000)
}

fn project(name: &str) -> Result<ProjectId, String> {
    name.parse().map_err(|e: belljar_domain::ProjectIdError| e.to_string())
}

fn session(number: u64, name: &str) -> Session {
    let mut session = Session::new(record_id(number, 0), ProjectId::default(), name, noon(0));
    session.vendor = Some("claude-code".to_owned());
    session
}

fn agent(number: u64, session: &str, name: &str) -> AgentRecord {
    AgentRecord::new(record_id(number, 1), ProjectId::default(), session, name, noon(0))
}

fn call(number: u64, session: &str, tool: &str, outcome: Option<EventStatus>) -> Call {
    let mut call = Call::new(record_id(number, 2), ProjectId::default(), session, "");
    call.received = noon(0);
    let told = CallTold {
        tool: Some(tool.to_owned()),
        tool_use_id: Some(format!("use-{number}")),
        began: Some(noon(i64::try_from(number).unwrap_or(0))),
        outcome,
        duration_ms: outcome.map(|_| 100),
        ..CallTold::default()
    };
    call.learn(told, Told::Hook);
    call
}

fn request(number: u64, session: &str, agent: &str, model: &str) -> ModelRequest {
    let mut request = ModelRequest::new(record_id(number, 3), ProjectId::default(), session, agent, noon(0));
    request.model = model.to_owned();
    request.told = Some(Told::Telemetry);
    request.counted = true;
    request.cost = belljar_domain::Usd(1_000);
    request.tokens.input = 10;
    request.request_id = Some(format!("req-{number}"));
    request.message_id = Some(format!("msg-{number}"));
    request
}
