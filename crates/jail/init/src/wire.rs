//! Frames on the sockets between the host, the keeper and the shepherds: one frame per packet.
//!
//! Four conversations, each on a `SOCK_SEQPACKET` socket: the *builder's line* (supervisor → PID 1 in the making),
//! the *lifeline* (supervisor ↔ keeper; its end is the supervisor's death), the *keeper door* (any host process ↔ keeper),
//! and the *control door* (any host process → one shepherd per connection, one execution each).

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::plan::{Groundwork, IdMap, Life, Network, Plan};

/// Largest frame sent as a packet; a larger execution request travels in a memory file.
pub const MAX_FRAME: usize = 16 * 1024;
/// Largest execution request at all: above the kernel's own limit for arguments and environment.
pub const MAX_REQUEST: usize = 8 * 1024 * 1024;
/// Most descriptors beside one frame.
pub const MAX_FDS: usize = 16;

/// First frame on the lifeline: enough to make the namespaces while the host still draws the plan. Beside it: the
/// builder's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prelude {
    /// How ids inside map to ids outside.
    pub map: IdMap,
    /// Whether the sandbox has a network of its own.
    pub network: Network,
}

/// Second frame on the lifeline: what the keeper keeps. Beside it: the keeper door, then whatever is to be held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// When and how the sandbox ends.
    pub life: Life,
}

/// Frame on the builder's line, in a memory file: what to build. Beside it: that file, the first control connection, the
/// control door, then the control-group files. A last frame on the line brings the disk, if it is passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boot {
    /// What to build.
    pub plan: Plan,
    /// How many of its steps are done: those of the groundwork, if it was laid.
    pub laid: u32,
}

/// Frame on the builder's line, in a memory file: what to do before there is a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ground {
    /// What to build.
    pub work: Groundwork,
    /// Directories of control groups that wait for the sandbox, to be removed if nobody ever asks for it.
    pub groups: Vec<String>,
}

/// What a frame on the builder's line is about; the frame itself is this text.
pub mod line {
    /// Beside it: a memory file with the groundwork.
    pub const GROUND: &[u8] = b"ground";
    /// Beside it: what [`Boot`](super::Boot) says.
    pub const BOOT: &[u8] = b"boot";
}

/// Host to keeper, on the lifeline or through the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToKeeper {
    /// Go on without a supervisor.
    Release,
    /// End the sandbox, keep its record.
    Stop {
        /// Why, for the record.
        cause: Cause,
    },
    /// End the sandbox and remove every trace of it.
    Destroy,
    /// Send a descriptor of the private disk.
    Disk,
    /// Live this much longer from now, in milliseconds; 0 is for ever.
    Extend {
        /// Milliseconds.
        ttl_ms: u64,
    },
}

/// Keeper (or the builder in its child) to host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromKeeper {
    /// The process ids, as soon as they are known.
    Born {
        /// The keeper's.
        keeper: u32,
        /// PID 1's, as the host sees it.
        init: u32,
    },
    /// The sandbox is ready. Beside it: a descriptor of the private disk.
    Ready,
    /// It could not be built.
    Failed(Failure),
    /// Answer to [`ToKeeper::Disk`]; the descriptor is beside it.
    Disk,
    /// The request was carried out.
    Done,
    /// The sandbox is over and its control groups are gone.
    Gone {
        /// Why.
        cause: Cause,
    },
}

/// Why a sandbox ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// Somebody asked.
    Stopped,
    /// Nothing ran for too long.
    Idle,
    /// Its life was over.
    Ttl,
    /// A limit or a person killed it.
    Killswitch,
    /// PID 1 died.
    Died,
    /// The supervisor vanished.
    Orphaned,
}

/// A failure before the command ran: where, what the kernel said, about what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The step under way.
    pub stage: Stage,
    /// The kernel's error number.
    pub errno: i32,
    /// The path or name it was about.
    pub about: String,
}

/// Where building or starting can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it; the host turns them into sentences")]
pub enum Stage {
    Boot,
    UserNamespace,
    Namespaces,
    Cgroup,
    IdMap,
    PrivateMounts,
    Disk,
    Skeleton,
    Layers,
    Dir,
    File,
    Bind,
    Device,
    Cow,
    Tmpfs,
    Proc,
    Terminals,
    Mask,
    Pivot,
    Hostname,
    Loopback,
    Keyring,
    Identity,
    Quota,
    Rlimit,
    Capabilities,
    Landlock,
    Seccomp,
    Request,
    Terminal,
    Fork,
    Workdir,
    User,
    Exec,
    Errand,
}

/// Host to shepherd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToShepherd {
    /// Start this. Must come first. Descriptors: standard input, output, error, unless there is a terminal. If it is
    /// recorded: the journal, the pipe of orders, then standard input or the pipe it comes through.
    Exec(Exec),
    /// As `Exec`, but encoded in the memory file that is the first descriptor.
    Large,
    /// Send a signal to the command's process group.
    Signal(u8),
    /// Kill the command and everything it started.
    Kill,
    /// Do something small. Must come first, and nothing follows.
    Errand(Errand),
}

/// Something to be done inside that is no command: paths and ports mean what they mean in there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    /// User and group on whose behalf.
    pub user: (u32, u32),
    /// What.
    pub what: Task,
}

/// What an errand is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// Open a path and send the descriptor.
    Open {
        /// The path.
        path: String,
        /// As for `open`.
        flags: u32,
        /// As for `open`.
        mode: u32,
    },
    /// Make a directory.
    MakeDir {
        /// The path.
        path: String,
        /// Whether to make those above it, and not to mind if it is there.
        parents: bool,
    },
    /// Rename, replacing a file that is there.
    Rename {
        /// What.
        from: String,
        /// To what.
        to: String,
    },
    /// Remove a file or a directory.
    Remove {
        /// The path.
        path: String,
        /// Whether a directory goes with everything in it.
        recursive: bool,
    },
    /// Set permission bits.
    Mode {
        /// The path.
        path: String,
        /// The bits.
        mode: u32,
    },
    /// Connect to a port something inside listens on and send the connection.
    Dial {
        /// The port.
        port: u16,
    },
    /// Listen on a port of loopback, or on any that is free if it is 0, and send the listening socket.
    Listen {
        /// The port.
        port: u16,
    },
    /// Make a symbolic link, replacing a file or a link that is there.
    Link {
        /// Where it is.
        path: String,
        /// What it says, word for word.
        target: String,
    },
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exec {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Environment, `NAME=value`.
    pub env: Vec<String>,
    /// Where to start.
    pub cwd: String,
    /// User, group and further groups inside.
    pub user: (u32, u32, Vec<u32>),
    /// Rows and columns of a terminal.
    pub terminal: Option<(u16, u16)>,
    /// Milliseconds it may take; 0 is for ever.
    pub timeout_ms: u64,
    /// Whether it goes on when the connection ends.
    pub orphan: Orphan,
    /// Whether what it writes goes into a journal.
    pub recording: Option<Recording>,
    /// Whether nothing of what it writes may be left out of the journal: once that is as long as its cap, the command
    /// waits until somebody has read what is there and says how much more it can take.
    pub is_whole: bool,
}

/// How an execution is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// Most bytes of output to keep; the rest is counted.
    pub cap: u64,
    /// Whether the third descriptor is a pipe of the host's that stays open, to be carried to standard input.
    pub input: bool,
}

/// What becomes of an execution whose connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Orphan {
    /// It is killed.
    Kill,
    /// It goes on.
    Keep,
}

/// Shepherd to host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromShepherd {
    /// The command runs. Beside it: the terminal's master side, if asked for.
    Started {
        /// Its process id inside.
        pid: u32,
    },
    /// It could not be started, or done.
    Failed(Failure),
    /// Something new is in the journal. Not sent while earlier ones wait.
    Wrote,
    /// The errand is done. Beside it: the descriptor, if there is one.
    Done,
    /// It ended.
    Exited {
        /// Raw wait status.
        status: i32,
        /// Whether its clock ended it.
        timed_out: bool,
        /// Largest resident set of one process, KiB.
        max_rss_kib: u64,
        /// User and system time, microseconds.
        cpu_micros: u64,
    },
}

/// Encodes a frame. Fails only when memory does.
#[must_use]
pub fn encode<T: Serialize>(frame: &T) -> Vec<u8> {
    postcard::to_allocvec(frame).unwrap_or_default()
}

/// Decodes a frame; `None` means it is not one.
#[must_use]
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}
