//! What can be asked about what agents did.

use serde::Deserialize;
use utoipa::IntoParams;

/// Which calls.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CallQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[0-9]{1,19}$")]
    pub cursor: Option<String>,
    /// In this session.
    #[param(max_length = 256)]
    pub session_id: Option<String>,
    /// By this subagent.
    #[param(max_length = 128)]
    pub agent_id: Option<String>,
    /// Of this tool.
    #[param(max_length = 128)]
    pub tool: Option<String>,
    /// Under this name.
    #[param(max_length = 256)]
    pub tool_use_id: Option<String>,
    /// That came of this prompt.
    #[param(max_length = 256)]
    pub prompt_id: Option<String>,
    /// In this sandbox.
    #[param(pattern = "^sbx_[0-9a-f]{32}$")]
    pub sandbox_id: Option<String>,
    /// Of this command.
    #[param(pattern = "^exe_[0-9a-f]{32}$")]
    pub execution_id: Option<String>,
    /// Of this run.
    #[param(pattern = "^run_[0-9a-f]{32}$")]
    pub run_id: Option<String>,
    /// That were judged so.
    #[param(pattern = "^(allow|ask|deny)$")]
    pub decision: Option<String>,
    /// That came out so.
    #[param(pattern = "^(success|failure|timeout|denied|cancelled)$")]
    pub outcome: Option<String>,
    /// That are still going on, or are not.
    pub open: Option<bool>,
    /// That failed like this.
    #[param(pattern = "^[0-9a-f]{16}$")]
    pub fingerprint: Option<String>,
    /// That took at least so long.
    #[param(maximum = 9_223_372_036_854_775_807_u64)]
    pub min_duration_ms: Option<u64>,
    /// That began then or later.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// That began before.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
}

/// Which sessions.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[0-9]{1,19}$")]
    pub cursor: Option<String>,
    /// In one of these states, with commas between.
    #[param(pattern = "^(working|waiting|idle|done|failed)(,(working|waiting|idle|done|failed))*$")]
    pub state: Option<String>,
    /// Of agents of this program.
    #[param(max_length = 128)]
    pub app: Option<String>,
    /// With this model.
    #[param(max_length = 128)]
    pub model: Option<String>,
    /// In this directory.
    #[param(max_length = 4096)]
    pub cwd: Option<String>,
    /// That came out of this session.
    #[param(max_length = 256)]
    pub parent_session_id: Option<String>,
    /// In this sandbox.
    #[param(pattern = "^sbx_[0-9a-f]{32}$")]
    pub sandbox_id: Option<String>,
    /// Of this run.
    #[param(pattern = "^run_[0-9a-f]{32}$")]
    pub run_id: Option<String>,
    /// That began then or later.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// That began before.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
}

/// A page of a trace.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TraceQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[0-9]{1,19}$")]
    pub cursor: Option<String>,
}

/// Which errors.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ErrorQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^-?[0-9]{1,19}\\.[0-9]{1,19}$")]
    pub cursor: Option<String>,
    /// Dealt with, or not.
    #[param(pattern = "^(open|resolved)$")]
    pub state: Option<String>,
    /// Of this tool.
    #[param(max_length = 128)]
    pub tool: Option<String>,
    /// What failed.
    #[param(pattern = "^(tool|model|turn)$")]
    pub what: Option<String>,
    /// Last seen then or later.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// First seen before.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
}

/// Which agents, put together how.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AgentMetricsQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// Each `agent` by itself, or all of a `type`, or of an `app`.
    #[param(pattern = "^(agent|type|app)$")]
    pub by: Option<String>,
    /// This agent: a subagent by its name, a session's own by the session's.
    #[param(max_length = 256)]
    pub agent_id: Option<String>,
    /// In this session.
    #[param(max_length = 256)]
    pub session_id: Option<String>,
    /// Of this kind.
    #[param(max_length = 128)]
    pub agent_type: Option<String>,
    /// Of this program.
    #[param(max_length = 128)]
    pub app: Option<String>,
    /// Last heard of then or later.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// First heard of before.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
}

/// How tools were used: when, and in which steps.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ToolUsageQuery {
    /// Of this tool.
    #[param(max_length = 128)]
    pub tool: Option<String>,
    /// The steps of the trend.
    #[param(pattern = "^(day|week|month)$")]
    pub step: Option<String>,
    /// From the day of this moment on.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// Until before this moment's day, or with it if the moment is within it.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
}

/// Who handed work to whom.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HandoffQuery {
    /// In this session.
    #[param(max_length = 256)]
    pub session_id: Option<String>,
    /// Of this program.
    #[param(max_length = 128)]
    pub app: Option<String>,
    /// Last heard of then or later.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// First heard of before.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
}

/// What was spent: by what, and when.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CostQuery {
    /// By what; by day unless said.
    #[param(pattern = "^(day|project|session|agent|model|tool|run|sandbox)$")]
    pub by: Option<String>,
    /// In this session.
    #[param(max_length = 256)]
    pub session_id: Option<String>,
    /// From the day of this moment on.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub from: Option<String>,
    /// Until before this moment's day, or with it if the moment is within it.
    #[param(format = DateTime, pattern = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$")]
    pub until: Option<String>,
}

/// What counts as getting nowhere.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DetectionQuery {
    /// The same call so often in a row is a loop.
    #[param(minimum = 2, maximum = 1000, default = 3)]
    pub repeats: Option<u16>,
    /// Work without a word for so long is a stall.
    #[param(minimum = 1, maximum = 86400, default = 300)]
    pub silence_seconds: Option<u32>,
}
