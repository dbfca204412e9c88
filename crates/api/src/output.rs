//! What commands wrote: by command, and by sandbox.

use serde::Serialize;
use utoipa::ToSchema;

use crate::Usage;

/// Where output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    /// The command.
    Stdout,
    /// The command, complaining.
    Stderr,
    /// belljar itself.
    System,
}

/// A piece of a command's output.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OutputPiece {
    /// Its place among all pieces of this command, from 1; reading goes on after it.
    pub place: u64,
    /// Which stream.
    pub stream: OutputStream,
    /// Where in that stream it begins, in bytes.
    pub offset: u64,
    /// When it was written.
    #[schema(format = DateTime)]
    pub time: String,
    /// What was written; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// The exact bytes in base64, where `text` is not exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// Output after a place, as far as there is some now.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OutputPage {
    /// The pieces.
    pub items: Vec<OutputPiece>,
    /// Where to go on from.
    pub after: u64,
    /// Whether the command is over and this is the end.
    pub end: bool,
}

/// How a command ended, as the last of its stream.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Exit {
    /// Its identity.
    pub execution_id: String,
    /// Its exit code.
    pub exit_code: Option<u8>,
    /// The signal that ended it.
    pub signal: Option<u8>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Whether a clock ended it.
    pub timed_out: bool,
    /// Whether the memory limit ended it.
    pub oom: bool,
    /// Whether output was cut off.
    pub truncated: bool,
    /// What made belljar or the kernel end it.
    pub cause: Option<String>,
    /// Limits it reached without being ended.
    pub reached: Vec<String>,
    /// What the sandbox had used by then.
    pub usage: Option<Usage>,
}

/// A piece of a sandbox's log.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LogPiece {
    /// Its place among all pieces.
    pub seq: u64,
    /// By which command; absent for what concerns the sandbox as a whole.
    pub execution_id: Option<String>,
    /// Which stream.
    pub stream: OutputStream,
    /// Where in that stream it begins, in bytes.
    pub offset: u64,
    /// When it was seen.
    #[schema(format = DateTime)]
    pub time: String,
    /// What was written; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// The exact bytes in base64, where `text` is not exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Whether the stream went on beyond the cap, where it was cut.
    pub cut: bool,
}

/// A page of a sandbox's log.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LogPage {
    /// The pieces: oldest first, or newest first when words were looked for.
    pub items: Vec<LogPiece>,
    /// Where the next page begins; absent at the end.
    pub next_cursor: Option<String>,
    /// Whether everything written before was searched.
    pub complete: bool,
}
