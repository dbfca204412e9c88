//! The SQLite records against the suite every database of records must pass.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use belljar_ports::conformance::lens::{Bench, CHECKS};
use belljar_store::{SqliteStore, StoreConfig};

fn check(name: &str) {
    let home = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(home.path(), StoreConfig::default()).unwrap();
    let open = || Ok(Box::new(store.lens()?) as _);
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
    a_place_is_reached_once_and_kept
    what_fails_leaves_nothing
    records_are_found_by_every_name_they_have
    calls_are_selected_and_paged
    sessions_agents_and_errors_are_selected
    events_are_found_by_words_and_fields
    sums_follow_records_that_change
    money_is_put_together_by_everything
    what_is_old_is_removed_and_sums_stay
}
