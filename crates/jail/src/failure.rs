//! What went wrong before a command ran: the step, what the kernel said, and what to do about it.

use std::{fmt, io};

use belljar_init::wire::{Failure, Stage};

use crate::{Remedy, Signs};

/// A sandbox or command that could not be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartError {
    failure: Failure,
}

impl StartError {
    pub(crate) const fn new(failure: Failure) -> Self {
        Self { failure }
    }

    /// The step that failed.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        self.failure.stage
    }

    /// The kernel's error number.
    #[must_use]
    pub const fn errno(&self) -> i32 {
        self.failure.errno
    }

    /// The path or name it was about.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.failure.about
    }

    /// What a person can do about it, if anything is known.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        Remedy::of(self.failure.stage, self.failure.errno, &Signs::read())
    }

    /// Says whether it was the command that could not be found or run, rather than the sandbox that could not be built.
    #[must_use]
    pub const fn is_command(&self) -> bool {
        matches!(self.failure.stage, Stage::Exec | Stage::Workdir | Stage::User)
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { stage, errno, about } = &self.failure;
        let doing = describe(*stage);
        let said = io::Error::from_raw_os_error(*errno);
        if about.is_empty() {
            write!(f, "could not {doing}: {said}")
        } else {
            write!(f, "could not {doing} `{about}`: {said}")
        }
    }
}

impl std::error::Error for StartError {}

const fn describe(stage: Stage) -> &'static str {
    match stage {
        Stage::Boot => "hand over the plan",
        Stage::UserNamespace => "make the user namespace",
        Stage::Namespaces => "make the namespaces",
        Stage::Cgroup => "join the control group",
        Stage::IdMap => "map user ids",
        Stage::PrivateMounts => "separate the mounts",
        Stage::Disk => "prepare the private disk",
        Stage::Skeleton => "make the root",
        Stage::Layers => "stack the template's layers",
        Stage::Dir => "make the directory",
        Stage::File => "write the file",
        Stage::Bind => "lend",
        Stage::Device => "lend the device",
        Stage::Cow => "show copy-on-write",
        Stage::Tmpfs => "mount memory on",
        Stage::Proc => "mount /proc",
        Stage::Terminals => "mount terminals",
        Stage::Mask => "mask",
        Stage::Pivot => "change the root",
        Stage::Hostname => "set the host name",
        Stage::Loopback => "bring up loopback",
        Stage::Keyring => "join a new keyring",
        Stage::Identity => "become the sandbox's user",
        Stage::Quota => "set the quota of kernel objects",
        Stage::Rlimit => "set resource limit number",
        Stage::Capabilities => "drop capabilities",
        Stage::Landlock => "set up Landlock",
        Stage::Seccomp => "install the system-call filter",
        Stage::Request => "read the request",
        Stage::Terminal => "open a terminal",
        Stage::Fork => "start a process",
        Stage::Workdir => "enter the directory",
        Stage::User => "become user",
        Stage::Errand => "use",
        Stage::Exec => "run",
    }
}
