//! Every way out we know, grouped by the promise it would break: one file per group, one function per probe.

use std::time::Duration;

use crate::context::Context;
use crate::report::Verdict;

mod tools;

pub use tools::namespaces_of;

mod abi;
mod devices;
mod disk;
mod files;
mod inherit;
mod init;
mod ipc;
mod kernel;
mod memory;
mod mounts;
mod namespaces;
mod network;
mod privileges;
mod processes;
mod procfs;
mod quotas;
mod resources;
mod sockets;
mod sysfs;
mod terminal;

/// One way out.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Its number in the list of escapes and a short name.
    pub name: &'static str,
    /// What a sandbox promises about it.
    pub promise: &'static str,
    /// Tries it.
    pub run: fn(&Context) -> Verdict,
    /// How long it may take.
    pub limit: Duration,
    /// What it means when it is killed half-way.
    pub death: Death,
}

/// What the kill of a probe says about the sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Death {
    /// The sandbox stopped it: it asked for more than it was granted.
    Contains,
    /// Nothing: the probe failed.
    Fails,
}

impl Probe {
    const fn new(name: &'static str, promise: &'static str, run: fn(&Context) -> Verdict) -> Self {
        Self { name, promise, run, limit: Duration::from_secs(20), death: Death::Fails }
    }

    /// A probe that uses resources up: slower, and being killed for it is a good answer.
    const fn bomb(name: &'static str, promise: &'static str, run: fn(&Context) -> Verdict) -> Self {
        Self { name, promise, run, limit: Duration::from_secs(60), death: Death::Contains }
    }
}

/// Every probe, by number.
#[must_use]
pub fn every_probe() -> Vec<&'static Probe> {
    let groups = [
        files::PROBES,
        procfs::PROBES,
        sysfs::PROBES,
        mounts::PROBES,
        namespaces::PROBES,
        devices::PROBES,
        privileges::PROBES,
        processes::PROBES,
        init::PROBES,
        sockets::PROBES,
        network::PROBES,
        ipc::PROBES,
        terminal::PROBES,
        inherit::PROBES,
        kernel::PROBES,
        abi::PROBES,
        resources::PROBES,
        memory::PROBES,
        disk::PROBES,
        quotas::PROBES,
    ];
    let mut probes: Vec<&Probe> = groups.into_iter().flatten().collect();
    probes.sort_by_key(|probe| probe.name);
    probes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_numbered_without_gap_or_double() {
        let numbers: Vec<String> = every_probe().iter().map(|probe| probe.name[..2].to_owned()).collect();
        let expected: Vec<String> = (1..=numbers.len()).map(|number| format!("{number:02}")).collect();
        assert_eq!(numbers, expected);
    }
}
