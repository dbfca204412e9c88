//! What this kernel lets the calling user do, found out by doing it.
//!
//! Owns: one small act per feature, each in a process of its own ([`Prober`] executes this same program again, with
//! one thread, because making namespaces and locking oneself in cannot be undone). Refuses: verdicts; a probe says what
//! happened, at which step of a sandbox's making it would hurt, and the rest is the caller's.

mod ask;
mod group;
mod locks;
mod mounts;
mod namespaces;
mod step;

use std::{io, io::Write};

use belljar_init::wire::{Failure, encode};

pub use ask::{ProbeError, Prober};
pub use group::{GroupTrial, TrialError, try_group};

/// The hidden command by which a program runs a probe in itself.
pub const COMMAND: &str = "__probe";

/// One feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// Making a user namespace, mapping ids, having power in it.
    UserNamespace,
    /// Making a mount namespace and mounting something.
    MountNamespace,
    /// Making an empty network namespace.
    NetworkNamespace,
    /// Being process 1.
    PidNamespace,
    /// Mounting `/proc` for a pid namespace.
    Proc,
    /// Mounting an overlay and changing a file through it.
    Overlay,
    /// Showing a directory with other owners.
    IdMappedMount,
    /// Installing the system-call filter.
    Seccomp,
    /// Locking oneself in with Landlock.
    Landlock,
    /// Talking to the kernel's hypervisor.
    Kvm,
}

impl Probe {
    const ALL: [Self; 10] = [
        Self::UserNamespace,
        Self::MountNamespace,
        Self::NetworkNamespace,
        Self::PidNamespace,
        Self::Proc,
        Self::Overlay,
        Self::IdMappedMount,
        Self::Seccomp,
        Self::Landlock,
        Self::Kvm,
    ];

    /// Its name on the hidden command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UserNamespace => "user-namespace",
            Self::MountNamespace => "mount-namespace",
            Self::NetworkNamespace => "network-namespace",
            Self::PidNamespace => "pid-namespace",
            Self::Proc => "proc",
            Self::Overlay => "overlay",
            Self::IdMappedMount => "idmapped-mount",
            Self::Seccomp => "seccomp",
            Self::Landlock => "landlock",
            Self::Kvm => "kvm",
        }
    }

    fn act(self) -> Result<String, Failure> {
        match self {
            Self::UserNamespace => namespaces::user(),
            Self::MountNamespace => mounts::namespace(),
            Self::NetworkNamespace => namespaces::network(),
            Self::PidNamespace => namespaces::pid(),
            Self::Proc => mounts::proc(),
            Self::Overlay => mounts::overlay(),
            Self::IdMappedMount => mounts::idmapped(),
            Self::Seccomp => locks::seccomp(),
            Self::Landlock => locks::landlock(),
            Self::Kvm => locks::kvm(),
        }
    }
}

/// Runs the probe or the helper of one that the hidden command names, in this very process, and writes the answer to
/// standard output. The process must end afterwards: it is no longer what it was.
///
/// # Errors
/// When there is no such probe or the answer cannot be written.
pub fn run(name: &str) -> io::Result<()> {
    let answer = match name {
        namespaces::HOLD => return namespaces::hold(),
        ask::SIT => return ask::sit(),
        namespaces::FIRST => namespaces::is_first(),
        mounts::PROC_INSIDE => mounts::proc_inside(),
        name => match Probe::ALL.into_iter().find(|probe| probe.name() == name) {
            Some(probe) => probe.act(),
            None => return Err(io::Error::from(io::ErrorKind::InvalidInput)),
        },
    };
    let mut out = io::stdout().lock();
    out.write_all(&encode(&answer))?;
    out.flush()
}
