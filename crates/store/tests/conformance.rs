//! The SQLite store against the suite every store must pass.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use belljar_ports::conformance::store::{Bench, Bounds, CHECKS};
use belljar_store::{SqliteStore, StoreConfig};

fn check(name: &str) {
    let home = tempfile::tempdir().unwrap();
    let open = |bounds: Bounds| {
        let config = StoreConfig {
            log_bytes: bounds.log_bytes,
            artifact_bytes: bounds.artifact_bytes,
            artifacts_bytes: bounds.artifacts_bytes,
            database_bytes: bounds.database_bytes,
            ..StoreConfig::default()
        };
        Ok(Box::new(SqliteStore::open(home.path(), config)?) as _)
    };
    let (_, run) = CHECKS.iter().find(|(known, _)| *known == name).unwrap();
    if let Err(broken) = run(&Bench { open: &open }) {
        panic!("{name}: {broken}");
    }
}

macro_rules! checks {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*

        #[test]
        fn every_check_of_the_suite_is_run() {
            let here = [$(stringify!($name)),*];
            assert_eq!(here.to_vec(), CHECKS.map(|(name, _)| name).to_vec());
        }
    };
}

checks! {
    events_come_back_whole_and_in_order
    a_batch_is_all_or_nothing
    known_events_are_left_out_where_asked
    an_event_told_twice_is_refused_and_its_neighbours_are_not
    filters_select_what_they_say
    pages_go_on_where_they_ended
    events_are_found_by_their_places
    what_was_acknowledged_survives_reopening
    what_is_too_large_is_refused
    a_whole_ledger_verifies
    a_head_noted_elsewhere_is_compared
    exports_hold_every_event
    a_closed_store_says_so
    answers_come_by_waiting_and_by_callback
    many_appenders_leave_no_gap
    a_flush_waits_for_all_before_it
    health_counts_commits
    sandboxes_are_put_found_and_listed
    executions_are_put_found_and_listed
    snapshots_and_documents_are_kept
    an_idempotency_key_serves_one_request
    an_approval_is_answered_once
    approvals_are_found_and_listed
    runs_are_put_found_and_listed
    deliveries_are_logged_and_come_due
    removing_a_sandbox_takes_its_rows_along
    logs_come_back_in_order_and_by_offset
    logs_stop_at_their_cap_and_say_so
    words_are_found_in_logs
    pages_of_logs_hold_what_is_wanted
    history_is_summed_up_in_steps
    old_measurements_become_hours
    artifacts_are_kept_once_and_read_by_range
    artifacts_beyond_the_caps_are_refused
    retention_removes_by_class_and_the_chain_still_holds
    two_who_prune_at_once_take_turns
    a_crowded_store_gives_up_everything_but_the_audit
    what_agents_did_is_counted
}
