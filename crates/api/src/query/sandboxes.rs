//! Parameters of pages, sandboxes and what is seen of them.

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
    /// With these values in its metadata: `name=value`, several with commas between; values within values do not count.
    #[param(pattern = "^[^=,]+=[^,]*(,[^=,]+=[^,]*)*$", example = "ticket=4711")]
    pub metadata: Option<String>,
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
    /// With both sides of every file, for `POST …/apply` of another sandbox.
    Bundle,
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

/// How much of a log is wanted: `error` and `warn` are what commands write to standard error, `info` and `debug` all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Everything.
    Debug,
    /// Everything.
    Info,
    /// Standard error.
    Warn,
    /// Standard error.
    Error,
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
    /// Goes on as more is written, as server-sent events, until the sandbox ends; so does `Accept: text/event-stream`.
    pub follow: bool,
    /// Words that must all occur; a trailing `*` stands for any ending.
    #[param(max_length = 512)]
    pub q: Option<String>,
    /// Of this command alone.
    #[param(pattern = "^exe_[0-9a-f]{32}$")]
    pub execution_id: Option<String>,
    /// Of this stream alone.
    pub stream: Option<OutputStream>,
    /// From this level on.
    #[param(inline)]
    pub level: Option<LogLevel>,
    /// Written then or later.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// Written before.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
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
