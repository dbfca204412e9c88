//! What the service shows.

use std::collections::BTreeMap;

use belljar_domain::{
    ExecutionId, ExitReport, Isolation, KillCause, ProjectId, SandboxId, SandboxSpec, SandboxState, Terminal,
    Timestamp,
};
use belljar_ports::{Level, store::LogStream};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A sandbox as its owner sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SandboxView {
    /// Its identity.
    pub id: SandboxId,
    /// Its name for people.
    pub name: String,
    /// Whose it is.
    pub project: ProjectId,
    /// Where it is in its life.
    pub state: SandboxState,
    /// Who made it: the provider's name.
    pub provider: String,
    /// The isolation it has.
    pub isolation: Isolation,
    /// What was asked for; labels and agent included.
    pub spec: SandboxSpec,
    /// Which promises hold, and by what.
    pub levels: Vec<Level>,
    /// What was to be kept with it.
    pub metadata: Value,
    /// When it was made.
    pub created: Timestamp,
    /// When something was last done with it.
    pub last_activity: Timestamp,
    /// When its time is over.
    pub expires: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// Why it was ended, if it was.
    pub cause: Option<KillCause>,
}

/// One command as its owner sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionView {
    /// Its identity.
    pub id: ExecutionId,
    /// Where it runs.
    pub sandbox: SandboxId,
    /// Whose it is.
    pub project: ProjectId,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Where it was started.
    pub cwd: Option<String>,
    /// Its own environment, names only: values may be secrets.
    pub env: Vec<String>,
    /// As whom.
    pub user: Option<String>,
    /// Its terminal's first size.
    pub terminal: Option<Terminal>,
    /// Who started it.
    pub started_by: String,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// How it ended; `None` while it runs.
    pub report: Option<ExitReport>,
    /// Bytes written so far, by stream; what the cap cut off included.
    pub written: BTreeMap<LogStream, u64>,
    /// Whether output was cut off.
    pub truncated: bool,
}

/// A command that has ended, with what it wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// How it went.
    pub execution: ExecutionView,
    /// What it wrote.
    pub stdout: Vec<u8>,
    /// What it complained about.
    pub stderr: Vec<u8>,
}

/// A piece of a command's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputChunk {
    /// Its place among all pieces of this command, from 1; where to go on from.
    pub place: u64,
    /// Which stream.
    pub stream: LogStream,
    /// Where in that stream it begins.
    pub offset: u64,
    /// When it was written.
    pub time: Timestamp,
    /// What.
    pub bytes: Vec<u8>,
}

/// Output after a place, as far as there is some now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputPage {
    /// The pieces.
    pub chunks: Vec<OutputChunk>,
    /// Whether the command is over and this is the end.
    pub end: bool,
    /// Whether something before it went by unread, and is kept nowhere.
    pub missed: bool,
}

/// A port something in a sandbox listens on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListeningPort {
    /// Its number.
    pub port: u16,
    /// The address it is bound to, as text.
    pub address: String,
}

/// What there is at a path in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileView {
    /// The whole path.
    pub path: String,
    /// Its last part.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
    /// Bytes.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// Owner inside the sandbox.
    pub uid: u32,
    /// Group inside the sandbox.
    pub gid: u32,
    /// When it last changed.
    pub modified: Timestamp,
    /// Where a link points.
    pub target: Option<String>,
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// A plain file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A pipe, a socket, a device.
    Other,
}
