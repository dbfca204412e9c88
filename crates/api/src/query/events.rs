//! Parameters of events, the audit and artifacts.

use serde::Deserialize;
use utoipa::IntoParams;

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
    /// About this tool.
    #[param(max_length = 128)]
    pub tool: Option<String>,
    /// By agents of this program.
    #[param(max_length = 128)]
    pub app: Option<String>,
    /// That came of this prompt.
    #[param(max_length = 256)]
    pub prompt_id: Option<String>,
    /// About this call.
    #[param(max_length = 256)]
    pub tool_use_id: Option<String>,
    /// With all of these words; a trailing `*` stands for any ending.
    #[param(max_length = 512)]
    pub text: Option<String>,
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
    /// In this session.
    #[param(max_length = 256)]
    pub session_id: Option<String>,
    /// That ended so.
    #[param(pattern = "^(success|failure|timeout|denied|cancelled)$")]
    pub status: Option<String>,
    /// That were judged so.
    #[param(pattern = "^(allow|ask|deny)$")]
    pub decision: Option<String>,
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
