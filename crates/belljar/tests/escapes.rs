//! Every known way out, tried from inside `belljar run` and judged from both sides: by the probe that tried, and by the
//! traps on the host it would have sprung. One promise per module, as root and as an ordinary user; one sandbox per probe.
//!
//! `docs/threat-model.md` says what each promise means; the modules here have its names.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

mod support;

use belljar_probe::{
    host::Touch,
    probes::{Probe, every_probe},
    report::Report,
};

use support::{
    jar::{Jar, User},
    probe_program,
};

/// One module for each promise: the numbers of the probes that test it.
macro_rules! promises {
    ($($promise:ident: $probes:literal,)*) => {
        $(mod $promise {
            #[test]
            fn as_root() {
                super::check(super::User::Root, &[], $probes);
            }

            #[test]
            fn as_an_ordinary_user() {
                super::check(super::User::Ordinary, &[], $probes);
            }
        })*

        const PROMISES: &[&str] = &[$($probes),*];
    };
}

promises! {
    host_files_stay_out_of_reach: "01 02 03 04 05 62 78",
    the_tree_cannot_be_changed: "16 17 18 89 90",
    host_processes_stay_out_of_sight_and_reach: "06 07 27 28",
    namespaces_are_its_own_and_none_is_made_or_joined: "19 29 30 67 68 69",
    root_inside_is_nobody_outside: "88",
    no_privilege_is_held_or_gained: "23 24 25 80",
    kernel_knobs_are_closed: "08 09 13 14 15 76 77",
    kernel_memory_addresses_and_log_are_closed: "10 11 12",
    the_kernels_surface_is_small: "26 45 46 47 48 49 50 51 52 53 55 63 64 65 66 79",
    only_harmless_devices: "20 21 22",
    no_way_to_the_network: "40 41 42 43 44 85",
    no_way_to_the_hosts_services: "31 32 33 34",
    nothing_shared_outside_the_tree: "35 36",
    nothing_handed_down: "38 39",
    the_terminal_is_safe: "37 70",
    process_1_is_closed_to_the_agent: "71 72 73 74 75 91",
    processes_and_descriptors_are_limited: "54 56 60",
    memory_is_limited: "57 81 82 83 84",
    disk_is_limited: "58 59",
    processors_are_limited: "61",
    the_hosts_user_keeps_their_quotas: "86 87",
}

/// What a granted network takes away is the network alone: sockets that live in it but are no part of it stay shut.
mod with_the_hosts_network {
    const STILL_CLOSED: &str = "06 07 16 19 25 27 28 30 31 32 33 34 36 37 44 69 76 77 85 88";

    #[test]
    fn as_root() {
        super::check(super::User::Root, &["--net", "open"], STILL_CLOSED);
    }

    #[test]
    fn as_an_ordinary_user() {
        super::check(super::User::Ordinary, &["--net", "open"], STILL_CLOSED);
    }
}

#[test]
fn every_probe_tests_a_promise() {
    let mut tested: Vec<&str> = PROMISES.iter().flat_map(|probes| probes.split(' ')).collect();
    tested.sort_unstable();
    let numbers: Vec<&str> = every_probe().iter().map(|probe| &probe.name[..2]).collect();
    assert_eq!(tested, numbers);
}

fn check(user: User, flags: &[&str], probes: &str) {
    let jar = Jar::new(user);
    let canaries = jar.plant();
    let launcher = jar.launcher(flags);
    let mut escaped: Vec<Report> = Vec::new();
    for number in probes.split(' ') {
        let report = canaries.run_probe(&launcher, probe_program(), probe(number)).unwrap();
        println!("{} {}: {}", if report.contained { "ok" } else { "ESC" }, report.probe, report.detail);
        if !report.contained {
            escaped.push(report);
        }
    }
    let touched: Vec<Touch> = canaries.verify();
    assert!(escaped.is_empty() && touched.is_empty(), "escaped: {escaped:#?}\ntouched: {touched:#?}");
}

fn probe(number: &str) -> &'static Probe {
    every_probe().into_iter().find(|probe| probe.name.starts_with(number)).unwrap()
}
