//! What a hook hands over, and what it is told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// What a hook travels in.
#[derive(Debug, Clone, ToSchema)]
pub struct HookEnvelope {
    /// The form of the envelope: 1.
    #[schema(minimum = 1, maximum = 1)]
    pub version: u32,
    /// The id of what is recorded; the same told twice is recorded once.
    #[schema(pattern = "^evt_[0-9a-f]{32}$")]
    pub id: String,
    /// The program that speaks.
    pub agent: String,
    /// What its vendor calls the event.
    pub event: Option<String>,
    /// When, by the sender's clock.
    #[schema(format = DateTime)]
    pub sent_at: String,
    /// The process that speaks.
    pub pid: Option<u32>,
    /// Variables that say where it runs.
    pub env: Option<BTreeMap<String, String>>,
    /// What was said, as its vendor says it.
    #[schema(value_type = Option<Object>)]
    pub payload: Option<Value>,
    /// What was said, if it was not JSON.
    pub text: Option<String>,
}

/// What a hook is told.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HookAnswer {
    /// What is to become of the call, if anybody has something to say.
    pub verdict: Option<HookVerdict>,
    /// Where a person's answer will be, if one is asked: wait there, and go by `verdict` if nobody says anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<HookApproval>,
}

/// Where a person's answer will be.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HookApproval {
    /// The approval; `POST /api/v1/approvals/{id}/wait` waits for it.
    pub id: String,
    /// How long to wait at most.
    pub wait_ms: u64,
}

/// How an envelope is handed over.
#[derive(Debug, Clone, Copy, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct HookQuery {
    /// Nobody waits for a verdict any more.
    #[serde(default)]
    pub late: bool,
    /// For how many seconds a person can be waited for.
    #[param(minimum = 0, maximum = 3600)]
    #[serde(default)]
    pub wait: Option<u32>,
}

/// A verdict on a call.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HookVerdict {
    /// `allow`, `ask` or `deny`.
    pub decision: String,
    /// Why, in words for the model and its user.
    pub reason: String,
    /// What the tool is to be given instead, whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub updated_input: Option<Value>,
    /// Whether the agent is to stop altogether.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
    /// Whether the question is put off until the session goes on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub defer: bool,
}
