//! What goes after the `?`.

use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::{OutputStream, SandboxState};

/// Which page.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[a-z]{3}_[0-9a-f]{32}$")]
    pub cursor: Option<String>,
}

/// Which sandboxes.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SandboxQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[a-z]{3}_[0-9a-f]{32}$")]
    pub cursor: Option<String>,
    /// Of this project.
    #[param(pattern = "^[a-z0-9][a-z0-9_-]{0,62}$")]
    pub project_id: Option<String>,
    /// In this state.
    pub state: Option<SandboxState>,
    /// In this coarse state: `CREATING`, `RUNNING`, `PAUSED` or `TERMINATED`.
    #[param(pattern = "^(CREATING|RUNNING|PAUSED|TERMINATED)$")]
    pub status: Option<String>,
    /// Of this agent.
    #[param(max_length = 128)]
    pub agent: Option<String>,
    /// Made from this.
    #[param(max_length = 4096)]
    pub template: Option<String>,
    /// With these tags: `name=value`, several with commas between.
    #[param(pattern = "^[^=,]+=[^,]*(,[^=,]+=[^,]*)*$", example = "task=demo")]
    pub label: Option<String>,
    /// Made then or later.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// Made before.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
}

/// Which stretch of time.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// From then; an hour ago when absent.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// Until before then; now when absent.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
    /// Seconds each point stands for.
    #[param(minimum = 1, maximum = 86_400, default = 10)]
    pub step_seconds: Option<u32>,
}

/// How a diff is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiffFormat {
    /// As a value.
    Json,
    /// For `git apply`.
    Patch,
    /// A summary for people.
    Stat,
}

/// How to see what a sandbox changed.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DiffQuery {
    /// How it is written; `Accept: text/x-diff` asks for a patch as well.
    #[param(inline)]
    pub format: Option<DiffFormat>,
}

/// Which part of a sandbox's log.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LogQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[0-9]{1,19}$")]
    pub cursor: Option<String>,
    /// Words that must all occur; a trailing `*` stands for any ending.
    #[param(max_length = 512)]
    pub q: Option<String>,
    /// Of this command alone.
    #[param(pattern = "^exe_[0-9a-f]{32}$")]
    pub execution_id: Option<String>,
    /// Of this stream alone.
    pub stream: Option<OutputStream>,
    /// Written then or later.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// Written before.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
}

/// What to add to a command's input.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StdinQuery {
    /// Ends the input after these bytes.
    pub close: bool,
}

/// How long to wait.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WaitQuery {
    /// Seconds; the answer then says `running`.
    #[param(minimum = 0, maximum = 3600, default = 60)]
    pub timeout_seconds: Option<u32>,
}

/// Which output.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OutputQuery {
    /// After this place; from the beginning when absent.
    #[param(minimum = 0, maximum = 9_223_372_036_854_775_807_u64)]
    pub after: Option<u64>,
    /// The most bytes wanted.
    #[param(minimum = 1, maximum = 4_194_304, default = 1_048_576)]
    pub max_bytes: Option<usize>,
}

/// A shell on a terminal.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TerminalQuery {
    /// Width.
    #[param(minimum = 1, maximum = 1000, default = 80)]
    pub cols: Option<u16>,
    /// Height.
    #[param(minimum = 1, maximum = 1000, default = 24)]
    pub rows: Option<u16>,
    /// A line for `sh -c`; an interactive shell when absent.
    pub command: Option<String>,
    /// Where.
    #[param(max_length = 4096)]
    pub cwd: Option<String>,
}

/// What to list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FilesQuery {
    /// Which directory; the root when absent.
    #[param(max_length = 4096)]
    pub path: Option<String>,
    /// How many levels below it.
    #[param(minimum = 1, maximum = 64, default = 1)]
    pub depth: Option<u32>,
    /// The most entries wanted.
    #[param(minimum = 1, maximum = 10_000, default = 1000)]
    pub limit: Option<usize>,
}

/// How a directory travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArchiveFormat {
    /// As a tar.
    Tar,
}

/// What to read at a path.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FileQuery {
    /// Describes it instead of reading it; a link is described itself.
    pub stat: bool,
    /// A directory with all that is below it.
    #[param(inline)]
    pub archive: Option<ArchiveFormat>,
}

/// How to write at a path.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FileWriteQuery {
    /// The body is a tar to be unpacked below the path.
    pub unpack: bool,
    /// Makes the directories above it.
    pub parents: Option<bool>,
    /// Permission bits, in octal.
    #[param(pattern = "^[0-7]{3,4}$", example = "644")]
    pub mode: Option<String>,
}

/// How to remove what is at a path.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FileRemoveQuery {
    /// With everything below it.
    pub recursive: bool,
}

/// What to do at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileOperation {
    /// Make a directory, and those above it.
    Mkdir,
    /// Move what is there.
    Move,
}

/// What to do at a path.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FileMove {
    /// Which of the two.
    #[param(inline)]
    pub op: FileOperation,
    /// Where to, for a move.
    #[param(max_length = 4096)]
    pub to: Option<String>,
}

/// What to watch.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WatchQuery {
    /// Which directory or file; the root when absent.
    #[param(max_length = 4096)]
    pub path: Option<String>,
    /// How many levels below it.
    #[param(minimum = 1, maximum = 16, default = 4)]
    pub depth: Option<u32>,
    /// How often to look.
    #[param(minimum = 200, maximum = 60_000, default = 1000)]
    pub interval_ms: Option<u64>,
}

/// Which events, newest first.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[0-9]{1,19}$")]
    pub cursor: Option<String>,
    /// Oldest first, after this place.
    #[param(minimum = 0, maximum = 9_223_372_036_854_775_807_u64)]
    pub after: Option<u64>,
    /// Kinds, or the words they begin with, with commas between.
    #[param(max_length = 1024, example = "sandbox,execution.ended")]
    pub kind: Option<String>,
    /// In this sandbox.
    #[param(pattern = "^sbx_[0-9a-f]{32}$")]
    pub sandbox_id: Option<String>,
    /// Of this command.
    #[param(pattern = "^exe_[0-9a-f]{32}$")]
    pub execution_id: Option<String>,
    /// Of this run.
    #[param(pattern = "^run_[0-9a-f]{32}$")]
    pub run_id: Option<String>,
    /// By this agent.
    #[param(max_length = 128)]
    pub agent_id: Option<String>,
    /// In this session.
    #[param(max_length = 256)]
    pub session_id: Option<String>,
    /// With this type of operation.
    #[param(max_length = 128)]
    pub operation: Option<String>,
    /// That ended so.
    #[param(pattern = "^(success|failure|timeout|denied|cancelled)$")]
    pub status: Option<String>,
    /// That were judged so.
    #[param(pattern = "^(allow|ask|deny)$")]
    pub decision: Option<String>,
    /// That happened then or later.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// That happened before.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
}

/// Which events to follow.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FollowQuery {
    /// The place after which to begin; `Last-Event-ID` wins. Only what happens from now on when both are absent.
    #[param(minimum = 0, maximum = 9_223_372_036_854_775_807_u64)]
    pub since: Option<u64>,
    /// Kinds, or the words they begin with, with commas between.
    #[param(max_length = 1024)]
    pub kind: Option<String>,
    /// In this sandbox.
    #[param(pattern = "^sbx_[0-9a-f]{32}$")]
    pub sandbox_id: Option<String>,
    /// Of this command.
    #[param(pattern = "^exe_[0-9a-f]{32}$")]
    pub execution_id: Option<String>,
    /// By this agent.
    #[param(max_length = 128)]
    pub agent_id: Option<String>,
}

/// Which entries of the audit log.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[0-9]{1,19}$")]
    pub cursor: Option<String>,
    /// By this agent.
    #[param(max_length = 128)]
    pub agent_id: Option<String>,
    /// In this sandbox.
    #[param(pattern = "^sbx_[0-9a-f]{32}$")]
    pub sandbox_id: Option<String>,
    /// With this type of operation.
    #[param(max_length = 128)]
    pub operation_type: Option<String>,
    /// That were judged so.
    #[param(pattern = "^(allow|ask|deny)$")]
    pub rbac_decision: Option<String>,
    /// That ended so.
    #[param(pattern = "^(success|failure|timeout|denied|cancelled)$")]
    pub status: Option<String>,
    /// That happened then or later.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// That happened before.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
}

/// A head noted earlier, to compare with.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditVerifyQuery {
    /// Its place.
    #[param(minimum = 0, maximum = 9_223_372_036_854_775_807_u64)]
    pub head_seq: Option<u64>,
    /// Its hash.
    #[param(pattern = "^[0-9a-f]{64}$")]
    pub head_hash: Option<String>,
}

/// Which artifacts.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ArtifactQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[0-9]{1,19}$")]
    pub cursor: Option<String>,
    /// From this sandbox.
    #[param(pattern = "^sbx_[0-9a-f]{32}$")]
    pub sandbox_id: Option<String>,
    /// Of this command.
    #[param(pattern = "^exe_[0-9a-f]{32}$")]
    pub execution_id: Option<String>,
    /// Of this run.
    #[param(pattern = "^run_[0-9a-f]{32}$")]
    pub run_id: Option<String>,
}

/// What an uploaded artifact is.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct NewArtifactQuery {
    /// Its name for people.
    #[param(min_length = 1, max_length = 255)]
    pub name: String,
    /// The sandbox it came from.
    #[param(pattern = "^sbx_[0-9a-f]{32}$")]
    pub sandbox_id: Option<String>,
    /// The command that made it.
    #[param(pattern = "^exe_[0-9a-f]{32}$")]
    pub execution_id: Option<String>,
}

/// A key that works once.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LoginQuery {
    /// The key.
    #[param(max_length = 128)]
    pub key: Option<String>,
}
