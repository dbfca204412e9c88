//! The `process` provider against the suite every provider must pass.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;

use belljar_domain::{SandboxId, SnapshotId};
use belljar_ports::conformance::{Bench, CHECKS};
use belljar_providers::process::ProcessProvider;

fn check(name: &str) {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("project");
    fs::create_dir(&workspace).unwrap();
    fs::write(workspace.join("kept"), "old").unwrap();
    let env = std::env::vars().collect();
    let provider = ProcessProvider::open(&home.path().join("belljar"), env).unwrap();
    let bench = Bench {
        provider: &provider,
        workspace: &workspace,
        sandbox_id: || SandboxId::from_uuid(uuid::Uuid::now_v7()),
        snapshot_id: || SnapshotId::from_uuid(uuid::Uuid::now_v7()),
    };
    let (_, run) = CHECKS.iter().find(|(known, _)| *known == name).unwrap();
    if let Err(broken) = run(&bench) {
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
    a_sandbox_runs_commands_and_reports_how_they_ended
    streams_environment_and_directory_reach_the_command
    a_program_that_does_not_exist_is_told_apart
    a_timeout_kills_and_is_named
    a_kill_ends_what_the_command_started
    the_workspace_changes_inside_only
    pausing_works_or_is_refused
    snapshots_work_or_are_refused
    network_modes_work_or_are_refused
    a_command_reaches_who_listens_outside
    users_work_or_are_refused
    an_ended_sandbox_refuses_commands_and_stops_twice
    a_destroyed_sandbox_is_unknown
}
