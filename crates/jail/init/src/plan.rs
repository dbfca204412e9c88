//! A sandbox as a value: printable, comparable, and complete. Whoever executes it decides nothing.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// Everything that makes one sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Host name inside.
    pub hostname: String,
    /// Who the sandbox's user is, inside and outside.
    pub identity: Identity,
    /// Whether it has a network of its own.
    pub network: Network,
    /// Directory that serves as mount point while the root is built; seen by nobody but the builder.
    pub stage: String,
    /// Where the private disk comes from.
    pub disk: Disk,
    /// How to build the root, in order. Paths named `at` are inside the sandbox.
    pub steps: Vec<Step>,
    /// What is taken away before anything of the user's runs.
    pub lockdown: Lockdown,
    /// When and how it ends.
    pub life: Life,
    /// Number of control-group files to join, passed as descriptors.
    pub cgroups: u32,
}

/// The first part of a plan: what takes neither the private disk nor a control group, and so can be laid before anybody
/// asks for the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Groundwork {
    /// As in the plan.
    pub identity: Identity,
    /// As in the plan.
    pub stage: String,
    /// The plan's first steps.
    pub steps: Vec<Step>,
}

impl Plan {
    /// What of this plan can be laid ahead. Whoever is handed the plan itself passes over these steps if they are done.
    #[must_use]
    pub fn groundwork(&self) -> Groundwork {
        let steps = self.steps.iter().take_while(|step| !step.needs_disk()).cloned().collect();
        Groundwork { identity: self.identity.clone(), stage: self.stage.clone(), steps }
    }
}

/// Users inside and outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// User id inside.
    pub uid: u32,
    /// Group id inside.
    pub gid: u32,
    /// How ids inside map to ids outside.
    pub map: IdMap,
}

/// How ids inside map to ids outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdMap {
    /// Ids 0 to `count` become `base` and up: nobody's ids. Needs root; the user namespace is entered last.
    Range {
        /// First id outside.
        base: u32,
        /// How many.
        count: u32,
    },
    /// The one user inside is the caller outside. The user namespace is made first.
    Single {
        /// Caller's user id.
        uid: u32,
        /// Caller's group id.
        gid: u32,
    },
}

/// The network inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// An empty network namespace with loopback up.
    Loopback,
    /// The host's.
    Host,
}

/// The private disk: every byte the sandbox writes lands here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disk {
    /// A mounted file system passed as a descriptor.
    Passed,
    /// A tmpfs made by the builder.
    Tmpfs {
        /// Bytes.
        size: u64,
        /// Inodes.
        inodes: u64,
    },
}

/// One step of building the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The root itself, as a small tmpfs that is made read-only at the end.
    Skeleton,
    /// The root itself, as layers with a private top.
    Layers {
        /// Host directories, topmost first.
        lowers: Vec<String>,
    },
    /// A directory.
    Dir {
        /// Where.
        at: String,
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Where.
        at: String,
        /// To what.
        to: String,
    },
    /// A small file.
    File {
        /// Where.
        at: String,
        /// Contents.
        text: String,
    },
    /// A host path, lent.
    Bind {
        /// Host path.
        from: String,
        /// Where.
        at: String,
        /// Whether writes reach the host.
        access: Access,
    },
    /// A host device node, lent.
    Device {
        /// Host path, also the path inside.
        at: String,
    },
    /// A host directory seen copy-on-write.
    Cow {
        /// Host directories, topmost first.
        lowers: Vec<String>,
        /// Where.
        at: String,
        /// Name of its part of the private disk.
        name: String,
    },
    /// An empty directory on the private disk, belonging to the sandbox's user.
    Private {
        /// Where.
        at: String,
        /// Name of its part of the private disk.
        name: String,
        /// Permission bits.
        mode: u32,
    },
    /// A memory file system with a size.
    Tmpfs {
        /// Where.
        at: String,
        /// Bytes.
        size: u64,
        /// Inodes.
        inodes: u64,
        /// Permission bits.
        mode: u32,
    },
    /// The process file system of the sandbox's own pid namespace.
    Proc,
    /// A private set of pseudo terminals on `/dev/pts`.
    Terminals,
    /// Makes what is at a path unreadable; nothing if there is nothing.
    Mask {
        /// Where.
        at: String,
    },
    /// Makes what is at a path unwritable; nothing if there is nothing.
    Freeze {
        /// Where.
        at: String,
    },
}

impl Step {
    const fn needs_disk(&self) -> bool {
        matches!(self, Self::Layers { .. } | Self::Cow { .. } | Self::Private { .. })
    }
}

/// Whether a lent path can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Read only.
    Read,
    /// Writes reach the host.
    Write,
}

/// What is taken away before anything of the user's runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lockdown {
    /// Resource limits of every process.
    pub rlimits: Vec<Rlimit>,
    /// Limits on kernel objects counted per user, set in the sandbox's user namespace.
    pub quotas: Vec<Quota>,
    /// Landlock rules, if the kernel has Landlock.
    pub landlock: Option<Landlock>,
    /// Seccomp program in the kernel's own form.
    #[serde(with = "program")]
    pub seccomp: Vec<u8>,
}

/// One resource limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rlimit {
    /// The kernel's number of the resource.
    pub resource: u32,
    /// Soft and hard limit.
    pub limit: u64,
}

/// One limit of `/proc/sys/user`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// The file's name there; passed over by kernels without it.
    pub name: String,
    /// How many each user inside may have.
    pub limit: u64,
}

/// Landlock rules: rights on file hierarchies, everything else refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landlock {
    /// Rights the rules speak about.
    pub handled: u64,
    /// What may not be reached outside the sandbox's own processes (abstract sockets, signals).
    pub scoped: u64,
    /// Rights granted below each path inside; absent paths are passed over.
    pub rules: Vec<LandlockRule>,
}

/// Rights below one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandlockRule {
    /// Path inside.
    pub at: String,
    /// Rights.
    pub allow: u64,
}

/// When and how a sandbox ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    /// Milliseconds it may live in all; 0 is for ever.
    pub ttl_ms: u64,
    /// Milliseconds it may live without an execution; 0 is for ever.
    pub idle_ms: u64,
    /// Control-group directories to remove at the end.
    pub cgroup_dirs: Vec<String>,
    /// File that unfreezes the sandbox's control group, and what to write there: a frozen process cannot die.
    pub thaw: Option<(String, String)>,
    /// Directory that records the sandbox.
    pub state_dir: String,
    /// Whether the private disk is memory, and what the sandbox changed goes with whoever holds it last.
    pub disk_in_memory: bool,
    /// A formatted blank, and where to leave a copy of it for the next sandbox if there is none.
    pub spare_disk: Option<(String, String)>,
}

/// Shows a seccomp program by its length, keeps it whole on the wire.
mod program {
    use alloc::vec::Vec;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(program: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            alloc::format!("{} instructions", program.len() / 8).serialize(serializer)
        } else {
            program.serialize(serializer)
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        Vec::deserialize(deserializer)
    }
}
