//! Commands: what is asked for, and how they went.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A program with its arguments, or a line for the shell.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected a list of words, or a line for the shell")]
pub enum Command {
    /// Program and arguments; no shell in between.
    Argv(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}

/// A command to be run.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"command": ["python3", "-c", "print(6 * 7)"]}))]
pub struct ExecRequest {
    /// What to run.
    pub command: Command,
    /// Where; the sandbox's workspace or home when absent.
    #[schema(max_length = 4096)]
    pub cwd: Option<String>,
    /// Environment on top of the sandbox's own.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What it reads, then end of file.
    pub stdin: Option<String>,
    /// Leaves its input open for `…/stdin`; only in the background or streaming.
    #[serde(default)]
    pub stdin_open: bool,
    /// How long it may take; the sandbox's own clock when absent.
    #[schema(minimum = 0.001, maximum = 604_800)]
    pub timeout_seconds: Option<f64>,
    /// User name or id inside the sandbox.
    #[schema(max_length = 64)]
    pub user: Option<String>,
    /// Answers at once, with the execution's id.
    #[serde(default)]
    pub background: bool,
    /// Answers with a stream of server-sent events: `stdout`, `stderr`, then `exit`.
    #[serde(default)]
    pub stream: bool,
    /// Ends the command when whoever it streams to goes away before its end.
    #[serde(default)]
    pub attached: bool,
    /// Runs it on a terminal of this size.
    pub terminal: Option<TerminalSize>,
    /// The identity it is to have, for whoever has to know it beforehand; one of the server's when absent.
    #[schema(pattern = "^exe_[0-9a-f]{32}$")]
    pub execution_id: Option<String>,
}

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminalSize {
    /// Height.
    #[schema(minimum = 1, maximum = 1000)]
    pub rows: u16,
    /// Width.
    #[schema(minimum = 1, maximum = 1000)]
    pub cols: u16,
}

/// A terminal's new size.
pub type ResizeRequest = TerminalSize;

/// A signal for a command's process group.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"signal": 15}))]
pub struct SignalRequest {
    /// Its number.
    #[schema(minimum = 1, maximum = 64)]
    pub signal: u8,
}

/// How a command went that was waited for.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ExecAnswer {
    /// Its identity.
    #[schema(pattern = "^exe_[0-9a-f]{32}$")]
    pub execution_id: String,
    /// Its exit code, or one that names what killed it: 124 a clock, 137 a limit or a person, 128 and the number a
    /// signal.
    pub exit_code: u8,
    /// What it wrote; what is not UTF-8 is replaced, and exact at `…/output`.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    /// How long it took.
    pub duration_ms: u64,
    /// Whether a clock ended it.
    pub timed_out: bool,
    /// Whether the memory limit ended it.
    pub oom: bool,
    /// The signal that ended it, if one did.
    pub signal: Option<u8>,
    /// Whether output was cut off.
    pub truncated: bool,
    /// What made belljar or the kernel end it.
    pub cause: Option<String>,
}

/// How a command is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExecutionStatus {
    /// It runs.
    Running,
    /// It exited with 0.
    Success,
    /// It exited otherwise, or a limit or signal ended it.
    Failure,
    /// A clock ended it.
    Timeout,
    /// A person or a rule ended it.
    Cancelled,
}

/// A command that runs or ran.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Execution {
    /// Its identity.
    #[schema(pattern = "^exe_[0-9a-f]{32}$")]
    pub execution_id: String,
    /// The same, as every other object names it.
    pub id: String,
    /// Where it runs.
    pub sandbox_id: String,
    /// How it is doing.
    pub status: ExecutionStatus,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Where it was started.
    pub cwd: Option<String>,
    /// The names of its own variables; values may be secrets.
    pub env: Vec<String>,
    /// As whom.
    pub user: Option<String>,
    /// Its terminal's first size.
    pub terminal: Option<TerminalSize>,
    /// Who started it.
    pub started_by: String,
    /// When it began.
    #[schema(format = DateTime)]
    pub started_at: String,
    /// When it ended.
    #[schema(format = DateTime)]
    pub completed_at: Option<String>,
    /// Its exit code once it is over.
    pub exit_code: Option<u8>,
    /// The signal that ended it.
    pub signal: Option<u8>,
    /// Whether a clock ended it.
    pub timed_out: bool,
    /// Whether the memory limit ended it.
    pub oom: bool,
    /// What made belljar or the kernel end it.
    pub cause: Option<String>,
    /// Limits it reached without being ended.
    pub reached: Vec<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Bytes written to standard output so far.
    pub stdout_bytes: u64,
    /// Bytes written to standard error so far.
    pub stderr_bytes: u64,
    /// Whether output was cut off.
    pub truncated: bool,
    /// The first MiB of what it wrote so far, where one command is asked for; `…/output` has all of it, exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// The same of what it complained about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}
