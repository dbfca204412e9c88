//! Sandboxes and executions, as every provider offers them.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    net::SocketAddr,
    os::fd::{BorrowedFd, OwnedFd},
};

use belljar_domain::{ExecSpec, ExitReport, KillCause, SandboxPath, SandboxSpec, SnapshotId, Span, Usage};

use crate::{Changes, FileChange, Open, RawExit, Recording, SandboxError, SandboxInfo, SnapshotInfo};

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
    /// Lets go of a sandbox made with [`super::Keep::WithMaker`]: it and every trace of it vanish without being waited for.
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
