//! Sandboxes and executions, as every provider offers them.

use std::{
    collections::BTreeMap,
    error::Error as StdError,
    fmt::Debug,
    net::SocketAddr,
    os::fd::{BorrowedFd, OwnedFd},
    time::SystemTime,
};

use belljar_domain::{
    Capability, ExecSpec, ExitReport, Isolation, KillCause, SandboxId, SandboxPath, SandboxSpec,
    SandboxState, SnapshotId, Span, Usage,
};
use serde::{Deserialize, Serialize};

use crate::{Changes, FileChange, JournalRecord, Open, Order, RawExit, Recording};

/// What becomes of a sandbox whose maker goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// It and every trace of it vanish, unless it is stopped in an orderly way first.
    WithMaker,
    /// It lives on until someone ends it or its clocks do.
    Alive,
}

/// Makes sandboxes and finds the ones made before.
pub trait SandboxProvider: Debug + Send + Sync {
    /// Its name, as in `--provider`.
    fn name(&self) -> &'static str;
    /// What stands between its sandboxes and the host.
    fn isolation(&self) -> Isolation;
    /// What it can do on this host; the conformance suite holds it to this, both ways.
    fn capabilities(&self) -> Vec<Capability>;
    /// Finds out whether what every sandbox needs of the host is there now. Tries it, so it takes some milliseconds.
    ///
    /// # Errors
    /// When something is missing; the error names it.
    fn check(&self) -> Result<(), SandboxError>;
    /// What a sandbox will be once it is made, but for its state; promises nothing.
    fn outline(&self, id: SandboxId, spec: &SandboxSpec) -> SandboxInfo;
    /// Builds and starts a sandbox.
    ///
    /// # Errors
    /// When it cannot be built, or a limit asked for cannot be enforced.
    fn create(&self, id: SandboxId, spec: &SandboxSpec, keep: Keep)
    -> Result<Box<dyn Sandbox>, SandboxError>;
    /// Finds one made before, by any process.
    ///
    /// # Errors
    /// [`SandboxError::Unknown`] when there is none.
    fn find(&self, id: SandboxId) -> Result<Box<dyn Sandbox>, SandboxError>;
    /// Lists what there is, oldest first, so that it can be shown, adopted or reaped.
    ///
    /// # Errors
    /// When the records cannot be read.
    fn list(&self) -> Result<Vec<SandboxInfo>, SandboxError>;
    /// Returns what the sandbox was asked to be that a snapshot was taken of.
    ///
    /// # Errors
    /// When there is no such snapshot.
    fn snapshot_spec(&self, id: SnapshotId) -> Result<SandboxSpec, SandboxError>;
    /// Removes a snapshot. Sandboxes that started from it must be over.
    ///
    /// # Errors
    /// When there is none, or it is in use.
    fn remove_snapshot(&self, id: SnapshotId) -> Result<(), SandboxError>;
    /// Lists snapshots, oldest first.
    ///
    /// # Errors
    /// When the records cannot be read.
    fn snapshots(&self) -> Result<Vec<SnapshotInfo>, SandboxError>;
    /// Removes what crashed makers left: half-built sandboxes, dead ones nobody can use. Returns how many.
    ///
    /// # Errors
    /// When the records cannot be read.
    fn sweep(&self) -> Result<usize, SandboxError>;
    /// Makes something ready that the next sandbox like this one needs, until there is enough for so many. A hint: it
    /// changes nothing but how long making takes. The answer is whether there was something to do.
    ///
    /// # Errors
    /// When it cannot be made.
    fn prepare(&self, spec: &SandboxSpec, count: usize) -> Result<bool, SandboxError>;
    /// Reads what is there of a journal: its whole records, and how many bytes they take.
    ///
    /// # Errors
    /// When it is none.
    fn read_journal(&self, bytes: &[u8]) -> Result<(Vec<JournalRecord>, usize), SandboxError>;
    /// Writes an order as a recorded execution reads it: in one piece of at most 4096 bytes.
    fn write_order(&self, order: &Order) -> Vec<u8>;
}

/// One sandbox. The handle carries its identity; no method takes a name.
pub trait Sandbox: Debug + Send + Sync {
    /// What is known about it now.
    fn info(&self) -> SandboxInfo;
    /// Starts a command. With a terminal in the spec the streams are not used.
    ///
    /// # Errors
    /// When it cannot be started.
    fn exec(&self, spec: &ExecSpec, streams: Streams) -> Result<Box<dyn Execution>, SandboxError>;
    /// Starts a command that is recorded and goes on whatever becomes of the caller. The answer is a packet socket on
    /// which something comes whenever the journal has news, and which closes when the command or the sandbox has ended.
    ///
    /// # Errors
    /// When the sandbox does not run, or the command cannot be started.
    fn record(&self, spec: &ExecSpec, recording: Recording) -> Result<OwnedFd, SandboxError>;
    /// Has whatever the next command needs made ready now, where that can be done in advance.
    fn stand_by(&self);
    /// Says whether it lives and has everything ready for a command. Costs next to nothing; what is not certain is `false`.
    fn stands_by(&self) -> bool;
    /// Lets go of what is kept ready for a command, so that doing nothing counts as idle.
    fn rest(&self);
    /// Counts the limits hit so far, to be given to [`Sandbox::judge`] later.
    fn strikes(&self) -> Usage;
    /// Says why a recorded command ended. `None`: the sandbox ended under it.
    fn judge(&self, exit: Option<&RawExit>, strikes: &Usage, duration: Span) -> ExitReport;
    /// Opens a path inside, as the sandbox's user and with the sandbox's own idea of what the path means.
    ///
    /// # Errors
    /// [`SandboxError::File`] with what the sandbox's kernel said.
    fn open(&self, path: &SandboxPath, how: Open) -> Result<OwnedFd, SandboxError>;
    /// Changes a path inside, likewise.
    ///
    /// # Errors
    /// [`SandboxError::File`] with what the sandbox's kernel said.
    fn change(&self, change: &FileChange) -> Result<(), SandboxError>;
    /// Connects to a port something inside listens on.
    ///
    /// # Errors
    /// [`SandboxError::File`] when nothing listens.
    fn dial(&self, port: u16) -> Result<OwnedFd, SandboxError>;
    /// Listens on a free port of the loopback inside, so that commands there can be heard out here.
    ///
    /// # Errors
    /// [`SandboxError::File`] with what the sandbox's kernel said.
    fn listen(&self) -> Result<OwnedFd, SandboxError>;
    /// The addresses and ports something inside listens on.
    ///
    /// # Errors
    /// When the sandbox does not run.
    fn listening(&self) -> Result<Vec<SocketAddr>, SandboxError>;
    /// What a user and a group of the host are called inside.
    fn owner_inside(&self, uid: u32, gid: u32) -> (u32, u32);
    /// Gives a sandbox made in advance to somebody: agent, labels, environment and clocks become those of `spec`.
    ///
    /// # Errors
    /// When the record cannot be written.
    fn reassign(&self, spec: &SandboxSpec) -> Result<(), SandboxError>;
    /// Remembers an environment for whoever finds the sandbox again: it is in [`SandboxInfo::spec`] then. Commands get
    /// theirs with their order.
    ///
    /// # Errors
    /// When the record cannot be written.
    fn keep_env(&self, env: &BTreeMap<String, String>) -> Result<(), SandboxError>;
    /// Measures what it uses.
    ///
    /// # Errors
    /// When it is over.
    fn usage(&self) -> Result<Usage, SandboxError>;
    /// Freezes every process in it.
    ///
    /// # Errors
    /// When it is not running, or cannot be frozen on this host.
    fn pause(&self) -> Result<(), SandboxError>;
    /// Thaws it.
    ///
    /// # Errors
    /// When it is not paused.
    fn resume(&self) -> Result<(), SandboxError>;
    /// Lets it live this much longer from now.
    ///
    /// # Errors
    /// When it is over.
    fn extend(&self, ttl: Span) -> Result<(), SandboxError>;
    /// Says, cheaply, that nothing in the workspace was touched.
    ///
    /// # Errors
    /// When its private disk cannot be read.
    fn is_untouched(&self) -> Result<bool, SandboxError>;
    /// Compares its workspace with the host's.
    ///
    /// # Errors
    /// When it has no workspace, or its private disk cannot be read.
    fn changes(&self) -> Result<Changes, SandboxError>;
    /// Writes down what it was made for and how that ended.
    ///
    /// # Errors
    /// When the record cannot be written.
    fn note(&self, command: &[String], report: Option<&ExitReport>) -> Result<(), SandboxError>;
    /// Freezes its files as something others can start from.
    ///
    /// # Errors
    /// When they cannot be read or stored.
    fn snapshot(&self, id: SnapshotId, name: Option<&str>) -> Result<SnapshotInfo, SandboxError>;
    /// Ends its processes and keeps its changes.
    ///
    /// # Errors
    /// When that cannot be recorded. One that is over already is fine.
    fn stop(&self, cause: Option<KillCause>) -> Result<(), SandboxError>;
    /// Lets go of a sandbox made with [`Keep::WithMaker`]: it and every trace of it vanish without being waited for.
    ///
    /// # Errors
    /// When it has to be removed by hand and that fails.
    fn abandon(self: Box<Self>) -> Result<(), SandboxError>;
    /// Ends it and removes every trace. Idempotent.
    ///
    /// # Errors
    /// When something could not be removed.
    fn destroy(&self) -> Result<(), SandboxError>;
}

/// The three streams of a command, as pipes or files.
#[derive(Debug)]
pub struct Streams {
    /// What it reads.
    pub stdin: OwnedFd,
    /// What it writes.
    pub stdout: OwnedFd,
    /// What it complains to.
    pub stderr: OwnedFd,
}

/// One command that is running or has run.
pub trait Execution: Debug + Send + Sync {
    /// The master side of its terminal, if it has one.
    fn terminal(&self) -> Option<BorrowedFd<'_>>;
    /// Becomes readable when [`Execution::wait`] will answer at once.
    fn ended(&self) -> BorrowedFd<'_>;
    /// Sends a signal to its process group.
    ///
    /// # Errors
    /// When it is over.
    fn signal(&self, signal: u8) -> Result<(), SandboxError>;
    /// Kills it and everything it started.
    ///
    /// # Errors
    /// When it is over.
    fn kill(&self) -> Result<(), SandboxError>;
    /// Waits for its end. Called once.
    ///
    /// # Errors
    /// When the sandbox cannot be asked.
    fn wait(&self) -> Result<ExitReport, SandboxError>;
}

/// How well one promise is kept on this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// Which promise: `memory`, `disk`, `filesystem` …
    pub promise: String,
    /// Whether it holds.
    pub enforced: bool,
    /// By what, or why not.
    pub by: String,
}

/// What is known about a sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SandboxInfo {
    /// Its identity.
    pub id: SandboxId,
    /// Its name for people: `sandbox_<agent>_<id>`.
    pub name: String,
    /// Where it is in its life.
    pub state: SandboxState,
    /// Which provider made it.
    pub provider: String,
    /// What stands between it and the host.
    pub isolation: Isolation,
    /// What was asked for.
    pub spec: SandboxSpec,
    /// When it was made.
    pub created: SystemTime,
    /// When it ended, if it has.
    pub ended: Option<SystemTime>,
    /// What killed it, if something did.
    pub cause: Option<KillCause>,
    /// The command it was made for, if any.
    pub command: Vec<String>,
    /// How that command ended.
    pub report: Option<ExitReport>,
    /// Which promises hold, and by what.
    pub levels: Vec<Level>,
    /// Its directory on the host.
    pub dir: std::path::PathBuf,
}

/// What is known about a snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotInfo {
    /// Its identity.
    pub id: SnapshotId,
    /// A name for people.
    pub name: Option<String>,
    /// Which sandbox it was taken of.
    pub of: SandboxId,
    /// When.
    pub created: SystemTime,
    /// Bytes on disk.
    pub bytes: u64,
}

/// Why a sandbox operation failed.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// There is no such sandbox.
    #[error("there is no sandbox {0}; `belljar list --all` shows what there is")]
    Unknown(SandboxId),
    /// It is over.
    #[error("sandbox {0} is over")]
    Over(SandboxId),
    /// It is in the wrong state for this.
    #[error("sandbox {id} is {state}; {hint}")]
    State {
        /// Which.
        id: SandboxId,
        /// Its state.
        state: SandboxState,
        /// What to do.
        hint: &'static str,
    },
    /// The provider cannot do this here.
    #[error("{what}; {hint}")]
    Unsupported {
        /// What it cannot do.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// Something stands on it.
    #[error("{what} is in use by {}; discard that first", listed(.by))]
    InUse {
        /// What cannot go.
        what: String,
        /// The sandboxes and snapshots that stand on it.
        by: Vec<String>,
    },
    /// A path or a port inside could not be used.
    #[error("{what}: {}", std::io::Error::from_raw_os_error(*errno))]
    File {
        /// What it was.
        what: String,
        /// What the sandbox's kernel said.
        errno: i32,
    },
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// A command could not be started.
    #[error("{what}")]
    Command {
        /// What went wrong, whole.
        what: String,
        /// Whether the program was not found (127) or could not be run (126).
        exit_code: u8,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The provider failed.
    #[error("could not {doing}")]
    Provider {
        /// The step under way, as a verb phrase.
        doing: &'static str,
        /// What a person can do about it.
        hint: Option<String>,
        /// What it said.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl SandboxError {
    /// Wraps a failure of a step.
    pub fn provider(doing: &'static str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Provider { doing, hint: None, source: source.into() }
    }

    /// What a person can do about it, if anything is known.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Command { hint, .. } | Self::Provider { hint, .. } => hint.as_deref(),
            Self::Unknown(_)
            | Self::Over(_)
            | Self::State { .. }
            | Self::Unsupported { .. }
            | Self::InUse { .. }
            | Self::File { .. }
            | Self::Invalid(_) => None,
        }
    }
}

/// The first few, and how many more.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if let Some(more) = names.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
