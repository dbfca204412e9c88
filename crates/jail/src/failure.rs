//! What went wrong before a command ran: the step, what the kernel said, and what to do about it.

use std::{fmt, io};

use belljar_init::wire::{Failure, Stage};

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

    /// What a person can do about it, if anything is known.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        remedy(self.failure.stage, self.failure.errno)
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
        Stage::Exec => "run",
    }
}

const fn remedy(stage: Stage, errno: i32) -> Option<&'static str> {
    match (stage, errno) {
        (Stage::Namespaces | Stage::UserNamespace, libc::EPERM | libc::EACCES) => Some(
            "this host forbids unprivileged user namespaces. On Ubuntu 24.04 install deploy/apparmor/belljar \
             (see `belljar doctor`); elsewhere run `sysctl kernel.unprivileged_userns_clone=1`, or run belljar as root",
        ),
        (Stage::Namespaces | Stage::UserNamespace, libc::ENOSPC) => Some(
            "the host's limit of namespaces is reached; raise `sysctl user.max_user_namespaces` (and user.max_net_namespaces)",
        ),
        (Stage::IdMap, libc::EPERM) => Some(
            "user ids may not be mapped here; an outer sandbox or AppArmor forbids it (see `belljar doctor`)",
        ),
        (Stage::Proc, libc::EPERM) => Some(
            "inside a container /proc is partly hidden, so a new one cannot be mounted; start the outer container \
             with `--security-opt systempaths=unconfined`",
        ),
        (Stage::Bind, libc::EROFS) => Some(
            "its place inside would have to be made in a directory of the host's that is shown read-only; choose one \
             outside /usr, /opt and the like, such as below /srv",
        ),
        (Stage::Cow | Stage::Layers, libc::EINVAL) => Some(
            "the directory has other file systems mounted inside it, or this kernel is too old for overlays without \
             root (5.11); run belljar as root or choose a directory without mounts",
        ),
        (Stage::Cow | Stage::Layers, libc::ENODEV) => {
            Some("this kernel has no overlayfs; load it with `modprobe overlay`")
        }
        (Stage::Cow | Stage::Layers, libc::ELOOP) => {
            Some("the directory contains belljar's own data; set BELLJAR_HOME to a place outside it")
        }
        (Stage::Cgroup, libc::EACCES | libc::EPERM) => Some(
            "the control group was delegated, but this process may not move into it; see `belljar doctor`",
        ),
        (Stage::Fork, libc::EAGAIN) => Some("the sandbox has reached its process limit; raise --pids"),
        (Stage::Exec, libc::ENOENT) => {
            Some("there is no such program in the sandbox; is it installed in /usr or /opt?")
        }
        (Stage::Exec, libc::EACCES) => Some("it is not executable, or may not be read by the sandbox's user"),
        (Stage::Exec, libc::E2BIG) => {
            Some("arguments and environment are too long for the kernel; pass data through a file")
        }
        (Stage::Workdir, libc::ENOENT) => {
            Some("the directory does not exist in the sandbox; see --workdir and --mount")
        }
        (Stage::User, libc::EPERM | libc::EINVAL) => {
            Some("without root a sandbox has one user only; run belljar as root to use others")
        }
        _ => None,
    }
}
