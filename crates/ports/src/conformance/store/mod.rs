//! The suite for stores: everything the port promises, asserted through the port alone.

mod approvals;
mod artifacts;
mod concurrency;
mod ledger;
mod logs;
mod reports;
mod retention;
mod rows;
mod runs;
mod samples;

use std::{
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use belljar_domain::{EventKind, NewEvent, ProjectId, SandboxId, SandboxState, Timestamp};

use super::Verdict;
use crate::store::{Appended, Batch, SandboxRow, Store, StoreError};

/// How much the store under test may keep.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of one stream's log.
    pub log_bytes: u64,
    /// Bytes of one artifact.
    pub artifact_bytes: u64,
    /// Bytes of all artifacts.
    pub artifacts_bytes: u64,
    /// Bytes of the database.
    pub database_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { log_bytes: 64, artifact_bytes: 1_000, artifacts_bytes: 2_500, database_bytes: 1 << 30 }
    }
}

/// Opens the one store of a check; after it was closed or dropped, the same store again.
pub struct Bench<'a> {
    /// Opens it, keeping no more than the bounds, and with the retention of the design: 90, 30 and 7 days.
    pub open: &'a dyn Fn(Bounds) -> Result<Box<dyn Store>, StoreError>,
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").finish_non_exhaustive()
    }
}

impl Bench<'_> {
    fn store(&self) -> Result<Box<dyn Store>, String> {
        ok((self.open)(Bounds::default()))
    }
}

/// One check.
pub type Check = fn(&Bench<'_>) -> Verdict;

/// Every check by name.
pub const CHECKS: [(&str, Check); 38] = [
    ("events_come_back_whole_and_in_order", ledger::comes_back),
    ("a_batch_is_all_or_nothing", ledger::is_atomic),
    ("known_events_are_left_out_where_asked", ledger::skips_what_is_known),
    ("an_event_told_twice_is_refused_and_its_neighbours_are_not", ledger::refuses_twice),
    ("filters_select_what_they_say", ledger::filters),
    ("pages_go_on_where_they_ended", ledger::pages),
    ("events_are_found_by_their_places", ledger::by_place),
    ("what_was_acknowledged_survives_reopening", ledger::survives),
    ("what_is_too_large_is_refused", ledger::refuses_giants),
    ("a_whole_ledger_verifies", ledger::verifies),
    ("a_head_noted_elsewhere_is_compared", ledger::compares_heads),
    ("exports_hold_every_event", ledger::exports),
    ("a_closed_store_says_so", ledger::closes),
    ("answers_come_by_waiting_and_by_callback", concurrency::answers),
    ("many_appenders_leave_no_gap", concurrency::leaves_no_gap),
    ("a_flush_waits_for_all_before_it", concurrency::flushes),
    ("health_counts_commits", concurrency::is_healthy),
    ("sandboxes_are_put_found_and_listed", rows::sandboxes),
    ("executions_are_put_found_and_listed", rows::executions),
    ("snapshots_and_documents_are_kept", rows::snapshots_and_documents),
    ("an_idempotency_key_serves_one_request", rows::idempotency),
    ("an_approval_is_answered_once", approvals::answered_once),
    ("approvals_are_found_and_listed", approvals::listed),
    ("runs_are_put_found_and_listed", runs::listed),
    ("deliveries_are_logged_and_come_due", rows::deliveries),
    ("removing_a_sandbox_takes_its_rows_along", rows::removals),
    ("logs_come_back_in_order_and_by_offset", logs::come_back),
    ("logs_stop_at_their_cap_and_say_so", logs::stop_at_the_cap),
    ("words_are_found_in_logs", logs::are_searchable),
    ("pages_of_logs_hold_what_is_wanted", logs::fill_pages_with_what_is_wanted),
    ("history_is_summed_up_in_steps", samples::history),
    ("old_measurements_become_hours", samples::roll_up),
    ("artifacts_are_kept_once_and_read_by_range", artifacts::are_kept_once),
    ("artifacts_beyond_the_caps_are_refused", artifacts::are_capped),
    ("retention_removes_by_class_and_the_chain_still_holds", retention::by_class),
    ("two_who_prune_at_once_take_turns", retention::takes_turns),
    ("a_crowded_store_gives_up_everything_but_the_audit", retention::by_size),
    ("what_agents_did_is_counted", reports::counts),
];

fn ok<T>(outcome: Result<T, StoreError>) -> Result<T, String> {
    outcome.map_err(|error| super::chain(&error))
}

/// An id nobody has had in this process, sorted after the ones before.
fn fresh<T: FromStr<Err: std::fmt::Display>>(prefix: &str) -> Result<T, String> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}{number:032x}").parse().map_err(|e: T::Err| e.to_string())
}

fn noon() -> Timestamp {
    Timestamp::from(std::time::SystemTime::now())
}

const DAY: Duration = Duration::from_hours(24);

fn event(kind: EventKind) -> Result<NewEvent, String> {
    Ok(NewEvent::new(fresh("evt_")?, noon(), ProjectId::default(), kind))
}

fn events(kind: &EventKind, count: usize) -> Result<Vec<NewEvent>, String> {
    (0..count).map(|_| event(kind.clone())).collect()
}

fn append(store: &dyn Store, batch: Batch) -> Result<Appended, String> {
    ok(store.append(batch).wait())
}

fn append_events(store: &dyn Store, events: Vec<NewEvent>) -> Result<Appended, String> {
    append(store, Batch::of_events(events))
}

fn project(name: &str) -> Result<ProjectId, String> {
    name.parse().map_err(|e: belljar_domain::ProjectIdError| e.to_string())
}

fn sandbox(agent: &str) -> Result<SandboxRow, String> {
    let id: SandboxId = fresh("sbx_")?;
    Ok(SandboxRow {
        id,
        project: ProjectId::default(),
        name: format!("sandbox_{agent}_{}", id.short()),
        state: SandboxState::Running,
        agent: Some(agent.to_owned()),
        template: "host".to_owned(),
        labels: [("team".to_owned(), agent.to_owned())].into(),
        created: noon(),
        ended: None,
        record: serde_json::json!({ "note": "ä \"quoted\"" }),
    })
}
